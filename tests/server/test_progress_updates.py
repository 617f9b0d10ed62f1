"""Counts that change within a short time are sent together, and in a crowd within a longer one."""

from __future__ import annotations

import pytest

from samedeal.options import MAX_PLAYERS
from samedeal.protocol.messages import ProgressUpdate
from samedeal.race import values
from samedeal.race.values import Racer
from samedeal_server.rooms import progress_updates
from samedeal_server.rooms.progress_updates import CROWD_INTERVAL, PROGRESS_INTERVAL, ProgressUpdates
from tests.server.live_nodes import NodeMaker
from tests.server.manual_timers import ManualTimers
from tests.server.races import race
from tests.shared.race_values import new_race

Sent = list[tuple[set[str], int]]


def updates(*, is_crowded: bool) -> tuple[ManualTimers, ProgressUpdates, Sent]:
    timers, sent = ManualTimers(), list[tuple[set[str], int]]()
    return timers, ProgressUpdates(timers, lambda *update: sent.append(update), lambda: is_crowded), sent


@pytest.mark.parametrize(("is_crowded", "interval"), [(False, PROGRESS_INTERVAL), (True, CROWD_INTERVAL)])
def test_changes_within_an_interval_are_sent_together(is_crowded: bool, interval: float) -> None:
    timers, collected, sent = updates(is_crowded=is_crowded)
    for at, player in enumerate(("ana", "bob", "ana"), 1):
        collected.queue(player, at)
        timers.advance(interval / 4)
    assert sent == []
    timers.advance(interval / 2)
    assert sent == [({"ana", "bob"}, 1)]
    timers.advance(10 * interval)
    assert len(sent) == 1


def test_crowd_has_more_racers_than_a_room_of_a_client() -> None:
    racers = tuple(Racer(f"p{seat}", f"p{seat}", seat) for seat in range(1, MAX_PLAYERS + 2))
    assert new_race(racers=racers).is_crowd
    assert not new_race(racers=racers[1:]).is_crowd
    assert not new_race(racers=racers, phase="countdown").is_crowd


@pytest.mark.parametrize("most", [1, 2])
async def test_rivals_are_told_in_time(node: NodeMaker, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """The other interval never ends, so the right one was waited for."""
    monkeypatch.setattr(values, "MAX_PLAYERS", most)
    ana, bob = await race(await node(), games=("athena",))
    other = "PROGRESS_INTERVAL" if most == 1 else "CROWD_INTERVAL"
    monkeypatch.setattr(progress_updates, other, 3600)
    await ana.acts(1)
    seat = (await bob.until(ProgressUpdate, lambda update: update.moves == 1)).seat
    assert seat == 1
    await bob.acts(1)
    await ana.until(ProgressUpdate, lambda update: update.moves == 1)
    assert not any(isinstance(message, ProgressUpdate) and message.seat == seat for message in ana.inbox)
