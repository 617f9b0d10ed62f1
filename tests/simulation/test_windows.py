"""Races with a window in simulated time."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from samedeal.protocol.codec import decode_to_client
from samedeal.series import record_standings
from tests.simulation.windows import LIMIT, Attempt, WindowDay
from tests.simulation.world import simulated

FRIENDS = {
    "ana": Attempt(20.0, moves=5),
    "ben": Attempt(7.0, moves=2),
    "cid": Attempt(9.0, crashes=True),
    "dan": Attempt(23.95, moves=4),
    "eve": Attempt(12.5, resigns=False),
}


def day(attempts: dict[str, Attempt]) -> WindowDay:
    with simulated("window") as loop:
        passed = WindowDay(loop, attempts)
        loop.run_until_complete(loop.world.run(passed.pass_by()))
    return passed


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
    assert record.proof is not None
    assert [share.name for share in record.proof.shares] == ["ben"], "who came first drew the deal"
    assert [line.place for line in record_standings(record)] == [line.place for line in first.standings]


def timeless(value: Any) -> Any:
    """A message without times, which networks decide, and without the hashes and numbers that cover them."""
    if isinstance(value, dict):
        varying = ("receipt", "head", "session")
        return {name: timeless(each) for name, each in value.items() if name not in varying}
    if isinstance(value, list | tuple):
        return [timeless(each) for each in value]
    return "a time" if isinstance(value, int) and value > 10**12 else value


def shown(passed: WindowDay, name: str) -> list[Any]:
    """What a player was sent before everything opened."""
    frames = passed.frames[name]
    return [timeless(to_builtins(decode_to_client(frame))) for frame in frames if isinstance(frame, bytes)]


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
