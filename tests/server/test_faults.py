"""What breaks, and what it costs: Redis away, killed or emptied, words lost on the way, clocks that are wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import RedisError

from samedeal.protocol.messages import (
    Acked,
    Act,
    Created,
    Done,
    Join,
    ListRooms,
    Progress,
    Ready,
    Rematch,
    Resign,
    Rooms,
    RoomState,
    Start,
)
from samedeal_server.race import Race
from samedeal_server.redis_binary import find_redis_binary
from samedeal_server.store import keys
from samedeal_server.store.connect import connect
from samedeal_server.store.events import Numbered
from samedeal_server.store.redis import Snapshot, Store
from tests.server.client import DEADLINE, Client
from tests.server.conftest import Node, NodeMaker


class OwnRedis:
    """A Redis that a test may kill and start again on its data."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.socket = directory / "r.sock"
        self.url = f"unix://{self.socket}"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it, each write on disk before it is answered, and wait until it answers."""
        options = ["--port", "0", "--unixsocket", str(self.socket), "--dir", str(self.directory), "--save", ""]
        options += ["--appendonly", "yes", "--appendfsync", "always"]
        binary = str(find_redis_binary().path)
        self._process = await asyncio.create_subprocess_exec(binary, *options, stdout=asyncio.subprocess.DEVNULL)
        async with asyncio.timeout(DEADLINE), connect(self.url) as redis:
            while True:
                try:
                    await Store(redis).now()
                except (RedisError, OSError):
                    await asyncio.sleep(0.01)
                else:
                    return

    async def kill(self) -> None:
        """End it at once, whatever it is doing."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()


@pytest.fixture
async def own_redis(tmp_path: Path) -> AsyncIterator[OwnRedis]:
    redis = OwnRedis(tmp_path)
    try:
        await redis.start()
        yield redis
    finally:
        await redis.kill()


async def race(one: Node, two: Node | None = None) -> tuple[Client, Client]:
    """Two who race in a new room of Athena and have the board."""
    ana, bob = await one.player("ana"), await (two or one).player("bob")
    room = await ana.create(games=("athena",))
    await ana.join(room)
    await bob.join(room)
    await ana.want(Done, Start)
    await ana.dealt()
    await bob.dealt()
    return ana, bob


# ---------------------------------------------------------------- Redis away, killed, emptied


async def test_a_redis_that_is_killed_and_started_again_has_lost_nothing(node: NodeMaker, own_redis: OwnRedis) -> None:
    """Invariant 2: what was acked is on disk; until Redis is back, moves are refused, and not lost."""
    one = await node(redis=own_redis.url)
    ana, bob = await race(one)
    acked = await ana.acts(10)
    await own_redis.kill()
    refusal = await ana.refused("unavailable", Act, id=500, revision=10, action="draw")
    assert refusal.retry_after > 0
    for kind in (ListRooms, Ready):
        await bob.refused("unavailable", kind)
    await own_redis.start()
    again = await ana.want(Acked, Act, id=500, revision=10, action="draw")
    assert (again.revision, again.moves) == (11, 11)
    log = await one.store.log(ana.room, ana.player)
    assert [entry.seen for entry in log] == [*(each.seen for each in acked), again.seen]
    ana.apply("draw", again)
    await ana.acts(3)
    await bob.until(Progress, lambda progress: any(tally.moves == 14 for tally in progress.tallies))


async def test_a_node_hears_again_when_redis_is_back(node: NodeMaker, own_redis: OwnRedis) -> None:
    one, two = await node(redis=own_redis.url), await node(redis=own_redis.url)
    ana, bob = await race(one, two)
    await own_redis.kill()
    await own_redis.start()
    await until_answered(ana)
    await ana.acts(3)
    await bob.until(Progress, lambda progress: any(tally.moves == 3 for tally in progress.tallies))


async def until_answered(client: Client) -> None:
    """Wait until a node has found its Redis again."""
    async with asyncio.timeout(DEADLINE):
        while not isinstance(await client.ask(ListRooms), Rooms):
            pass


