"""Where the piles of a game go on a screen, in columns and rows of characters counted from 0.

From the top: a line with stock, waste and foundations; the reserve; then columns and fans side by side, each under its
name. Steve's foundations have names, since cards can be taken from them, in a second line. The board takes what it needs
at the left and a panel the rest, beside the columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from samedeal.games import Game, Kind, Stock

TOP: Final = "top"
RESERVE: Final = "reserve"

FOUNDATION_PITCH: Final = 5
WASTE_SHOWN: Final = 3
RESERVE_PITCH: Final = 6
RESERVE_ROW: Final = 8
STOCK_WIDTH: Final = len(" _ redeal 24 ")
PILE_LABEL: Final = 3
NEXT_WIDTH: Final = len("  next A♥   52/52")

_NARROWEST: Final = 5
_PITCHES: Final = ((10, 40, 150), (8, 28, 100), (7, 28, 90), (6, 22, 0))
"""Columns for each pile, with what they must leave for the panel and the least width at which they look well."""

_LONGEST_RUN: Final = 13
_LEAST_ROWS: Final = _LONGEST_RUN + 1
"""Rows for cards: the longest run, readable, and the sign for those under it."""

_ROOMY_ROWS: Final = 24
_ROOMY_ROWS_DEALT: Final = 58
"""Rows for cards from which they lie on every second one: so many that hardly any column has to be drawn closer than the
others, which get about twice as deep where rows are dealt on them."""

_FAN_GAP: Final = 2
_LEAST_PANEL: Final = 16


class Rect(NamedTuple):
    """A part of the screen."""

    x: int
    y: int
    width: int
    height: int


class Size(NamedTuple):
    """Columns and rows of characters."""

    width: int
    height: int


@dataclass(frozen=True)
class Layout:
    """The places of the parts of a board: ``top``, ``reserve``, and one for each column and fan by its name.

    A pile's cards are ``cell`` columns wide with ``gap`` columns to their right; while they fit they lie ``step`` rows
    apart. ``panel`` is what is left for rivals, None where that is too little; ``body`` is the width that columns, fans and
    reserve take.
    """

    game: Game
    places: Mapping[str, Rect]
    cell: int
    gap: int
    step: int
    body: int
    panel: Rect | None

    @property
    def size(self) -> Size:
        """What the board takes of the screen, the panel left out."""
        return Size(
            max(place.x + place.width for place in self.places.values()),
            max(place.y + place.height for place in self.places.values()),
        )


@lru_cache(maxsize=16)
def smallest(game: Game) -> Size:
    """The smallest screen for a game's board alone, without panel, title or key lines."""
    width = max(top_width(game), _body(game, _NARROWEST))
    return Size(width, _fixed_rows(game) + _LEAST_ROWS)


def board_size(game: Game, width: int, height: int) -> Size:
    """What the board takes of a screen on which a panel stands beside it; the top line may reach over the panel."""
    return Size(layout(game, width, height, panel=True).body, height)


def top_width(game: Game) -> int:
    """The columns that stock, waste and foundations take."""
    foundations = len(game.foundations) * FOUNDATION_PITCH + NEXT_WIDTH * (len(game.foundations) == 1)
    stock = 0 if game.stock is Stock.NONE else STOCK_WIDTH
    waste = 0 if game.waste_at < 0 else PILE_LABEL + WASTE_SHOWN * FOUNDATION_PITCH
    return stock + waste + PILE_LABEL + foundations


def names_foundations(game: Game) -> bool:
    """Whether cards can be taken from foundations, which need names then."""
    return game.piles[game.foundations.start].gives


@lru_cache(maxsize=64)
def layout(game: Game, width: int, height: int, *, panel: bool = False, roomy: bool = True) -> Layout:
    """The layout for a screen of at least ``smallest(game)``, with room for a panel or for the board alone.

    Without ``roomy`` cards never lie on every second row only.
    """
    pitch = next(
        (pitch for pitch, rest, least in _PITCHES if width >= max(_body(game, pitch) + rest * panel, least)), _NARROWEST
    )
    body = _body(game, pitch)
    gap = {10: 3, 8: 1, 7: 2, 6: 1}.get(pitch, 0)
    air = height - _fixed_rows(game) - _LEAST_ROWS
    top = 2 if names_foundations(game) else 1
    places = {TOP: Rect(0, 0, top_width(game), top)}
    y = top
    if not names_foundations(game) and air > 0:
        y += 1
        air -= 1
    panel_y = y
    if reserve := game.of_kind(Kind.RESERVE):
        rows = -(-len(reserve) // RESERVE_ROW)
        places[RESERVE] = Rect(0, y, RESERVE_ROW * RESERVE_PITCH, rows)
        y += rows + (air > 0)
    x = 0
    for at in (*game.columns, *game.fans):
        x += _FAN_GAP if at == game.fans.start and game.fans else 0
        places[game.keys[at]] = Rect(x, y, pitch, height - y)
        x += pitch
    wanted = _ROOMY_ROWS_DEALT if game.stock is Stock.DEAL_ROW else _ROOMY_ROWS
    step = 2 if roomy and pitch > 6 and height - y - 1 >= wanted else 1
    rest = width - body - 1
    beside_it = Rect(body + 1, panel_y, rest, height - panel_y) if panel and rest >= _LEAST_PANEL else None
    return Layout(game, MappingProxyType(places), pitch - gap, gap, step, body, beside_it)


def _body(game: Game, pitch: int) -> int:
    """The width of columns and fans, or of the reserve where that is wider."""
    fans = _FAN_GAP + pitch * len(game.fans) if game.fans else 0
    reserve = RESERVE_ROW * RESERVE_PITCH if game.of_kind(Kind.RESERVE) else 0
    return max(pitch * len(game.columns) + fans, reserve)


def _fixed_rows(game: Game) -> int:
    """The rows that no card of a column can take: the top lines, the reserve, the names of the columns."""
    reserve = -(-len(game.of_kind(Kind.RESERVE)) // RESERVE_ROW)
    return (2 if names_foundations(game) else 1) + reserve + 1
