"""The cost of a key, a move and a rival's progress in the full-screen client, as a table of CPU time and bytes.

CPU time is measured from the key or message to the bytes written. Each line is the minimum of the medians of several runs,
because other load on the machine only adds to them.
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
from textual.pilot import Pilot

from samedeal.board import Board
from samedeal.games import GAMES
from samedeal.moves import Move
from samedeal_client.board.board_picture import HitTarget
from samedeal_client.full_screen.app import SamedealApp
from samedeal_client.full_screen.widgets.board import BoardView, RegionView
from samedeal_client.input.bindings import DEFAULT
from samedeal_client.text.appearance import Look
from samedeal_link.session.client_session import ClientSession
from samedeal_link.solving.strategy import BotMemory, choose_move
from tests.client.referee import Referee
from tests.textual_internals import CountingDriver, has_queued_messages, paint_now

MOVES = 40
RUNS = 3
SIZES = ((80, 24), (120, 40))


class Meter:
    """Measures the CPU time and bytes of single steps of the app."""

    def __init__(self, app: SamedealApp, referee: Referee) -> None:
        self.app = app
        self.referee = referee

    async def drain(self, *, thoroughly: bool = False) -> None:
        """Wait until all work is done and painted, without waiting for the next frame.

        Messages that go to a widget first, such as mouse movements, are waited for only if ``thoroughly``, because checking
        every widget takes time.
        """
        quiet = 0
        while quiet < 3:
            await asyncio.sleep(0)
            pumps = None if thoroughly else (self.app, self.app.screen)
            waits = has_queued_messages(self.app, pumps) or self.app.update_pending
            quiet = 0 if waits or self.referee.has_unanswered or not self.referee.events.empty() else quiet + 1
        paint_now(self.app.screen)

    async def cost(self, begin: Callable[[], Awaitable[None] | None], *, thoroughly: bool = False) -> tuple[float, int]:
        """The milliseconds of CPU time and the bytes of a step."""
        await self.drain()
        before = self.app.terminal.written
        began = process_time()
        begun = begin()
        if begun is not None:
            await begun
        await self.drain(thoroughly=thoroughly)
        return (process_time() - began) * 1e3, self.app.terminal.written - before

    async def key(self, key: str) -> tuple[float, int]:
        return await self.cost(lambda: self.app.simulate_key(key))

    async def mouse(self, event: type[events.MouseEvent], x: int, y: int) -> tuple[float, int]:
        made = event(self.app.screen, x, y, 0, 0, 1, shift=False, meta=False, ctrl=False, screen_x=x, screen_y=y)

        def begin() -> None:
            self.app.post_message(made)

        return await self.cost(begin, thoroughly=True)


async def drag(meter: Meter, board: Board) -> list[tuple[float, int]]:
    """Drag a card across the whole screen, a movable one if there is any. Return the cost of each step."""
    source = next((move.source for move in board.legal_moves() if move.is_transfer), "1")
    view = meter.app.screen.query_one(BoardView)
    regions = [shown.region_shown for shown in view.query(RegionView) if shown.region_shown is not None]
    areas = [(region.place, area) for region in regions for area in region.hit_areas]
    top = len(board.piles[board.game.index[source]]) - 1
    place, area = next((place, area) for place, area in areas if area.target == HitTarget(source, top))
    x, y = view.region.x + place.x + area.x + 1, view.region.y + place.y + area.y
    await meter.mouse(events.MouseDown, x, y)
    width, height = meter.app.size
    costs = [await meter.mouse(events.MouseMove, x, height // 2) for x in range(width)]
    await meter.mouse(events.MouseUp, x, y)
    await meter.key("escape")
    return costs


def keys_of(move: Move) -> list[str]:
    return [*move.source, *move.target] if move.is_transfer else ["space"]


class Figures(NamedTuple):
    """The costs of one run: of a key, a move, a rival's progress and a step of a drag.

    Times are in milliseconds; ``*_bytes`` and moves are in bytes. ``*_max`` are maxima, and the other values are medians.
    For a drag, whose steps mostly change nothing, the time is a mean and the bytes are a maximum.
    """

    key: float
    key_max: float
    move: float
    move_max: float
    progress: float
    progress_max: float
    progress_bytes: float
    drag: float
    drag_bytes: float
    moves: int


async def measure(game: str, size: tuple[int, int]) -> Figures:
    names = ("mira", "k0ji", "ana", "bert", "caro", "dora", "emil")
    referee = Referee(game, rivals=names)
    client = ClientSession(referee)
    client.entering = True
    app = SamedealApp(client, Look(), DEFAULT)
    app.driver_class = CountingDriver
    keys: list[float] = []
    moves: list[int] = []
    progress_costs: list[tuple[float, int]] = []
    drag_costs: list[tuple[float, int]] = []

    async def play(pilot: Pilot[object]) -> None:
        await client.join(referee.room)
        await pilot.pause()
        meter = Meter(app, referee)
        await meter.drain()
        assert client.model.board is not None
        drag_costs.extend(await drag(meter, client.model.board))
        memory = BotMemory(Random(1))
        rivals = {f"p{number}": BotMemory(Random(1)) for number, _ in enumerate(names, 2)}
        for _ in range(MOVES):
            board = client.model.board
            assert board is not None
            move = choose_move("greedy", board, memory)
            if move is None:
                break
            costs = [await meter.key(key) for key in keys_of(move)]
            keys.extend(work for work, _ in costs)
            moves.append(sum(sent for _, sent in costs))
            for rival, rival_memory in rivals.items():
                rival_move = choose_move("greedy", referee.held.play(rival).board.masked(), rival_memory)
                if rival_move is not None:
                    referee.time += 100
                    referee.rival_acts(rival, rival_move)
                    progress_costs.append(await meter.cost(partial(referee.deliver_progress, rival)))
        app.exit(0)

    gc.collect()
    gc.freeze()
    answering = asyncio.create_task(referee.answer_requests())
    try:
        _ = await app.run_async(headless=False, mouse=False, size=size, auto_pilot=play)
    finally:
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
        gc.unfreeze()
    work, sent = [cost[0] for cost in progress_costs], [cost[1] for cost in progress_costs]
    return Figures(
        *(median(keys), max(keys), median(moves), max(moves)),
        *(median(work), max(work), median(sent)),
        *(mean(work for work, _ in drag_costs), max(sent for _, sent in drag_costs), len(moves)),
    )


def test_client_speed() -> None:
    print("\n\n                    ms a key      bytes a move    ms rival's update     bytes  a motion, bytes  moves")
    print("                  median     max    median     max    median     max   median     ms  most")
    for game in GAMES:
        for size in SIZES:
            runs = [asyncio.run(measure(game, size)) for _ in range(RUNS)]
            best = Figures(*(min(values) for values in zip(*runs, strict=True)))
            row = f"{best.key:>9.2f}{best.key_max:>8.2f}{best.move:>10.0f}{best.move_max:>8.0f}"
            row += f"{best.progress:>10.2f}{best.progress_max:>8.2f}{best.progress_bytes:>9.0f}"
            row += f"{best.drag:>6.2f}{best.drag_bytes:>7.0f}{best.moves:>8}"
            print(f"{game:<14}{size[0]:>4}x{size[1]}{row}")
