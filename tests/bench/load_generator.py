"""A load for a server: racers who make random legal moves, all in one process.

A racer decodes no more of an answer than it must, so that thousands of racers fit into a process.
"""

from __future__ import annotations

import asyncio
import gc
import secrets
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any, Final, cast

from msgspec.structs import replace
from websockets.frames import Frame, Opcode

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.deal import Deal
from samedeal.games import GAMES
from samedeal.joint_deal import public_board
from samedeal.options import MAX_PLAYERS, WantedOptions
from samedeal.protocol.codec import decode_to_client, encode
from samedeal.protocol.messages import (
    Act,
    BoardState,
    Create,
    Created,
    Done,
    Hello,
    Join,
    Joined,
    Leave,
    Refused,
    Start,
    ToClient,
    ToServer,
    Welcome,
)
from samedeal.terminal_text import printable
from samedeal_link.connection.address import ServerAddress, home_path
from samedeal_link.connection.dial import CannotConnect, dial
from samedeal_link.errors import Failure
from samedeal_link.first_completed import first_of

SEATS: Final = 4
"""Number of racers in a room, unless another one is asked for."""

_ACK: Final = b"\xa4type\xa5acked"
_REFUSAL: Final = b"\xa4type\xa7refused"
_ANSWER_TIMEOUT: Final = 30.0
_SETTLING_TIME: Final = 0.5
"""Time, in seconds, for which a measurement waits for the last acks."""

_OPTIONS: Final = WantedOptions(limit=7200, undo="free", countdown=0, end_when_settled=False)
_ADVICE: Final = "Try fewer --racers or a lower --pace, or let the server's host raise its limits."


@dataclass(frozen=True)
class LoadResult:
    """The result of a measurement. ``median`` and ``p99`` are latencies in seconds, from a move to its ack."""

    moves: int
    seconds: float
    median: float
    p99: float
    bytes_sent: int
    bytes_received: int

    @property
    def bytes_per_move(self) -> float:
        """The number of bytes on the wire for each move, in both directions."""
        return (self.bytes_sent + self.bytes_received) / max(1, self.moves)


