"""Requests of players over a connection, and connections that misbehave."""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from typing import Any, Final, get_args
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed

from samedeal.games import GAMES, offer
from samedeal.options import Options
from samedeal.protocol.codec import encode, pack
from samedeal.protocol.messages import (
    Create,
    Created,
    Done,
    Hello,
    Join,
    Leave,
    ListRooms,
    Ping,
    Pong,
    RaceNow,
    Rematch,
    Rooms,
    Start,
    ToServer,
)
from samedeal.protocol.messages import Refused as Refusal
from samedeal.protocol_codes import CloseCode
from samedeal.race.commands import KickCommand
from samedeal.terminal_text import printable
from samedeal_server.config import token_buckets
from samedeal_server.config.config import LogStyle
from samedeal_server.config.limits import Limits
from samedeal_server.rooms.race_now import LONGEST_WAIT
from samedeal_server.rooms.room_list import room_lines
from samedeal_server.store import keys
from tests.golden.golden_files import assert_answered, values_on
from tests.server.captured_log import Log
from tests.server.client import DEADLINE, Client
from tests.server.live_nodes import Node, NodeMaker, RedisClient
from tests.server.races import finish, race, seated
from tests.shared.sixth_game import HAMLET_FILE


async def test_ping_before_hello_returns_the_time_of_redis(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant: one clock, that of Redis. It may be an hour ahead of the node's."""
    now = one.store.now

    async def in_an_hour() -> int:
        return await now() + 3_600_000

    monkeypatch.setattr(one.store, "now", in_an_hour)
    await one.rooms.clock.sync()
    client = await Client.connect(one.url)
    pong = await client.expect(Pong, Ping)
    assert -1 <= await one.store.now() - pong.time < 60_000


async def test_refused_hello_does_not_stop_the_timeout(node: NodeMaker) -> None:
    one = await node(Limits(hello_timeout=0.3))
    ana = await Client.connect(one.url)
    await ana.refused("malformed", Hello, name="")
    assert await ana.closed() == CloseCode.SILENT


def packed(**fields: Any) -> bytes:
    return pack(fields)


def named(name: str) -> bytes:
    return packed(type="hello", id=7, name=name)


async def test_bad_frames_are_refused_and_play_goes_on(one: Node) -> None:
    """Invariant: every refused request gets an answer. ``test_codec`` has bad frames of all kinds."""
    frames = values_on("bad_frames", {"packed": packed, "named": named})
    ana, new = await one.player(), await Client.connect(one.url)

    async def answer(heading: str, question: str) -> str:
        client = new if heading == "names" else ana
        await client.socket.send(frames[question])
        refusal = await client.until(Refusal)
        assert (refusal.revision, refusal.retry_after) == (-1, 0)
        assert 10 < len(refusal.message) < 400
        assert printable(refusal.message) == refusal.message
        await client.expect(Pong, Ping)
        return f"to {refusal.to}, {refusal.code}: {refusal.message}".replace(", ".join(GAMES), "all games")

    await assert_answered("bad_frames", answer)


async def test_too_many_bad_frames_close_the_connection(node: NodeMaker) -> None:
    """Invariant: everything is bounded."""
    one = await node(Limits(bad_frames=5))
    client = await one.player()
    for _ in range(6):
        await client.socket.send(b"\xc1")
    assert await client.closed() == CloseCode.BAD_FRAMES
    assert len([message for message in client.inbox if isinstance(message, Refusal)]) == 6


INVALID_REQUESTS: Final = (packed(type="fly", id=7), packed(type="create", id=7, options={"speed": 2}))


async def test_requests_of_a_newer_client_close_no_connection(node: NodeMaker) -> None:
    one = await node(Limits(bad_frames=5))
    ana = await one.player()
    for _ in range(20):
        for frame in INVALID_REQUESTS:
            await ana.socket.send(frame)
    await ana.expect(Pong, Ping)
    assert len([message for message in ana.inbox if isinstance(message, Refusal)]) == 40


async def test_invalid_requests_are_charged(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_buckets, "BURST", 0.0)
    for frame in INVALID_REQUESTS:
        one = await node(Limits(address_rate=1, address_burst=100, refusals=5))
        ana = await one.player()
        for _ in range(120):
            await ana.socket.send(frame)
        assert await ana.closed() == CloseCode.FLOOD


async def test_other_protocol_version_is_closed_with_a_code(one: Node) -> None:
    for count, protocols in enumerate(((), ("samedeal.v2",), ("chat",)), 1):
        client = await Client.connect(one.url, protocols)
        assert await client.closed() == CloseCode.VERSION
        assert one.metric("handshakes_refused_total", reason="version") == count
        assert "samedeal.v1" in str(client.socket.close_reason)


async def test_client_that_does_not_read_is_disconnected(node: NodeMaker) -> None:
    """Invariant: everything is bounded. No client slows another one down. All buffers are small, the answers long."""
    one = await node(Limits(rate=1e6, burst=1_000_000, backlog=50))
    ana = await one.player()
    for number in range(20):
        await ana.create(f"room-{number}")
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.setblocking(False)
    await asyncio.get_running_loop().sock_connect(plain, ("127.0.0.1", urlsplit(one.url).port))
    slow = await Client.connect(one.url, max_queue=1, sock=plain)
    slow.stop_reading()
    await slow.socket.send(encode(Hello(id=0, name="slow")))
    await ana.expect(Pong, Ping)
    (there,) = [each for each in one.gateway.connections if each.player != ana.player]
    there.socket.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    number = 0
    async with asyncio.timeout(DEADLINE):
        while not there.closing:
            number += 1
            await slow.socket.send(encode(ListRooms(id=number)))
            if number % 20 == 0:
                await ana.expect(Pong, Ping)
            assert there.waiting <= 50
        with pytest.raises(ConnectionClosed):
            async for _ in slow.socket:
                pass
    assert slow.socket.close_code == CloseCode.SLOW
    await one.becomes("connections_closed_total", 1, reason="slow")


async def test_draining_node_opens_no_rooms(one: Node) -> None:
    ana = await one.player("ana")
    one.rooms.draining = True
    await ana.refused("draining", Create, options=Options())
    assert not await one.store.index.count()


async def test_requests_are_refused_with_a_code(node: NodeMaker) -> None:
    """Ana has the only seat of friday, which nobody may watch. Bob watches sunday, as the only one who may."""
    one = await node(Limits(rooms=3, spectators_per_room=1))
    (ana,) = await seated(one, names=["ana"], room="friday", players=1, spectators=False)
    bob, cid = await one.player("bob"), await one.player("cid")
    await bob.watch(await ana.create("sunday"))
    offer({"hamlet": HAMLET_FILE.replace("\n[[", "\nwins = 0.01\n[[", 1)})
    clients = {"a new connection": await Client.connect(one.url), "ana": ana, "bob": bob, "cid": cid}
    requests: dict[str, Any] = {kind.__name__: partial(dict, kind=kind) for kind in get_args(ToServer)}
    given = values_on("gateway_refusals", requests, {"Options": Options, "now": await one.store.now()})

    async def answer(who: str, question: str) -> str:
        answered = await clients[who].ask(**given[question])
        return getattr(answered, "code", type(answered).__name__)

    await assert_answered("gateway_refusals", answer)


async def test_player_kicked_while_joining_gets_no_seat(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    (ana,), bob = await seated(one, names=["ana"]), await one.player("bob")
    connect_player = one.store.connect_player

    async def kicked_meanwhile(room: str, player: str) -> int:
        generation = await connect_player(room, player)
        await one.rooms.command(room, KickCommand(player), "")
        return generation

    monkeypatch.setattr(one.store, "connect_player", kicked_meanwhile)
    await bob.refused("kicked", Join, room=ana.room)
    assert bob.player not in one.rooms.hubs[ana.room].audience.seats


async def test_kicked_player_is_not_back_from_the_same_address(node: NodeMaker) -> None:
    """Neither in the rematch. Race now sends them elsewhere."""
    one = await node(trusted_proxies=("127.0.0.1",))
    ana, mal, again = [
        await Client.hello(one.url, name, additional_headers={"X-Forwarded-For": f"203.0.113.{number}"})
        for name, number in (("ana", 1), ("mal", 2), ("another", 2))
    ]
    start_at = await one.store.now() + LONGEST_WAIT
    for room, options in (("friday", {"deal": "#1"}), ("soon", {"start": "at", "start_at": start_at, "countdown": 1})):
        await ana.create(room, **options)
        await ana.join(room)
        await mal.join(room)
        await one.rooms.command(room, KickCommand(mal.player, ana.player), "")
        await again.refused("kicked", Join, room=room)
    assert (await again.expect(Created, RaceNow, game="willow")).room != "soon"
    await ana.join("friday")
    await ana.expect(Done, Start)
    await finish(ana)
    await again.refused("kicked", Join, room=(await ana.expect(Created, Rematch)).room)


async def test_rematch_on_a_full_server_is_refused(node: NodeMaker) -> None:
    one = await node(Limits(rooms=1))
    ana, bob = await race(one)
    await finish(ana, bob)
    await ana.refused("server_full", Rematch)


async def test_stale_node_asks_for_the_passphrase_of_a_new_room(redis: RedisClient, one: Node, two: Node) -> None:
    """A node that missed the end of a room must not admit the old room's players to a private room with its code."""
    (ana,), bob = await seated(one, names=["ana"], room="friday"), await two.player("bob")
    await one.stop_tasks()
    await redis.delete(keys.meta("friday"), keys.events("friday"), keys.progress("friday", ana.player))
    await bob.create("friday", passphrase="sesam")
    await ana.refused("bad_passphrase", Join, room="friday")
    assert not (await two.rooms.load("friday")).race.racers
    await ana.join("friday", passphrase="sesam")


async def test_stale_node_asks_for_the_passphrase_of_a_lost_seat(one: Node, two: Node) -> None:
    _, old = await seated(one, names=("ana", "old"), room="friday", passphrase="sesam")
    await one.stop_tasks()
    new = await two.player("old", old.session)
    await new.join("friday")
    await new.expect(Done, Leave)
    await old.refused("bad_passphrase", Join, room="friday")


async def test_private_rooms_are_not_listed(one: Node) -> None:
    """They take no place in the index for lists either. Their players are not shown the difference."""
    ana = await one.player()
    for room, passphrase in (("public", ""), ("secret", "sesam")):
        await ana.create(room, passphrase, deal="#7", players=3)
        await ana.join(room, passphrase=passphrase)
    assert [line.room for line in await one.store.index.listed(10)] == ["public"]  # a list would remove others
    (line,) = (await ana.expect(Rooms, ListRooms)).rooms
    assert (line.room, line.deal, line.phase, line.starts) == ("public", "#7", "open", 0)
    assert (line.players, line.seats, line.spectators) == (1, 3, True)
    lines = await room_lines(one.store, ["public", "secret", "gone"])
    assert lines["secret"] is lines["gone"] is None


async def test_rooms_are_listed_with_filters(one: Node) -> None:
    """A race that nobody may watch is listed until it starts."""
    ana, bob = await one.player("ana"), await one.player("bob")
    for room, game, spectators, bots in (
        ("friday", "athena", False, True),
        ("sunday", "athena", True, True),
        ("hidden", "athena", False, True),
        ("monday", "willow", True, False),
    ):
        await ana.create(room, games=(game,), spectators=spectators, bots=bots)
    for room in ("hidden", "sunday"):
        await bob.join(room)
        await bob.expect(Done, Start)
        await bob.dealt()
    for wanted, rooms in (
        ({}, ["sunday", "monday", "friday"]),
        ({"game": "athena"}, ["sunday", "friday"]),
        ({"open": True}, ["monday", "friday"]),
        ({"game": "athena", "open": True}, ["friday"]),
        ({"bots": True}, ["sunday", "friday"]),
        ({"open": True, "bots": True}, ["friday"]),
        ({"game": "steve"}, []),
    ):
        assert [line.room for line in (await ana.expect(Rooms, ListRooms, **wanted)).rooms] == rooms
    await ana.refused("unknown_game", ListRooms, game="hamlet")


@pytest.mark.parametrize("style", ["json", "pretty"])
async def test_fault_is_reported_and_logged_without_secrets(
    one: Node, monkeypatch: pytest.MonkeyPatch, log: Log, style: LogStyle
) -> None:
    """No log line contains a seed, a token or a passphrase, not even that of a fault."""
    log.set_up("debug", style)
    (ana,), bob = await seated(one, names=["ana"], passphrase="sesam-oeffne-dich"), await one.player("bob")
    seed = (await one.secret(ana.room)).deal.seed

    async def mistaken(*_: object, seed: bytes = seed) -> None:
        raise ValueError("a mistake")

    monkeypatch.setattr(one.rooms.creator, "check_passphrase", mistaken)
    await bob.send(Join, room=ana.room, passphrase="sesam-oeffne-dich")
    refusal = await bob.until(Refusal)
    assert (refusal.to, refusal.code) == (-1, "fault")
    assert await bob.closed() == CloseCode.RESTART
    await ana.expect(Pong, Ping)
    lines = log.read()
    assert "a mistake" in lines
    secrets = (seed.hex(), repr(seed)[2:-1][:12], ana.session, bob.session, "sesam-oeffne-dich")
    assert not [secret for secret in secrets if secret in lines]
