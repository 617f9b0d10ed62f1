"""A load generator: racers who send moves that were prepared beforehand, in a process of their own.

    python -m tests.bench.move_sender PORT CLIENTS SEED {race|echo}

Racers sit in rooms of four. Against an echo server they send the same frames and take each echo as an ack. The process
prints ``ready`` when the races have begun. A line ``SECONDS PACE`` on its standard input starts a measurement: each racer
moves ``PACE`` times a second, or, if it is 0, as soon as the last move is acked. The result is printed as a line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass
from random import Random
from typing import Final, cast

import uvloop

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.deal import Deal, shuffled
from samedeal.games import GAMES
from samedeal.options import WantedOptions
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
from tests.server.raw_client import BINARY, CLOSE, PING, PONG, frame, handshake

SEATS: Final = 4
_PREPARED: Final = 25_000
"""Number of moves that all racers prepare before a measurement. Further moves are prepared when they are sent."""

_ACK: Final = b"\xa4type\xa5acked"
_REFUSAL: Final = b"\xa4type\xa7refused"


@dataclass(frozen=True)
class Load:
    """The result of a measurement. Latencies are in seconds."""

    moves: int
    seconds: float
    median: float
    p99: float
    bytes_sent: int
    bytes_received: int


class Racer(asyncio.Protocol):
    """A player who makes random legal moves on a known deal."""

    def __init__(self, deal: int, seat: int, seed: int, *, echo: bool) -> None:
        game = list(GAMES.values())[deal % len(GAMES)]
        self._rng = Random(f"{seed} {deal} {seat}")
        self._play = Play(Board.deal(game, shuffled(Deal("number", deal).public_seed(), game.decks)), Undo.FREE)
        self._echo = echo
        self._prepared: list[bytes] = []
        self._next = 0
        self._rest = b""
        self._open = False
        self._answers: asyncio.Queue[ToClient] = asyncio.Queue()
        self._sent_at = 0.0
        self._due = 0.0
        self._until = 0.0
        self._pace = 0.0
        self.latencies: list[float] = []
        self.bytes_sent = self.bytes_received = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # that of uvloop is none by its type
        self._transport.write(handshake())

    def connection_lost(self, exc: Exception | None) -> None:
        if self._until:
            sys.exit(f"a connection was lost: {exc}")

    def data_received(self, data: bytes) -> None:
        self.bytes_received += len(data)
        if self._rest:
            data = self._rest + data
        if not self._open:
            _, found, rest = data.partition(b"\r\n\r\n")
            self._open, data = bool(found), rest if found else data
        at, end = 0, len(data) if self._open else 0
        while end - at >= 2:
            start, size = at + 2, data[at + 1]
            if size == 126:
                start, size = at + 4, int.from_bytes(data[at + 2 : at + 4], "big")
            if end < start + size:
                break
            self._on_frame(data[at] & 15, data[start : start + size])
            at = start + size
        self._rest = data[at:]

    def _on_frame(self, opcode: int, payload: bytes) -> None:
        if opcode == PING:
            self._transport.write(frame(PONG, payload))
        elif opcode == CLOSE:
            sys.exit(f"the server closed a connection: {payload[2:].decode()}")
        elif self._sent_at and (self._echo or payload.startswith(_ACK, 1)):
            now = time.perf_counter()
            self.latencies.append(now - self._sent_at)
            self._sent_at = 0.0
            self._schedule(now)
        elif payload.startswith(_REFUSAL, 1):
            sys.exit(f"a request was refused: {decode_to_client(payload)}")
        elif not self._until:
            self._answers.put_nowait(decode_to_client(payload))

    async def ask(self, request: ToServer, kind: type) -> ToClient:
        """Send a request and return the next message of a type."""
        self._transport.write(frame(BINARY, encode(request)))
        return await self.receive(kind)

    async def receive(self, kind: type) -> ToClient:
        """Return the next message of a type."""
        while not isinstance(message := await self._answers.get(), kind):
            pass
        return message

    def prepare(self, count: int) -> None:
        """Prepare moves until ``count`` are ready to be sent."""
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
        self._prepared.append(frame(BINARY, encode(Act(id=revision, revision=revision, action=action))))

    def start(self, until: float, pace: float) -> None:
        """Make moves until a time. ``pace`` is their rate a second, or 0 to make each as soon as the last one is acked."""
        self.latencies = []
        self.bytes_sent = self.bytes_received = 0
        self._until, self._pace = until, pace
        self._due = time.perf_counter()
        self._schedule(self._due)

    def _schedule(self, now: float) -> None:
        if self._pace:
            self._due += self._rng.expovariate(self._pace)
            asyncio.get_running_loop().call_later(max(0.0, self._due - now), self._move)
        else:
            self._move()

    def _move(self) -> None:
        self._sent_at = time.perf_counter()
        if self._sent_at >= self._until:
            self._sent_at = 0.0
            return
        if self._next == len(self._prepared):
            self._prepare()
        move = self._prepared[self._next]
        self._next += 1
        self.bytes_sent += len(move)
        self._transport.write(move)


async def start_race(racers: list[Racer], deal: int) -> None:
    """Seat racers in a room and start the race."""
    for seat, racer in enumerate(racers):
        await racer.ask(Hello(id=0, name=f"p{deal}-{seat}"), Welcome)
    options = WantedOptions(
        games=(list(GAMES)[deal % len(GAMES)],), deal=f"#{deal}", players=SEATS, limit=7200, undo="free", countdown=0
    )
    created = await racers[0].ask(Create(id=0, options=options), Created)
    assert isinstance(created, Created)
    for racer in racers:
        await racer.ask(Join(id=0, room=created.room), Joined)
    await racers[0].ask(Start(id=0), Done)
    for racer in racers:
        await racer.receive(BoardState)


async def main(port: str, clients: str, seed: str, target: str) -> None:
    loop = asyncio.get_running_loop()
    racers: list[Racer] = []
    for deal in range(int(clients) // SEATS):
        room = [Racer(deal, seat, int(seed), echo=target == "echo") for seat in range(SEATS)]
        for racer in room:
            await loop.create_connection(lambda racer=racer: racer, "127.0.0.1", int(port))  # type: ignore[misc]
        if target == "race":
            await start_race(room, deal)
        racers += room
    for racer in racers:
        racer.prepare(_PREPARED // len(racers))
    print("ready", flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        seconds, pace = map(float, line.split())
        began = time.perf_counter()
        for racer in racers:
            racer.start(began + seconds, pace)
        await asyncio.sleep(began + seconds + 0.5 - time.perf_counter())
        latencies = sorted(latency for racer in racers for latency in racer.latencies)
        result = Load(
            moves=len(latencies),
            seconds=seconds,
            median=latencies[len(latencies) // 2],
            p99=latencies[len(latencies) * 99 // 100],
            bytes_sent=sum(racer.bytes_sent for racer in racers),
            bytes_received=sum(racer.bytes_received for racer in racers),
        )
        print(json.dumps(asdict(result)), flush=True)
        for racer in racers:
            racer.prepare(_PREPARED // len(racers))
        print("ready", flush=True)


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))
