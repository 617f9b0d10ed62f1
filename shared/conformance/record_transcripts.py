"""Records the transcripts that the kit lacks, from real runs: ``python record_transcripts.py [FOLDER]``.

A transcript has both sides of the conversation of a client with a server. After ``>`` (to the server) or ``<`` (to the
client) stand the type of the message and its short fields, and below it the frame in hexadecimal digits.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self

import msgpack  # type: ignore[import-untyped]  # it ships no types
from local_server import local_server
from redis.asyncio import Redis
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.board import Board
from samedeal.games import GAMES, game_named
from samedeal.joint_deal import share_commitment
from samedeal.terms import RoomTerms

FOLDER: Final = Path(__file__).parent / "transcripts"

_DEAL: Final = "#4821"
_MOVES: Final = 4
_WIDTH: Final = 120
_TIMEOUT: Final = 30.0

Message = dict[str, Any]


class Recorded:
    """A client whose frames are recorded in ``lines``, from both sides."""

    def __init__(self, socket: ClientConnection, lines: list[str]) -> None:
        self.lines = lines
        self.number = 0
        self.session = ""
        self._socket = socket
        self._messages: asyncio.Queue[Message] = asyncio.Queue()
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def hello(cls, url: str, name: str, before: Self | None = None, comment: str = "") -> Self:
        """Connect and say hello, in the session of an earlier connection if there is one."""
        socket = await connect(url, subprotocols=[Subprotocol("samedeal.v1")], compression=None)
        client = cls(socket, [] if before is None else before.lines)
        client.number = 0 if before is None else before.number
        if comment:
            client.say(comment)
        welcome = await client.ask("hello", name=name, session=before.session if before else "")
        client.session = welcome["session"]
        return client

    def say(self, comment: str) -> None:
        """Write a comment into the transcript."""
        self.lines += ["", f"# {comment}"]

    async def _read(self) -> None:
        with suppress(ConnectionClosed):
            async for frame in self._socket:
                self._record("<", bytes(frame))  # type: ignore[arg-type]  # the server sends no text
                self._messages.put_nowait(msgpack.unpackb(frame))

    def _record(self, direction: str, frame: bytes) -> None:
        message = msgpack.unpackb(frame)
        short = {name: value for name, value in message.items() if isinstance(value, str | int) and name != "type"}
        told = " ".join(f"{name}={value!r}" for name, value in short.items() if len(repr(value)) < 40)
        digits = frame.hex()
        self.lines += [f"{direction} {message['type']} {told}"]
        self.lines += [digits[at : at + _WIDTH] for at in range(0, len(digits), _WIDTH)]

    async def send(self, kind: str, **fields: Any) -> int:
        """Send a request and return its id."""
        self.number += 1
        frame = msgpack.packb({"type": kind, "id": fields.pop("id", self.number), **fields})
        self._record(">", frame)
        await self._socket.send(frame)
        return self.number

    async def until(self, is_wanted: Callable[[Message], object]) -> Message:
        """Wait for a message, and drop those before it."""
        async with asyncio.timeout(_TIMEOUT):
            while not is_wanted(message := await self._messages.get()):
                pass
        return message

    async def ask(self, kind: str, **fields: Any) -> Message:
        """Send a request and wait for its answer."""
        number = await self.send(kind, **fields)
        return await self.until(lambda message: message.get("to") == number)

    async def state(self, is_wanted: Callable[[Message], object]) -> Message:
        """Wait for a state of the room."""
        return await self.until(lambda message: message["type"] == "roomstate" and is_wanted(message))

    async def abort(self) -> None:
        """Lose the connection."""
        self._socket.transport.abort()
        await self._reading

    async def close(self) -> None:
        """Close the connection."""
        await self._socket.close()
        await self._reading


def commitment_to(state: Message, name: str, share: bytes) -> bytes:
    """Return the hash by which a player commits to a share in the newest draw of a room."""
    (seat,) = (each["seat"] for each in state["players"] if each["name"] == name)
    terms = RoomTerms.parse(state["terms"]).digest
    return share_commitment(terms, state["commitment"], seat, name, state["draw"], share)


async def _open(url: str, name: str, **options: Any) -> tuple[Recorded, str]:
    """Open a room and take a seat in it."""
    client = await Recorded.hello(url, name)
    created = await client.ask("create", options={"countdown": 0, **options})
    await client.ask("join", room=created["room"])
    return client, created["room"]


async def _deal(client: Recorded) -> Board:
    await client.ask("start")
    dealt = await client.until(lambda message: message["type"] == "boardstate")
    return Board(game_named(dealt["game"]), tuple(dealt["piles"]))


async def _move(client: Recorded, board: Board, revision: int) -> Board:
    """Make the first legal move, and return the board after it."""
    move = board.legal_moves()[0]
    acked = await client.ask("act", revision=revision, action=str(move))
    return board.play(move, acked.get("seen") or None).board


async def _end(client: Recorded) -> list[str]:
    await client.send("resign")
    await client.state(lambda state: state["phase"] == "finished")
    await client.close()
    return client.lines


async def race(url: str, _redis: str, game: str) -> list[str]:
    """Record a short race: some moves, one that the rules forbid, an undo, and a resignation."""
    client, _ = await _open(url, "Ana", games=[game], deal=_DEAL, undo="free")
    board = await _deal(client)
    for revision in range(_MOVES):
        board = await _move(client, board, revision)
    client.say("The server refuses a move, and nothing changes.")
    await client.ask("act", revision=_MOVES, action="1 1")
    client.say("The answer to an undo has the whole board.")
    await client.ask("act", revision=_MOVES, action="undo")
    client.say("The end.")
    return await _end(client)


async def joint(url: str, _redis: str) -> list[str]:
    """Record how two players and the server draw a deal, as one of the players sees it."""
    ana, room = await _open(url, "Ana", games=["ace-of-hearts"], deal="winnable")
    bo = await Recorded.hello(url, "Bo")
    await bo.ask("join", room=room)
    await ana.ask("start")
    shares = {name: sha256(name.encode()).digest() for name in ("Ana", "Bo")}
    for client, (name, share) in zip((ana, bo), shares.items(), strict=True):
        begun = await client.state(lambda state: state["draw"] == 1)
        await client.ask("commitshare", draw=1, commitment=commitment_to(begun, name, share))
    for client, share in zip((ana, bo), shares.values(), strict=True):
        await client.state(lambda state: all(seat["share_commitment"] for seat in state["players"]))
        if client is ana:
            ana.say("The draw is sealed: all commitments are there.")
        await client.ask("revealshare", draw=1, share=share)
    ana.say("All shares are known.")
    await ana.until(lambda message: message["type"] == "drawn")
    await ana.until(lambda message: message["type"] == "boardstate")
    await bo.ask("resign")
    await bo.close()
    return await _end(ana)


async def recover(url: str, redis: str) -> list[str]:
    """Record how a player gives back moves that the store has lost, after a connection was lost too."""
    client, room = await _open(url, "Ana", games=["willow"], deal=_DEAL)
    board = await _deal(client)
    kept: list[Message] = []
    acked: Message = {}
    for revision in range(2):
        move = board.legal_moves()[0]
        acked = await client.ask("act", revision=revision, action=str(move))
        kept.append({"id": client.number, "action": str(move), "time": acked["time"]})
        board = board.play(move).board
    await client.abort()
    async with Redis.from_url(redis) as store:
        keys: list[bytes] = [key async for key in store.scan_iter(f"samedeal:{{{room}}}:*")]
        await store.delete(*(key for key in keys if b":log:" in key or b":progress:" in key))
        await store.hset(f"samedeal:{{{room}}}:meta", "last_event", 0)
        await store.xtrim(f"samedeal:{{{room}}}:events", maxlen=0, approximate=False)
    again = await Recorded.hello(url, "Ana", client, "The connection was lost, and the store has lost both moves.")
    await again.ask("join", room=room, revision=2)
    await again.ask("recover", revision=0, actions=kept, receipt=acked["receipt"])
    again.say("The board is that of the client again.")
    await _move(again, board, 2)
    return await _end(again)


async def spectating(url: str, _redis: str) -> list[str]:
    """Record what a spectator gets, in a room without delay."""
    player, room = await _open(url, "Ana", games=["willow"], deal=_DEAL, undo="free", delay=0)
    watcher = await Recorded.hello(url, "Zoe")
    await watcher.ask("watch", room=room)
    board = await _deal(player)
    await watcher.until(lambda message: message["type"] == "delayedboard")
    for revision in range(2):
        board = await _move(player, board, revision)
        await watcher.until(lambda message: message["type"] == "delayedmove")
    watcher.say("The player undoes a move.")
    await player.ask("act", revision=2, action="undo")
    await watcher.until(lambda message: message["type"] == "delayedboard")
    await _end(player)
    await watcher.state(lambda state: state["phase"] == "finished")
    await watcher.close()
    return watcher.lines


async def record(folder: Path, kept: set[str]) -> None:
    """Record all transcripts into a folder, except those that are ``kept``."""
    runs: dict[str, tuple[str, Callable[[str, str], Awaitable[list[str]]]]] = {
        run.__name__: (str(run.__doc__), run) for run in (joint, recover, spectating)
    }
    for game in GAMES:
        runs[f"race-{game}"] = str(race.__doc__), lambda url, redis, game=game: race(url, redis, game)  # type: ignore[misc]  # bound at once
    async with local_server() as (url, redis):
        for name in runs.keys() - kept:
            about, run = runs[name]
            lines = await run(url, redis)
            (folder / f"{name}.txt").write_text("\n".join([f"# {about.replace('Record', name + ':', 1)}", *lines, ""]))


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    asyncio.run(record(given, {path.stem for path in given.iterdir()}))
