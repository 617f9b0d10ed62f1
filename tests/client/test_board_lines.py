"""Boards in words."""

from __future__ import annotations

from samedeal_client.board.board_lines import board_lines
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from tests.client.boards import board
from tests.golden.golden_files import assert_sentences


def lines(game: str, piles: str, look: Look | None = None) -> list[str]:
    return [row_text(row) for row in board_lines(board(game, piles), look or Look())]


def test_every_pile_has_a_line() -> None:
    shown = [
        *lines("athena", "1: [9H] [2C] TC | 2: (3C) 4D | stock: [AC] | w: 2H 3H 4H 5H | 01: AS 2S")[:6],
        lines("athena", "w: 2H")[1],
        *lines("steve", "01: AD | 04: AS")[:2],
        lines("phoenix", "q: TH | k: AC")[1],
        lines("willow", "")[1],
        *lines("willow", "q: 8H 8C", Look(ascii=True))[-4:-2],
        lines("ace-of-hearts", "01: AH")[0],
    ]
    assert_sentences("boards in words", [line.replace(": ", "\t", 1) for line in shown])
