"""Measure the solver: what it decides within which budget, and how much a small budget prefers easy deals.

``make solver`` prints both tables in Markdown, and the thirds of the winnable deals as files of games have them.
States are the same on every machine; seconds are those of this one.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import ceil
from time import process_time
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
    """The solver's answer for a deal, its time in seconds, and the states of the plain search if the deal was won."""

    outcome: Outcome
    states: int
    seconds: float
    plain_states: int


def measure(game: Game, number: int, budget: int) -> Measured:
    """Solve a numbered deal."""
    board = numbered(game, number)
    began = process_time()
    answer = solve(board, budget)
    seconds = process_time() - began
    plain = plain_states(board) if answer.outcome is Outcome.WON else 0
    return Measured(answer.outcome, answer.states, seconds, plain)


def plain_states(board: Board) -> int:
    """Return the number of states that the plain search needs, or reaches before it gives up."""
    space = StateSpace(board.game, board.stock)
    search = Search(space, Estimate(board.game, PLAIN), space.state(board))
    search.run(PLAIN_BUDGET)
    return search.states


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that is not below a share of the values."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def decided_rows(game: Game, deals: Sequence[Measured], budgets: Sequence[int]) -> list[str]:
    """Return a row for each budget: decided, won, and states and seconds until the answer."""
    rows = []
    for budget in budgets:
        within = [deal for deal in deals if deal.states <= budget]
        won = sum(deal.outcome is Outcome.WON for deal in within)
        states = [min(deal.states, budget) for deal in deals]
        # A search that gives up takes its share of the time.
        seconds = [deal.seconds * min(1, budget / deal.states) for deal in deals]
        rows.append(
            f"| {game.title} | {budget:,} | {len(within) / len(deals):.0%} | {won / len(deals):.0%} "
            f"| {quantile(states, 0.5):,} | {quantile(states, 0.9):,} "
            f"| {quantile(seconds, 0.5):.2f} | {quantile(seconds, 0.9):.2f} |"
        )
    return rows


def easy_rows(game: Game, deals: Sequence[Measured], budgets: Sequence[int]) -> list[str]:
    """Return a row for each budget: how many of the deals that can be won are won, and how hard these are."""
    won = [deal for deal in deals if deal.outcome is Outcome.WON]
    rows = []
    for budget in budgets:
        within = [deal.plain_states for deal in won if deal.states <= budget]
        if within:
            rows.append(
                f"| {game.title} | {budget:,} | {len(within) / len(won):.0%} "
                f"| {plain_text(quantile(within, 0.5))} | {plain_text(quantile(within, 0.9))} |"
            )
    return rows


def thirds(game: Game, deals: Sequence[Measured]) -> str:
    """Return the line of the game's file that divides the winnable deals into easy, medium and hard ones."""
    won = [deal.states for deal in deals if deal.outcome is Outcome.WON] or [0]
    return f"{game}: difficulty = {{ easy = {quantile(won, 1 / 3)}, medium = {quantile(won, 2 / 3)} }}"


def plain_text(states: float) -> str:
    """Return a number of states of the plain search as text."""
    return f"{states:,}" if states <= PLAIN_BUDGET else f"over {PLAIN_BUDGET:,}"


def main() -> None:
    """Measure the numbered deals from #1 on, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=60)
    parser.add_argument("--budget", type=int, default=BUDGETS[-1])
    parser.add_argument("--games", nargs="+", default=list(GAMES), choices=list(GAMES))
    options = parser.parse_args()
    budgets = [*(budget for budget in BUDGETS if budget < options.budget), options.budget]
    decided = [
        "| game | budget | decided | won | states: median | states: 90 % | seconds: median | seconds: 90 % |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    easy = [
        "| game | budget | won of those won at all | plain states: median | plain states: 90 % |",
        "|---|--:|--:|--:|--:|",
    ]
    difficulties = []
    for game in map(game_named, options.games):
        deals = [measure(game, number, options.budget) for number in range(1, options.deals + 1)]
        decided += decided_rows(game, deals, budgets)
        easy += easy_rows(game, deals, budgets)
        difficulties.append(thirds(game, deals))
    print("\n".join([*decided, "", *easy, "", *difficulties]))


if __name__ == "__main__":
    main()
