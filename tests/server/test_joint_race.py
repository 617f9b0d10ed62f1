"""The rules of a race with a joint deal: draws, lost seats, and when the race is under way."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from samedeal.deal_proof import DealProof, LostShare, RevealedShare
from samedeal.errors import DealNotProven, RequestRefused
from samedeal.joint_deal import MAX_DRAWS, secret_commitment, share_commitment
from samedeal.options import Options
from samedeal.protocol.codec import pack, unpack
from samedeal.solver.solve import SOLVER
from samedeal_server.races.race import (
    EXTENSION,
    SHARE_TIMEOUT,
    CloseCommand,
    CommitShareCommand,
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
    ReadyCommand,
    ResignCommand,
    RevealShareCommand,
    StartCommand,
    TickCommand,
    apply,
)
from samedeal_server.store.race_patches import RacePatch
from tests.server.race_values import new_race
from tests.shared.joint_deals import some_bytes

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


def commitment_of(name: str, draw: int) -> bytes:
    """The hash by which a player commits to the share for a draw."""
    return share_commitment("friday", name, draw, share_of(name, draw))


def opened(*names: str, start: str = "host") -> Race:
    """An open room with a joint deal and some players, of whom the first is the host."""
    options = Options(games=("ace-of-hearts",), deal="winnable", players=3, countdown=3, limit=60, start=start)  # type: ignore[arg-type]  # a start rule
    racers = tuple(Racer(name.lower(), name, seat, seated_at=BEGUN) for seat, name in enumerate(names, 1))
    given: dict[str, Any] = {
        "options": options,
        "deal": "winnable",
        "private": True,
        "solver": SOLVER,
        "budget": 100_000,
    }
    race = new_race(created=BEGUN, racers=racers, **given)
    return replace(race, commitment=secret_commitment(race.terms, SECRET))


def command(text: str, race: Race) -> RaceCommand:
    """The command that a text such as ``ana reveals`` stands for."""
    who, what = text.split()
    name, draw = who.capitalize(), race.draw or 1
    commands: dict[str, RaceCommand] = {
        "joins": JoinCommand(who, name, PRESENT),
        "commits": CommitShareCommand(who, draw, commitment_of(name, draw)),
        "commits_again": CommitShareCommand(who, draw, some_bytes("another")),
        "commits_early": CommitShareCommand(who, draw + 1, commitment_of(name, draw + 1)),
        "commits_late": CommitShareCommand(who, draw - 1, commitment_of(name, draw - 1)),
        "commits_to_nothing": CommitShareCommand(who, draw, b""),
        "copies": CommitShareCommand(who, draw, commitment_of("Ana", draw)),
        "reveals": RevealShareCommand(who, draw, share_of(name, draw)),
        "reveals_early": RevealShareCommand(who, draw + 1, share_of(name, draw)),
        "reveals_wrongly": RevealShareCommand(who, draw, bytes(32)),
        "reveals_nothing": RevealShareCommand(who, draw, b""),
        "reveals_that_of_ana": RevealShareCommand(who, draw, share_of("Ana", draw)),
        "leaves": LeaveCommand(who),
        "kicked": KickCommand(who),
        "resigns": ResignCommand(who),
        "readies": ReadyCommand(who, True),
        "starts": StartCommand(who),
        "found": FixDealCommand(found(race)),
        "found_for_others": FixDealCommand(replace(found(race), shares=(RevealedShare(1, "Ana", b"", b""),))),
        "close": CloseCommand(),
        "passes": TickCommand(PRESENT, DealSecret(SECRET)),
    }
    return commands[what]


def found(race: Race) -> FoundDeal:
    """The deal that a search for a race finds."""
    return FoundDeal(race.draw, race.shares, 3, "1 2, 3 4")


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


def reached(race: Race, *texts: str, now: int = BEGUN) -> Race:
    """The race after commands, of which some may be refused. Then the tests fail, and not their collection."""
    for text in texts:
        with suppress(RequestRefused):
            race = after(race, text, now=now)
    return race


OPEN = opened(*NAMES)
DRAWING = reached(OPEN, "ana starts", "ana commits")
SEALED = reached(DRAWING, "bob commits", "cid commits", "ana reveals")
SEARCHING = reached(SEALED, "bob reveals", "cid reveals")
DEALT = reached(SEARCHING, "deal found")
RACING = reached(DEALT, "time passes", now=STARTS)

TABLE = """
    command                 open        drawing      sealed                searching    dealt        racing
    dan-joins               room_full   race_started race_started          race_started race_started race_started
    bob-joins               nothing     nothing      nothing               nothing      nothing      nothing
    ana-commits             bad_share   nothing      nothing               bad_share    bad_share    bad_share
    ana-commits_again       bad_share   committed    bad_share             bad_share    bad_share    bad_share
    bob-commits             bad_share   committed    nothing               bad_share    bad_share    bad_share
    bob-commits_early       bad_share   bad_share    bad_share             bad_share    bad_share    bad_share
    bob-commits_late        bad_share   bad_share    bad_share             bad_share    bad_share    bad_share
    bob-commits_to_nothing  bad_share   bad_share    bad_share             bad_share    bad_share    bad_share
    dan-commits             bad_share   no_seat      no_seat               no_seat      no_seat      bad_share
    ana-reveals             bad_share   bad_share    nothing               nothing      nothing      bad_share
    bob-reveals             bad_share   bad_share    revealed              nothing      nothing      bad_share
    bob-reveals_early       bad_share   bad_share    bad_share             bad_share    bad_share    bad_share
    bob-reveals_nothing     bad_share   bad_share    bad_share             bad_share    bad_share    bad_share
    ana-reveals_wrongly     bad_share   bad_share    bad_share             bad_share    bad_share    bad_share
    bob-reveals_wrongly     bad_share   bad_share    bad_share             bad_share    bad_share    bad_share
    bob-reveals_that_of_ana bad_share   bad_share    bad_share             bad_share    bad_share    bad_share
    dan-reveals             bad_share   no_seat      no_seat               no_seat      no_seat      bad_share
    bob-leaves              left        left         left,countdown        left         left         resigned
    bob-kicked              left,kicked left,kicked  left,countdown,kicked left,kicked  left,kicked  resigned,kicked
    deal-found              nothing     nothing      nothing               deal_found   nothing      nothing
    deal-found_for_others   nothing     nothing      nothing               nothing      nothing      nothing
    time-passes             nothing     nothing      nothing               nothing      nothing      nothing
