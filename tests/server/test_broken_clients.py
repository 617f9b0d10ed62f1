"""Clients that break WebSocket, or HTTP before it, on purpose: each is answered or closed, and nobody else is worse off."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Final

import pytest
import structlog

from samedeal.protocol.codec import LARGEST_FRAME, encode
from samedeal.protocol.messages import Close, Ping, Pong
from samedeal_server.door import LARGEST_REQUEST
from samedeal_server.limits import Limits
from tests.server.client import DEADLINE, Client
from tests.server.conftest import Node, NodeMaker
from tests.server.wire import BINARY, CLOSE, CONT, PING, PONG, TEXT, Wire, frame, handshake, hello


async def nobody_but(one: Node, client: Client) -> None:
    """Wait until a node has let go of everybody but one, whom it serves as ever."""
    async with asyncio.timeout(DEADLINE):
        while len(one.gateway.connections) > 1 or one.gateway.door._knocking:
            await client.want(Pong, Ping)
    await client.want(Pong, Ping)


@pytest.fixture
async def bystander(node: NodeMaker, caplog: pytest.LogCaptureFixture) -> AsyncIterator[tuple[Node, Client]]:
    """A node and a client that it must serve whatever others do; at the end nothing may have been logged as a mistake."""
    one = await node()
    client = await one.player("bystander")
    with structlog.testing.capture_logs() as lines:
        yield one, client
        await nobody_but(one, client)
    assert not [line for line in lines if line["log_level"] in ("error", "critical")]
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


PIECE = frame(BINARY, b"\x81", fin=False)


BREAKS: Final = [
    pytest.param(frame(BINARY, encode(Ping(id=1)), masked=False), 1002, id="not masked"),
    pytest.param(frame(BINARY, b"x", reserved=4), 1002, id="compressed, which was not agreed on"),
    pytest.param(frame(BINARY, b"x", reserved=1), 1002, id="reserved bit"),
    pytest.param(frame(0x3, b"x"), 1002, id="reserved opcode"),
    pytest.param(frame(0xF, b"x"), 1002, id="reserved control opcode"),
    pytest.param(frame(PING, b"x", fin=False), 1002, id="control frame in parts"),
    pytest.param(frame(PING, b"x" * 126), 1002, id="control frame too long"),
    pytest.param(frame(CONT, b"x"), 1002, id="a part of nothing"),
    pytest.param(PIECE + frame(BINARY, b"x"), 1002, id="a message within a message"),
    pytest.param(PIECE + frame(CLOSE, b"\x03\xe8"), 1002, id="close within a message"),
    pytest.param(frame(BINARY, b"x", length=LARGEST_FRAME + 1), 1009, id="says that it is too long"),
    pytest.param(frame(BINARY, b"x", length=1 << 40), 1009, id="says that it is gigantic"),
    pytest.param(frame(BINARY, b"x", length=(1 << 64) - 1), 1009, id="says that it is as long as can be"),
    pytest.param(PIECE + frame(CONT, b"x" * LARGEST_FRAME), 1009, id="too long in parts"),
    pytest.param(PIECE + frame(CONT, fin=False) * 20_000, Close.FLOOD, id="parts without an end"),
    pytest.param(frame(PING, b"x" * 125) * 20_000, Close.FLOOD, id="a flood of pings"),
    pytest.param(frame(PONG) * 20_000, Close.FLOOD, id="a flood of pongs"),
    pytest.param(frame(TEXT, b"\xff\xfe"), 1007, id="text that is no UTF-8"),
    pytest.param(frame(CLOSE, b"\x03"), 1002, id="half a close code"),
    pytest.param(frame(CLOSE, b"\x00\x00"), 1002, id="close code 0"),
    pytest.param(frame(CLOSE, b"\x03\xed"), 1002, id="close code 1005, which is never sent"),
    pytest.param(frame(CLOSE, b"\xff\xff"), 1002, id="close code 65535"),
    pytest.param(frame(CLOSE, b"\x03\xe8\xff\xfe"), 1007, id="a close reason that is no UTF-8"),
    pytest.param(frame(CLOSE, b"\x03\xe8") + hello() * 100, 1000, id="goes on after its close"),
    pytest.param(frame(CLOSE), 0, id="a close without a code"),
]


@pytest.mark.parametrize(("sent", "code"), BREAKS)
async def test_who_breaks_websocket_is_closed_with_a_code(
    bystander: tuple[Node, Client], sent: bytes, code: int
) -> None:
    """Invariant 9: everything is bounded, and nobody slows anybody else."""
    one, client = bystander
    wire = await Wire.greeted(one.url)
    sending = asyncio.create_task(wire.send(sent))
    await client.want(Pong, Ping)
    assert await wire.ended() == code
    await sending
    await wire.close()


@pytest.mark.parametrize("sent", [frame(0x3), frame(CLOSE, b"\x03\xe8"), frame(BINARY, b"x", length=1 << 40)])
async def test_who_was_closed_and_stays_is_cut(
    bystander: tuple[Node, Client], sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("samedeal_server.door._PARTING", 0.1)
    wire = await Wire.greeted(bystander[0].url)
    await wire.send(sent)
    await nobody_but(*bystander)
    await wire.close()


@pytest.mark.parametrize("sent", [b"\x82", frame(BINARY, b"", length=500) + b"x" * 499, PIECE])
async def test_half_a_frame_waits_for_the_other_half_and_ends_with_the_connection(
    bystander: tuple[Node, Client], sent: bytes
) -> None:
    one, client = bystander
    wire = await Wire.greeted(one.url)
    await wire.send(sent)
    await client.want(Pong, Ping)
    wire.writer.write_eof()
    assert await wire.ended() in (0, 1006)
    await wire.close()


@pytest.mark.parametrize("size", [1, 3, 7])
async def test_a_message_may_come_in_pieces_of_any_size(bystander: tuple[Node, Client], size: int) -> None:
    one, _ = bystander
    wire = await Wire.open(one.url)
    data = handshake() + hello()
    for start in range(0, len(data), size):
        await wire.send(data[start : start + size])
    assert b" 101 " in await wire.head()
    opcode, _ = await wire.frame() or (-1, b"")
    assert opcode == BINARY
    await wire.close()


@pytest.mark.parametrize("early", [hello(), frame(PING), frame(CLOSE, b"\x03\xe8"), frame(0x3), b"\0" * 3000, PIECE])
async def test_who_does_not_wait_for_the_handshake_is_served_or_closed(
    bystander: tuple[Node, Client], early: bytes
) -> None:
    one, client = bystander
    wire = await Wire.open(one.url)
    await wire.send(handshake() + early)
    await client.want(Pong, Ping)
    wire.writer.write_eof()
    await wire.eof()
    await wire.close()


LONG = "x" * 9000


NO_HANDSHAKES: Final = [
    pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 500 + b"\n", b"", id="TLS"),
    pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", b"", id="SSH"),
    pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"", id="HTTP/2"),
    pytest.param(b"*1\r\n$4\r\nPING\r\n", b"", id="Redis"),
    pytest.param(b"\0" * 100 + b"\r\n\r\n", b"", id="zeros"),
    pytest.param(b"\r\n\r\n", b"", id="empty lines"),
    pytest.param(b"GET /\r\n\r\n", b"", id="HTTP/0.9"),
    pytest.param("GET /é HTTP/1.1\r\n\r\n".encode(), b"", id="a path that is no ASCII"),
    pytest.param(handshake()[:-2] + b"no header\r\n\r\n", b"", id="a line that is no header"),
    pytest.param(handshake(Host="a\x00b"), b"", id="a header with a zero"),
    pytest.param(handshake(Content_Length="5") + b"hello", b"", id="a body"),
    pytest.param(handshake(Transfer_Encoding="chunked"), b"", id="a body in chunks"),
    pytest.param(handshake("POST / HTTP/1.1"), b" 405 ", id="POST"),
    pytest.param(handshake(f"GET /{LONG} HTTP/1.1"), b" 414 ", id="a long path"),
    pytest.param(handshake(X_Long=LONG), b" 431 ", id="a long header"),
    pytest.param(handshake(**{f"X_{number}": "x" for number in range(200)}), b" 431 ", id="many headers"),
    pytest.param(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * LARGEST_REQUEST, b" 431 ", id="headers without an end"),
    pytest.param(b"x" * (LARGEST_REQUEST + 1), b" 431 ", id="a line without an end"),
    pytest.param(handshake(Upgrade=None), b" 426 ", id="no upgrade"),
    pytest.param(handshake(Upgrade="h2c"), b" 426 ", id="another upgrade"),
    pytest.param(handshake(Sec_WebSocket_Version="8"), b" 400 ", id="an old version"),
    pytest.param(handshake(Sec_WebSocket_Key=None), b" 400 ", id="no key"),
    pytest.param(handshake(Sec_WebSocket_Key="short"), b" 400 ", id="a key that is none"),
    pytest.param(handshake(Sec_WebSocket_Protocol="\x7f"), b"", id="a subprotocol that is none"),
    pytest.param(handshake(Sec_WebSocket_Extensions="permessage-deflate"), b" 101 ", id="compression is not taken"),
]


@pytest.mark.parametrize(("sent", "status"), NO_HANDSHAKES)
async def test_a_handshake_that_is_none_is_answered_or_closed(
    bystander: tuple[Node, Client], sent: bytes, status: bytes
) -> None:
    one, client = bystander
    wire = await Wire.open(one.url)
    sending = asyncio.create_task(wire.send(sent))
    await client.want(Pong, Ping)
    answer = await wire.head()
    assert status in answer.split(b"\r\n")[0]
    assert b"permessage-deflate" not in answer
    assert bool(answer) == bool(status)
    await sending
    await wire.close()


@pytest.mark.parametrize("said", [b"", b"GET / HT", handshake()[:-4], handshake()[:-2] + b"a: b\r\n"])
async def test_a_handshake_that_never_ends_is_cut_off_in_time(node: NodeMaker, said: bytes) -> None:
    """Invariant 9: everything is bounded."""
    one = await node(Limits(handshake_timeout=0.3))
    ana = await one.player("ana")
    wire = await Wire.open(one.url)
    await wire.send(said)
    assert await wire.eof() == b""
    assert not one.gateway.door._knocking
    await ana.want(Pong, Ping)
    await wire.close()


@pytest.mark.parametrize("limits", [Limits(handshakes=3), Limits(connections_per_address=3)])
async def test_of_too_many_handshakes_under_way_the_oldest_gives_way(node: NodeMaker, limits: Limits) -> None:
    """Invariant 9: everything is bounded; and who means it still comes in."""
    one = await node(limits)
    watcher = await node()
    calm = await watcher.player("calm")
    silent = []
    for _ in range(3):
        wire = await Wire.open(one.url)
        await wire.send(b"GET / ")
        silent.append(wire)
    async with asyncio.timeout(DEADLINE):
        while len(one.gateway.door._knocking) < 3:
            await calm.want(Pong, Ping)
    ana = await one.player("ana")
    assert await silent[0].eof() == b""
    await ana.want(Pong, Ping)
    assert len(one.gateway.door._knocking) == 2
    assert one.gateway.metrics.handshakes_refused["crowded"].value == 1
    for wire in silent:
        await wire.close()
