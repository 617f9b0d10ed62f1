"""A client's WebSocket: frames in pieces of any size, and pings that the client does not answer."""

from __future__ import annotations

import os

import pytest
from websockets.frames import Frame, Opcode
from websockets.utils import apply_mask

from samedeal.protocol.codec import decode_to_client, encode
from samedeal.protocol.messages import Ping, Pong, Refused
from samedeal_server.config.limits import Limits
from samedeal_server.connections.client_socket import CONTROL_BURST
from tests.server.client import DEADLINE
from tests.server.live_nodes import Node, NodeMaker
from tests.server.raw_client import BINARY, PING, PONG, Wire, handshake

CONTROLS_AT_ONCE = Limits().control_frames // CONTROL_BURST


def masked(opcode: Opcode, payload: bytes, *, fin: bool = True) -> bytes:
    """A frame of a client with a random mask."""
    return Frame(opcode, payload, fin).serialize(mask=True)


def ping(number: int, *, padding: int = 0) -> bytes:
    """A frame with a Ping. ``padding`` makes it longer by about as many bytes."""
    request = encode(Ping(id=number))
    return (
        request.replace(b"\x83", b"\x84", 1) + b"\xa3pad" + b"\xc5" + padding.to_bytes(2, "big") + os.urandom(padding)
    )


def answer_in(payload: bytes) -> Pong | Refused:
    answer = decode_to_client(payload)
    assert isinstance(answer, Pong | Refused)
    return answer


async def test_frames_in_pieces_of_any_size_are_read(one: Node) -> None:
    for size in [1, 2, 3, 7, 64, 300, 1 << 20]:
        wire = await Wire.greeted(one.url)
        (connection,) = one.gateway.connections
        long = ping(4, padding=400)
        sent = [
            *(masked(Opcode.BINARY, ping(number)) for number in (1, 2)),
            masked(Opcode.PING, b"beat"),
            masked(Opcode.BINARY, ping(3, padding=130)),
            *(masked(Opcode.BINARY, long[:9], fin=False), masked(Opcode.PONG, b""), masked(Opcode.CONT, long[9:])),
            *(masked(Opcode.TEXT, b"text"), masked(Opcode.BINARY, ping(5))),
        ]
        stream = b"".join(sent)
        for start in range(0, len(stream), size):
            connection.socket.data_received(stream[start : start + size])
        answers, pongs = list[int](), list[bytes]()
        while not answers or answers[-1] != 5:
            opcode, payload = await wire.frame() or (-1, b"")
            if opcode == PONG:
                pongs.append(payload)
            else:
                answers.append(answer_in(payload).to)
        assert (answers, pongs) == ([1, 2, 3, 4, -1, 5], [b"beat"])
        await wire.close()
        await one.gateway.wait_closed(DEADLINE)


@pytest.mark.parametrize("cut", [0, 1, 2, 4])
async def test_frame_sent_with_the_handshake_is_read(one: Node, cut: int) -> None:
    """The rest of the frame looks like the start of another one that is not complete."""
    wire = await Wire.open(one.url)
    request, mask = ping(1), b"\xfd" * 4
    early = bytes([0x80 | BINARY, 0x80 | len(request)]) + mask + apply_mask(request, mask)
    await wire.send(handshake() + early[:cut])
    assert b" 101 " in await wire.head()
    await wire.send(early[cut:])
    assert answer_in((await wire.frame() or (0, b""))[1]).to == 1


async def test_client_that_answers_no_ping_is_closed(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samedeal_server.connections.client_socket.PING_INTERVAL", 0.05)
    wire = await Wire.open((await node()).url)
    await wire.send(handshake())  # an answer to a Hello might come after the ping
    assert b" 101 " in await wire.head()
    assert await wire.frame() == (PING, b"samedeal")
    assert await wire.ended() == 1011


async def test_only_the_last_of_many_pings_is_answered(one: Node) -> None:
    wire = await Wire.greeted(one.url)
    (connection,) = one.gateway.connections
    beats = [masked(Opcode.PING, b"beat %d" % number) for number in range(CONTROLS_AT_ONCE)]
    connection.socket.data_received(b"".join(beats))
    assert await wire.frame() == (PONG, b"beat %d" % (CONTROLS_AT_ONCE - 1))
    await wire.send(masked(Opcode.BINARY, ping(1)))
    assert (await wire.frame() or (0, b""))[0] == BINARY


async def test_requests_beyond_the_queue_are_read_later(one: Node) -> None:
    """Invariant: everything is bounded."""
    wire = await Wire.greeted(one.url)
    (connection,) = one.gateway.connections
    requests = [masked(Opcode.BINARY, ping(number)) for number in range(500)]
    connection.socket.data_received(b"".join(requests))
    assert len(connection.socket._messages) < 20
    for number in range(500):
        assert answer_in((await wire.frame() or (0, b""))[1]).to == number
