"""Tests of the metrics: their values, their names, and that they reveal neither cards nor players."""

from __future__ import annotations

import asyncio
import re

import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from samedeal.board_history import UNDO
from samedeal.protocol.messages import (
    Acked,
    Act,
    DelayedBoard,
    Done,
    Join,
    ListRooms,
    ProgressUpdate,
    Resign,
    Rooms,
    Start,
)
from samedeal_server.config.limits import Limits
from samedeal_server.errors import StoreRejected
from samedeal_server.store.redis_client import RedisCommand
from samedeal_server.telemetry.metrics import Metrics
from tests.server.client import DEADLINE, Client
from tests.server.live_nodes import Node, NodeMaker
from tests.server.own_redis import OwnRedis


async def becomes(node: Node, expected: float, name: str, **labels: str) -> None:
    """Wait for a metric that may be updated after the answer was sent."""
    async with asyncio.timeout(DEADLINE):
        while node.metric(name, **labels) != expected:  # noqa: ASYNC110  # a metric sets no event
            await asyncio.sleep(0.005)


async def race(*nodes: Node) -> list[Client]:
    clients = [await node.player(f"player{number}") for number, node in enumerate(nodes)]
    room = await clients[0].create(games=("athena",))
    for client in clients:
        await client.join(room)
    await clients[0].expect(Done, Start)
    for client in clients:
        await client.dealt()
    return clients


async def test_moves_are_counted_by_outcome(node: NodeMaker) -> None:
    one = await node()
    (ana,) = await race(one)
    await ana.act("draw")
    await ana.expect(Acked, Act, id=500, revision=1, action="draw")
    await ana.expect(Acked, Act, id=500, revision=1, action="draw")
    await ana.refused("illegal", Act, revision=2, action="1 1")
    await ana.refused("stale", Act, revision=0, action=UNDO)
    await ana.expect(Done, Resign)
    await ana.phase("finished")
    await ana.refused("not_racing", Act, revision=2, action="draw")
    outcomes = {"ok": 2, "repeated": 1, "illegal": 1, "stale": 1, "not_racing": 1, "fenced": 0, "time_up": 0}
    assert {outcome: one.metric("moves_total", outcome=outcome) for outcome in outcomes} == outcomes
    assert one.metric("refusals_total", code="illegal") == 1
    assert one.metric("requests_total", type="act") == 6
    assert one.metric("commit_batch_moves_count") == one.metric("commit_seconds_count") >= 2
    assert one.metric("commit_batch_moves_sum") == one.metric("commit_batch_moves_count")
    await becomes(one, 3, "ack_seconds_count")


async def test_simultaneous_moves_share_a_batch(node: NodeMaker) -> None:
    one = await node()
    clients = await race(*[one] * 8)
    for _ in range(5):
        await asyncio.gather(*(client.act("draw") for client in clients))
    assert one.metric("commit_batch_moves_sum") == 40
    assert one.metric("commit_batch_moves_count") < 40


async def test_connections_are_counted_by_kind_and_reason(node: NodeMaker) -> None:
    one = await node()
    ana, bob = await race(one, one)
    watcher, guest = await one.player("wat"), await one.player("guest")
    await watcher.watch(ana.room)

    def kinds() -> tuple[float, ...]:
        return tuple(one.metric("connections", kind=kind) for kind in ("racing", "watching", "lobby"))

    assert kinds() == (2, 1, 1)
    assert one.metric("rooms_followed") == 1
    await guest.close()
    await bob.abort()
    await becomes(one, 1, "connections_closed_total", reason="normal")
    await becomes(one, 1, "connections_closed_total", reason="lost")
    assert kinds() == (1, 1, 0)
    assert one.metric("connections_opened_total") == 4
    await one.gateway.drain()
    assert one.metric("connections_closed_total", reason="restart") == 2
    assert (kinds(), one.metric("rooms_followed"), one.metric("draining")) == ((0, 0, 0), 0, 1)


@pytest.mark.parametrize(
    ("limits", "reason"), [(Limits(connections=1), "full"), (Limits(connections_per_address=1), "address")]
)
async def test_rejected_connection_is_counted(node: NodeMaker, limits: Limits, reason: str) -> None:
    one = await node(limits)
    await one.player()
    with pytest.raises(InvalidStatus):
        await connect(one.url)
    assert one.metric("handshakes_refused_total", reason=reason) == 1
    assert one.metric("connections_opened_total") == 1


async def test_client_of_other_version_is_counted(node: NodeMaker) -> None:
    one = await node()
    await (await Client.connect(one.url, None)).closed()
    assert one.metric("handshakes_refused_total", reason="version") == 1


async def test_skipping_spectator_is_counted(node: NodeMaker) -> None:
    one = await node(Limits(rate=1e6, burst=1_000_000, late_backlog=0))
    ana, watcher = await one.player("ana"), await one.player("wat")
    await ana.join(await ana.create(games=("athena",), delay=0))
    await watcher.watch(ana.room)
    await ana.expect(Done, Start)
    await ana.dealt()
    await ana.acts(5)
    await watcher.until(DelayedBoard, lambda board: board.revision == 5)
    assert one.metric("spectators_skipped_total") >= 1


