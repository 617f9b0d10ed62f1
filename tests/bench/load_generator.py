"""A load for a server: racers who make random legal moves, all in one process, which measures on demand.

    python -m tests.bench.load_generator URL RACERS SEATS SEED {race|split|echo}

There are ``SEATS`` racers in a room, and ``SEED`` decides all their choices. With ``split``, the racers of a room are on
any process of the server. Against an echo server they send the same frames and take each echo as an ack.
The process prints ``ready`` when the races have begun. A line ``SECONDS PACE`` on its standard input starts a measurement:
each racer moves ``PACE`` times a second, or, if it is 0, as soon as the last move is acked. The result is a line of JSON.

A racer decodes no more of an answer than it must, so that thousands of racers fit into a process. The process ends if a
connection is lost or the server refuses a request.
"""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import secrets
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from random import Random
from typing import Final, Self

import uvloop
from msgspec.structs import replace
from websockets.frames import Opcode

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
    Start,
    ToClient,
    ToServer,
    Welcome,
)
from samedeal_link.connection.address import home_path
from tests.load.frame_client import FrameClient, frame, give_up

SEATS: Final = 4
"""Number of racers in a room, unless another one is asked for."""

_ACK: Final = b"\xa4type\xa5acked"
_REFUSAL: Final = b"\xa4type\xa7refused"
_ANSWER_TIMEOUT: Final = 30.0
_SETTLING_TIME: Final = 0.5
"""Time, in seconds, for which a measurement waits for the last acks."""

_PREPARED: Final = 10_000
"""Number of moves that all racers prepare before a measurement. Further moves are prepared when they are sent."""

_OPTIONS: Final = WantedOptions(limit=7200, undo="free", countdown=0, end_when_settled=False)


@dataclass(frozen=True)
class LoadResult:
    """The result of a measurement. ``median`` and ``p99`` are latencies in seconds, from a move to its ack.

    ``bytes`` is the number of bytes on the wire, in both directions.
    """

    moves: int
    seconds: float
    median: float
    p99: float
    bytes: int

    @classmethod
    def of(cls, latencies: Iterable[float], seconds: float, bytes_on_wire: int) -> Self:
        """Return the result of racers with these latencies."""
        found = sorted(latencies)
        return cls(len(found), seconds, found[len(found) // 2], found[len(found) * 99 // 100], bytes_on_wire)


class LoadRacer(FrameClient):
    """A player who makes random legal moves on a known deal, and notes how long each of them waits for its ack.

    If ``echo`` is true, the server only sends every message back, and each of these messages counts as an ack.
    """

    def __init__(self, path: str, deal: int, seat: int, seed: int, *, echo: bool) -> None:
        super().__init__(path)
        self.rng = Random(f"{seed} {deal} {seat}")
        self.sent_at = 0.0
        self.latencies: list[float] = []
        self.bytes = 0
        self.deal, board = _playable(deal)
        self._due = 0.0
        self._until = 0.0
        self._pace = 0.0
        self._play = Play(board, Undo.FREE)
        self._echo = echo
        self._prepared: list[bytes] = []
        self._next = 0
        self._answers: asyncio.Queue[ToClient] = asyncio.Queue()

    def connection_lost(self, exc: Exception | None) -> None:
        give_up(f"A connection was lost: {exc}")

    def data_received(self, data: bytes) -> None:
        self.bytes += len(data)
        super().data_received(data)

    def start(self, until: float, pace: float) -> None:
        """Make moves until ``time.perf_counter()`` reaches ``until``, at ``pace`` moves a second.

        If ``pace`` is 0, make each move as soon as the previous one is acknowledged.
        """
        self.latencies = []
        self.bytes = 0
        self._until, self._pace = until, pace
        self._due = time.perf_counter()
        self._schedule(self._due)

    def acked(self) -> None:
        """Note that the newest move is acknowledged."""
        now = time.perf_counter()
        self.latencies.append(now - self.sent_at)
        self.sent_at = 0.0
        self._schedule(now)

    def _schedule(self, now: float) -> None:
        if self._pace:
            self._due += self.rng.expovariate(self._pace)
            asyncio.get_running_loop().call_later(max(0.0, self._due - now), self._move)
        else:
            self._move()

    def _move(self) -> None:
        self.sent_at = time.perf_counter()
        if self.sent_at >= self._until:
            self.sent_at = 0.0
            return
        if self._next == len(self._prepared):
            self._prepare()
        move = self._prepared[self._next]
        self._next += 1
        self.bytes += len(move)
        self.transport.write(move)

    def on_open(self) -> None:
        self.ready.set_result(None)

    def on_frame(self, opcode: int, payload: bytes) -> None:
        if opcode == Opcode.CLOSE:
            give_up(f"The server closed a connection: {payload!r}")
        elif self.sent_at and (self._echo or payload.startswith(_ACK, 1)):
            self.acked()
        elif payload.startswith(_REFUSAL, 1):
            give_up(f"The server refused a request: {decode_to_client(payload)}")
        elif not self._next:
            self._answers.put_nowait(decode_to_client(payload))

    async def ask(self, request: ToServer, kind: type) -> ToClient:
        """Send a request and return the next message of type ``kind``. Skip other messages."""
        self.send_frame(Opcode.BINARY, encode(request))
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
        action = str(self.rng.choice(moves)) if moves else UNDO
        after = self._play.act(action)
        if after.board.won:  # a racer who has finished can make no more moves
            action = UNDO
            after = self._play.act(action)
        self._play = after
        self._prepared.append(frame(Opcode.BINARY, encode(Act(id=revision, revision=revision, action=action))))


async def race(url: str, racers: int, seats: int, seed: int, target: str) -> list[LoadRacer]:
    """Connect racers and start their races."""
    host, port = url.removeprefix("ws://").split(":")
    found: list[LoadRacer] = []
    for number in range(0, racers, seats):
        room = f"load-{secrets.token_hex(4)}"
        path = "" if target == "split" else home_path(room)
        for seat in range(min(seats, racers - number)):
            racer = LoadRacer(path, number // seats, seat, seed, echo=target == "echo")
            await racer.connect(host, int(port))
            found.append(racer)
        if target != "echo":
            await _start_race(found[number:], room, number // seats)
    return found


async def measure(racers: Sequence[LoadRacer], seconds: float, pace: float) -> LoadResult:
    """Let the racers move for ``seconds`` seconds."""
    gc.disable()  # searches for reference cycles would delay the racers, and be counted as delays of the server
    try:
        began = time.perf_counter()
        for racer in racers:
            racer.start(began + seconds, pace)
        await asyncio.sleep(seconds + _SETTLING_TIME)
    finally:
        gc.enable()
    latencies = (latency for racer in racers for latency in racer.latencies)
    return LoadResult.of(latencies, seconds, sum(racer.bytes for racer in racers))


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


async def main(url: str, count: str, seats: str, seed: str, target: str) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    racers = await race(url, int(count), int(seats), int(seed), target)

    def prepare() -> None:
        for racer in racers:
            racer.prepare(_PREPARED // len(racers))
        print("ready", flush=True)

    prepare()
    while line := await asyncio.to_thread(sys.stdin.readline):
        duration, pace = map(float, line.split())
        print(json.dumps(asdict(await measure(racers, duration, pace))), flush=True)
        prepare()


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))
