"""The rules of a race with a window: doors, draws by those who are there, attempts, and what others may know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as with_fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.deal_proof import DealProof
from samedeal.errors import DealNotProven, RequestRefused
from samedeal.joint_deal import HIGHEST_DRAW, MAX_DRAWS, MAX_OPENINGS
from samedeal.race.commands import (
    CommitShareCommand,
    DeclareStuckCommand,
    JoinCommand,
    KickCommand,
    LeaveCommand,
    ResignCommand,
    StartCommand,
)
from samedeal.race.draws import SHARE_TIMEOUT
from samedeal.race.due_times import EMPTY_LIFETIME, ROOM_LIFETIME, WINDOW_LIFETIME, due_at
from samedeal.race.endings import opens_at
from samedeal.race.held_race import HeldRace
from samedeal.race.openings import first_race, rematch
from samedeal.race.progress import Progress
from samedeal.terms import RoomTerms
from tests.shared.joint_deals import some_bytes
from tests.shared.windows import (
    CREATED,
    HOUR,
    OPTIONS,
    SECRET,
    WINDOW,
    away,
    joined,
    opened,
    refusal,
    with_deal,
    with_shares,
)

DOORS = CREATED + WINDOW // 4
ENDS = CREATED + WINDOW
LIMIT = 600_000
ACTS = ("begin", "move", "resign", "stuck", "leave", "wait")
FIRST_MOVE = "deal"


def open_window(
    *names: str, there: Sequence[str] = (), now: int = CREATED + HOUR, held: HeldRace | None = None
) -> HeldRace:
    """An open window, whose deal those who were ``there`` have drawn, by default all."""
    there = there or names
    held = away(held or joined(*names), *(name for name in names if name not in there))
    held = with_shares(held.told(StartCommand(names[0]), now).passed(now), *there, now=now)
    return with_deal(held, now)


def test_doors_close_after_a_quarter_or_when_the_host_closes_them() -> None:
    held = joined("ana", "ben")
    assert due_at(held.race) == DOORS
    assert held.passed(DOORS - 1).race.phase == "open"
    for closed in (held.passed(DOORS), held.told(StartCommand("ana"), CREATED + 1)):
        assert closed.race.phase == "countdown"
        assert refusal(closed, JoinCommand("cid", "Cid", {}), DOORS) == "race_started"
        assert closed.race.ends == ENDS
    assert refusal(held, StartCommand("ben"), CREATED) == "not_host"


def test_who_comes_too_late_is_told_when_there_is_another_race() -> None:
    held = joined("ana").told(StartCommand("ana"), CREATED)
    for wait, text in ((1, "1 min"), (HOUR, "60 min"), (3 * HOUR - 1, "3 h")):
        assert f"It ends in {text} at" in told_late(held, ENDS - wait)
    assert "Watch it" in told_late(open_window("ana").passed(ENDS), ENDS)


def told_late(held: HeldRace, now: int) -> str:
    """What a player without a seat is told."""
    with pytest.raises(RequestRefused) as caught:
        held.told(JoinCommand("cid", "Cid", {}), now)
    assert caught.value.code == "race_started"
    return str(caught.value)


def test_empty_room_closes_as_others_do() -> None:
    held = opened()
    assert due_at(held.race) == CREATED + EMPTY_LIFETIME
    assert held.passed(CREATED + EMPTY_LIFETIME).race.phase == "closed"
    over = open_window("ana").passed(ENDS)
    assert due_at(rematch(over.race, "friday-2", SECRET, ENDS)) == ENDS + ROOM_LIFETIME
    short = replace(over.race, window=HOUR // 1000)
    assert due_at(rematch(short, "friday-2", SECRET, ENDS)) == ENDS + HOUR // 4, "its doors close before"


def test_absence_costs_no_seat() -> None:
    held = away(joined("ana", "ben"), "ana", "ben").passed(DOORS - 1)
    assert [racer.player for racer in held.race.racers] == ["ana", "ben"]


def test_deal_is_drawn_by_those_who_are_there() -> None:
    held = away(joined("ana", "ben", "cid"), "cid").told(StartCommand("ana"), DOORS).passed(DOORS)
    assert held.race.draw.seats == (1, 2)
    assert held.state(DOORS).drawing == (1, 2)
    assert [racer.player for racer in held.race.awaited] == ["ana", "ben"]
    assert refusal(held, CommitShareCommand("cid", 1, some_bytes("cid")), DOORS) == "bad_share"


def test_those_who_draw_are_in_the_order_of_their_seats() -> None:
    """As in proofs: a seat that was given up is taken again by somebody who comes later."""
    held = joined("ana", "ben", "cid").told(LeaveCommand("ben"), CREATED)
    held = joined("dan", held=held).told(StartCommand("ana"), DOORS).passed(DOORS)
    assert [racer.seat for racer in held.race.racers] == [1, 3, 2]
    assert held.race.draw.seats == (1, 2, 3)


def test_draw_waits_for_the_first_who_comes() -> None:
    held = away(joined("ana", "ben"), "ana", "ben").passed(DOORS).passed(DOORS)
    assert (held.race.draw.number, held.race.draw.seats) == (0, ())
    assert due_at(held.race) == ENDS, "nothing happens until somebody comes"
    back = with_fields(held, progress={**held.progress, "ben": Progress(connected=True, last_seen=1 << 46)})
    assert back.passed(DOORS + 2 * HOUR).race.draw.seats == (2,)
    assert held.passed(ENDS).race.phase == "closed"


def test_lost_draw_is_repeated_without_those_who_lost_it() -> None:
    held = joined("ana", "ben", "cid").told(StartCommand("ana"), DOORS).passed(DOORS)
    late = DOORS + SHARE_TIMEOUT
    assert due_at(held.race) == late
    held = held.told(CommitShareCommand("ana", 1, some_bytes("ana")), DOORS).passed(late)
    assert (held.race.draw.number, held.race.draw.seats) == (2, (1,))
    assert [(lost.seat, lost.reason) for lost in held.race.draw.lost] == [(2, "silent"), (3, "silent")]
    assert len(held.race.racers) == 3, "they keep their seats"


def draws_lost(held: HeldRace, draw: int = MAX_DRAWS) -> HeldRace:
    """The race after a draw of the last player was lost. The doors are closed."""
    seat = held.race.racers[-1].seat
    last = replace(held.race.draw, number=draw, seats=(seat,), reveal_by=DOORS)
    return with_fields(held, race=replace(held.race, phase="countdown", draw=last)).passed(DOORS)


def test_host_opens_the_doors_again_after_the_last_draw() -> None:
    lost = draws_lost(joined("ana", "ben", "cid"))
    assert lost.state(DOORS).waits_for_host
    assert lost.passed(DOORS + HOUR).race == lost.race, "nobody draws"
    assert refusal(lost, StartCommand("ben"), DOORS) == "not_host"
    held = lost.told(StartCommand("ana"), DOORS)
    assert (held.race.phase, held.state(DOORS).waits_for_host) == ("open", False)
    assert (held.race.doors_close_at, held.race.ends) == (DOORS + (ENDS - DOORS) // 4, ENDS)
    assert due_at(held.race) == held.race.doors_close_at
    held = joined("dan", held=held).told(StartCommand("ana"), DOORS).passed(DOORS)
    assert (held.race.draw.number, held.race.draw.seats) == (MAX_DRAWS + 1, (1, 2, 3, 4)), "cid may draw again"
    assert refusal(held, StartCommand("ana"), DOORS) == "race_started"


def test_next_person_is_the_host_after_a_kick_during_the_draw() -> None:
    """Otherwise nobody could open the doors again."""
    lost = draws_lost(joined("ana", "ben", "cid"))
    kicked = lost.told(KickCommand("ana"), DOORS)
    assert (kicked.race.host, kicked.state(DOORS).waits_for_host) == ("ben", True)
    assert kicked.told(StartCommand("ben"), DOORS).race.host == "ben"


def test_draws_are_over_once_each_player_has_lost_one() -> None:
    held = joined("ana", "ben").told(StartCommand("ana"), DOORS).passed(DOORS).passed(DOORS + SHARE_TIMEOUT)
    assert held.race.draw.number == 1
    assert held.state(DOORS).waits_for_host
    again = held.told(StartCommand("ana"), DOORS).told(StartCommand("ana"), DOORS).passed(DOORS)
    assert (again.race.draw.number, again.race.draw.seats) == (MAX_DRAWS + 1, (1, 2))
    assert [lost.draw for lost in again.race.draw.lost] == [1, 1]


def test_room_closes_after_the_draws_of_the_last_opening() -> None:
    held = joined("ana", "ben")
    for opening in range(1, MAX_OPENINGS):
        held = draws_lost(held, opening * MAX_DRAWS).told(StartCommand("ana"), DOORS)
    assert draws_lost(held, HIGHEST_DRAW).race.phase == "closed"


def test_room_closes_if_the_host_never_opens_the_doors() -> None:
    lost = draws_lost(joined("ana", "ben"))
    assert lost.passed(ENDS - 1).race.phase == "countdown"
    assert lost.passed(ENDS).race.phase == "closed"


def test_deal_of_reopened_doors_is_proven() -> None:
    """The draws that were skipped need no reason, and only a window may have so many."""
    held = joined("ana", "ben").told(StartCommand("ana"), DOORS).passed(DOORS).passed(DOORS + SHARE_TIMEOUT)
    held = open_window("ana", "ben", held=held.told(StartCommand("ana"), DOORS), now=DOORS)
    for name in ("ana", "ben"):
        held = held.told(ResignCommand(name), DOORS)
    proof = DealProof.parse(held.passed(DOORS).race.result.proof)
    for lost, draw, why in (
        (proof.lost, 6, "do not win"),
        (proof.lost, 8, "draw 6"),
        (proof.lost, 12, "6"),
        ((), 6, "1"),
    ):
        with pytest.raises(DealNotProven, match=why):  # the test has no real search
            with_fields(proof, lost=lost, draw=draw).check()


def test_proof_has_the_shares_of_those_who_were_there() -> None:
    held = open_window("ana", "ben", "cid", there=("ana", "cid"))
    assert [share.name for share in held.race.draw.shares] == ["Ana", "Cid"]
    for name in ("ana", "ben", "cid"):
        held = held.told(ResignCommand(name), DOORS)
    held = held.passed(DOORS)
    assert held.race.phase == "finished"
    proof = DealProof.parse(held.race.result.proof)
    assert [share.name for share in proof.shares] == ["Ana", "Cid"]


def test_each_begins_once_and_has_a_clock_of_their_own() -> None:
    held = open_window("ana", "ben")
    assert refusal_of_move(held, "ana", DOORS) == "not_racing"
    held = held.begun("ana", DOORS)
    assert held.begun("ana", DOORS + 5).progress_of("ana").began_at == DOORS
    held = held.acted("ana", FIRST_MOVE, DOORS + LIMIT - 1)
    assert refusal_of_move(held, "ana", DOORS + LIMIT) == "time_up"
    assert refusal_of_move(held, "ben", DOORS) == "not_racing"
    late = held.begun("ben", ENDS - 5)
    assert refusal_of_move(late, "ben", ENDS) == "time_up"
    with pytest.raises(RequestRefused) as caught:
        held.begun("ben", ENDS)
    assert caught.value.code == "time_up"


def refusal_of_move(held: HeldRace, player: str, now: int) -> str:
    with pytest.raises(RequestRefused) as caught:
        held.acted(player, FIRST_MOVE, now)
    return caught.value.code


def test_nobody_begins_before_the_deal_is_found_or_after_resigning() -> None:
    held = joined("ana", "ben").told(StartCommand("ana"), DOORS).passed(DOORS)
    resigned = open_window("ana", "ben").told(ResignCommand("ana"), DOORS)
    for each, code in ((held, "not_racing"), (resigned, "already_finished")):
        with pytest.raises(RequestRefused) as caught:
            each.begun("ana", DOORS)
        assert caught.value.code == code


def test_only_who_has_begun_is_stuck() -> None:
    """Otherwise the race could end before a player has seen the cards, which would also tell that all others have ended."""
    held = open_window("ana", "ben").begun("ben", DOORS)
    stuck = [DeclareStuckCommand(name, held.progress_of_all) for name in ("ana", "ben")]
    assert refusal(held, stuck[0], DOORS) == "not_racing"
    assert held.told(stuck[1], DOORS).race.seated("ben").stuck_at == DOORS
    late = DOORS + LIMIT
    assert held.told(stuck[1], late).race == held.race, "the player's time is up"


def test_everything_opens_when_all_have_ended_or_the_window_closes() -> None:
    held = open_window("ana", "ben").begun("ana", DOORS)
    assert held.passed(DOORS + LIMIT).race.phase == "racing", "ben has not begun"
    assert opens_at(held.race, held.progress_of_all) == ENDS
    assert held.passed(ENDS).race.phase == "finished"
    both = held.begun("ben", DOORS + HOUR)
    assert opens_at(both.race, both.progress_of_all) == DOORS + HOUR + LIMIT
    assert both.passed(DOORS + HOUR + LIMIT).race.phase == "finished"
    done = held.told(ResignCommand("ben"), DOORS + 1)
    assert opens_at(done.race, done.progress_of_all) == DOORS + LIMIT
    assert due_at(done.passed(ENDS).race) == ENDS + WINDOW_LIFETIME


def test_leaving_is_not_resigning_and_only_the_operator_removes() -> None:
    held = open_window("ana", "ben")
    assert held.told(LeaveCommand("ben"), DOORS).race == held.race
    assert refusal(held, KickCommand("ben", by="ana"), DOORS) == "race_started"
    kicked = held.told(KickCommand("ben"), DOORS).race
    assert kicked.seated("ben").resigned
    drawing = joined("ana", "ben").told(StartCommand("ana"), DOORS).passed(DOORS)
    assert drawing.told(LeaveCommand("ben"), DOORS).race == drawing.race


def test_best_own_time_wins() -> None:
    """Who begins later and needs less time is first."""
    held = open_window("ana", "ben").begun("ana", DOORS).begun("ben", DOORS + HOUR)
    progress = {
        "ana": replace(held.progress_of("ana"), foundation_cards=5, last_progress_at=DOORS + 300_000),
        "ben": replace(held.progress_of("ben"), foundation_cards=5, last_progress_at=DOORS + HOUR + 200_000),
    }
    ended = with_fields(held, progress=progress).passed(ENDS)
    assert [line.player for line in ended.race.result.standings] == ["ben", "ana"]
    assert [line.began_at for line in ended.race.result.standings] == [DOORS + HOUR, DOORS]


def test_who_never_began_is_behind_all_who_raced() -> None:
    """Also behind a player who has brought a card to the foundations and taken it back."""
    held = open_window("ana", "ben", "cid", "dan").begun("cid", DOORS).begun("dan", DOORS)
    back = replace(held.progress_of("dan"), last_progress_at=DOORS + 5)
    ended = with_fields(held, progress={**held.progress, "dan": back}).passed(ENDS).race
    assert [(line.place, line.player) for line in ended.result.standings] == [
        (1, "cid"),
        (2, "dan"),
        (3, "ana"),
        (3, "ben"),
    ]


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from(ACTS), st.integers(1, LIMIT)), max_size=12))
def test_player_learns_nothing_of_anothers_attempt(attempt: list[tuple[str, int]]) -> None:
    """Whatever ben does, ana is shown the same until everything opens."""
    held, now = open_window("ana", "ben"), CREATED + HOUR
    shown = held.state(now, "ana")
    for what, wait in attempt:
        now += wait
        try:
            match what:
                case "begin":
                    held = held.begun("ben", now)
                case "move":
                    held = held.acted("ben", str(held.play("ben").board.legal_moves()[0]), now)
                case "resign":
                    held = held.told(ResignCommand("ben"), now)
                case "stuck":
                    held = held.told(DeclareStuckCommand("ben", held.progress_of_all), now)
                case "leave":
                    held = held.told(LeaveCommand("ben"), now)
                case _:
                    held = held.passed(now)
        except RequestRefused:
            pass
        assert held.race.phase == "racing"
        assert held.state(now, "ana") == shown


def test_terms_have_the_window() -> None:
    terms = opened().race.terms
    assert f"window: {WINDOW // 1000}\n" in str(terms)
    assert RoomTerms.parse(str(terms)) == terms


def test_rematch_has_a_window_of_its_own() -> None:
    held = open_window("ana", "ben").passed(ENDS)
    again = rematch(held.race, "friday-2", SECRET, ENDS + 5)
    assert (again.window, again.ends, again.doors_close_at) == (
        WINDOW // 1000,
        ENDS + 5 + WINDOW,
        ENDS + 5 + WINDOW // 4,
    )
    assert not again.options.bots


@pytest.mark.parametrize(
    "options", [{"deal": "random"}, {"deal": "#7"}, {"start": "full"}, {"first_finish_ends": True}]
)
def test_options_that_fit_no_window(options: dict[str, Any]) -> None:
    with pytest.raises(RequestRefused) as caught:
        opened(**options)
    assert caught.value.code == "bad_options"


def test_window_has_no_bots_of_the_house() -> None:
    with pytest.raises(RequestRefused) as caught:
        first_race("friday", OPTIONS, Deal.parse("winnable"), SECRET, CREATED, window=WINDOW // 1000, house=1)
    assert caught.value.code == "bad_options"
