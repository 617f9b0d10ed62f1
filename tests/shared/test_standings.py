from __future__ import annotations

import pytest

from samedeal.standings import Result, ranked


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ({}, ""),
        ({"ana": Result(0, 0, 0, 0), "bob": Result(1, 0, 0, 0)}, "1 ana, 1 bob"),
        ({"ana": Result(1, 0, 0, 0), "bob": Result(0, 0, 0, 0)}, "1 bob, 1 ana"),
        ({"ana": Result(0, 30, 0, 500), "bob": Result(1, 31, 0, 900)}, "1 bob, 2 ana"),
        ({"ana": Result(0, 31, 0, 900), "bob": Result(1, 31, 0, 500)}, "1 bob, 2 ana"),
        ({"ana": Result(0, 51, 0, 100), "bob": Result(1, 52, 900, 900)}, "1 bob, 2 ana"),
        ({"ana": Result(0, 52, 900, 900), "bob": Result(1, 52, 800, 800)}, "1 bob, 2 ana"),
        (
            {"ana": Result(0, 52, 900, 900), "bob": Result(1, 52, 900, 900), "cat": Result(2, 9, 0, 7)},
            "1 ana, 1 bob, 3 cat",
        ),
    ],
)
def test_ranked_orders_players(results: dict[str, Result], expected: str) -> None:
    assert ", ".join(f"{place} {player}" for place, player in ranked(results.items())) == expected
