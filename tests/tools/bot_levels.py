"""The strength of the bots: ``python -m tests.tools.bot_levels`` races them alone on deals that can be won.

It writes into PLAYING.md which share of the deals the bots of each level win within the usual time limit, and the median
time of the races that they win. ``--games`` measures some games, and leaves the rows of the others as they are.
"""

from __future__ import annotations

import argparse
import re
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import count, islice
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Final, NamedTuple

from samedeal.board_history import Play, Undo
from samedeal.games import GAMES, game_named
from samedeal.moves import Move
from samedeal.options import Options
from samedeal.solver.solve import Outcome, solve
from samedeal_bots.action_choice import PAUSE, RESIGN, WAIT, ActionChooser, time_for
from samedeal_link.solving.bot_levels import LEVELS, Level
from samedeal_link.solving.strategy import BotMemory
from samedeal_link.solving.temperament import Temperament
from tests.shared.playouts import numbered

PACE: Final = 20.0
"""Moves a minute, as many as ``samedeal bot`` makes by default."""

PLAYING: Final = Path(__file__).parents[2] / "client/PLAYING.md"

_USUAL: Final = [game.name for game in GAMES.values() if game.file.difficulty]
_BLOCK: Final = re.compile(r"(?<=<!-- bots -->\n).*?(?=<!-- end -->)", re.DOTALL)
_BUDGET: Final = 100_000
"""Number of states after which a deal is left out because it is not known whether it can be won."""


class Result(NamedTuple):
    """What a bot has achieved in a race. ``seconds`` is the time of its last action, and ``thinking`` its CPU time."""

    won: bool
    cards: int
    actions: int
    seconds: float
    thinking: float


def bot_race(game: str, number: int, level: Level, limit: float = Options().limit, pace: float = PACE) -> Result:
    """Let a bot race on a numbered deal for ``limit`` seconds at most, without waiting between its actions."""
    rng = Random(f"{game} {number} {level}")
    temperament = Temperament.random(rng)
    chooser = ActionChooser(level, BotMemory(rng, temperament=temperament))
    play = Play(numbered(game_named(game), number), Undo.FREE)
    interval = 60 / pace / temperament.pace
    seconds, actions, started_at = rng.uniform(0, interval), 0, time.process_time()
    while seconds < limit and not play.board.won:
        action: Move | str = chooser.choose_action(play, (limit - seconds) / interval, from_deal=True)
        if action in (RESIGN, WAIT):
            break
        seconds += interval * time_for(action, play.board)
        if action != PAUSE:
            actions += 1
            play = play.act(action)
    return Result(play.board.won, play.board.foundation_cards, actions, seconds, time.process_time() - started_at)


def winnable(game: str, number: int) -> list[int]:
    """Return the first ``number`` numbered deals of a game that are known to be winnable."""
    known = (deal for deal in count(1) if solve(numbered(game_named(game), deal), _BUDGET).outcome is Outcome.WON)
    return list(islice(known, number))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bot_levels", description=__doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=_USUAL)
    parser.add_argument("--deals", type=int, default=40)
    options = parser.parse_args(arguments)
    with ProcessPoolExecutor() as pool:
        deals = pool.map(partial(winnable, number=options.deals), options.games)
        for game, numbers in zip(options.games, deals, strict=True):
            _write(_row(pool, game, numbers))


def _write(row: str) -> None:
    """Put a row into the table, whose rows have the order of the games."""
    text = PLAYING.read_text(encoding="utf-8")
    rows = {each.split(" | ")[0]: each for each in [*_BLOCK.findall(text)[0].splitlines()[2:], row]}
    titles = [f"| {game.title}" for game in GAMES.values()]
    table = [
        f"| game | {' | '.join(LEVELS)} |",
        f"|---|{'---|' * len(LEVELS)}",
        *(rows[each] for each in titles if each in rows),
    ]
    PLAYING.write_text(_BLOCK.sub("".join(f"{each}\n" for each in table), text), encoding="utf-8")


def _row(pool: ProcessPoolExecutor, game: str, deals: list[int]) -> str:
    """Return a row of the table. Print more about it."""
    cells = [game_named(game).title]
    for level in LEVELS:
        results = list(pool.map(partial(bot_race, game, level=level), deals))
        won = [result.seconds for result in results if result.won]
        time_text = f" in {int(median(won)) // 60}:{int(median(won)) % 60:02}" if won else ""
        cells.append(f"{len(won) / len(results):.0%}{time_text}".replace("%", " %"))
        thinking = sum(result.thinking for result in results) / sum(result.actions for result in results)
        cards = mean(result.cards for result in results)
        print(f"{game} {level}: {cells[-1]}, {cards:.1f} cards, {1000 * thinking:.1f} ms an action", flush=True)
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