async def test_a_redis_that_has_lost_everything_ends_the_race_and_says_so(node: NodeMaker) -> None:
    one = await node()
    ana, bob = await race(one)
    await ana.acts(3)
    await one.store.redis.flushall()
    await ana.refused("no_room", Act, revision=3, action="draw")
    await ana.refused("no_room", Resign)
    await one.rooms._refresh()
    for client in (ana, bob):
        await client.phase("closed")
        await client.refused("no_seat", Ready)
    assert not one.rooms.hubs
    assert [key async for key in one.store.redis.scan_iter(match="*{*")] == []


# ---------------------------------------------------------------- words lost on the way


async def test_what_was_not_announced_is_found_by_looking(node: NodeMaker) -> None:
    deaf, other = await node(), await node()
    ana, bob = await race(deaf, other)
    await deaf.deafen()
    await bob.acts(4)
    await bob.want(Done, Resign)
    await deaf.rooms._refresh()
    state = await ana.state(lambda state: any(seat.out for seat in state.players))
    assert state.tallies[1].moves == 4


async def test_news_that_never_comes_is_looked_for(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samedeal_server.rooms._LOOK_EVERY", 0.2)
    one, two = await node(), await node()
    ana, bob = await race(one, two)
    monkeypatch.setattr(one.rooms.hubs[ana.room], "announced", lambda numbered: None)
    await bob.acts(2)
    await ana.until(Progress, lambda progress: any(tally.moves == 2 for tally in progress.tallies))


async def test_a_gap_is_seen_and_read(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = await node(), await node()
    ana, bob = await race(one, two)
    hub = one.rooms.hubs[ana.room]
    announced = hub.announced
    lost: list[Numbered] = []
    monkeypatch.setattr(hub, "announced", lost.append)
    await bob.acts(5)
    monkeypatch.setattr(hub, "announced", announced)
    await bob.act("draw")
    told = await ana.until(Progress, lambda progress: any(tally.moves == 6 for tally in progress.tallies))
    assert told.tallies
    assert lost


async def test_a_gap_that_could_not_be_read_is_read_a_moment_later(
    node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = await node(), await node()
    ana, bob = await race(one, two)
    hub = one.rooms.hubs[ana.room]
    kept = await one.store.events(ana.room, 0)
    assert kept is not None
    hub.event = kept[-1].after  # as though the last event had not come
    failed = fail_once(monkeypatch, one.store, "events")
    await bob.act("draw")
    await ana.until(Progress, lambda progress: any(tally.moves == 1 for tally in progress.tallies))
    assert failed.is_set()


async def test_a_board_that_could_not_be_dealt_is_dealt_a_moment_later(
    node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await node()
    ana = await one.player("ana")
    await ana.join(await ana.create(countdown=1))
    await ana.want(Done, Start)
    failed = fail_once(monkeypatch, one.rooms.hubs[ana.room], "dealt")
    await ana.dealt()
    assert failed.is_set()


def fail_once(monkeypatch: pytest.MonkeyPatch, thing: object, name: str) -> asyncio.Event:
    """Have a method fail when it is next called, as it does when Redis is away."""
    method, failed = getattr(thing, name), asyncio.Event()

    async def failing(*arguments: Any) -> Any:
        if not failed.is_set():
            failed.set()
            raise LostConnection("Redis is away")
        return await method(*arguments)

    monkeypatch.setattr(thing, name, failing)
    return failed


async def test_who_missed_more_than_is_kept_gets_it_whole(node: NodeMaker) -> None:
    deaf, other = await node(), await node()
    ana, bob = await race(deaf, other)
    watcher = await deaf.player("wat")
    await watcher.watch(ana.room)
    await watcher.phase("racing")
    await deaf.deafen()
    await bob.acts(9)
    await deaf.store.redis.xtrim(keys.events(ana.room), maxlen=2, approximate=False)
    await deaf.rooms._refresh()
    for client in (ana, watcher):
        assert (await client.state(lambda state: any(tally.moves == 9 for tally in state.tallies))).phase == "racing"
    await ana.act("draw")


async def test_an_event_that_cannot_be_read_ends_nothing(node: NodeMaker) -> None:
    one, two = await node(), await node()
    ana, bob = await race(one, two)
    await one.store.redis.publish(keys.channel(ana.room), b"nonsense")
    await bob.acts(2)
    await ana.until(Progress, lambda progress: any(tally.moves == 2 for tally in progress.tallies))
    assert not any(task.done() for task in one.running)


async def test_a_change_whose_answer_was_lost_and_that_was_asked_again_is_ones_own(
    node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await node()
    ana = await one.player("ana")
    room = await ana.create(countdown=60)
    await ana.join(room)
    settle = one.store.settle

    async def twice(before: Snapshot, race: Race, what: tuple[str, ...], by: str) -> bool:
        await settle(before, race, what, by)
        return await settle(before, race, what, by)

    monkeypatch.setattr(one.store, "settle", twice)
    await ana.want(Done, Start)
    await ana.phase("countdown")


# ---------------------------------------------------------------- clocks


@pytest.mark.parametrize("wrong", [-3_600_000, 3_600_000])
async def test_a_node_s_own_clock_decides_nothing(node: NodeMaker, wrong: int) -> None:
    """Invariant 10: one clock."""
    one, two = await node(), await node()
    two.rooms.clock._offset += wrong
    bob, ana = await two.player("bob"), await one.player("ana")
    room = await bob.create(games=("athena",), countdown=1, limit=60)
    await bob.join(room)
    await ana.join(room)
    before = await one.store.now()
    await bob.want(Done, Start)
    counting = await bob.phase("countdown")
    assert before + 1000 <= counting.starts <= await one.store.now() + 1000
    assert counting.ends == counting.starts + 60_000
    if wrong > 0:
        await two.rooms.tick(room)
        await two.rooms._sweep()
    await bob.refused("not_racing", Act, revision=0, action="draw")
    await bob.dealt()
    assert await one.store.now() >= counting.starts
    acked = await bob.act("draw")
    assert acked.moves == 1
    told = await ana.until(Progress, lambda progress: any(tally.moves == 1 for tally in progress.tallies))
    (tally,) = [tally for tally in told.tallies if tally.moves == 1]
    assert counting.starts <= tally.active <= await one.store.now()


# ---------------------------------------------------------------- nothing is left


async def test_a_node_keeps_nothing_of_those_who_are_gone(node: NodeMaker) -> None:
    """Invariant 9: everything is bounded."""
    one = await node()
    clients = [await one.player(f"p{number}") for number in range(6)]
    room = await clients[0].create(players=3, delay=0)
    for client in clients[:3]:
        await client.join(room)
    for client in clients[3:]:
        await client.watch(room)
    await clients[5].refused("no_room", Join, room="nowhere")
    again = await one.player("p0", clients[0].session)
    await again.join(room)
    for client in clients[1:4]:
        await client.cut()
    for client in [again, *clients[4:]]:
        await client.close()
    if one.gateway._serving:
        await asyncio.wait(one.gateway._serving, timeout=DEADLINE)
    rooms = one.rooms
    assert (rooms.hubs, rooms._guests, rooms._opening, rooms._subscribed) == ({}, {}, {}, set())
    assert (one.gateway.connections, one.gateway.door._inside) == (set(), {})
    snapshot = await one.store.load(room)
    assert snapshot is not None
    assert [run.here < 0 for run in snapshot.runs.values()] == [True, True, True]


async def test_a_room_that_everybody_leaves_while_it_is_looked_at_has_no_timer_left(
    node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = await node(), await node()
    ana, bob = await race(one, two)
    hub = one.rooms.hubs[ana.room]
    await one.deafen()
    await bob.want(Done, Resign)
    looked, gone = asyncio.Event(), asyncio.Event()
    read = one.store.events

    async def slowly(room: str, after: int) -> list[Numbered] | None:
        found = await read(room, after)
        looked.set()
        await gone.wait()
        return found

    monkeypatch.setattr(one.store, "events", slowly)
    looking = asyncio.create_task(hub.pull())
    await looked.wait()
    await ana.close()
    await asyncio.wait(one.gateway._serving, timeout=DEADLINE)
    gone.set()
    await looking
    assert hub.race.racer(bob.player).out  # type: ignore[union-attr]  # bob is in it
    timers = (hub._timer, hub._flush, hub._show)
    assert all(timer is None or timer.cancelled() for timer in timers)


async def test_a_closed_room_sends_everybody_out_and_its_code_is_free(node: NodeMaker) -> None:
    one, two = await node(), await node()
    ana, bob, wat = await one.player("ana"), await two.player("bob"), await two.player("wat")
    room = await ana.create("friday")
    await ana.join(room)
    await bob.join(room)
    await wat.watch(room)
    before = await one.store.load(room)
    assert before is not None
    assert await one.store.settle(before, replace(before.race, phase="closed"), ("closed",), "")
    for client in (ana, bob, wat):
        await client.phase("closed")
        await client.refused("no_seat", Ready)
    assert not one.rooms.hubs
    assert not two.rooms.hubs
    await ana.refused("room_closed", Join, room=room)
    assert [line.room for line in (await ana.want(Rooms, ListRooms)).rooms] == []
    await one.store.redis.delete(keys.meta(room), keys.secret(room))  # as its minute's end does
    await ana.create("friday", games=("steve",))
    bob.inbox.clear()
    await bob.join("friday")
    assert (await bob.state()).game == "steve"


# ---------------------------------------------------------------- many at once


async def test_seats_are_given_once_whoever_asks_at_once(node: NodeMaker) -> None:
    one, two = await node(), await node()
    clients = [await each.player(f"p{number}") for number, each in enumerate((one, two) * 5)]
    room = await clients[0].create(players=8)
    answers = await asyncio.gather(*(client.ask(Join, room=room) for client in clients))
    seats = sorted(answer.seat for answer in answers if not hasattr(answer, "code"))  # type: ignore[union-attr]  # Joined
    assert seats == list(range(1, 9))
    assert [answer.code for answer in answers if hasattr(answer, "code")] == ["room_full"] * 2


async def test_all_who_ask_for_a_rematch_at_once_get_the_same_room(node: NodeMaker) -> None:
    one, two = await node(), await node()
    ana, bob = await one.player("ana"), await two.player("bob")
    room = await ana.create("friday", games=("athena", "steve"), deal="#4821", passphrase="sesam")
    for client in (ana, bob):
        await client.join(room, passphrase="sesam")
    await ana.want(Done, Start)
    await bob.phase("racing")
    await ana.refused("not_over", Rematch)
    for client in (ana, bob):
        await client.want(Done, Resign)
    await bob.phase("finished")
    answers = await asyncio.gather(*(client.ask(Rematch) for client in (ana, bob)))
    assert {answer.room for answer in answers if isinstance(answer, Created)} == {"friday-2"}
    assert (await bob.state(lambda state: state.next != "")).next == "friday-2"
    cid = await one.player("cid")
    await cid.refused("bad_passphrase", Join, room="friday-2")
    await ana.join("friday-2", passphrase="sesam")
    state = await ana.until(RoomState, lambda state: state.room == "friday-2")
    assert (state.game, state.deal, state.private, state.phase) == ("steve", "#4822", True, "open")


@pytest.mark.parametrize("early", [True, False])
async def test_a_rematch_is_never_in_a_stranger_s_room(node: NodeMaker, early: bool) -> None:
    one = await node()
    ana, eve = await one.player("ana"), await one.player("eve")
    room = await ana.create("friday")
    if early:
        await eve.create("friday-2", games=("steve",))
    await ana.join(room)
    await ana.want(Done, Start)
    await ana.phase("racing")
    await ana.want(Done, Resign)
    await ana.phase("finished")
    if not early:
        await eve.create("friday-2", games=("steve",))
    second = (await ana.want(Created, Rematch)).room
    assert second != "friday-2"
    await ana.join(second)
    assert (await ana.until(RoomState, lambda state: state.room == second)).game == "willow"
