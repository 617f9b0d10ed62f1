"""Races with a window in simulated time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from samedeal.series import record_standings
from tests.simulation import standing
from tests.simulation.plan import Cut, make_world, with_race_that_waits
from tests.simulation.standing import DAY, FIRST, Plan, broken, month
from tests.simulation.windows import LIMIT, Attempt, compared, day, shown
from tests.simulation.world import known_deals, run_world

FRIENDS = {
    "ana": Attempt(20.0, moves=5),
    "ben": Attempt(7.0, moves=2),
    "cid": Attempt(9.0, crashes=True),
    "dan": Attempt(23.95, moves=4),
    "eve": Attempt(12.5, resigns=False),
}


def test_five_who_never_meet_race_one_deal_and_look_at_one_table() -> None:
    passed = day(FRIENDS)
    first, *others = passed.states
    assert all(state.standings == first.standings for state in others)
    assert {line.name: line.began_at for line in first.standings} == passed.began
    assert {line.name: line.moves + line.undos for line in first.standings} == {
        "ana": 5,
        "ben": 2,
        "cid": 1,
        "dan": 4,
        "eve": 3,
    }
    record = passed.record
    assert record is not None
    record.check()
    assert record.length == 1_000 * LIMIT, "the window itself is much longer"
    assert record.proof is not None
    assert [share.name for share in record.proof.shares] == ["ben"], "who came first drew the deal"
    assert [line.place for line in record_standings(record)] == [line.place for line in first.standings]


def test_player_is_sent_the_same_whatever_others_do() -> None:
    """Those who race between two others are told nothing of what the first one did."""
    others = FRIENDS | {"ben": Attempt(7.0, moves=9, resigns=False), "eve": Attempt(12.6, moves=1)}
    one, other = day(FRIENDS), day(others)
    for name in ("ana", "cid", "dan"):
        assert shown(one, name) == shown(other, name)
    assert shown(one, "ben") != shown(other, "ben")


def test_window_closes_on_those_who_did_not_come() -> None:
    """Somebody who has not begun keeps everything closed until the window closes."""
    passed = day({"ana": Attempt(7.0), "ben": Attempt(24 - LIMIT / 7_200, resigns=False)})
    (state, _) = passed.states
    assert state.finished_at == state.ends, "the last one had only what was left of the window"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_window_keeps_what_was_acknowledged_and_tells_nothing(seed: int) -> None:
    assert compared(seed) == []


@pytest.mark.parametrize("seed", range(6))
def test_promises_hold_while_players_begin_when_they_have_time(seed: int) -> None:
    """Everything fails as in other worlds, and beginnings are cut."""
    plan = with_race_that_waits(make_world(seed, known_deals()))
    verdict = run_world(plan)
    assert not verdict.violations, f"{plan}\n" + "\n".join(verdict.violations)
    assert verdict.outcome.acked, verdict


@pytest.mark.parametrize("nth", [3, 4, 5])
def test_refused_write_does_not_stop_a_draw(nth: int) -> None:
    """The writes close the doors and begin the draw. Nobody who is there has to leave and come again."""
    plan = with_race_that_waits(make_world(2, known_deals()))
    quiet = replace(plan.round, rooms=plan.round.rooms[:1], faults=(), tide=None)
    verdict = run_world(replace(plan, round=quiet, cuts=(Cut("compare_and_set", nth, "refuse", 0.5),)))
    assert not verdict.violations, "\n".join(verdict.violations)
    assert verdict.outcome.acked, verdict


def test_standing_series_goes_on_without_nodes_and_without_players() -> None:
    """No node runs when a window opens or closes, and nobody comes to the second race."""
    races = [
        {"ana": Attempt(1.0), "ben": Attempt(20.0, moves=5, resigns=False)},
        {"ana": Attempt(1.0, comes=False), "ben": Attempt(1.0, comes=False)},
        {"ana": Attempt(23.0, crashes=True), "ben": Attempt(2.0, comes=False)},
        {"ana": Attempt(0.0), "ben": Attempt(3.0, moves=0)},
    ]
    passed = month(Plan([FIRST + each * DAY for each in range(4)], int(DAY), races))
    assert broken(passed) == []
    assert [sorted(began) for began in passed.all_began] == [["ana", "ben"], [], ["ana"], ["ana", "ben"]]
    (table, *_) = (state.table for state in passed.states)
    assert {line.name: line.races for line in table} == {"ana": 3, "ben": 2}
    assert len(passed.states[0].rooms_before) == 3


def test_any_standing_series_loses_nothing_and_tells_nothing_early() -> None:
    assert standing.compared(5) == []