async def test_delayed_requests_are_counted(node: NodeMaker) -> None:
    one = await node(Limits(rate=100, burst=20))
    ana = await one.player()
    numbers = [await ana.send(ListRooms) for _ in range(5)]
    for number in numbers:
        await ana.answer(number)
    assert one.metric("throttled_total") >= 1


async def test_race_is_counted_by_one_node(node: NodeMaker) -> None:
    one, two = await node(), await node()
    ana, bob = await race(one, two)
    await one.upkeep.repair()
    await two.upkeep.repair()
    for each in (one, two):
        assert each.metric("rooms", game="athena", phase="racing") == 1
        assert each.metric("rooms_followed") == 1
    for client in (ana, bob):
        await client.expect(Done, Resign)
    for client in (ana, bob):
        await client.phase("finished")

    def changes(change: str) -> float:
        samples = (
            each.gateway.metrics.registry.get_sample_value("samedeal_races_total", {"game": "athena", "change": change})
            for each in (one, two)
        )
        return sum(sample or 0 for sample in samples)

    async with asyncio.timeout(DEADLINE):
        while not changes("finished"):  # noqa: ASYNC110  # a metric sets no event
            await asyncio.sleep(0.005)
    await one.upkeep.sweep()
    await two.upkeep.sweep()
    assert [changes(each) for each in ("opened", "countdown", "racing", "finished", "closed")] == [1, 1, 1, 1, 0]
    await one.upkeep.repair()
    assert one.metric("rooms", game="athena", phase="racing") == 0
    assert one.metric("rooms", game="athena", phase="finished") == 1


async def test_fan_out_lag_is_measured(node: NodeMaker) -> None:
    one, two = await node(), await node()
    ana, bob = await race(one, two)
    before = two.metric("fan_out_lag_seconds_count")
    await ana.act("draw")
    await bob.until(ProgressUpdate, lambda progress: progress.moves == 1)
    await becomes(two, before + 1, "fan_out_lag_seconds_count")


async def test_redis_up_follows_availability(node: NodeMaker, own_redis: OwnRedis) -> None:
    one = await node(redis=own_redis.url)
    ana = await one.player("ana")
    assert one.metric("redis_up") == 1
    assert one.metric("redis_seconds_count") > 0
    await own_redis.kill()
    await ana.refused("unavailable", ListRooms)
    assert one.metric("redis_up") == 0
    assert one.metric("redis_errors_total", kind="connect") >= 1
    await own_redis.start()
    async with asyncio.timeout(DEADLINE):
        while not isinstance(await ana.ask(ListRooms), Rooms):
            pass
    await becomes(one, 1, "redis_up")


async def test_rejected_command_does_not_mark_redis_down(node: NodeMaker, redis_url: str) -> None:
    one = await node()
    with pytest.raises(StoreRejected):
        await one.store.executor.execute(RedisCommand("", ("GET",)))
    assert one.metric("redis_errors_total", kind="refused") == 1
    assert one.metric("redis_up") == 1


async def test_event_loop_lag_is_measured(node: NodeMaker) -> None:
    one = await node()
    async with asyncio.timeout(DEADLINE):
        while not one.metric("event_loop_lag_seconds_count"):  # noqa: ASYNC110  # a metric sets no event
            await asyncio.sleep(0.02)


async def test_metrics_reveal_nothing_about_players(node: NodeMaker) -> None:
    """Labels contain nothing that depends on a client, a room or a deal."""
    one = await node()
    labels = series(one)
    ana, _ = await race(one, one)
    await ana.acts(5)
    await ana.socket.send(b"\xc1 not a message")
    await ana.refused("no_room", Join, room="nowhere")
    text = one.gateway.metrics.text().decode()
    for private in (ana.player, ana.session, ana.room, "player0", "127.0.0.1", "nowhere"):
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


def test_names_follow_prometheus_conventions() -> None:
    families = list(text_string_to_metric_families(Metrics().text().decode()))
    own = [family for family in families if family.name.startswith("samedeal_")]
    assert len(own) > 25
    assert {family.name.partition("_")[0] for family in families} == {"samedeal", "process", "python"}
    for family in own:
        assert re.fullmatch(r"samedeal_[a-z_]+", family.name)
        assert family.documentation.endswith((".", ")")), family.name
        assert len(family.documentation) > 20, family.name
        assert not any("milli" in name or "_ms" in name for name in (family.name, family.documentation))
        if family.type == "histogram":
            assert family.name.endswith(("_seconds", "_moves"))


def test_nodes_in_one_process_have_separate_metrics() -> None:
    one, two = Metrics(), Metrics()
    one.moves["ok"].inc()
    counted = [each.registry.get_sample_value("samedeal_moves_total", {"outcome": "ok"}) for each in (one, two)]
    assert counted == [1, 0]
