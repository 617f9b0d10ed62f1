"""Tests of the metrics: their values, their names, and that they reveal neither cards nor players."""

from __future__ import annotations

from typing import get_type_hints

from prometheus_client.parser import text_string_to_metric_families

from samedeal.board_history import UNDO
from samedeal.protocol.messages import Acked, Act, Join
from samedeal_server.telemetry.metrics import _ROWS, Metrics
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
    assert one.metric("requests_total", type="act") == 6
    assert one.metric("commit_batch_moves_count") == one.metric("commit_seconds_count") >= 2
    assert one.metric("commit_batch_moves_sum") == one.metric("commit_batch_moves_count")
    await one.becomes("ack_seconds_count", 3)


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
        "samedeal_requests_total",
        "samedeal_refusals_total",
        "samedeal_races_total",
        "samedeal_connections",
    }


def series(node: Node) -> set[tuple[str, str]]:
    node.gateway.update_gauges()
    return {
        (sample.name, str(sorted(sample.labels.items())))
        for family in text_string_to_metric_families(node.gateway.metrics.text().decode())
        for sample in family.samples
    }
