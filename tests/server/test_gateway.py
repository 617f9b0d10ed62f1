"""What a connection may say, what it is answered, and what is done about one that says anything else."""

from __future__ import annotations

import asyncio
import dataclasses
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import structlog
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from samedeal.names import printable
from samedeal.options import Options
from samedeal.protocol.codec import LARGEST_FRAME, encode, pack
from samedeal.protocol.messages import (
    Act,
    Close,
    Create,
    Done,
    Held,
    Hello,
    Join,
    Leave,
    ListRooms,
    Notice,
    Ping,
    Pong,
    Ready,
    Recover,
    Rematch,
    Resign,
    Rooms,
    Start,
    Watch,
    Welcome,
)
from samedeal.protocol.messages import Refused as Refusal
from samedeal_server import logs
from samedeal_server.config import Config, LogStyle
from samedeal_server.limits import Limits
from tests.server.client import DEADLINE, Client
from tests.server.conftest import PLENTY, Node, NodeMaker

# ---------------------------------------------------------------- hello


async def test_a_hello_is_welcomed_with_a_session_that_is_good_for_the_next_one(node: NodeMaker) -> None:
    one = await node()
    client = await Client.connect(one.url)
    welcome = await client.want(Welcome, Hello, name="  Ana  B ", client="test")
    assert welcome.name == "Ana B"
    assert len(welcome.session) >= 40
    assert welcome.player
    assert welcome.server.startswith("samedeal ")
    assert abs(welcome.time - await one.store.now()) < 2000
    again = await one.player("other", welcome.session)
    assert (again.player, again.session) == (welcome.player, welcome.session)
    assert (await one.player()).player != welcome.player


async def test_a_hello_with_an_unknown_session_is_refused_and_may_be_said_again(node: NodeMaker) -> None:
    client = await Client.connect((await node()).url)
    await client.refused("no_session", Hello, name="ana", session="x" * 43)
    await client.want(Welcome, Hello, name="ana")
    await client.refused("hello_once", Hello, name="ana")


@pytest.mark.parametrize(
    "name",
    ["", "   ", "a" * 21, "ＡＢＣＤＥＦＧＨＩＪＫ", "a\x07b", "a\nb", "\x1b[31m", "a\u202eb", "a\u200bb", "\ud7c0"],
)
async def test_a_name_that_would_not_do_on_a_terminal_is_refused(node: NodeMaker, name: str) -> None:
    client = await Client.connect((await node()).url)
    refusal = await client.refused("malformed", Hello, name=name)
    assert refusal.message.startswith("A name can't")
    assert refusal.message.isprintable()


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (ListRooms, {}),
        (Create, {"options": Options()}),
        (Join, {"room": "friday"}),
        (Watch, {"room": "friday"}),
        (Leave, {}),
        (Ready, {}),
        (Start, {}),
        (Act, {"revision": 0, "action": "draw"}),
        (Recover, {"revision": 0, "held": (Held(id=1, action="draw", at=1),), "receipt": b""}),
        (Resign, {}),
        (Rematch, {}),
    ],
)
async def test_nothing_is_done_before_hello(node: NodeMaker, kind: Any, fields: dict[str, Any]) -> None:
    client = await Client.connect((await node()).url)
    await client.refused("hello_first", kind, **fields)


async def test_the_time_is_told_to_anyone_and_is_redis_s(node: NodeMaker) -> None:
    """Invariant 10: there is one clock."""
    one = await node()
    client = await Client.connect(one.url)
    before = await one.store.now()
    pong = await client.want(Pong, Ping)
    assert before - 5 <= pong.time <= await one.store.now() + 1


async def test_who_says_no_hello_is_cut_and_who_has_said_it_may_be_silent(node: NodeMaker) -> None:
    one = await node(Limits(hello_timeout=0.3))
    ana = await one.player()
    silent = await Client.connect(one.url)
    assert await silent.closed() == Close.SILENT
    await ana.want(Pong, Ping)


# ---------------------------------------------------------------- frames that are no messages