class LoadRacer(asyncio.Protocol):
    """A player who makes random legal moves on a known deal.

    ``fail`` is called with a sentence if the connection is lost or the server refuses a request. If ``echo`` is true,
    the server only sends every message back, and each of these messages counts as an ack.
    """

    def __init__(self, deal: int, seat: int, seed: int, fail: Callable[[str], None], *, echo: bool) -> None:
        self._rng = Random(f"{seed} {deal} {seat}")
        self.deal, board = _playable(deal)
        self._play = Play(board, Undo.FREE)
        self._fail = fail
        self._echo = echo
        self._prepared: list[bytes] = []
        self._next = 0
        self._rest = b""
        self._transport: asyncio.Transport | None = None
        self._answers: asyncio.Queue[ToClient] = asyncio.Queue()
        self._sent_at = 0.0
        self._due = 0.0
        self._until = 0.0
        self._pace = 0.0
        self._leaving = False
        self.acked = 0
        self.latencies: list[float] = []
        self.bytes_sent = self.bytes_received = 0

    async def connect(self, address: ServerAddress, path: str) -> None:
        """Connect. From then on, this object handles the frames itself. Raise Failure if there is no connection."""
        try:
            connection = await dial(address, path=path)
        except CannotConnect as error:
            raise Failure(f"{error} {_ADVICE}") if error.why == "busy" else error from None
        self._transport = connection.transport
        self._transport.set_protocol(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Call ``fail``, unless the racer has left."""
        if not self._leaving:
            self._fail(f"A connection was lost{f' ({exc})' if exc else ''}.")

    def data_received(self, data: bytes) -> None:
        """Handle the complete frames in the data received so far, and keep the rest."""
        self.bytes_received += len(data)
        if self._rest:
            data = self._rest + data
        at, end = 0, len(data)
        while end - at >= 2:
            start, size = at + 2, data[at + 1]
            if size >= 126:
                start += 2 if size == 126 else 8
                size = int.from_bytes(data[at + 2 : start], "big")
            if end < start + size:
                break
            self._on_frame(data[at] & 15, data[start : start + size])
            at = start + size
        self._rest = data[at:]

    def _on_frame(self, opcode: int, payload: bytes) -> None:
        if opcode == Opcode.PING:
            self._write(Frame(Opcode.PONG, payload).serialize(mask=True))
        elif opcode == Opcode.CLOSE:
            self._fail(f"The server closed a connection: {printable(payload[2:].decode(errors='replace'), 200)}.")
        elif self._sent_at and (self._echo or payload.startswith(_ACK, 1)):
            now = time.perf_counter()
            self.latencies.append(now - self._sent_at)
            self.acked += 1
            self._sent_at = 0.0
            self._schedule(now)
        elif payload.startswith(_REFUSAL, 1):
            refusal = cast("Refused", decode_to_client(payload))
            self._fail(f"The server refused a request: {printable(refusal.message, 200)}")
        elif not self._until:
            self._answers.put_nowait(decode_to_client(payload))

    async def ask(self, request: ToServer, kind: type) -> ToClient:
        """Send a request and return the next message of type ``kind``. Skip other messages."""
        self._write(_frame(request))
        return await self.receive(kind)

    async def receive(self, kind: type) -> ToClient:
        """Return the next message of type ``kind``. Skip other messages."""
        async with asyncio.timeout(_ANSWER_TIMEOUT):
            while not isinstance(message := await self._answers.get(), kind):
                pass
        return message

    def prepare(self, count: int) -> None:
        """Choose moves in advance, until ``count`` moves are ready to be sent."""
        while len(self._prepared) < self._next + count:
            self._prepare()

    def _prepare(self) -> None:
        revision = self._play.revision
        moves = self._play.board.legal_moves()
        action = str(self._rng.choice(moves)) if moves else UNDO
        after = self._play.act(action)
        if after.board.won:  # a racer who has finished can make no more moves
            action = UNDO
            after = self._play.act(action)
        self._play = after
        self._prepared.append(_frame(Act(id=revision, revision=revision, action=action)))

    def start(self, until: float, pace: float) -> None:
        """Make moves until ``time.perf_counter()`` reaches ``until``, at ``pace`` moves a second.

        If ``pace`` is 0, make each move as soon as the previous one is acknowledged.
        """
        self.latencies = []
        self.bytes_sent = self.bytes_received = 0
        self._until, self._pace = until, pace
        self._due = time.perf_counter()
        self._schedule(self._due)

    def leave(self) -> None:
        """Leave the room, so that it can close, and disconnect."""
        self._leaving = True
        if self._transport is None:
            return
        if not self._echo:
            self._write(_frame(Leave(id=0)))
        self._write(Frame(Opcode.CLOSE, b"\x03\xe8").serialize(mask=True))
        self._transport.close()

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def _schedule(self, now: float) -> None:
        if self._pace:
            self._due += self._rng.expovariate(self._pace)
            asyncio.get_running_loop().call_later(max(0.0, self._due - now), self._move)
        else:
            self._move()

    def _move(self) -> None:
        self._sent_at = time.perf_counter()
        if self._sent_at >= self._until or self._leaving:
            self._sent_at = 0.0
            return
        if self._next == len(self._prepared):
            self._prepare()
        move = self._prepared[self._next]
        self._next += 1
        self.bytes_sent += len(move)
        self._write(move)


class LoadGenerator:
    """Racers on one server, ``seats`` of them in each room. ``seed`` decides all their choices.

    If ``split`` is true, they do not connect at the homes of their rooms.
    """

    def __init__(
        self,
        address: ServerAddress,
        racers: int,
        seed: int,
        *,
        seats: int = SEATS,
        echo: bool = False,
        split: bool = False,
    ) -> None:
        self._address = address
        self._seats = seats
        self._echo = echo
        self._split = split
        self._problem: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.racers = [
            LoadRacer(number // seats, number % seats, seed, self._fail, echo=echo) for number in range(racers)
        ]

    async def connect(self) -> None:
        """Connect all racers and start their races. Raise CannotConnect, or Failure if the server refuses a request."""
        await self._unless_failed(self._connect())

    def prepare(self, moves: int) -> None:
        """Let each racer choose moves in advance, so that choosing them takes no time during the measurement."""
        for racer in self.racers:
            racer.prepare(moves)

    async def measure(self, seconds: float, pace: float) -> LoadResult:
        """Let the racers move for ``seconds`` seconds, and return the result.

        Raise Failure if a racer fails, or if the server acknowledged no move.
        """
        gc.disable()  # searches for reference cycles would delay the racers, and be counted as delays of the server
        try:
            began = time.perf_counter()
            for racer in self.racers:
                racer.start(began + seconds, pace)
            await self._unless_failed(asyncio.sleep(seconds + _SETTLING_TIME))
        finally:
            gc.enable()
        latencies = sorted(latency for racer in self.racers for latency in racer.latencies)
        if not latencies:
            raise Failure("The server acknowledged no move in this time. Try more --seconds.")
        count = len(latencies)
        sent, received = map(
            sum, zip(*((racer.bytes_sent, racer.bytes_received) for racer in self.racers), strict=True)
        )
        return LoadResult(count, seconds, latencies[count // 2], latencies[count * 99 // 100], sent, received)

    def leave(self) -> None:
        """Let all racers leave their rooms and disconnect."""
        for racer in self.racers:
            racer.leave()

    def _fail(self, problem: str) -> None:
        if not self._problem.done():
            self._problem.set_result(problem)

    async def _unless_failed(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for ``work`` to end. Raise Failure as soon as a racer fails."""
        async with first_of(work, self._wait_for_problem()) as (working, _):
            if self._problem.done():
                raise Failure(f"{self._problem.result()} {_ADVICE}")
            working.result()

    async def _wait_for_problem(self) -> None:
        await asyncio.wait((self._problem,))

    async def _connect(self) -> None:
        for first in range(0, len(self.racers), self._seats):
            racers = self.racers[first : first + self._seats]
            room = f"load-{secrets.token_hex(4)}"
            for racer in racers:
                await racer.connect(self._address, "" if self._split else home_path(room))
            if not self._echo:
                await _start_race(racers, room, first // self._seats)


def _playable(number: int) -> tuple[Deal, Board]:
    """Return the first deal with a legal move: that with this number, or one with a higher number."""
    game = list(GAMES.values())[number % len(GAMES)]
    for deal in (Deal("number", each) for each in count(number)):
        board = public_board(game, deal)
        if board.legal_moves():
            return deal, board
    raise AssertionError("some deal has a legal move")


async def _start_race(racers: list[LoadRacer], room: str, number: int) -> None:
    """Seat racers in a room and start the race."""
    for seat, racer in enumerate(racers):
        await racer.ask(Hello(id=0, name=f"load{number}-{seat}", bot=True), Welcome)
    game, deal = list(GAMES)[number % len(GAMES)], str(racers[0].deal)
    options = replace(_OPTIONS, players=min(len(racers), MAX_PLAYERS), games=(game,), deal=deal)
    await racers[0].ask(Create(id=0, room=room, options=options), Created)
    for racer in racers:
        await racer.ask(Join(id=0, room=room), Joined)
    await racers[0].ask(Start(id=0), Done)
    for racer in racers:
        await racer.receive(BoardState)


def _frame(request: ToServer) -> bytes:
    return Frame(Opcode.BINARY, encode(request)).serialize(mask=True)
