"""The bots of the house as rivals: ``python -m tests.tools.bot_levels`` lets one of each level race on winnable deals.

It writes into PLAYING.md, for each game: in which share of the races some bot finishes within the usual time limit; the
same for each level, with the median time, and the share of races in which the level is first; how often a hasty player, a
greedy bot at ``HASTY`` thoughts a minute, beats them all; and the CPU time of a bot. ``--games`` measures some games, and
leaves the rows of the others as they are.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import count, islice
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Final, NamedTuple

from samedeal.board_history import Play
from samedeal.games import GAMES, game_named
from samedeal.options import Options
from samedeal.solver.solve import Outcome, solve
from samedeal_bots.action_choice import PAUSE, RESIGN, WAIT, ActionChooser
from samedeal_link.solving.bot_levels import LEVELS, Level, thought_time
from samedeal_link.solving.strategy import BotMemory
from samedeal_link.solving.temperament import Temperament
from tests.shared.playouts import numbered

HASTY: Final = 20.0
"""Thoughts a minute of a hasty player."""

PLAYING: Final = Path(__file__).parents[2] / "client/PLAYING.md"

_HEADINGS: Final = ("game", "some bot", *(f"{level}, first" for level in LEVELS), "hasty wins", "CPU")
_USUAL: Final = [game.name for game in GAMES.values() if game.file.difficulty]
_BLOCK: Final = re.compile(r"(?<=<!-- bots -->\n).*?(?=<!-- end -->)", re.DOTALL)
_BUDGET: Final = 100_000
"""Number of states after which a deal is left out because it is not known whether it can be won."""


class BotRace(NamedTuple):
    """What a bot has done in a race: its foundation cards when the time was up.

    ``end`` is when it finished, or the limit. ``thinking`` is its CPU time in seconds.
    """

    won: bool
    cards: int
    end: float
    thinking: float

    @property
    def rank(self) -> tuple[float, float]:
        """What decides who is first: the time of who has finished, then the cards."""
        return (self.end, 0) if self.won else (float("inf"), -self.cards)


def bot_race(game: str, number: int, level: Level, pace: float = 0.0) -> BotRace:
    """Let a bot race on a numbered deal under the usual options, without waiting between its actions."""
    rng = Random(f"{game} {number} {level} {pace}")
    options, temperament = Options.scheduled(game, 1, 0, bots=False), Temperament.random(rng)
    chooser = ActionChooser(level, BotMemory(rng, temperament=temperament))
    play = Play(numbered(game_named(game), number), options.undo_rule)
    interval = (60 / pace if pace else thought_time(level, play.board.game)) / temperament.pace
    slack = temperament.unevenness
    seconds, started_at = rng.uniform(0, interval), time.process_time()
    cards = 0
    while seconds < options.limit and not play.board.won:
        action = chooser.choose_action(play, (options.limit - seconds) / interval, from_deal=True)
        seconds += interval * rng.uniform(1 - slack, 1 + slack) * chooser.time_for(action, play.board)
        if action == WAIT:
            break
        if action not in (PAUSE, RESIGN):
            play = play.act(action)
            cards = play.board.foundation_cards if seconds <= options.limit else cards
    end = seconds if play.board.won else options.limit
    return BotRace(play.board.won, cards, end, time.process_time() - started_at)


def winnable(game: str, number: int) -> list[int]:
    """Return the first ``number`` numbered deals of a game that are known to be winnable."""
    known = (deal for deal in count(1) if solve(numbered(game_named(game), deal), _BUDGET).outcome is Outcome.WON)
    return list(islice(known, number))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bot_levels", description=__doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=_USUAL)
    parser.add_argument("--deals", type=int, default=40)
    parser.add_argument("--print", action="store_true", help="only print the rows")
    options = parser.parse_args(arguments)
    with ProcessPoolExecutor() as pool:
        deals = pool.map(partial(winnable, number=options.deals), options.games)
        for game, numbers in zip(options.games, deals, strict=True):
            races = [list(pool.map(partial(bot_race, game, level=level), numbers)) for level in LEVELS]
            hasty = list(pool.map(partial(bot_race, game, level="greedy", pace=HASTY), numbers))
            row = f"| {' | '.join((game_named(game).title, *cells(races, hasty)))} |"
            print(row, flush=True)
            if not options.print:
                _write(row)


def cells(races: Sequence[Sequence[BotRace]], hasty: Sequence[BotRace]) -> list[str]:
    """Return the cells of a row, from the races of each level and those of the hasty player, on the same deals."""
    together = list(zip(*races, strict=True))
    firsts = [min(range(len(LEVELS)), key=lambda level: on_deal[level].rank) for on_deal in together]
    found = [_share([any(race.won for race in on_deal) for on_deal in together])]
    for level, own in enumerate(races):
        won = [race.end for race in own if race.won]
        time_text = f" in {int(median(won)) // 60}:{int(median(won)) % 60:02}" if won else ""
        found.append(f"{_share([race.won for race in own])}{time_text}, {_share([first == level for first in firsts])}")
    wins = [player.rank < min(race.rank for race in on_deal) for player, on_deal in zip(hasty, together, strict=True)]
    thinking = max(sum(race.thinking for race in own) / sum(race.end for race in own) for own in races)
    return [*found, _share(wins), f"{thinking:.1%}".replace("%", " %")]


def _share(cases: Sequence[bool]) -> str:
    return f"{mean(cases):.0%}".replace("%", " %")


def _write(row: str) -> None:
    """Put a row into the table, whose rows have the order of the games."""
    text = PLAYING.read_text(encoding="utf-8")
    rows = {each.split(" | ")[0]: each for each in [*_BLOCK.findall(text)[0].splitlines()[2:], row]}
    titles = [f"| {game.title}" for game in GAMES.values()]
    table = [
        f"| {' | '.join(_HEADINGS)} |",
        f"|{'---|' * len(_HEADINGS)}",
        *(rows[each] for each in titles if each in rows),
    ]
    PLAYING.write_text(_BLOCK.sub("".join(f"{each}\n" for each in table), text), encoding="utf-8")


if __name__ == "__main__":
    main()
