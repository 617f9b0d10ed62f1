"""Measure the solver: what it wins and decides within which budget.

``make solver`` prints a table in Markdown, and the thirds of the winnable deals as files of games have them, and writes
which share of the deals is won into these files. States are the same on every machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Final

from samedeal import games
from samedeal.game import Game
from samedeal.games import GAMES, game_named
from samedeal.solver.solve import Answer, Outcome, solve
from tests.shared.playouts import numbered

FOLDER: Final = Path(games.__file__).parent
BUDGETS: Final = (1_000, 10_000, 100_000)


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that is not below a share of the values."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def row_of(game: Game, deals: Sequence[Answer], budgets: Sequence[int]) -> str:
    """Return the share of the deals that is won within each budget and decided within the last, and the states for it."""
    won = [deal.states for deal in deals if deal.outcome is Outcome.WON]
    decided = [deal for deal in deals if deal.outcome is not Outcome.UNDECIDED]
    shares = [sum(states <= budget for states in won) / len(deals) for budget in budgets]
    states = [deal.states for deal in deals]
    cells = [f"{share:.0%}".replace("%", " %") for share in (*shares, len(decided) / len(deals))]
    return f"| {game.title} | {' | '.join(cells)} | {quantile(states, 0.5):,} | {quantile(states, 0.9):,} |"


def thirds(game: Game, deals: Sequence[Answer]) -> str:
    """Return the line of the game's file that divides the winnable deals into easy, medium and hard ones."""
    won = [deal.states for deal in deals if deal.outcome is Outcome.WON]
    if len(won) < 3:
        return f"{game}: no difficulties, because too few deals are won"
    return f"{game}: difficulty = {{ easy = {quantile(won, 1 / 3)}, medium = {quantile(won, 2 / 3)} }}"


def with_wins(text: str, game: Game, wins: float) -> str:
    """Return the text of a game's file with the share of deals that the solver wins, in the table of the game."""
    table = f"[variants.{game}]" if game.file.variant_of else ""
    lines = text.splitlines()
    start = lines.index(table) + 1 if table else 0
    end = next((at for at in range(start, len(lines)) if lines[at].startswith("[")), len(lines))
    kept = [line for line in lines[start:end] if not line.startswith("wins = ")]
    at = max(number for number, line in enumerate(kept, 1) if line and not line.startswith("#"))
    return "\n".join([*lines[:start], *kept[:at], f"wins = {wins:.2f}", *kept[at:], *lines[end:], ""])


def main() -> None:
    """Measure the numbered deals from #1 on, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=60)
    parser.add_argument("--budget", type=int, default=BUDGETS[-1])
    parser.add_argument("--games", nargs="+", default=list(GAMES), choices=list(GAMES))
    options = parser.parse_args()
    budgets = [*(budget for budget in BUDGETS if budget < options.budget), options.budget]
    first, *others = (f"{budget:,}" for budget in budgets)
    rows = [
        f"| game | {' | '.join([f'won with {first}', *others])} | decided | median | 90 % |",
        f"|---|{'--:|' * (len(budgets) + 3)}",
    ]
    difficulties = []
    for game in map(game_named, options.games):
        deals = [solve(numbered(game, number), options.budget) for number in range(1, options.deals + 1)]
        rows.append(row_of(game, deals, budgets))
        difficulties.append(thirds(game, deals))
        path = FOLDER / f"{game.file.variant_of or game}.toml"
        wins = sum(deal.outcome is Outcome.WON for deal in deals) / len(deals)
        path.write_text(with_wins(path.read_text("utf-8"), game, wins), "utf-8")
    print("\n".join([*rows, "", *difficulties]))


if __name__ == "__main__":
    main()
