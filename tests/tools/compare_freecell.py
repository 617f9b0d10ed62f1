"""Compare the solver's verdicts about FreeCell with those of freecell-solver, on deals as Microsoft and PySolFC deal them.

This needs the program ``fc-solve`` (Debian's package freecell-solver-bin) and the Python package pysol-cards. Of
Microsoft's 32,000 deals, exactly #11982 can't be won.
"""

from __future__ import annotations

import argparse
import subprocess
from collections import Counter
from collections.abc import Iterable

from pysol_cards.cards import CardRenderer  # type: ignore[import-not-found]  # not needed by the tests
from pysol_cards.deal_game import Game as Dealer  # type: ignore[import-not-found]  # not needed by the tests
from pysol_cards.random_base import RandomBase  # type: ignore[import-not-found]  # not needed by the tests

from samedeal.board import Board
from samedeal.solver.solve import Outcome, solve

VERDICTS = {
    "This game is solveable.": Outcome.WON,
    "I could not solve this game.": Outcome.UNWINNABLE,
}


def columns_of(number: int) -> str:
    """Return the columns of a deal, a line for each."""
    return str(Dealer("freecell", number, RandomBase.DEALS_MS).calc_layout_string(CardRenderer(False)))


def board_of(columns: str) -> Board:
    """Return the board with these columns."""
    lines = [f"{key}: {column}" for key, column in enumerate(columns.splitlines(), 1)]
    return Board.parse("\n".join(["freecell", *lines]))


def other_verdict(columns: str) -> Outcome:
    """Return the verdict of freecell-solver."""
    told = subprocess.run(["fc-solve", "-m"], input=columns, capture_output=True, text=True, check=False).stdout
    return next((verdict for text, verdict in VERDICTS.items() if text in told), Outcome.UNDECIDED)


def compare(numbers: Iterable[int], budget: int) -> Counter[tuple[Outcome, Outcome]]:
    """Return how often the two solvers gave which verdicts, ours first. Print the deals on which they disagree."""
    pairs: Counter[tuple[Outcome, Outcome]] = Counter()
    for number in numbers:
        columns = columns_of(number)
        answer = solve(board_of(columns), budget)
        pair = answer.outcome, other_verdict(columns)
        pairs[pair] += 1
        if pair[0] is not pair[1]:
            print(f"#{number}: {pair[0]} after {answer.states:,} states, and {pair[1]}")
    return pairs


def main() -> None:
    """Compare Microsoft's deals from #1 on, and #11982."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=200)
    parser.add_argument("--budget", type=int, default=100_000)
    options = parser.parse_args()
    for (ours, theirs), count in compare([*range(1, options.deals), 11982], options.budget).items():
        print(f"{count} deals: {ours} here, {theirs} by freecell-solver")


if __name__ == "__main__":
    main()
