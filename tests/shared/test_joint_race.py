"""The rules of a race with a joint deal: draws, lost seats, and when the race is under way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import reduce
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from samedeal.deal import commitment
from samedeal.deal_proof import DealProof, LostShare, RevealedShare
from samedeal.errors import DealNotProven, RequestRefused
from samedeal.joint_deal import MAX_DRAWS, share_commitment
from samedeal.options import Options
from samedeal.protocol.codec import pack, unpack
from samedeal.protocol.messages import EarlierPlayer
from samedeal.race.commands import (
    CommitShareCommand,
    FixDealCommand,
    GiveUpDealCommand,
    LeaveCommand,
    RaceCommand,
    RevealShareCommand,
    TickCommand,
)
from samedeal.race.draws import SHARE_TIMEOUT, first_board, proof_of
from samedeal.race.due_times import due_at
from samedeal.race.progress import Progress
from samedeal.race.transitions import apply
from samedeal.race.values import DealSecret, FoundDeal, Race, Racer
from samedeal_server.store.race_patches import RacePatch
from tests.golden.golden_files import assert_answers
from tests.shared.joint_deals import some_bytes
from tests.shared.race_values import assert_table, command_in, new_race, outcome_of

SECRET = some_bytes("the secret")
BEGUN = 1_000_000
COUNTDOWN = 3_000
STARTS = BEGUN + COUNTDOWN
SILENT = BEGUN + SHARE_TIMEOUT
NAMES = ("Ana", "Bob", "Cid")
PRESENT = {name.lower(): Progress(last_seen=10 * BEGUN) for name in NAMES}


def share_of(name: str, draw: int) -> bytes:
    """The share that a player draws for a draw."""
    return some_bytes(f"{name} {draw}")


def commitment_of(race: Race, name: str, draw: int) -> bytes:
    """The hash by which a player commits to the share for a draw."""
    seat = next((racer.seat for racer in race.racers if racer.name == name), 9)
    return share_commitment(race.terms.digest, race.commitment, seat, name, draw, share_of(name, draw))


def opened(*names: str, start: str = "host", **fields: Any) -> Race:
    """An open room with a joint deal and some players, of whom the first is the host."""
    options = Options(games=("ace-of-hearts",), deal="winnable", players=3, countdown=3, limit=60, start=start)  # type: ignore[arg-type]  # a start rule
    racers = tuple(Racer(name.lower(), name, seat, seated_at=BEGUN) for seat, name in enumerate(names, 1))
    race = new_race(created=BEGUN, racers=racers, options=options, private=True, **{"deal": "winnable", **fields})
    return replace(race, commitment=commitment(race.terms.digest, SECRET))


def command(text: str, race: Race) -> RaceCommand:
    """The command that a text such as ``ana reveals`` stands for."""
    who, what = text.split()
    name, draw = who.capitalize(), race.draw.number or 1
    commands: dict[str, RaceCommand] = {
        "commits": CommitShareCommand(who, draw, commitment_of(race, name, draw)),
        "commits_again": CommitShareCommand(who, draw, some_bytes("another")),
        "commits_early": CommitShareCommand(who, draw + 1, commitment_of(race, name, draw + 1)),
        "commits_late": CommitShareCommand(who, draw - 1, commitment_of(race, name, draw - 1)),
        "commits_to_nothing": CommitShareCommand(who, draw, b""),
        "copies": CommitShareCommand(who, draw, commitment_of(race, "Ana", draw)),
        "reveals": RevealShareCommand(who, draw, share_of(name, draw)),
        "reveals_early": RevealShareCommand(who, draw + 1, share_of(name, draw)),
        "reveals_late": RevealShareCommand(who, draw - 1, share_of(name, draw)),
        "reveals_old": RevealShareCommand(who, draw, share_of(name, draw - 1)),
        "reveals_wrongly": RevealShareCommand(who, draw, bytes(32)),
        "reveals_nothing": RevealShareCommand(who, draw, b""),
        "reveals_that_of_ana": RevealShareCommand(who, draw, share_of("Ana", draw)),
        "found": FixDealCommand(found(race)),
        "given_up": GiveUpDealCommand(race.draw.number),
        "given_up_for_other": GiveUpDealCommand(race.draw.number - 1),
        "found_for_others": FixDealCommand(replace(found(race), shares=(RevealedShare(1, "Ana", b"", b""),))),
    }
    return commands.get(what) or command_in(text, PRESENT, DealSecret(SECRET))


def found(race: Race) -> FoundDeal:
    """The deal that a search for a race finds."""
    return FoundDeal(race.draw.number, race.draw.shares, 3, "1 2, 3 4")


def after(race: Race, *texts: str, now: int = BEGUN) -> Race:
    """The race after commands, all at one time."""
    for text in texts:
        race, _ = apply(race, command(text, race), now)
    return race


def reached(race: Race, *texts: str, now: int = BEGUN) -> Race:
    """The race after commands, of which some may be refused."""
    for text in texts:
        with suppress(RequestRefused):
            race = after(race, text, now=now)
    return race


STATES = ("open", "drawing", "sealed", "searching", "dealt", "racing")


def race_in(state: str, **fields: Any) -> Race:
    """A race whose draw has come to a state. ``fields`` are those of the open room."""
    seats = fields.pop("seats", " ".join(NAMES)).split()
    race = opened(*seats, number=fields.pop("draw", 0), **fields)
    return reduce(lambda race, reach: reach(race), REACH[: STATES.index(state)], race)


REACH: tuple[Callable[[Race], Race], ...] = (
    lambda race: reached(race, "ana starts", "ana commits"),
    lambda race: reached(race, "bob commits", "cid commits", "ana reveals"),
    lambda race: reached(race, "bob reveals", "cid reveals"),
    lambda race: reached(race, "deal found"),
    lambda race: reached(race, "time passes", now=STARTS),
)
"""How a race comes from each state to the next."""


def test_command_in_state_has_its_outcome() -> None:
    assert_table("joint_race", {state: (race_in(state), STARTS - (state != "racing")) for state in STATES}, command)


def test_draws_go_on_as_the_page_says() -> None:
    def answer(heading: str, question: str) -> str:
        state, *words = heading.split()
        fields: dict[str, Any] = {}
        for name, value in (word.split("=") for word in words):
            fields[name] = eval(value) if value.startswith(("MAX", "STARTS")) else value.replace("_", " ")
        race, now, events = race_in(state, **fields), BEGUN, ""
        for step in question.split(", "):
            text, _, at = step.partition(" at ")
            now = eval(at) if at else now
            events = outcome_of(race, command(text, race), now)
            race = reached(race, text, now=now)
        return shown(race, events) if ":" in events else events

    assert_answers("joint_race", answer)


def shown(race: Race, events: str) -> str:
    """The last events of a race, and its draw."""
    seats = [
        f"{racer.name}{racer.seat}{'*' * bool(racer.commitment)}{'*' * bool(racer.share)}" for racer in race.racers
    ]
    facts: list[tuple[str, object]] = [
        (f"draw {race.draw.number}{', sealed' * race.is_sealed}", race.draw.number),
        (" ".join(seats), seats),
        (f"awaits {' and '.join(racer.name for racer in race.awaited)}", race.awaited),
        (
            ", ".join(f"{lost.name}{lost.seat} {lost.reason} in draw {lost.draw}" for lost in race.draw.lost),
            race.draw.lost,
        ),
        (f"shares of {' '.join(share.name for share in race.draw.shares)}", race.draw.shares),
        (f"starts {race.starts - BEGUN} to {race.ends - BEGUN}", race.starts),
        (f"by {race.draw.reveal_by - BEGUN}", race.draw.reveal_by),
        (f"due {due_at(race) - BEGUN}", due_at(race)),
    ]
    if race.draw.found:
        proof = DealProof.parse(proof_of(race, DealSecret(SECRET, found(race))))
        assert (proof.draw, proof.lost, proof.shares) == (race.draw.number, race.draw.lost, race.draw.shares)
        with pytest.raises(DealNotProven, match="moves"):  # and not because of the draws
            proof.check()
    return "; ".join([events, *(fact for fact, is_given in facts if is_given)])


def test_finished_race_has_its_proof() -> None:
    racing = after(
        race_in("sealed"), "cid leaves", "ana commits", "bob commits", "ana reveals", "bob reveals", "deal found"
    )
    deal = found(racing)
    racing = after(racing, "time passes", now=racing.starts)
    now = racing.starts
    done = after(racing, "ana resigns", "bob resigns", now=now)
    assert outcome_of(done, command("time passes", done), now) == "racing: nothing"  # without its deal no race ends
    earlier = DealSecret(SECRET, replace(deal, draw=1))
    assert apply(done, TickCommand(PRESENT, earlier), now) == (done, ())
    assert first_board(done, earlier) is first_board(race_in("dealt"), DealSecret(SECRET)) is None
    finished, _ = apply(done, TickCommand(PRESENT, DealSecret(SECRET, deal)), now)
    proof = DealProof.parse(finished.result.proof)
    assert (finished.phase, finished.result.seed) == ("finished", b"")
    assert (proof.terms, proof.commitment, proof.secret) == (finished.search, finished.commitment, SECRET)
    assert proof.digest == finished.terms.digest
    assert (proof.candidate, proof.draw, proof.shares) == (deal.candidate, 2, deal.shares)
    assert proof.lost == (LostShare(1, 3, "left", "Cid"),)
    with pytest.raises(DealNotProven, match="moves"):
        proof.check()


steps = st.tuples(
    st.sampled_from(("ana", "bob", "cid", "dan")),
    st.sampled_from(
        (
            *("joins", "commits", "commits", "commits_again", "commits_early", "copies"),
            *("reveals", "reveals", "reveals", "reveals_wrongly", "reveals_early"),
            *("leaves", "kicked", "resigns", "starts", "found", "given_up", "passes"),
        )
    ),
    st.sampled_from((0, 0, 0, 1, 900, COUNTDOWN, SHARE_TIMEOUT)),
)
rounds = st.sampled_from(
    (
        [(name, what, 0) for what in ("commits", "reveals") for name in ("ana", "bob", "cid")],
        [(name, "commits", 0) for name in ("ana", "bob", "cid")],
        [(name, "joins", 0) for name in ("ana", "bob", "cid")],
        [("ana", "leaves", 0), ("bob", "leaves", 0), ("cid", "leaves", 0)],
    )
)
stories = st.lists(st.one_of(steps.map(lambda step: [step]), rounds), max_size=40).map(
    lambda parts: list(chain.from_iterable(parts))
)

Sealed = tuple[tuple[int, str, bytes], ...]


def seats_of(race: Race) -> Sealed:
    """The seats of a race with their commitments, the lowest first."""
    return tuple(sorted((racer.seat, racer.name, racer.commitment) for racer in race.racers))


@settings(max_examples=400)
@given(st.sampled_from(("host", "full")), stories)
def test_laws_of_the_draws_hold(start: str, story: list[tuple[str, str, int]]) -> None:
    race, now = opened("Ana", start=start), BEGUN
    opened_with = race.terms.digest, race.commitment
    sealed: dict[int, Sealed] = {}
    for who, what, wait in story:
        now += wait
        before = race
        try:
            race, events = apply(race, command(f"{who} {what}", race), now)
        except RequestRefused:
            continue
        assert unpack(pack(RacePatch.between(before, race)), RacePatch).apply(before) == race
        assert (race.result.seed, race.result.proof) == (b"", "")
        assert (race.terms.digest, race.commitment) == opened_with
        assert "deal_found" not in events or before.needs_search
        draws_follow(before, race)
        lost_seats_are_listed(before, race, events)
        if race.lacks_shares and race.is_sealed:
            # Nothing changes a sealed draw.
            assert sealed.setdefault(race.draw.number, seats_of(race)) == seats_of(race)
        for racer in race.racers:
            assert not racer.share or promised(race, racer, racer.share) == racer.commitment
            assert not racer.share or sealed.get(race.draw.number) == seats_of(race)
        if race.draw.shares:
            assert (
                tuple((each.seat, each.name, each.commitment) for each in race.draw.shares) == sealed[race.draw.number]
            )
            assert all(promised(race, each, each.share) == each.commitment for each in race.draw.shares)
        if before.draw.shares and race.phase != "open":
            assert race.draw.shares == before.draw.shares  # nobody can change the deal any more
        if race.phase == "racing":
            assert race.draw.found
            assert now >= race.starts
            assert {(racer.seat, racer.name) for racer in race.racers} <= {each[:2] for each in race.draw.shares}
            text = proof_of(race, DealSecret(SECRET, found(race)))
            proof = DealProof.parse(text)
            assert tuple((each.seat, each.name, each.commitment) for each in proof.shares) == sealed[proof.draw]
            assert set(range(1, proof.draw)) <= {lost.draw for lost in proof.lost}


def promised(race: Race, player: Racer | RevealedShare, share: bytes) -> bytes:
    """The hash by which a player has to commit to a share in the newest draw."""
    place = player.seat, player.name, race.draw.number
    return share_commitment(race.terms.digest, race.commitment, *place, share)


def draws_follow(before: Race, race: Race) -> None:
    """The number of the draw rises by one with each countdown, and otherwise stays."""
    assert race.draw.number in (before.draw.number, before.draw.number + 1)
    assert race.draw.number <= MAX_DRAWS
    if race.draw.number > before.draw.number:
        assert race.phase == "countdown"
        assert not any(racer.commitment or racer.share for racer in race.racers)
        assert before.phase == "open" or (before.lacks_shares and before.is_sealed)
    elif before.lacks_shares and before.is_sealed and race.phase != "open":
        assert len(race.racers) == len(before.racers) or race.phase == "closed"


def lost_seats_are_listed(before: Race, race: Race, events: tuple[str, ...]) -> None:
    """``lost`` only grows, by those who lost their seats while shares were missing, and by the last who left."""
    assert race.draw.lost[: len(before.draw.lost)] == before.draw.lost
    new = race.draw.lost[len(before.draw.lost) :]
    gone = [racer for racer in before.racers if race.racer(racer.player) is None]
    if before.lacks_shares or (before.phase == "countdown" and race.phase == "open"):
        assert [(lost.draw, lost.seat, lost.name) for lost in new] == [
            (before.draw.number, racer.seat, racer.name) for racer in gone
        ]
        expected = "silent" if "unseated" in events else "kicked" if "kicked" in events else "left"
        assert {lost.reason for lost in new} <= {expected}
    else:
        assert new == ()


def test_others_who_had_the_daily_deal_go_with_the_only_person() -> None:
    """Whoever watches a race of bots sees nobody else in it."""
    racers = Racer("ana", "Ana", 1), Racer("eve", "Eve", 2, bot=True)
    past = EarlierPlayer(name="zed", foundation_cards=2, time=0, reached=(1_000, 2_000))
    race = new_race(
        deal="daily 2026-11-30", phase="countdown", racers=racers, starts=STARTS, earlier=(past,), found=True
    )
    left, _ = apply(race, LeaveCommand("ana"), BEGUN)
    assert ([racer.name for racer in left.racers], left.earlier) == (["Eve"], ())
    left, _ = apply(race, LeaveCommand("eve"), BEGUN)
    assert left.earlier == (past,)
