"""Clients that violate HTTP or WebSocket are answered or closed, and other clients are not affected."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import cast
from unittest import mock

import pytest
import structlog
from websockets.asyncio.server import ServerConnection

from samedeal.protocol.messages import Ping, Pong
from samedeal_server.config.limits import Limits, LiveLimits
from samedeal_server.connections.handshake_admission import HandshakeAdmission
from samedeal_server.telemetry.metrics import Metrics
from tests.golden.golden_files import assert_answered
from tests.server.broken_frames import PAGE, answer
from tests.server.client import Client
from tests.server.live_nodes import Node, NodeMaker
from tests.server.raw_client import BINARY, CLOSE, Wire, close_wires, frame, handshake
from tests.server.waiting import until


async def wait_until_alone(one: Node, client: Client) -> None:
    """Wait until a client is the only one that is connected to a node, and check that the node still serves it."""
    await until(lambda: len(one.gateway.connections) == 1 and not one.gateway.handshakes.pending)
    await client.expect(Pong, Ping)


@pytest.fixture
async def bystander(node: NodeMaker, caplog: pytest.LogCaptureFixture) -> AsyncIterator[tuple[Node, Client]]:
    """A node, and a client that it must serve whatever others do. No error may be logged."""
    one = await node()
    client = await one.player("bystander")
    with structlog.testing.capture_logs() as lines:
        yield one, client
        await close_wires(one.url)
        await wait_until_alone(one, client)
    assert not [line for line in lines if line["log_level"] in ("error", "critical")]
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_broken_frames_and_requests_are_answered_with_a_code(bystander: tuple[Node, Client]) -> None:
    """Invariant: everything is bounded. No client slows another one down."""
    one, client = bystander

    async def answered(heading: str, line: str) -> str:
        answering = asyncio.create_task(answer(one.url, heading, line))
        await client.expect(Pong, Ping)
        return await answering

    await assert_answered(PAGE, answered)


async def test_client_that_ignores_a_close_is_aborted(
    bystander: tuple[Node, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason of the close is counted nevertheless."""
    for module in ("connections.client_socket", "rooms.player_connection"):
        monkeypatch.setattr(f"samedeal_server.{module}.CLOSE_TIMEOUT", 0.1)
    bad_frames = frame(BINARY, b"\xc1") * (Limits().bad_frames + 1)
    for sent in (frame(0x3), frame(CLOSE, b"\x03\xe8"), frame(BINARY, b"x", length=1 << 40), bad_frames):
        wire = await Wire.greeted(bystander[0].url)
        await wire.send(sent)
        await wait_until_alone(*bystander)
    await bystander[0].becomes("connections_closed_total", 1, reason="bad_frames")


async def test_endless_handshake_is_aborted(node: NodeMaker) -> None:
    """Invariant: everything is bounded."""
    one = await node(Limits(handshake_timeout=0.3))
    ana = await one.player("ana")
    said = [b"", b"GET / HT", handshake()[:-4], handshake()[:-2] + b"a: b\r\n"]
    wires = [await Wire.open(one.url) for _ in said]
    for wire, start in zip(wires, said, strict=True):
        await wire.send(start)
    assert [await wire.eof() for wire in wires] == [b""] * 4
    assert not one.gateway.handshakes.pending
    await ana.expect(Pong, Ping)


@dataclass(eq=False)
class Silent:
    """A connection from an address, which sends nothing."""

    peer: str
    request: None = None
    transport: mock.Mock = field(default_factory=mock.Mock)


@pytest.mark.parametrize(
    ("most", "neighbour"),
    [(2, "203.0.113.7"), (2, "2001:db8::7"), (8, "2001:db8:0:{:x}::7"), (32, "2001:db8:0:{:x}00::7")],
)
def test_pending_handshakes_of_others_are_not_evicted(most: int, neighbour: str) -> None:
    """An address has two handshakes at most, its /56 has eight, and its /48 thirty-two."""
    handshakes = HandshakeAdmission(LiveLimits(Limits(connections_per_address=2)), Metrics())
    other, *own = (Silent(each) for each in ("198.51.100.1", *map(neighbour.format, range(most + 1))))
    for socket in (other, *own):
        handshakes.track_pending(cast("ServerConnection", socket))
    assert [socket for socket in (other, *own) if socket.transport.abort.called] == own[:1]
    assert set(map(id, handshakes.pending)) == set(map(id, (other, *own[1:])))


@pytest.mark.parametrize("limits", [Limits(handshakes=3), Limits(connections_per_address=3)])
async def test_oldest_pending_handshake_is_evicted(node: NodeMaker, limits: Limits) -> None:
    """Invariant: everything is bounded. A new client is admitted nevertheless."""
    one = await node(limits)
    silent = []
    for _ in range(3):
        wire = await Wire.open(one.url)
        await wire.send(b"GET / ")
        silent.append(wire)
    await until(lambda: len(one.gateway.handshakes.pending) == 3)
    ana = await one.player("ana")
    assert await silent[0].eof() == b""
    await ana.expect(Pong, Ping)
    assert len(one.gateway.handshakes.pending) == 2
    assert one.metric("handshakes_refused_total", reason="too_many_handshakes") == 1
