"""What a key, a move and a rival's progress cost the client on a full terminal, in work and in bytes: a table, no limits."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from functools import partial
from random import Random
from statistics import median
from time import process_time

from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot

from samedeal.games import GAMES
from samedeal.moves import Move
from samedeal_client.app import SamedealApp
from samedeal_client.bindings import DEFAULT
from samedeal_client.client import Client
from samedeal_client.look import Look
from samedeal_client.strategy import Memory, choose
from tests.client.referee import Referee

MOVES = 40
SIZES = ((80, 24), (120, 40))


class CountingDriver(HeadlessDriver):
    """A terminal that counts what it is sent. It passes for a real one, so that screens are written to it."""

    sent = 0

    @property
    def is_headless(self) -> bool:
        return False

    def write(self, data: str) -> None:
        CountingDriver.sent += len(data.encode())


class Meter:
    """The app at a referee's table, its work and bytes measured step by step."""

    def __init__(self, app: SamedealApp, referee: Referee) -> None:
        self.app = app
        self.referee = referee

    async def drain(self) -> None:
        """Let everything that was begun be done, and be painted, without waiting for the next frame's time."""
        quiet = 0
        while quiet < 3:
            await asyncio.sleep(0)
            pumps = (self.app, self.app.screen)
            waits = any(not pump._message_queue.empty() for pump in pumps) or self.app._stale
            quiet = 0 if waits or self.referee.behind or not self.referee._news.empty() else quiet + 1
        self.app.screen._on_timer_update()

    async def cost(self, begin: Callable[[], Awaitable[None] | None]) -> tuple[float, int]:
        """Milliseconds of work, and bytes."""
        await self.drain()
        CountingDriver.sent = 0
        began = process_time()
        begun = begin()
        if begun is not None:
            await begun
        await self.drain()
        return (process_time() - began) * 1e3, CountingDriver.sent

    async def key(self, key: str) -> tuple[float, int]:
        return await self.cost(lambda: self.app.simulate_key(key))


def keys_of(move: Move) -> list[str]:
    return [*move.source, *move.target] if move.is_transfer else ["space"]


async def measure(game: str, size: tuple[int, int]) -> None:
    names = ("mira", "k0ji", "ana", "bert", "caro", "dora", "emil")
    referee = Referee(game, rivals=names)
    client = Client(referee)
    client.entering = True
    app = SamedealApp(client, Look(), DEFAULT)
    app.driver_class = CountingDriver
    keys: list[float] = []
    moves: list[int] = []
    ticks: list[float] = []
    tick_bytes: list[int] = []

    async def play(pilot: Pilot[object]) -> None:
        await client.join(referee.room)
        await pilot.pause()
        meter = Meter(app, referee)
        memory = Memory(Random(1))
        rivals = [Memory(Random(1)) for _ in names]
        for number in range(MOVES):
            board = client.model.board
            assert board is not None
            move = choose("greedy", board, memory)
            if move is None:
                break
            sent = 0
            for key in keys_of(move):
                work, bytes_sent = await meter.key(key)
                keys.append(work)
                sent += bytes_sent
            moves.append(sent)
            rival = f"p{2 + number % len(names)}"
            done = choose("greedy", referee.plays[rival].board.masked(), rivals[number % len(names)])
            if done is not None:
                referee.time += 700
                referee.rival_acts(rival, done)
                work, bytes_sent = await meter.cost(partial(referee.tell_progress, rival))
                ticks.append(work)
                tick_bytes.append(bytes_sent)
        app.exit(0)

    gc.collect()
    gc.freeze()
    judging = asyncio.create_task(referee.judge())
    try:
        _ = await app.run_async(headless=False, mouse=False, size=size, auto_pilot=play)
    finally:
        judging.cancel()
        await asyncio.gather(judging, return_exceptions=True)
        gc.unfreeze()
    row = f"{median(keys):>9.2f}{max(keys):>8.2f}{median(moves):>10.0f}{max(moves):>8}"
    row += f"{median(ticks):>10.2f}{max(ticks):>8.2f}{median(tick_bytes):>9.0f}" if ticks else ""
    print(f"{game:<14}{size[0]:>4}x{size[1]}{row}{len(moves):>8}")


def test_client_speed() -> None:
    print("\n\n                    ms a key      bytes a move    ms a rival's tick    bytes   moves")
    print("                  median     max    median     max    median     max   median")
    for game in GAMES:
        for size in SIZES:
            asyncio.run(measure(game, size))
