"""What a node counts of itself: in races, refusals and faults, and never anything that tells of cards or of who plays."""

from __future__ import annotations

import asyncio
import re

import pytest
from prometheus_client.parser import text_string_to_metric_families
from redis.exceptions import RedisError
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from samedeal.play import UNDO
from samedeal.protocol.messages import Acked, Act, Done, Join, LateBoard, ListRooms, Progress, Resign, Rooms, Start
from samedeal_server.limits import Limits
from samedeal_server.metrics import Metrics
from tests.server.client import DEADLINE, Client
from tests.server.conftest import Node, NodeMaker
from tests.server.test_faults import OwnRedis, own_redis

__all__ = ["own_redis"]  # a fixture


def value(node: Node, name: str, **labels: str) -> float:
    node.gateway.take_stock()
    found = node.gateway.metrics.registry.get_sample_value(f"samedeal_{name}", labels)
    assert found is not None, f"{name} {labels} is not there"
    return found


async def becomes(node: Node, expected: float, name: str, **labels: str) -> None:
    """What is counted after the answer is there is waited for."""
    async with asyncio.timeout(DEADLINE):
        while value(node, name, **labels) != expected:  # noqa: ASYNC110  # a count sets no event
            await asyncio.sleep(0.005)


async def race(*nodes: Node) -> list[Client]:
    clients = [await node.player(f"player{number}") for number, node in enumerate(nodes)]
    room = await clients[0].create(games=("athena",))
    for client in clients:
        await client.join(room)
    await clients[0].want(Done, Start)
    for client in clients:
        await client.dealt()
    return clients


async def test_moves_by_outcome(node: NodeMaker) -> None:
    one = await node()
    (ana,) = await race(one)
    await ana.act("draw")
    await ana.want(Acked, Act, id=500, revision=1, action="draw")
    await ana.want(Acked, Act, id=500, revision=1, action="draw")
    await ana.refused("illegal", Act, revision=2, action="1 1")
    await ana.refused("stale", Act, revision=0, action=UNDO)
    await ana.want(Done, Resign)
    await ana.phase("finished")
    await ana.refused("not_racing", Act, revision=2, action="draw")
    outcomes = {"ok": 2, "again": 1, "illegal": 1, "stale": 1, "not_racing": 1, "fenced": 0, "time_up": 0}
    assert {outcome: value(one, "moves_total", outcome=outcome) for outcome in outcomes} == outcomes
    assert value(one, "refusals_total", code="illegal") == 1
    assert value(one, "requests_total", type="act") == 6
    assert value(one, "commit_batch_moves_count") == value(one, "commit_seconds_count") >= 2
    assert value(one, "commit_batch_moves_sum") == value(one, "commit_batch_moves_count")
    await becomes(one, 3, "ack_seconds_count")


async def test_moves_that_come_together_travel_together(node: NodeMaker) -> None:
    one = await node()
    clients = await race(*[one] * 8)
    for _ in range(5):
        await asyncio.gather(*(client.act("draw") for client in clients))
    assert value(one, "commit_batch_moves_sum") == 40
    assert value(one, "commit_batch_moves_count") < 40


async def test_connections_by_kind_and_by_how_they_ended(node: NodeMaker) -> None:
    one = await node()
    ana, bob = await race(one, one)
    watcher, guest = await one.player("wat"), await one.player("guest")
    await watcher.watch(ana.room)

    def kinds() -> tuple[float, ...]:
        return tuple(value(one, "connections", kind=kind) for kind in ("racing", "watching", "lobby"))

    assert kinds() == (2, 1, 1)
    assert value(one, "rooms_followed") == 1
    await guest.close()
    await bob.cut()
    await becomes(one, 1, "connections_closed_total", why="normal")
    await becomes(one, 1, "connections_closed_total", why="lost")
    assert kinds() == (1, 1, 0)
    assert value(one, "connections_opened_total") == 4
    await one.gateway.drain()
    assert value(one, "connections_closed_total", why="restart") == 2
    assert (kinds(), value(one, "rooms_followed"), value(one, "draining")) == ((0, 0, 0), 0, 1)


@pytest.mark.parametrize(
    ("limits", "reason"), [(Limits(connections=1), "full"), (Limits(connections_per_address=1), "address")]
)
async def test_who_is_turned_away_is_counted(node: NodeMaker, limits: Limits, reason: str) -> None:
    one = await node(limits)
    await one.player()
    with pytest.raises(InvalidStatus):
        await connect(one.url)
    assert value(one, "handshakes_refused_total", reason=reason) == 1
    assert value(one, "connections_opened_total") == 1


async def test_a_client_of_another_version_is_counted(node: NodeMaker) -> None:
    one = await node()
    await (await Client.connect(one.url, None)).closed()
    assert value(one, "handshakes_refused_total", reason="version") == 1


async def test_a_spectator_who_skips_is_counted(node: NodeMaker) -> None:
    one = await node(Limits(rate=1e6, burst=1_000_000, late_backlog=0))
    ana, watcher = await one.player("ana"), await one.player("wat")
    await ana.join(await ana.create(games=("athena",), delay=0))
    await watcher.watch(ana.room)
    await ana.want(Done, Start)
    await ana.dealt()
    await ana.acts(5)
    await watcher.until(LateBoard, lambda board: board.revision == 5)
    assert value(one, "spectators_skipped_total") >= 1


