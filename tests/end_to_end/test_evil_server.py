"""The commands against a server that means harm: whatever it says, what reaches the terminal only stands there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.names import printable
from samedeal.options import Options
from samedeal.protocol.codec import decode_to_server, encode
from samedeal.protocol.messages import (
    SUBPROTOCOL,
    Done,
    Hello,
    Join,
    Joined,
    ListRooms,
    Notice,
    Ping,
    Pong,
    RoomLine,
    Rooms,
    RoomState,
    Seat,
    Tally,
    Watch,
    Welcome,
)
from samedeal.protocol.messages import Refused as RefusedMessage
from samedeal_client.net.address import parse_address
from samedeal_client.net.dial import CannotConnect, dial
from tests.end_to_end.processes import Program, Programs

EVIL: Final = "\x1b[2J\x1b]0;mine\x07\x9b31m\u202e\u2066\u200b\r\nroot# " + "Z" + "\u0316" * 50
LONG: Final = "W" * 5000


STATE: Final = RoomState(
    room="friday",
    event=1,
    phase="open",
    game="willow",
    deal=EVIL,
    options=Options(),
    private=False,
    host="p1",
    players=(Seat(player="p1", name="me", seat=1), Seat(player=EVIL, name=EVIL, seat=2)),
    tallies=(Tally(player="p1"), Tally(player=EVIL)),
    commitment=bytes(32),
    next=EVIL,
)
LINE: Final = RoomLine(
    room=EVIL, game=EVIL, deal=EVIL, phase="open", players=1, seats=2, private=False, spectators=True
)


async def speak(socket: ServerConnection) -> None:
    """Serve a client, and say something bad wherever there is a text to say."""
    try:
        async for frame in socket:
            match decode_to_server(frame):
                case Hello(id=to):
                    welcome = Welcome(to=to, session="s1", player="p1", name=EVIL, time=5_000, server=EVIL)
                    await socket.send(encode(welcome))
                case Ping(id=to):
                    await socket.send(encode(Pong(to=to, time=5_000)))
                case ListRooms(id=to):
                    await socket.send(encode(Rooms(to=to, rooms=(LINE, LINE))))
                case Watch(id=to):
                    await socket.send(encode(RefusedMessage(to=to, code=EVIL, message=EVIL + LONG)))
                case Join(id=to, room="friday"):
                    await socket.send(encode(Joined(to=to, room=EVIL, seat=1, generation=1)))
                    await socket.send(encode(STATE))
                    await socket.send(encode(Notice(code=EVIL, message=EVIL)))
                case Join():
                    await socket.close(4002, "\x1b[2J\u202e")
                case other:
                    await socket.send(encode(Done(to=other.id)))
    except ConnectionClosed:
        pass


@pytest.fixture
async def evil() -> AsyncIterator[str]:
    async with serve(speak, "127.0.0.1", 0, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None) as server:
        yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"


@pytest.fixture
async def no_server() -> AsyncIterator[str]:
    """What answers a handshake as no server does."""
    answers = iter(
        [
            b"HTTP/1.1 101 \x1b[2J\r\nUpgrade: \x1b[2J\x9b\r\nConnection: \x1b]0;x\x07\r\n\r\n",
            b"HTTP/1.1 101 Fine\r\nUpgrade: \xe2\x80\xae\r\nConnection: Upgrade\r\n\r\n",
            b"HTTP/1.1 503 Busy\r\nContent-Length: 13\r\n\r\n\x1b[2J\xe2\x80\xae\x9b\r\n\r\n\r\n",
        ]
    )

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(next(answers))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def said(programs: Programs, *arguments: str) -> str:
    """What a command that ends by itself says."""
    program = await programs.samedeal(*arguments)
    assert program.process.stdin is not None
    program.process.stdin.close()
    await program.ends()
    return program.text


def harmless(text: str) -> bool:
    assert "Traceback" not in text
    return bool(text) and all(printable(line, 2000) == line for line in text.split("\n"))


async def test_no_command_passes_on_what_an_evil_server_says(programs: Programs, evil: str, no_server: str) -> None:
    async def played() -> str:
        player: Program = await programs.samedeal("join", evil, "friday", "--name", "me")
        await player.says(r"root#")
        player.type("rivals", "ready", "quit")
        await player.ends()
        return player.text

    told = await asyncio.gather(
        played(),
        said(programs, "rooms", evil),
        said(programs, "watch", evil, "friday"),
        said(programs, "bot", evil, "friday2"),
        said(programs, "doctor", evil),
        *(said(programs, "rooms", no_server) for _ in range(3)),
    )
    for text in told:
        assert harmless(text), text
    assert "root#" in told[1]
    assert "root#" in told[2]


async def test_why_there_is_no_connection_can_be_shown_too(no_server: str) -> None:
    for _ in range(3):
        with pytest.raises(CannotConnect) as refused:
            await dial(parse_address(no_server))
        assert harmless(str(refused.value))
