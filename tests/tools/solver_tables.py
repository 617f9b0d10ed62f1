"""Measure the solver: what it decides within which budget, and how much a small budget prefers easy deals.

``make solver`` prints a table in Markdown, and the thirds of the winnable deals as files of games have them. States are
the same on every machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import ceil
from typing import Final, NamedTuple

from samedeal.board import Board
from samedeal.game import Game
from samedeal.game_file import SearchWeights
from samedeal.games import GAMES, game_named
from samedeal.solver.estimate import Estimate
from samedeal.solver.search import Search
from samedeal.solver.solve import Outcome, solve
from samedeal.solver.states import StateSpace
from tests.shared.playouts import numbered

BUDGETS: Final = (1_000, 10_000, 100_000)
PLAIN: Final = SearchWeights(card=1, side_card=1)
"""The weights of the plain search, which only counts the cards that are not on foundations."""

PLAIN_BUDGET: Final = 20_000


class Measured(NamedTuple):
    """The solver's answer for a deal, and the states of the plain search if the deal was won."""

    outcome: Outcome
    states: int
    plain_states: int


def measure(game: Game, number: int, budget: int) -> Measured:
    """Solve a numbered deal."""
    board = numbered(game, number)
    answer = solve(board, budget)
    plain = plain_states(board) if answer.outcome is Outcome.WON else 0
    return Measured(answer.outcome, answer.states, plain)


def plain_states(board: Board) -> int:
    """Return the number of states that the plain search needs, or reaches before it gives up."""
    space = StateSpace(board.game, board.stock)
    search = Search(space, Estimate(board.game, PLAIN), space.state(board))
    search.run(PLAIN_BUDGET)
    return search.states


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that is not below a share of the values."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def rows_of(game: Game, deals: Sequence[Measured], budgets: Sequence[int]) -> list[str]:
    """Return a row for each budget: what was decided and won, its states, and how hard the deals are that were won."""
    rows = []
    for budget in budgets:
        within = [deal for deal in deals if deal.states <= budget]
        plain = [deal.plain_states for deal in within if deal.outcome is Outcome.WON]
        states = [min(deal.states, budget) for deal in deals]
        rows.append(
            f"| {game.title} | {budget:,} | {len(within) / len(deals):.0%} | {len(plain) / len(deals):.0%} "
            f"| {quantile(states, 0.5):,} | {quantile(states, 0.9):,} "
            f"| {plain_text(plain, 0.5)} | {plain_text(plain, 0.9)} |"
        )
    return rows


def thirds(game: Game, deals: Sequence[Measured]) -> str:
    """Return the line of the game's file that divides the winnable deals into easy, medium and hard ones."""
    won = [deal.states for deal in deals if deal.outcome is Outcome.WON] or [0]
    return f"{game}: difficulty = {{ easy = {quantile(won, 1 / 3)}, medium = {quantile(won, 2 / 3)} }}"


def plain_text(states: Sequence[int], share: float) -> str:
    """Return a quantile of the states of the plain search as text."""
    if not states:
        return ""
    found = quantile(states, share)
    return f"{found:,}" if found <= PLAIN_BUDGET else f"over {PLAIN_BUDGET:,}"


def main() -> None:
    """Measure the numbered deals from #1 on, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=60)
    parser.add_argument("--budget", type=int, default=BUDGETS[-1])
    parser.add_argument("--games", nargs="+", default=list(GAMES), choices=list(GAMES))
    options = parser.parse_args()
    budgets = [*(budget for budget in BUDGETS if budget < options.budget), options.budget]
    rows = [
        "| game | budget | decided | won | states: median | 90 % | plain states: median | 90 % |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    difficulties = []
    for game in map(game_named, options.games):
        deals = [measure(game, number, options.budget) for number in range(1, options.deals + 1)]
        rows += rows_of(game, deals, budgets)
        difficulties.append(thirds(game, deals))
    print("\n".join([*rows, "", *difficulties]))


if __name__ == "__main__":
    main()