async def test_requests_that_were_made_to_wait_are_counted(node: NodeMaker) -> None:
    one = await node(Limits(rate=100, burst=20))
    ana = await one.player()
    numbers = [await ana.send(ListRooms) for _ in range(5)]
    for number in numbers:
        await ana.answer(number)
    assert value(one, "throttled_total") >= 1


async def test_a_race_is_counted_once_by_all_nodes_together(node: NodeMaker) -> None:
    one, two = await node(), await node()
    ana, bob = await race(one, two)
    await one.rooms._repair()
    await two.rooms._repair()
    for each in (one, two):
        assert value(each, "rooms", game="athena", phase="racing") == 1
        assert value(each, "rooms_followed") == 1
    for client in (ana, bob):
        await client.want(Done, Resign)
    for client in (ana, bob):
        await client.phase("finished")

    def changes(change: str) -> float:
        samples = (
            each.gateway.metrics.registry.get_sample_value("samedeal_races_total", {"game": "athena", "change": change})
            for each in (one, two)
        )
        return sum(sample or 0 for sample in samples)

    async with asyncio.timeout(DEADLINE):
        while not changes("finished"):  # noqa: ASYNC110  # a count sets no event
            await asyncio.sleep(0.005)
    await one.rooms._sweep()
    await two.rooms._sweep()
    assert [changes(each) for each in ("opened", "countdown", "racing", "finished", "closed")] == [1, 1, 1, 1, 0]
    await one.rooms._repair()
    assert value(one, "rooms", game="athena", phase="racing") == 0
    assert value(one, "rooms", game="athena", phase="finished") == 1


async def test_how_late_events_are_told(node: NodeMaker) -> None:
    one, two = await node(), await node()
    ana, bob = await race(one, two)
    before = value(two, "fan_out_lag_seconds_count")
    await ana.act("draw")
    await bob.until(Progress, lambda progress: any(tally.moves == 1 for tally in progress.tallies))
    await becomes(two, before + 1, "fan_out_lag_seconds_count")


async def test_a_redis_that_is_away_and_comes_back(node: NodeMaker, own_redis: OwnRedis) -> None:
    one = await node(redis=own_redis.url)
    ana = await one.player("ana")
    assert value(one, "redis_up") == 1
    assert value(one, "redis_seconds_count") > 0
    await own_redis.kill()
    await ana.refused("unavailable", ListRooms)
    assert value(one, "redis_up") == 0
    assert value(one, "redis_errors_total", kind="connect") >= 1
    await own_redis.start()
    async with asyncio.timeout(DEADLINE):
        while not isinstance(await ana.ask(ListRooms), Rooms):
            pass
    await becomes(one, 1, "redis_up")


async def test_a_redis_that_refuses_is_counted_and_not_away(node: NodeMaker, redis_url: str) -> None:
    one = await node()
    with pytest.raises(RedisError):
        await one.store.redis.execute_command("GET")
    assert value(one, "redis_errors_total", kind="refused") == 1
    assert value(one, "redis_up") == 1


async def test_the_event_loop_is_watched(node: NodeMaker) -> None:
    one = await node()
    async with asyncio.timeout(DEADLINE):
        while not value(one, "event_loop_lag_seconds_count"):  # noqa: ASYNC110  # a count sets no event
            await asyncio.sleep(0.02)


# ---------------------------------------------------------------- what must not be told


async def test_no_metric_tells_who_plays_where_or_what(node: NodeMaker) -> None:
    """Invariant 3: labels are words of the code; nothing of a client, a room or a deal is in them."""
    one = await node()
    labels = series(one)
    ana, _ = await race(one, one)
    await ana.acts(5)
    await ana.socket.send(b"\xc1 not a message")
    await ana.refused("no_room", Join, room="nowhere")
    text = one.gateway.metrics.text().decode()
    for told in (ana.player, ana.session, ana.room, "player0", "127.0.0.1", "nowhere"):
        assert told not in text
    grown = {name for name, _ in series(one) - labels}
    assert grown <= {
        "samedeal_requests_total",
        "samedeal_refusals_total",
        "samedeal_races_total",
        "samedeal_connections",
    }


def series(node: Node) -> set[tuple[str, str]]:
    node.gateway.take_stock()
    return {
        (sample.name, str(sorted(sample.labels.items())))
        for family in text_string_to_metric_families(node.gateway.metrics.text().decode())
        for sample in family.samples
    }


# ---------------------------------------------------------------- names


def test_every_metric_is_named_and_told_of_as_prometheus_wishes() -> None:
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


def test_nodes_of_one_process_count_apart() -> None:
    one, two = Metrics(), Metrics()
    one.moves["ok"].inc()
    counted = [each.registry.get_sample_value("samedeal_moves_total", {"outcome": "ok"}) for each in (one, two)]
    assert counted == [1, 0]
