"""A node logs once that it is full, and once that this is over."""

from __future__ import annotations

from samedeal.options import Options
from samedeal.protocol.messages import Create
from samedeal_server.config.limits import Limits
from samedeal_server.telemetry.fullness_log import CALM_TIME, FullnessLog
from tests.server.captured_log import Log
from tests.server.live_nodes import NodeMaker
from tests.server.manual_timers import ManualTimers


def test_begin_and_end_are_logged_once_each(log: Log) -> None:
    log.set_up("info")
    timers = ManualTimers()
    fullness = FullnessLog(timers, "limit-rooms")
    for _ in range(5):
        fullness.refuse(10)
        timers.advance(CALM_TIME / 2)
    (full,) = log.events()
    assert (full["event"], full["level"]) == ("server_full", "warning")
    assert (full["setting"], full["limit"]) == ("limit-rooms", 10)
    timers.advance(10 * CALM_TIME)
    (ended,) = log.events()[1:]
    assert (ended["event"], ended["refused"], ended["seconds"]) == ("server_not_full", 5, 2 * CALM_TIME)
    fullness.refuse(10)
    timers.advance(CALM_TIME)
    assert [each["event"] for each in log.events()[2:]] == ["server_full", "server_not_full"]


async def test_refused_rooms_are_logged(node: NodeMaker, log: Log) -> None:
    one = await node(Limits(rooms=1))
    ana = await one.player()
    await ana.create()
    log.set_up("warning")
    for _ in range(3):
        await ana.refused("server_full", Create, options=Options())
    (full,) = log.events()
    assert (full["event"], full["setting"], full["limit"]) == ("server_full", "limit-rooms", 1)
