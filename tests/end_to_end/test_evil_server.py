"""The commands against a hostile server: only printable text may reach the terminal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

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
    Refused,
    RoomLine,
    Rooms,
    Seat,
    Watch,
    Welcome,
)
from samedeal.terminal_text import printable
from tests.client.server_messages import room_state
from tests.end_to_end.processes import Program, Programs

HOSTILE: Final = "\x1b[2J\x1b]0;mine\x07\x9b31m\u202e\u2066\u200b\r\nroot# " + "Z" + "\u0316" * 50
LONG: Final = "W" * 5000


PLAYERS: Final = (Seat(player="p1", name="me", seat=1), Seat(player=HOSTILE, name=HOSTILE, seat=2))
STATE: Final = room_state("friday", Options(), PLAYERS, next=HOSTILE)
LINE: Final = RoomLine(room=HOSTILE, game=HOSTILE, deal=HOSTILE, phase="open", players=1, seats=2, spectators=True)


async def serve_hostile(socket: ServerConnection) -> None:
    """Serve a client, with hostile text in every text field of the answers."""
    try:
        async for frame in socket:
            match decode_to_server(frame):
                case Hello(id=to):
                    welcome = Welcome(to=to, session="s1", player="p1", name=HOSTILE, time=5_000, server=HOSTILE)
                    await socket.send(encode(welcome))
                case Ping(id=to):
                    await socket.send(encode(Pong(to=to, time=5_000)))
                case ListRooms(id=to):
                    await socket.send(encode(Rooms(to=to, rooms=(LINE, LINE))))
                case Watch(id=to):
                    await socket.send(encode(Refused(to=to, code=HOSTILE, message=HOSTILE + LONG)))
                case Join(id=to, room="friday"):
                    await socket.send(encode(Joined(to=to, room=HOSTILE, seat=1, generation=1)))
                    await socket.send(encode(STATE))
                    await socket.send(encode(Notice(code=HOSTILE, message=HOSTILE)))
                case Join():
                    await socket.close(4002, "\x1b[2J\u202e")
                case other:
                    await socket.send(encode(Done(to=other.id)))
    except ConnectionClosed:
        pass


@pytest.fixture
async def evil() -> AsyncIterator[str]:
    """The URL of a hostile Samedeal server."""
    async with serve(
        serve_hostile, "127.0.0.1", 0, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None
    ) as server:
        yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"


def harmless(text: str) -> bool:
    """Whether a text is printable, line by line."""
    assert "Traceback" not in text
    return bool(text) and all(printable(line, 2000) == line for line in text.split("\n"))


async def test_commands_print_no_control_characters(programs: Programs, evil: str) -> None:
    async def played() -> str:
        player: Program = await programs.samedeal("join", evil, "friday", "--name", "me")
        await player.expect(r"root#")
        player.type_lines("rivals", "ready", "quit")
        await player.exit_code()
        return player.text

    outputs = await asyncio.gather(
        played(),
        programs.output("rooms", evil, code=None),
        programs.output("watch", evil, "friday", code=None),
        programs.output("bot", evil, "friday2", code=None),
        programs.output("doctor", evil, code=None),
    )
    for text in outputs:
        assert harmless(text), text
    assert "root#" in outputs[1]
    assert "root#" in outputs[2]
