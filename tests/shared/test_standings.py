from __future__ import annotations

from samedeal.standings import Result, ranked
from tests.golden.golden_files import assert_answers


def places(_: str, question: str) -> str:
    results = {}
    for player, *numbers in (line.split() for line in question.split(", ") if line != "nobody"):
        seat, cards, finish, progress = map(int, numbers)
        results[player] = Result(seat, cards, finish, progress)
    return ", ".join(f"{place} {player}" for place, player in ranked(results.items()))


def test_players_are_ranked_as_the_page_says() -> None:
    assert_answers("standings", places)
