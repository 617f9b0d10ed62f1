"""The rules of a race with a joint deal: shares, restarts of the countdown, and when the race is under way."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from samedeal.deal_proof import DealProof, RevealedShare
from samedeal.errors import DealNotProven, RequestRefused
from samedeal.joint_deal import secret_commitment, share_commitment
from samedeal.options import Options
from samedeal.protocol.codec import pack, unpack
from samedeal.solver.solve import SOLVER
from samedeal_server.races.race import (
    EXTENSION,
    REVEAL_TIMEOUT,
    CloseCommand,
    DealSecret,
    FixDealCommand,
    FoundDeal,
    JoinCommand,
    KickCommand,
    LeaveCommand,
    Progress,
    Race,
    RaceCommand,
    Racer,
    ResignCommand,
    RevealShareCommand,
    StartCommand,
    TickCommand,
    apply,
)
from samedeal_server.store.race_patches import RacePatch
from tests.shared.joint_deals import some_bytes

SECRET = some_bytes("the secret")
BEGUN = 1_000_000
COUNTDOWN = 3_000
STARTS = BEGUN + COUNTDOWN
NAMES = ("Ana", "Bob", "Cid")


def chain(name: str) -> list[bytes]:
    """The first commitment of a player, and the shares that the player then reveals, in order."""
    links = [some_bytes(name)]
    for _ in range(8):
        links.insert(0, share_commitment("friday", name, links[0]))
    return links


CHAINS = {name.lower(): chain(name) for name in NAMES}
PRESENT = {name: Progress(last_seen=10 * BEGUN) for name in CHAINS}


def opened(*names: str, start: str = "host") -> Race:
    """An open room with a joint deal and some players, of whom the first is the host."""
    options = Options(games=("ace-of-hearts",), deal="winnable", players=3, countdown=3, limit=60, start=start)  # type: ignore[arg-type]  # a start rule
    racers = tuple(
        Racer(name.lower(), name, seat, seated_at=BEGUN, commitment=CHAINS[name.lower()][0])
        for seat, name in enumerate(names, 1)
    )
    race = Race(
        room="friday",
        options=options,
        round=0,
        deal="winnable",
        commitment=b"",
        private=True,
        created=BEGUN,
        changed_at=BEGUN,
        racers=racers,
        solver=SOLVER,
        budget=1000,
    )
    return replace(race, commitment=secret_commitment(race.terms, SECRET))


def command(text: str, race: Race) -> RaceCommand:
    """The command that a text such as ``ana reveals`` stands for."""
    who, what = text.split()
    racer = race.racer(who)
    commitment = racer.commitment if racer else b""
    links = CHAINS.get(who, [])
    share = links[links.index(commitment) + 1] if commitment in links else bytes(32)
    commands: dict[str, RaceCommand] = {
        "joins": JoinCommand(who, who.capitalize(), PRESENT, commitment=links[0] if links else b""),
        "joins_without_share": JoinCommand(who, who.capitalize(), PRESENT),
        "commits_again": JoinCommand(who, who.capitalize(), PRESENT, commitment=bytes(32)),
        "reveals": RevealShareCommand(who, share),
        "reveals_wrongly": RevealShareCommand(who, bytes(32)),
        "leaves": LeaveCommand(who),
        "kicked": KickCommand(who),
        "resigns": ResignCommand(who),
        "starts": StartCommand(who),
        "found": FixDealCommand(found(race)),
        "found_for_others": FixDealCommand(replace(found(race), shares=(RevealedShare(1, "Ana", b"", b""),))),
        "close": CloseCommand(),
        "passes": TickCommand(PRESENT, DealSecret(SECRET)),
    }
    return commands[what]


def found(race: Race) -> FoundDeal:
    """The deal that a search for a race finds."""
    return FoundDeal(race.restarts, race.shares, 3, "1 2, 3 4")


def outcome_of(race: Race, text: str, now: int) -> str:
    try:
        changed, events = apply(race, command(text, race), now)
    except RequestRefused as refused:
        return refused.code
    return f"{changed.phase}: {' '.join(events) or 'nothing'}"


def after(race: Race, *texts: str, now: int = BEGUN) -> Race:
    """The race after commands, all at one time."""
    for text in texts:
        race, _ = apply(race, command(text, race), now)
    return race


OPEN = opened(*NAMES)
DRAWING = after(OPEN, "ana starts", "ana reveals")
SEARCHING = after(DRAWING, "bob reveals", "cid reveals")
DEALT = after(SEARCHING, "deal found")
RACING = after(DEALT, "time passes", now=STARTS)


@pytest.mark.parametrize(
    ("text", "open_", "drawing", "searching", "dealt", "racing"),
    [
        ("dan joins_without_share", "share_needed", "race_started", "race_started", "race_started", "race_started"),
        (
            "bob joins",
            "open: nothing",
            "countdown: nothing",
            "countdown: nothing",
            "countdown: nothing",
            "racing: nothing",
        ),
        ("bob commits_again", "open: committed", *3 * ("countdown: nothing",), "racing: nothing"),
        ("bob joins_without_share", "open: nothing", *3 * ("countdown: nothing",), "racing: nothing"),
        ("ana reveals", "bad_share", "countdown: nothing", "countdown: nothing", "countdown: nothing", "bad_share"),
        ("bob reveals", "bad_share", "countdown: revealed", "countdown: nothing", "countdown: nothing", "bad_share"),
        ("ana reveals_wrongly", "bad_share", "bad_share", "bad_share", "bad_share", "bad_share"),
        ("bob reveals_wrongly", "bad_share", "bad_share", "bad_share", "bad_share", "bad_share"),
        ("dan reveals", "bad_share", "no_seat", "no_seat", "no_seat", "bad_share"),
        (
            "bob leaves",
            "open: left",
            "countdown: left countdown",
            "countdown: left",
            "countdown: left",
            "racing: resigned",
        ),
        (
            "bob kicked",
            "open: left kicked",
            "countdown: left countdown kicked",
            "countdown: left kicked",
            "countdown: left kicked",
            "racing: resigned kicked",
        ),
        (
            "deal found",
            "open: nothing",
            "countdown: nothing",
            "countdown: deal_found",
            "countdown: nothing",
            "racing: nothing",
        ),
        ("deal found_for_others", "open: nothing", *3 * ("countdown: nothing",), "racing: nothing"),
        ("time passes", "open: nothing", *3 * ("countdown: nothing",), "racing: nothing"),
    ],
)
def test_command_in_state_has_its_outcome(
    text: str, open_: str, drawing: str, searching: str, dealt: str, racing: str
) -> None:
    states = {"open": OPEN, "drawing": DRAWING, "searching": SEARCHING, "dealt": DEALT}
    outcomes = {state: outcome_of(race, text, STARTS - 1) for state, race in states.items()}
    assert outcomes == {"open": open_, "drawing": drawing, "searching": searching, "dealt": dealt}
    assert outcome_of(RACING, text, STARTS) == racing


@pytest.mark.parametrize(
    ("race", "now", "outcome", "due"),
    [
        (DRAWING, STARTS - 1, "countdown: nothing", STARTS),
        (DRAWING, STARTS, "countdown: extended", STARTS),
        (DRAWING, BEGUN + REVEAL_TIMEOUT, "countdown: left unseated countdown", STARTS),
        (SEARCHING, STARTS, "countdown: extended", STARTS),
        (SEARCHING, BEGUN + REVEAL_TIMEOUT, "countdown: extended", STARTS),
        (DEALT, STARTS - 1, "countdown: nothing", STARTS),
        (DEALT, STARTS, "racing: racing", STARTS),
        (after(DRAWING, "time passes", now=STARTS), BEGUN, "countdown: nothing", STARTS + EXTENSION),
        (after(OPEN, "ana starts"), BEGUN + REVEAL_TIMEOUT, "open: left unseated countdown_stopped", STARTS),
    ],
)
def test_time_brings_its_outcome(race: Race, now: int, outcome: str, due: int) -> None:
    assert outcome_of(race, "time passes", now) == outcome
    assert race.due_at() == due


def test_deal_is_drawn_again_without_those_who_are_gone() -> None:
    late = BEGUN + REVEAL_TIMEOUT
    again, _ = apply(after(DRAWING, "bob reveals"), command("time passes", DRAWING), late)
    assert [racer.name for racer in again.racers] == ["Ana", "Bob"]
    assert [racer.commitment for racer in again.racers] == [CHAINS["ana"][1], CHAINS["bob"][1]]
    assert (again.restarts, again.starts, again.ends) == (1, late + COUNTDOWN, late + COUNTDOWN + 60_000)
    assert (again.reveal_by, again.shares) == (late + REVEAL_TIMEOUT, ())
    complete = after(again, "bob reveals", "ana reveals", now=late)
    assert [(share.seat, share.name, share.commitment, share.share) for share in complete.shares] == [
        (1, "Ana", CHAINS["ana"][1], CHAINS["ana"][2]),
        (2, "Bob", CHAINS["bob"][1], CHAINS["bob"][2]),
    ]


def test_player_who_leaves_after_all_shares_stays_in_the_proof() -> None:
    left = after(SEARCHING, "bob leaves", "deal found")
    assert left.deal_found
    assert RACING.shares == ()  # they would be in every later event
    assert [share.name for share in left.shares] == list(NAMES)
    emptied = after(left, "ana leaves", "cid leaves")
    assert (emptied.phase, emptied.shares, emptied.deal_found, emptied.restarts) == ("open", (), False, 1)


def test_finished_race_has_its_proof() -> None:
    done = after(RACING, "ana resigns", "bob resigns", "cid resigns", now=STARTS)
    assert outcome_of(done, "time passes", STARTS) == "racing: nothing"  # without its deal no race ends
    deal = found(SEARCHING)
    earlier = DealSecret(SECRET, replace(deal, restarts=1))
    assert apply(done, TickCommand(PRESENT, earlier), STARTS) == (done, ())
    assert done.first_board(earlier) is DEALT.first_board(DealSecret(SECRET)) is None
    finished, _ = apply(done, TickCommand(PRESENT, DealSecret(SECRET, deal)), STARTS)
    proof = DealProof.parse(finished.proof)
    assert (finished.phase, finished.seed) == ("finished", b"")
    assert (proof.terms, proof.commitment, proof.secret) == (finished.terms, finished.commitment, SECRET)
    assert (proof.candidate, proof.restarts, proof.shares) == (deal.candidate, 0, deal.shares)
    with pytest.raises(DealNotProven, match="moves"):
        proof.check()


def test_copied_commitment_cannot_be_opened() -> None:
    """A player who copies another's commitment has no share for it, not even the other's."""
    copier = apply(OPEN, JoinCommand("bob", "Bob", PRESENT, commitment=CHAINS["ana"][0]), BEGUN)[0]
    race = after(copier, "ana starts", "ana reveals")
    with pytest.raises(RequestRefused, match="share"):
        apply(race, RevealShareCommand("bob", CHAINS["ana"][1]), BEGUN)


steps = st.tuples(
    st.sampled_from(("ana", "bob", "cid", "dan")),
    st.sampled_from(
        ("joins", "reveals", "reveals", "reveals_wrongly", "leaves", "kicked", "resigns", "starts", "found", "passes")
    ),
    st.sampled_from((0, 1, 900, COUNTDOWN, REVEAL_TIMEOUT)),
)


@settings(max_examples=300)
@given(st.sampled_from(("host", "full")), st.lists(steps, max_size=40))
def test_every_racer_has_a_share_in_the_joint_deal(start: str, sequence: list[tuple[str, str, int]]) -> None:
    race, now = opened("Ana", start=start), BEGUN
    for who, what, wait in sequence:
        now += wait
        before = race
        try:
            race, events = apply(race, command(f"{who} {what}", race), now)
        except RequestRefused:
            continue
        assert race.restarts >= before.restarts
        assert unpack(pack(RacePatch.between(before, race)), RacePatch).apply(before) == race
        assert (race.seed, race.proof) == (b"", "")
        if race.shares and not before.shares:
            assert [(each.seat, each.name) for each in race.shares] == sorted(
                (racer.seat, racer.name) for racer in race.racers
            )
            assert all(share_commitment("friday", each.name, each.share) == each.commitment for each in race.shares)
        if race.phase == "racing":
            assert race.deal_found
            assert now >= race.starts
            assert not race.shares
            if before.phase == "countdown":
                assert {racer.seat for racer in race.racers} <= {share.seat for share in before.shares}
        if before.shares and race.phase == "countdown":
            assert race.shares == before.shares  # nobody can change the deal any more
        assert "deal_found" not in events or before.needs_search
