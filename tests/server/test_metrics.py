"""Tests of the metrics: their values, their names, and that they reveal neither cards nor players."""

from __future__ import annotations

from collections import Counter
from typing import get_type_hints

from prometheus_client.parser import text_string_to_metric_families

from samedeal.board_history import UNDO
from samedeal.protocol.messages import Acked, Act, Join
from samedeal_server.telemetry.metrics import _ROWS, Metrics
from tests.server.captured_log import Log
from tests.server.live_nodes import Node
from tests.server.races import finish, race
from tests.server.waiting import until


def test_table_has_all_metrics() -> None:
    assert list(_ROWS) == list(get_type_hints(Metrics))


async def test_moves_are_counted_by_outcome(one: Node) -> None:
    (ana,) = await race(one, names=["ana"])
    await until(lambda: one.metric("event_loop_lag_seconds_count"))
    await ana.act("draw")
    await ana.expect(Acked, Act, id=500, revision=1, action="draw")
    await ana.expect(Acked, Act, id=500, revision=1, action="draw")
    await ana.refused("illegal", Act, revision=2, action="1 1")
    await ana.refused("stale", Act, revision=0, action=UNDO)
    await finish(ana)
    await ana.refused("not_racing", Act, revision=2, action="draw")
    outcomes = {"ok": 2, "repeated": 1, "illegal": 1, "stale": 1, "not_racing": 1, "fenced": 0, "time_up": 0}
    assert {outcome: one.metric("moves_total", outcome=outcome) for outcome in outcomes} == outcomes
    assert one.metric("refusals_total", code="illegal") == 1
    assert one.metric("commit_batch_moves_count") == one.metric("commit_seconds_count") >= 2
    assert one.metric("commit_batch_moves_sum") == one.metric("commit_batch_moves_count")
    await one.becomes("ack_seconds_count", 3)


async def test_connections_are_counted_by_kind_and_reason(one: Node) -> None:
    ana, bob = await race(one)
    watcher, guest = await one.player("wat"), await one.player("guest")
    await watcher.watch(ana.room)

    def kinds() -> tuple[float, ...]:
        return tuple(one.metric("connections", kind=kind) for kind in ("racing", "watching", "lobby"))

    assert kinds() == (2, 1, 1)
    await guest.close()
    await bob.abort()
    await one.becomes("connections_closed_total", 1, reason="normal")
    await one.becomes("connections_closed_total", 1, reason="lost")
    assert kinds() == (1, 1, 0)
    assert one.metric("connections_opened_total") == 4
    await one.gateway.drain()
    assert one.metric("connections_closed_total", reason="restart") == 2
    assert kinds() == (0, 0, 0)


async def test_change_of_race_is_logged_by_one_node(one: Node, two: Node, log: Log) -> None:
    log.set_up()
    ana, bob = await race(one, two)
    await one.upkeep.repair()
    await two.upkeep.repair()
    for each in (one, two):
        assert each.metric("rooms", game="athena", phase="racing") == 1
    await until(lambda: two.metric("fan_out_lag_seconds_count"))
    await finish(ana, bob)

    await log.until("race_changed", phase="finished")
    await one.upkeep.sweep()
    await two.upkeep.sweep()
    changes = Counter(change for each in log.named("race_changed", room=ana.room) for change in each["changes"])
    assert [changes[each] for each in ("opened", "countdown", "racing", "finished", "closed")] == [1, 1, 1, 1, 0]
    await one.upkeep.repair()
    assert one.metric("rooms", game="athena", phase="racing") == 0
    assert one.metric("rooms", game="athena", phase="finished") == 1


async def test_metrics_reveal_nothing_about_players(one: Node) -> None:
    """Labels contain nothing that depends on a client, a room or a deal."""
    labels = series(one)
    ana, _ = await race(one)
    await ana.acts(5)
    await ana.socket.send(b"\xc1 not a message")
    await ana.refused("no_room", Join, room="nowhere")
    text = one.gateway.metrics.text().decode()
    for private in (ana.player, ana.session, ana.room, "ana", "127.0.0.1", "nowhere"):
        assert private not in text
    grown = {name for name, _ in series(one) - labels}
    assert grown <= {
        "samedeal_refusals_total",
        "samedeal_connections",
    }


def series(node: Node) -> set[tuple[str, str]]:
    node.gateway.update_gauges()
    return {
        (sample.name, str(sorted(sample.labels.items())))
        for family in text_string_to_metric_families(node.gateway.metrics.text().decode())
        for sample in family.samples
    }