def packed(**fields: Any) -> bytes:
    return pack(fields)


@pytest.mark.parametrize(
    ("frame", "to", "code"),
    [
        ("text", -1, "bad_frame"),
        (b"", -1, "bad_frame"),
        (b"\xc1", -1, "bad_frame"),
        (b"\x91" * 3000, -1, "bad_frame"),
        (pack([1, 2]), -1, "bad_frame"),
        (packed(id=7), 7, "bad_frame"),
        (packed(type="fly", id=7), 7, "bad_frame"),
        (packed(type="welcome", id=7), 7, "bad_frame"),
        (packed(type="\x1b[2J" * 2000, id=7), 7, "bad_frame"),
        (packed(type="ping"), -1, "bad_frame"),
        (packed(type="ping", id=-1), -1, "bad_frame"),
        (packed(type="ping", id=1 << 53), -1, "bad_frame"),
        (packed(type="ping", id="7"), -1, "bad_frame"),
        (packed(type="act", id=7), 7, "bad_frame"),
        (packed(type="act", id=7, revision=-1, action="draw"), 7, "bad_frame"),
        (packed(type="act", id=7, revision=0, action="x" * 17), 7, "bad_frame"),
        (packed(type="act", id=7, revision=0, action=b"draw"), 7, "bad_frame"),
        (packed(type="hello", id=7, name="x" * 129), 7, "bad_frame"),
        (packed(type="join", id=7, room="x" * 25), 7, "bad_frame"),
        (packed(type="create", id=7, options={"players": 17}), 7, "bad_frame"),
        (packed(type="create", id=7, options={"limit": 9}), 7, "bad_frame"),
        (packed(type="create", id=7, options={"chess": True}), 7, "bad_frame"),
        (packed(type="create", id=7, options={"games": []}), 7, "bad_frame"),
        (packed(type="create", id=7, options={"games": ["chess"]}), 7, "unknown_game"),
        (packed(type="create", id=7, options={"deal": "royal flush"}), 7, "malformed"),
        (packed(type="create", id=7, options={"deal": "daily 2026-02-30"}), 7, "malformed"),
        (packed(type="create", id=7, options={"deal": "#\ud7c0"}), 7, "malformed"),
        (packed(type="create", id=7, options={"start": "at"}), 7, "bad_options"),
        (packed(type="create", id=7, options={"start_at": 5}), 7, "bad_options"),
    ],
)
async def test_what_is_not_understood_is_answered_and_play_goes_on(
    node: NodeMaker, frame: bytes | str, to: int, code: str
) -> None:
    """Invariant 7: every refusal is answered."""
    ana = await (await node()).player()
    await ana.socket.send(frame)
    refusal = await ana.until(Refusal)
    assert (refusal.to, refusal.code, refusal.revision, refusal.retry_after) == (to, code, -1, 0)
    assert 10 < len(refusal.message) < 400
    assert printable(refusal.message) == refusal.message
    await ana.want(Pong, Ping)


async def test_fields_that_are_not_known_are_passed_over(node: NodeMaker) -> None:
    client = await Client.connect((await node()).url)
    await client.socket.send(packed(type="ping", id=7, colour="green"))
    assert (await client.until(Pong)).to == 7


async def test_a_frame_that_is_too_large_ends_the_connection(node: NodeMaker) -> None:
    """Invariant 9: everything is bounded."""
    one = await node()
    ana = await one.player()
    await ana.socket.send(b"\x00" * LARGEST_FRAME)
    await ana.until(Refusal)
    await ana.socket.send(b"\x00" * (LARGEST_FRAME + 1))
    assert await ana.closed() == 1009
    await one.player()


async def test_who_goes_on_sending_what_is_not_understood_is_cut(node: NodeMaker) -> None:
    """Invariant 9: everything is bounded."""
    one = await node(Limits(bad_frames=5))
    client = await one.player()
    for _ in range(6):
        await client.socket.send(b"\xc1")
    assert await client.closed() == Close.BAD_FRAMES
    assert len([message for message in client.inbox if isinstance(message, Refusal)]) == 6


