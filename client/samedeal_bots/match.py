"""Matches: two engines race on the same deals, on this machine and without a server.

The time of a race does not pass by itself. A move takes the time that ``Clock.pace`` says, and an undo a quarter of it,
however long the engine needs. So the result does not depend on the machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple

from samedeal.board_history import UNDO, Play, Undo
from samedeal.deal import Deal
from samedeal.game import Game
from samedeal.joint_deal import public_board
from samedeal.options import Options
from samedeal.race.progress import MoveCommitted, Progress
from samedeal.standings import Result
from samedeal_bots.action_choice import PAUSE, RESIGN, UNDO_TIME
from samedeal_bots.engine import Engine, EngineFailed
from samedeal_bots.engine_protocol import Clock

LIMIT: Final = Options().limit
"""The time limit of a race, in seconds, as in rooms."""


class RaceAlone(NamedTuple):
    """A race of one engine. ``failed`` says that the engine could not go on, and so loses the deal."""

    result: Result
    failed: bool

    @property
    def won(self) -> bool:
        """Whether the engine won the deal in time."""
        return self.result.finished_at > 0

    def is_ahead_of(self, other: RaceAlone) -> bool:
        """Return whether this race has a better place than another one on the same deal."""
        return (self.failed, self.result.rank) < (other.failed, other.result.rank)


class Pair(NamedTuple):
    """The races of two engines on one deal. ``first`` and ``second`` say which engine is ahead; perhaps neither is."""

    game: Game
    number: int
    races: tuple[RaceAlone, RaceAlone]

    @property
    def first(self) -> bool:
        """Whether the first engine is ahead."""
        return self.races[0].is_ahead_of(self.races[1])

    @property
    def second(self) -> bool:
        """Whether the second engine is ahead."""
        return self.races[1].is_ahead_of(self.races[0])


async def pairs(engines: tuple[Engine, Engine], games: Sequence[Game], deals: int, pace: float) -> AsyncIterator[Pair]:
    """Let two engines race on the numbered deals from 1 on, each of them in all games. Yield their races deal by deal."""
    for number in range(1, deals + 1):
        for game in games:
            play = Play(public_board(game, Deal("number", number)), Undo.FREE)
            races = await asyncio.gather(*(_race(engine, play, pace, f"{game} {number}") for engine in engines))
            pair = Pair(game, number, (races[0], races[1]))
            for engine, is_behind in zip(engines, (pair.second, pair.first), strict=True):
                engine.tell_result(1 + is_behind, len(engines))
            yield pair


async def _race(engine: Engine, play: Play, pace: float, seed: str) -> RaceAlone:
    """Let an engine race until it has won or resigned, has failed for the last time, or the time is over."""
    engine.begin_race(seed)
    time, progress = 0.0, Progress(foundation_cards=play.board.foundation_cards)
    failed = False
    while time + pace <= LIMIT and not play.board.won:
        try:
            action = await engine.choose(play.masked(), Clock(LIMIT - time, pace))
        except EngineFailed as failure:
            engine.report(f"{failure} It loses {seed}.")
            failed = True
            break
        if action == RESIGN:
            break
        time += pace * (UNDO_TIME if action == UNDO else 1)
        if action != PAUSE:
            play = play.act(action)
            progress = progress.after(MoveCommitted.of(engine.name, str(action), play), round(1000 * time))
    return RaceAlone(Result(0, progress.foundation_cards, progress.finished_at, progress.last_progress_at), failed)
