"""A board as SVG, as a notebook shows it. The piles lie as on the page for browsers."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from samedeal.cards import DOWN, RANKS, SUITS, Card
from samedeal.policies import Kind
from samedeal.position import Position

_WIDTH, _HEIGHT = 46, 64
_STEP_X, _STEP_Y = 51, 69
_STRIP: Final = 26
"""The part of a covered card that shows, if there is room."""

_SYMBOLS: Final = dict(zip(SUITS, "♣♦♥♠", strict=True))
_COLOURS: Final = ("#16191c", "#c01f2f")


def board_svg(board: Position) -> str:
    """Return a drawing of a board. Cards that lie face down show only their backs."""
    file = board.game.file
    rows = [row for row in file.piles for _ in row.names]
    columns = [row.place.x + at % row.place.in_row for row in file.piles for at in range(len(row.names))]
    lines = [row.place.y + at // row.place.in_row for row in file.piles for at in range(len(row.names))]
    width, height = (max(columns) + 1) * _STEP_X, file.height * _STEP_Y
    title = f"{escape(board.game.title)}, {board.foundation_cards} of {board.game.cards} cards on the foundations"
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="sans-serif"><title>{title}</title>'
    ]
    for row, x, y, pile in zip(rows, columns, lines, board.piles, strict=True):
        spread = row.kind in (Kind.COLUMN, Kind.FAN)
        step = min(_STRIP, (file.height - y - 1) * _STEP_Y / max(1, len(pile) - 1)) if spread else 0
        parts += _card(None, x * _STEP_X, y * _STEP_Y) if not pile else ()
        for depth, code in enumerate(pile if spread else pile[-1:]):
            parts += _card(code, x * _STEP_X, y * _STEP_Y + depth * step)
    return "\n".join([*parts, "</svg>"])


def _card(code: int | None, x: float, y: float) -> Iterator[str]:
    fill = "none" if code is None else "#3c6ea5" if code & DOWN else "#fff"
    yield f'<rect x="{x + 1:g}" y="{y + 1:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="5" fill="{fill}" stroke="#8a949e"/>'
    if code is not None and not code & DOWN:
        card = Card(code)
        rank = RANKS[card.rank - 1].replace("T", "10")
        text = f"{rank}{_SYMBOLS[SUITS[card.suit]]}"
        yield f'<text x="{x + 5:g}" y="{y + 20:g}" font-size="18" fill="{_COLOURS[card.red]}">{text}</text>'
