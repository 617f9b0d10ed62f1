"""``samedeal match``: two engines race on the same deals."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from samedeal.games import GAMES, game_named
from samedeal_bots.commands.bot import engine_of
from samedeal_link.errors import Failure

if TYPE_CHECKING:
    from samedeal_bots.match import Pair, RaceAlone


_MAX_FAILED: Final = 10
"""Number of deals in a row in which an engine fails before the match is given up."""


def run(given: argparse.Namespace) -> int:
    """Play the match and return the exit code."""
    from samedeal_link.machine.signals import until_stopped

    return asyncio.run(until_stopped(_play(given)))


async def _play(given: argparse.Namespace) -> int:
    from samedeal_bots.engine import EngineFailed
    from samedeal_bots.match import pairs
    from samedeal_bots.sequential_test import Comparison, compared

    names = GAMES if given.games == "all" else given.games.split(",")
    games = [game_named(name.strip()) for name in names]
    async with engine_of(given, given.A, "A") as first, engine_of(given, given.B, "B") as second:
        for name, engine in (("A", first), ("B", second)):
            try:
                await engine.start()
            except EngineFailed as failure:
                raise Failure(f"{name}: {failure}") from None
        print(f"A is {first.name}, B is {second.name}.", flush=True)
        played: list[Pair] = []
        comparison = Comparison.OPEN
        async for pair in pairs((first, second), games, given.deals, 60 / given.pace):
            played.append(pair)
            print(_line(pair), flush=True)
            for at, name in enumerate("AB"):
                if len(played) >= _MAX_FAILED and all(each.races[at].failed for each in played[-_MAX_FAILED:]):
                    raise Failure(f"{name} has failed in the last {_MAX_FAILED} deals. Repair it, and begin again.")
            comparison = compared(*_ahead(played))
            if comparison is not Comparison.OPEN:
                break
    for_a, for_b = _ahead(played)
    print("\n".join(_table(played)))
    print(f"\n{comparison}: A is ahead in {for_a} deals, and B in {for_b}.")
    return 0


def _line(pair: Pair) -> str:
    ahead = "A is ahead" if pair.first else "B is ahead" if pair.second else "even"
    first, second = (_race_text(race) for race in pair.races)
    return f"{pair.game} #{pair.number}: A {first}, B {second}: {ahead}"


def _race_text(race: RaceAlone) -> str:
    from samedeal_client.text.time_text import short_clock_text

    if race.won:
        return f"won in {short_clock_text(race.result.finished_at)}"
    return f"{'failed at' if race.failed else 'put up'} {race.result.foundation_cards}"


def _ahead(played: Sequence[Pair]) -> tuple[int, int]:
    """Return in how many pairs the first engine is ahead, and in how many the second one."""
    return sum(pair.first for pair in played), sum(pair.second for pair in played)


def _table(played: Sequence[Pair]) -> Iterator[str]:
    yield f"\n{'game':<22}{'deals':>6}{'A ahead':>9}{'B ahead':>9}{'A won':>7}{'B won':>7}"
    for game in dict.fromkeys(pair.game for pair in played):
        of_game = [pair for pair in played if pair.game is game]
        won = [sum(pair.races[at].won for pair in of_game) for at in (0, 1)]
        first, second = _ahead(of_game)
        yield f"{game.title:<22}{len(of_game):>6}{first:>9}{second:>9}{won[0]:>7}{won[1]:>7}"