"""
"""What each command does in each state of the draw: the changes, or the code of the refusal."""


def test_command_in_state_has_its_outcome() -> None:
    races = {"open": OPEN, "drawing": DRAWING, "sealed": SEALED, "searching": SEARCHING, "dealt": DEALT}
    columns = {**races, "racing": RACING}
    (_, *states), *rows = [line.split() for line in TABLE.strip().splitlines()]
    assert states == list(columns)
    for text, *expected in rows:
        given = text.replace("-", " ")
        outcomes = [outcome_of(race, given, STARTS - 1) for race in races.values()]
        outcomes.append(outcome_of(RACING, given, STARTS))
        assert [each.split(": ")[-1].replace(" ", ",") for each in outcomes] == expected, text


def test_last_commitment_seals_the_draw_and_last_share_fixes_the_deal() -> None:
    late = BEGUN + 9_000
    almost = after(DRAWING, "bob commits")
    assert not almost.is_sealed
    assert outcome_of(almost, "cid commits", late) == "countdown: committed sealed"
    sealed = after(almost, "cid commits", now=late)
    assert (sealed.is_sealed, sealed.reveal_by, sealed.draw) == (True, late + SHARE_TIMEOUT, 1)
    assert [racer.commitment for racer in sealed.racers] == [commitment_of(name, 1) for name in NAMES]
    revealing = after(sealed, "ana reveals", "bob reveals")
    assert revealing.lacks_shares
    assert revealing.shares == ()
    assert outcome_of(revealing, "cid reveals", late) == "countdown: revealed drawn"
    drawn = after(revealing, "cid reveals")
    assert drawn.shares == tuple(
        RevealedShare(seat, name, commitment_of(name, 1), share_of(name, 1)) for seat, name in enumerate(NAMES, 1)
    )
    assert {(racer.commitment, racer.share) for racer in drawn.racers} == {(b"", b"")}
    assert (drawn.needs_search, drawn.lost) == (True, ())


def test_player_who_leaves_an_open_draw_seals_it_for_the_others() -> None:
    almost = after(DRAWING, "bob commits")
    assert outcome_of(almost, "cid leaves", STARTS) == "countdown: left sealed"
    assert outcome_of(almost, "cid kicked", STARTS) == "countdown: left sealed kicked"
    for text, reason in (("cid leaves", "left"), ("cid kicked", "kicked")):
        sealed = after(almost, text, now=STARTS)
        assert sealed.lost == (LostShare(1, 3, reason, "Cid"),)  # type: ignore[arg-type]  # a reason
        assert (sealed.draw, sealed.reveal_by, sealed.starts) == (1, STARTS + SHARE_TIMEOUT, almost.starts)
        assert [racer.commitment for racer in sealed.racers] == [commitment_of(name, 1) for name in NAMES[:2]]
    still_open = after(DRAWING, "cid leaves", now=STARTS)
    assert (still_open.draw, still_open.is_sealed, still_open.reveal_by) == (1, False, DRAWING.reveal_by)


@pytest.mark.parametrize(
    ("race", "now", "outcome", "due"),
    [
        (DRAWING, STARTS - 1, "countdown: nothing", STARTS),
        (DRAWING, STARTS, "countdown: extended", STARTS),
        (DRAWING, SILENT - 1, "countdown: extended", STARTS),
        (DRAWING, SILENT, "countdown: left unseated sealed", STARTS),
        (after(DRAWING, "time passes", now=SILENT - 1), SILENT, "countdown: left unseated sealed", SILENT),
        (SEALED, STARTS, "countdown: extended", STARTS),
        (SEALED, SILENT, "countdown: left unseated countdown", STARTS),
        (SEARCHING, STARTS, "countdown: extended", STARTS),
        (SEARCHING, SILENT, "countdown: extended", STARTS),
        (DEALT, STARTS - 1, "countdown: nothing", STARTS),
        (DEALT, STARTS, "racing: racing", STARTS),
        (after(DRAWING, "time passes", now=STARTS), BEGUN, "countdown: nothing", STARTS + EXTENSION),
        (after(OPEN, "ana starts"), SILENT, "open: left unseated countdown_stopped", STARTS),
    ],
)
def test_time_brings_its_outcome(race: Race, now: int, outcome: str, due: int) -> None:
    assert outcome_of(race, "time passes", now) == outcome
    assert race.due_at() == due


def test_players_who_do_not_commit_in_time_lose_their_seats() -> None:
    assert [racer.name for racer in DRAWING.awaited] == ["Bob", "Cid"]
    alone = after(DRAWING, "time passes", now=SILENT)
    assert [racer.name for racer in alone.racers] == ["Ana"]
    assert alone.lost == (LostShare(1, 2, "silent", "Bob"), LostShare(1, 3, "silent", "Cid"))
    assert (alone.draw, alone.is_sealed, alone.reveal_by) == (1, True, SILENT + SHARE_TIMEOUT)
    assert [share.name for share in after(alone, "ana reveals").shares] == ["Ana"]


def test_deal_is_drawn_again_without_those_who_do_not_reveal() -> None:
    almost = after(SEALED, "bob reveals")
    assert [racer.name for racer in almost.awaited] == ["Cid"]
    again = after(almost, "time passes", now=SILENT)
    assert [racer.name for racer in again.racers] == ["Ana", "Bob"]
    assert {(racer.commitment, racer.share) for racer in again.racers} == {(b"", b"")}
    assert (again.draw, again.starts, again.ends) == (2, SILENT + COUNTDOWN, SILENT + COUNTDOWN + 60_000)
    assert (again.reveal_by, again.shares) == (SILENT + SHARE_TIMEOUT, ())
    assert again.lost == (LostShare(1, 3, "silent", "Cid"),)
    assert outcome_of(again, "ana reveals", SILENT) == "bad_share"
    with pytest.raises(RequestRefused, match="draw"):
        apply(again, CommitShareCommand("ana", 1, commitment_of("Ana", 1)), SILENT)
    complete = after(again, "bob commits", "ana commits", "bob reveals", "ana reveals", now=SILENT)
    assert complete.shares == tuple(
        RevealedShare(seat, name, commitment_of(name, 2), share_of(name, 2)) for seat, name in enumerate(NAMES[:2], 1)
    )


def test_share_of_another_draw_does_not_count() -> None:
    again = after(SEALED, "cid leaves", "ana commits", "bob commits")
    assert again.is_sealed
    with pytest.raises(RequestRefused):
        apply(again, RevealShareCommand("ana", 2, share_of("Ana", 1)), BEGUN)
    with pytest.raises(RequestRefused):
        apply(again, RevealShareCommand("ana", 1, share_of("Ana", 2)), BEGUN)


@pytest.mark.parametrize(("text", "reason"), [("cid leaves", "left"), ("cid kicked", "kicked")])
def test_seat_lost_in_a_sealed_draw_is_listed(text: str, reason: str) -> None:
    again = after(SEALED, text)
    assert (again.draw, again.is_sealed) == (2, False)
    assert again.lost == (LostShare(1, 3, reason, "Cid"),)  # type: ignore[arg-type]  # a reason


def test_room_closes_when_the_last_draw_fails() -> None:
    race = replace(SEALED, draw=MAX_DRAWS - 1)
    race = after(race, "cid leaves", "ana commits", "bob commits")
    assert (race.draw, race.is_sealed) == (MAX_DRAWS, True)
    assert outcome_of(race, "bob leaves", BEGUN) == "closed: left not_drawn closed"
    assert outcome_of(race, "bob kicked", BEGUN) == "closed: left not_drawn closed kicked"
    silent = after(race, "ana reveals")
    assert outcome_of(silent, "time passes", SILENT) == "closed: left unseated not_drawn closed"
    closed = after(silent, "time passes", now=SILENT)
    assert (closed.phase, closed.draw) == ("closed", MAX_DRAWS)
    assert closed.lost == (LostShare(MAX_DRAWS - 1, 3, "left", "Cid"), LostShare(MAX_DRAWS, 2, "silent", "Bob"))


def test_last_draw_may_succeed() -> None:
    last = after(replace(SEALED, draw=MAX_DRAWS - 1), "cid leaves", "ana commits", "bob commits", "bob reveals")
    assert after(last, "ana reveals").needs_search


@pytest.mark.parametrize(
    ("start", "texts"),
    [
        ("host", ["ana starts"]),
        ("full", ["bob joins", "cid joins"]),
        ("all-ready", ["bob joins", "ana readies", "bob readies"]),
    ],
)
def test_countdown_after_the_last_draw_closes_the_room(start: str, texts: list[str]) -> None:
    *first, last = texts
    race = after(replace(opened("Ana", start=start), draw=MAX_DRAWS), *first)
    assert outcome_of(race, last, BEGUN).split()[-2:] == ["not_drawn", "closed"]
    assert (after(race, last).phase, after(race, last).draw) == ("closed", MAX_DRAWS)


def test_player_who_leaves_after_all_shares_stays_in_the_proof() -> None:
    left = after(SEARCHING, "bob leaves", "deal found")
    assert left.deal_found
    assert left.lost == ()
    assert [share.name for share in left.shares] == [share.name for share in RACING.shares] == list(NAMES)


@pytest.mark.parametrize(("last", "reason"), [("cid leaves", "left"), ("cid kicked", "kicked")])
@pytest.mark.parametrize("race", [SEARCHING, DEALT], ids=["searching", "dealt"])
def test_room_that_all_leave_draws_again_with_a_reason(race: Race, last: str, reason: str) -> None:
    """Every draw before that of the proof must have a lost seat, even if its deal was known."""
    emptied = after(race, "bob leaves", "ana leaves", last)
    assert (emptied.phase, emptied.shares, emptied.deal_found, emptied.draw) == ("open", (), False, 1)
    assert emptied.lost == (LostShare(1, 3, reason, "Cid"),)  # type: ignore[arg-type]  # a reason
    again = after(replace(emptied, kicked=()), "bob joins", "bob starts", "bob commits", "bob reveals", "deal found")
    assert (again.draw, again.deal_found) == (2, True)
    proof = DealProof.parse(again.proof_of(DealSecret(SECRET, found(again))))
    assert (proof.draw, proof.lost) == (2, emptied.lost)
    with pytest.raises(DealNotProven, match="moves"):  # and not because of the draws
        proof.check()


def test_finished_race_has_its_proof() -> None:
    racing = after(SEALED, "cid leaves", "ana commits", "bob commits", "ana reveals", "bob reveals", "deal found")
    deal = found(racing)
    racing = after(racing, "time passes", now=racing.starts)
    now = racing.starts
    done = after(racing, "ana resigns", "bob resigns", now=now)
    assert outcome_of(done, "time passes", now) == "racing: nothing"  # without its deal no race ends
    earlier = DealSecret(SECRET, replace(deal, draw=1))
    assert apply(done, TickCommand(PRESENT, earlier), now) == (done, ())
    assert done.first_board(earlier) is DEALT.first_board(DealSecret(SECRET)) is None
    finished, _ = apply(done, TickCommand(PRESENT, DealSecret(SECRET, deal)), now)
    proof = DealProof.parse(finished.proof)
    assert (finished.phase, finished.seed) == ("finished", b"")
    assert (proof.terms, proof.commitment, proof.secret) == (finished.terms, finished.commitment, SECRET)
    assert (proof.candidate, proof.draw, proof.shares) == (deal.candidate, 2, deal.shares)
    assert proof.lost == (LostShare(1, 3, "left", "Cid"),)
    with pytest.raises(DealNotProven, match="moves"):
        proof.check()


def test_copied_commitment_cannot_be_opened() -> None:
    """A player who copies another's commitment has no share for it, not even the other's."""
    race = after(OPEN, "ana starts", "ana commits", "cid commits", "bob copies", "ana reveals")
    assert race.is_sealed
    assert outcome_of(race, "bob reveals_that_of_ana", BEGUN) == "bad_share"


def test_draws_are_only_for_joint_deals() -> None:
    race = replace(OPEN, deal="daily 2026-11-21")
    begun = after(race, "ana starts")
    assert (begun.phase, begun.draw, begun.reveal_by, begun.awaited) == ("countdown", 0, 0, [])
    assert outcome_of(begun, "ana commits", BEGUN) == outcome_of(begun, "ana reveals", BEGUN) == "bad_share"
    emptied = after(begun, "ana leaves", "bob leaves", "cid leaves")
    assert (emptied.phase, emptied.lost, emptied.draw) == ("open", (), 0)


steps = st.tuples(
    st.sampled_from(("ana", "bob", "cid", "dan")),
    st.sampled_from(
        (
            *("joins", "commits", "commits", "commits_again", "commits_early", "copies"),
            *("reveals", "reveals", "reveals", "reveals_wrongly", "reveals_early"),
            *("leaves", "kicked", "resigns", "starts", "found", "passes"),
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
    sealed: dict[int, Sealed] = {}
    for who, what, wait in story:
        now += wait
        before = race
        try:
            race, events = apply(race, command(f"{who} {what}", race), now)
        except RequestRefused:
            continue
        assert unpack(pack(RacePatch.between(before, race)), RacePatch).apply(before) == race
        assert (race.seed, race.proof) == (b"", "")
        assert "deal_found" not in events or before.needs_search
        draws_follow(before, race)
        lost_seats_are_listed(before, race, events)
        if race.lacks_shares and race.is_sealed:
            # Nothing changes a sealed draw.
            assert sealed.setdefault(race.draw, seats_of(race)) == seats_of(race)
        for racer in race.racers:
            assert not racer.share or share_commitment("friday", racer.name, race.draw, racer.share) == racer.commitment
            assert not racer.share or sealed.get(race.draw) == seats_of(race)
        if race.shares:
            assert tuple((each.seat, each.name, each.commitment) for each in race.shares) == sealed[race.draw]
            assert all(
                share_commitment("friday", each.name, race.draw, each.share) == each.commitment for each in race.shares
            )
        if before.shares and race.phase != "open":
            assert race.shares == before.shares  # nobody can change the deal any more
        if race.phase == "racing":
            assert race.deal_found
            assert now >= race.starts
            assert {(racer.seat, racer.name) for racer in race.racers} <= {each[:2] for each in race.shares}
            text = race.proof_of(DealSecret(SECRET, found(race)))
            proof = DealProof.parse(text)
            assert tuple((each.seat, each.name, each.commitment) for each in proof.shares) == sealed[proof.draw]
            assert set(range(1, proof.draw)) <= {lost.draw for lost in proof.lost}


def draws_follow(before: Race, race: Race) -> None:
    """The number of the draw rises by one with each countdown, and otherwise stays."""
    assert race.draw in (before.draw, before.draw + 1)
    assert race.draw <= MAX_DRAWS
    if race.draw > before.draw:
        assert race.phase == "countdown"
        assert not any(racer.commitment or racer.share for racer in race.racers)
        assert before.phase == "open" or (before.lacks_shares and before.is_sealed)
    elif before.lacks_shares and before.is_sealed and race.phase != "open":
        assert len(race.racers) == len(before.racers) or race.phase == "closed"


def lost_seats_are_listed(before: Race, race: Race, events: tuple[str, ...]) -> None:
    """``lost`` only grows, by those who lost their seats while shares were missing, and by the last who left."""
    assert race.lost[: len(before.lost)] == before.lost
    new = race.lost[len(before.lost) :]
    gone = [racer for racer in before.racers if race.racer(racer.player) is None]
    if before.lacks_shares or (before.phase == "countdown" and race.phase == "open"):
        assert [(lost.draw, lost.seat, lost.name) for lost in new] == [
            (before.draw, racer.seat, racer.name) for racer in gone
        ]
        expected = "silent" if "unseated" in events else "kicked" if "kicked" in events else "left"
        assert {lost.reason for lost in new} <= {expected}
    else:
        assert new == ()
