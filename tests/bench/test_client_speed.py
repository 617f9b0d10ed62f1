"""What a key, a move and a rival's progress cost the client on a full terminal, in work and in bytes: a table, no limits.

Work is processor time from the key, or from the message, to the bytes that are written. Each line is the least of several
runs' medians, since a machine that does other things as well makes all of them larger.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from functools import partial
from random import Random
from statistics import mean, median
from time import process_time
from typing import NamedTuple

from textual import events
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot

from samedeal.board import Board
from samedeal.games import GAMES
from samedeal.moves import Move
from samedeal_client.app import SamedealApp
from samedeal_client.board.bindings import DEFAULT
from samedeal_client.board.picture import Hit
from samedeal_client.bots.strategy import Memory, choose
from samedeal_client.net.client import Client
from samedeal_client.text.look import Look
from samedeal_client.widgets.board import BoardView, PartView
from tests.client.referee import Referee

MOVES = 40
RUNS = 3
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

    async def drain(self, *, thoroughly: bool = False) -> None:
        """Let everything that was begun be done, and be painted, without waiting for the next frame's time.

        What is told to a widget first, as motions are, is waited for only ``thoroughly``, since looking costs time too.
        """
        quiet = 0
        while quiet < 3:
            await asyncio.sleep(0)
            pumps = self.app._registry if thoroughly else (self.app, self.app.screen)
            waits = any(not pump._message_queue.empty() for pump in pumps) or self.app._stale
            quiet = 0 if waits or self.referee.behind or not self.referee._news.empty() else quiet + 1
        self.app.screen._on_timer_update()

    async def cost(self, begin: Callable[[], Awaitable[None] | None], *, thoroughly: bool = False) -> tuple[float, int]:
        """Milliseconds of work, and bytes."""
        await self.drain()
        CountingDriver.sent = 0
        began = process_time()
        begun = begin()
        if begun is not None:
            await begun
        await self.drain(thoroughly=thoroughly)
        return (process_time() - began) * 1e3, CountingDriver.sent

    async def key(self, key: str) -> tuple[float, int]:
        return await self.cost(lambda: self.app.simulate_key(key))

    async def mouse(self, event: type[events.MouseEvent], x: int, y: int) -> tuple[float, int]:
        made = event(self.app.screen, x, y, 0, 0, 1, shift=False, meta=False, ctrl=False, screen_x=x, screen_y=y)

        def begin() -> None:
            self.app.post_message(made)

        return await self.cost(begin, thoroughly=True)


async def drag(meter: Meter, board: Board) -> list[tuple[float, int]]:
    """Drag a card, one that can go somewhere if there is any, across the whole screen: the cost of each cell."""
    source = next((move.source for move in board.legal_moves() if move.is_transfer), "1")
    view = meter.app.screen.query_one(BoardView)
    spots = [(part.part.place, spot) for part in view.query(PartView) if part.part for spot in part.part.spots]
    top = len(board.piles[board.game.index[source]]) - 1
    place, spot = next((place, spot) for place, spot in spots if spot.hit == Hit(source, top))
    x, y = view.region.x + place.x + spot.x + 1, view.region.y + place.y + spot.y
    await meter.mouse(events.MouseDown, x, y)
    width, height = meter.app.size
    costs = [await meter.mouse(events.MouseMove, x, height // 2) for x in range(width)]
    await meter.mouse(events.MouseUp, x, y)
    await meter.key("escape")
    return costs


def keys_of(move: Move) -> list[str]:
    return [*move.source, *move.target] if move.is_transfer else ["space"]


class Figures(NamedTuple):
    """Of a run: milliseconds a key and a rival's tick, bytes a move and a tick, a motion's of cards that are dragged.

    Medians and maxima; of a motion, which most often changes nothing, the mean work and the most bytes.
    """

    key: float
    key_most: float
    move: float
    move_most: float
    tick: float
    tick_most: float
    tick_bytes: float
    drag: float
    drag_bytes: float
    moves: int


async def measure(game: str, size: tuple[int, int]) -> Figures:
    names = ("mira", "k0ji", "ana", "bert", "caro", "dora", "emil")
    referee = Referee(game, rivals=names)
    client = Client(referee)
    client.entering = True
    app = SamedealApp(client, Look(), DEFAULT)
    app.driver_class = CountingDriver
    keys: list[float] = []
    moves: list[int] = []
    ticks: list[tuple[float, int]] = []
    motions: list[tuple[float, int]] = []

    async def play(pilot: Pilot[object]) -> None:
        await client.join(referee.room)
        await pilot.pause()
        meter = Meter(app, referee)
        await meter.drain()
        assert client.model.board is not None
        motions.extend(await drag(meter, client.model.board))
        memory = Memory(Random(1))
        rivals = {f"p{number}": Memory(Random(1)) for number, _ in enumerate(names, 2)}
        for _ in range(MOVES):
            board = client.model.board
            assert board is not None
            move = choose("greedy", board, memory)
            if move is None:
                break
            costs = [await meter.key(key) for key in keys_of(move)]
            keys.extend(work for work, _ in costs)
            moves.append(sum(sent for _, sent in costs))
            for rival, its_memory in rivals.items():
                done = choose("greedy", referee.plays[rival].board.masked(), its_memory)
                if done is not None:
                    referee.time += 100
                    referee.rival_acts(rival, done)
                    ticks.append(await meter.cost(partial(referee.tell_progress, rival)))
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
    work, sent = [cost[0] for cost in ticks], [cost[1] for cost in ticks]
    return Figures(
        *(median(keys), max(keys), median(moves), max(moves)),
        *(median(work), max(work), median(sent)),
        *(mean(work for work, _ in motions), max(sent for _, sent in motions), len(moves)),
    )


def test_client_speed() -> None:
    print("\n\n                    ms a key      bytes a move    ms a rival's tick    bytes  a motion, bytes  moves")
    print("                  median     max    median     max    median     max   median     ms  most")
    for game in GAMES:
        for size in SIZES:
            runs = [asyncio.run(measure(game, size)) for _ in range(RUNS)]
            best = Figures(*(min(values) for values in zip(*runs, strict=True)))
            row = f"{best.key:>9.2f}{best.key_most:>8.2f}{best.move:>10.0f}{best.move_most:>8.0f}"
            row += f"{best.tick:>10.2f}{best.tick_most:>8.2f}{best.tick_bytes:>9.0f}"
            row += f"{best.drag:>6.2f}{best.drag_bytes:>7.0f}{best.moves:>8}"
            print(f"{game:<14}{size[0]:>4}x{size[1]}{row}")