# ---------------------------------------------------------------- connections


@pytest.mark.parametrize("protocol", [None, "samedeal.v2", "chat"])
async def test_another_version_of_the_protocol_is_closed_with_a_code(node: NodeMaker, protocol: str | None) -> None:
    client = await Client.connect((await node()).url, protocol)
    assert await client.closed() == Close.VERSION
    assert "samedeal.v1" in str(client.socket.close_reason)


async def test_a_client_that_speaks_several_versions_is_spoken_to_in_this_one(node: NodeMaker) -> None:
    one = await node()
    offered = [Subprotocol("samedeal.v9"), Subprotocol("samedeal.v1")]
    async with connect(one.url, subprotocols=offered) as spoken:
        assert spoken.subprotocol == "samedeal.v1"


async def test_a_browser_s_plain_request_is_told_that_this_is_no_page(node: NodeMaker) -> None:
    host, port = (await node()).url.removeprefix("ws://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    async with asyncio.timeout(DEADLINE):
        assert b" 426 " in await reader.readline()
    writer.close()
    await writer.wait_closed()


async def refused_with(url: str) -> int:
    with pytest.raises(InvalidStatus) as refused:
        await Client.connect(url)
    assert refused.value.response.body
    return refused.value.response.status_code


async def test_a_node_takes_so_many_connections_and_so_many_from_an_address(node: NodeMaker) -> None:
    """Invariant 9: everything is bounded."""
    full = await node(Limits(connections=1))
    only = await full.player()
    assert await refused_with(full.url) == 503
    await only.close()
    await gone(full)
    await full.player()
    crowded = await node(Limits(connections_per_address=1))
    await crowded.player()
    assert await refused_with(crowded.url) == 429


async def gone(one: Node) -> None:
    """Wait until a node has nobody any more."""
    if one.gateway._serving:
        await asyncio.wait(one.gateway._serving, timeout=DEADLINE)
    assert not one.gateway.connections


async def test_who_asks_too_much_is_answered_more_slowly_and_nobody_else_is(node: NodeMaker) -> None:
    """Invariant 9: everything is bounded, and nobody slows anybody else."""
    one = await node(Limits(rate=40, burst=10))
    hasty, calm = await one.player("hasty"), await one.player("calm")
    began = time.monotonic()
    numbers = [await hasty.send(Ping) for _ in range(29)]
    await calm.want(Pong, Ping)
    assert time.monotonic() - began < 0.4
    for number in numbers:
        assert isinstance(await hasty.answer(number), Pong)
    assert time.monotonic() - began > 0.45  # 20 of them are beyond the burst, at 40 a second


async def test_who_does_not_read_is_cut_and_slows_nobody(node: NodeMaker) -> None:
    """Invariant 9: everything is bounded, and nobody slows anybody else."""
    one = await node(Limits(rate=1e6, burst=1_000_000, backlog=50))
    ana = await one.player()
    for number in range(20):
        await ana.create(f"room-{number}")
    deaf = await with_small_buffers(one.url)
    deaf._reader.cancel()
    await deaf.socket.send(encode(Hello(id=0, name="deaf")))
    (there,) = [each for each in one.gateway.connections if each.player != ana.player]
    there.socket.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    number = 0
    async with asyncio.timeout(DEADLINE):
        while not there.shutting:
            number += 1
            await deaf.socket.send(encode(ListRooms(id=number)))
            if number % 20 == 0:
                await ana.want(Pong, Ping)
            assert len(there._frames) <= 50
        with pytest.raises(ConnectionClosed):
            await everything(deaf)
    assert deaf.socket.close_code == Close.SLOW


async def test_who_takes_nothing_at_all_is_cut_without_a_word(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant 9: everything is bounded."""
    monkeypatch.setattr("samedeal_server.connection._PATIENCE", 0.2)
    one = await node(dataclasses.replace(PLENTY, backlog=16))
    deaf = await with_small_buffers(one.url)
    deaf._reader.cancel()
    await deaf.socket.send(encode(Hello(id=0, name="deaf")))
    ana = await one.player()
    for number in range(20):
        await ana.create(f"room-{number}")
    (there,) = [each for each in one.gateway.connections if each.player != ana.player]
    there.socket.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    async with asyncio.timeout(DEADLINE):
        while there in one.gateway.connections:
            with suppress(ConnectionClosed):
                await deaf.socket.send(encode(ListRooms(id=1)))
            await ana.want(Pong, Ping)


async def everything(client: Client) -> None:
    async for _ in client.socket:
        pass


async def with_small_buffers(url: str) -> Client:
    host, port = url.removeprefix("ws://").split(":")
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.setblocking(False)
    await asyncio.get_running_loop().sock_connect(plain, (host, int(port)))
    return await Client.connect(url, max_queue=1, sock=plain)


async def test_a_node_that_stops_sends_everybody_elsewhere(node: NodeMaker) -> None:
    one = await node()
    ana, bob = await one.player("ana"), await one.player("bob")
    room = await ana.create()
    await ana.join(room)
    await one.gateway.drain()
    for client in (ana, bob):
        assert (await client.until(Notice)).code == "draining"
        assert await client.closed() == Close.RESTART
    assert not one.gateway.connections
    assert await refused_with(one.url) == 503
    snapshot = await one.store.load(room)
    assert snapshot is not None
    assert snapshot.runs[ana.player].here < 0


# ---------------------------------------------------------------- rooms that can't be had


async def test_rooms_that_cannot_be_opened(node: NodeMaker) -> None:
    one = await node(Limits(rooms=2))
    ana = await one.player()
    await ana.refused("malformed", Create, options=Options(), room="Not a room!")
    now = await one.store.now()
    for start_at in (now - 1000, now + 8 * 86_400_000):
        await ana.refused("bad_options", Create, options=Options(start="at", start_at=start_at))
    assert await ana.create("Friday") == "friday"
    await ana.refused("room_exists", Create, options=Options(), room="friday")
    assert len(await ana.create()) == 6
    refusal = await ana.refused("server_full", Create, options=Options())
    assert refusal.retry_after > 0


async def test_rooms_that_cannot_be_joined_or_watched(node: NodeMaker) -> None:
    one = await node(Limits(spectators_per_room=1))
    ana, bob, cid = await one.player("ana"), await one.player("bob"), await one.player("cid")
    for kind in (Join, Watch):
        await ana.refused("no_room", kind, room="nowhere")
        await ana.refused("malformed", kind, room="no/where")
    room = await ana.create(players=1, spectators=False)
    await ana.join(room)
    await bob.refused("room_full", Join, room=room)
    await bob.refused("no_spectators", Watch, room=room)
    await ana.want(Done, Start)
    await ana.phase("racing")
    await bob.refused("race_started", Join, room=room)
    watched = await ana.create()
    await bob.watch(watched)
    assert (await cid.refused("room_full", Watch, room=watched)).retry_after > 0
    await ana.join(watched)
    ana_too = await one.player("ANA")
    await ana_too.refused("name_taken", Join, room=watched)


async def test_a_private_room_opens_to_its_passphrase_alone(node: NodeMaker) -> None:
    one = await node()
    ana, bob = await one.player("ana"), await one.player("bob")
    room = await ana.create(passphrase="sesam")
    for kind in (Join, Watch):
        await ana.refused("bad_passphrase", kind, room=room)
        await ana.refused("bad_passphrase", kind, room=room, passphrase="simsalabim")
    await bob.watch(room, passphrase="sesam")
    await ana.join(room, passphrase="sesam")
    assert (await bob.state()).private
    again = await one.player("ana", ana.session)
    await again.join(room)  # who has a seat needs no passphrase to come back to it


async def test_what_needs_a_seat_is_refused_without_one(node: NodeMaker) -> None:
    ana = await (await node()).player()
    for kind in (Ready, Start, Resign, Rematch):
        await ana.refused("no_seat", kind)
    await ana.refused("no_seat", Act, revision=0, action="draw")
    await ana.want(Done, Leave)


async def test_what_is_not_yet_or_not_any_more_to_be_done_is_refused(node: NodeMaker) -> None:
    one = await node()
    ana, bob = await one.player("ana"), await one.player("bob")
    room = await ana.create()
    await ana.join(room)
    await bob.join(room)
    await bob.refused("not_host", Start)
    await ana.refused("not_racing", Resign)
    await ana.refused("not_over", Rematch)
    assert (await ana.refused("not_racing", Act, revision=0, action="1 2")).revision == -1
    await ana.want(Done, Start)
    await bob.phase("racing")
    for kind in (Ready, Start):
        await ana.refused("race_started", kind)
    for client in (ana, bob):
        await client.want(Done, Resign)
    await bob.phase("finished")
    await ana.dealt()
    assert ana.play
    move = str(ana.play.board.legal_moves()[0])
    assert (await ana.refused("not_racing", Act, revision=0, action=move)).revision == 0


async def test_the_list_shows_the_rooms_that_there_are_newest_first(node: NodeMaker) -> None:
    one = await node()
    ana = await one.player()
    await ana.create("first", games=("athena",), deal="#7", players=3)
    await ana.create("second", passphrase="sesam", spectators=False)
    await ana.join("first")
    rooms = (await ana.want(Rooms, ListRooms)).rooms
    second, first = rooms
    assert (second.room, second.private, second.spectators, second.players) == ("second", True, False, 0)
    assert (first.room, first.game, first.deal, first.phase) == ("first", "athena", "#7", "open")
    assert (first.players, first.seats, first.private, first.starts) == (1, 3, False, 0)


# ---------------------------------------------------------------- mistakes of the server


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]) -> Iterator[pytest.CaptureFixture[str]]:
    """What is logged, as the server would; afterwards logs are as they were."""
    yield capsys
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


async def test_a_mistake_of_the_server_is_told_and_logged_without_a_secret(
    node: NodeMaker, monkeypatch: pytest.MonkeyPatch, logged: pytest.CaptureFixture[str]
) -> None:
    """Invariant 3: no log line carries a seed, a token or a passphrase, not even that of a fault."""
    styles: tuple[LogStyle, ...] = ("json", "pretty")
    for style in styles:
        logs.set_up(Config(log_level="debug", log_style=style), "n")
        one = await node()
        ana, bob = await one.player("ana"), await one.player("bob")
        room = await ana.create(passphrase="sesam-oeffne-dich")
        await ana.join(room, passphrase="sesam-oeffne-dich")
        secret = await one.store.secret(room)
        assert secret is not None

        async def mistaken(*_: object, seed: bytes = secret.seed) -> None:
            raise ValueError("a mistake")

        with monkeypatch.context() as patch:
            patch.setattr(one.rooms, "check_passphrase", mistaken)
            await bob.send(Join, room=room, passphrase="sesam-oeffne-dich")
            refusal = await bob.until(Refusal)
            assert (refusal.to, refusal.code) == (-1, "fault")
            assert await bob.closed() == Close.RESTART
        await ana.want(Pong, Ping)
        lines = logged.readouterr().out
        assert "a mistake" in lines
        for told in (secret.seed.hex(), repr(secret.seed)[2:-1][:12], ana.session, bob.session, "sesam-oeffne-dich"):
            assert told not in lines
        await one.gateway.drain()


async def test_a_client_s_word_for_itself_is_logged_without_what_a_terminal_obeys(
    node: NodeMaker, logged: pytest.CaptureFixture[str]
) -> None:
    logs.set_up(Config(log_style="pretty"), "n")
    client = await Client.connect((await node()).url)
    await client.want(Welcome, Hello, name="ana", client="ev\x1b]0;il\x07" + "x" * 100)
    (line,) = [line for line in logged.readouterr().out.splitlines() if "hello" in line]
    assert "ev?]0;il?xxx" in line
    assert "\x1b]" not in line
    assert "x" * 50 not in line
