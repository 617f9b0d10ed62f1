"""The positions of a game's piles on the screen, in characters and rows counted from 0.

From the top: a row with stock, waste and foundations; the reserve; columns and fans side by side, each under its name.
Steve has a second row with the names of the foundations, because cards can be taken from them. The board is on the left,
and a panel takes the space that is left to the right of the columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from samedeal.games import Game

TOP: Final = "top"
RESERVE: Final = "reserve"

FOUNDATION_PITCH: Final = 5
WASTE_SHOWN: Final = 3
RESERVE_PITCH: Final = 6
RESERVE_ROW: Final = 8
STOCK_WIDTH: Final = len(" Sp redeal 24 ")
WASTE_LABEL: Final = len("w waste ")
PILE_LABEL: Final = 3
NEXT_WIDTH: Final = len("  next A♥   52/52")

_MIN_PITCH: Final = 5
_PITCHES: Final = ((10, 40, 150), (8, 28, 100), (7, 28, 90), (6, 22, 0))
"""The possible widths of a column, in characters, each with the minimum width of the panel and of the screen."""

_LONGEST_RUN: Final = 13
_MIN_ROWS: Final = _LONGEST_RUN + 1
"""Minimum number of rows for cards: the longest run, and one row for all cards under it."""

_ROOMY_ROWS: Final = 24
_ROOMY_ROWS_DEALT: Final = 58
"""Minimum number of rows for drawing cards two rows apart, without and with a stock that is dealt to the columns.

With fewer rows, some columns would be drawn more tightly than others. Dealt rows make columns about twice as deep.
"""

_FAN_GAP: Final = 2
_MIN_PANEL_WIDTH: Final = 16


class Rect(NamedTuple):
    """A rectangle of the screen."""

    x: int
    y: int
    width: int
    height: int


class Size(NamedTuple):
    """A number of characters and rows."""

    width: int
    height: int


@dataclass(frozen=True)
class Layout:
    """The places of a board's regions: ``top``, ``reserve``, and one for each column and fan by its name.

    A card is ``cell`` characters wide and has a ``gap`` to its right. Cards are ``step`` rows apart as long as they fit.
    ``body`` is the width of columns, fans and reserve. ``panel`` is the place for the rivals, None if it would be too small.
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
        """The size of the board without the panel."""
        return Size(
            max(place.x + place.width for place in self.places.values()),
            max(place.y + place.height for place in self.places.values()),
        )


@lru_cache(maxsize=16)
def smallest(game: Game) -> Size:
    """Return the minimum size in which a game's board fits. The panel, title and key lines are not included."""
    width = max(top_width(game), _body(game, _MIN_PITCH))
    return Size(width, _fixed_rows(game) + _MIN_ROWS)


def top_width(game: Game) -> int:
    """Return the width of stock, waste and foundations."""
    foundations = len(game.foundations) * FOUNDATION_PITCH + NEXT_WIDTH * (len(game.foundations) == 1)
    stock = STOCK_WIDTH if game.stock.action else 0
    waste = 0 if game.waste_at < 0 else WASTE_LABEL + WASTE_SHOWN * FOUNDATION_PITCH
    return stock + waste + PILE_LABEL + foundations


def names_foundations(game: Game) -> bool:
    """Return whether the foundations need names, because cards can be taken from them."""
    return game.piles[game.foundations.start].gives


@lru_cache(maxsize=64)
def layout(game: Game, width: int, height: int, *, panel: bool = False, roomy: bool = True) -> Layout:
    """Return the layout for a screen of at least ``smallest(game)``, with or without a panel.

    Without ``roomy``, cards are never drawn two rows apart.
    """
    pitch = next(
        (
            pitch
            for pitch, panel_width, least in _PITCHES
            if width >= max(_body(game, pitch) + panel_width * panel, least)
        ),
        _MIN_PITCH,
    )
    body = _body(game, pitch)
    gap = {10: 3, 8: 1, 7: 2, 6: 1}.get(pitch, 0)
    spare_rows = height - _fixed_rows(game) - _MIN_ROWS
    top = 2 if names_foundations(game) else 1
    places = {TOP: Rect(0, 0, top_width(game), top)}
    y = top
    if not names_foundations(game) and spare_rows > 0:
        y += 1
        spare_rows -= 1
    panel_y = y
    if reserve := game.reserve:
        rows = -(-len(reserve) // RESERVE_ROW)
        places[RESERVE] = Rect(0, y, RESERVE_ROW * RESERVE_PITCH, rows)
        y += rows + (spare_rows > 0)
    x = 0
    for at in (*game.columns, *game.fans):
        x += _FAN_GAP if at == game.fans.start and game.fans else 0
        places[game.keys[at]] = Rect(x, y, pitch, height - y)
        x += pitch
    needed = _ROOMY_ROWS_DEALT if game.stock.to_columns else _ROOMY_ROWS
    step = 2 if roomy and pitch > 6 and height - y - 1 >= needed else 1
    panel_width = width - body - 1
    panel_place = (
        Rect(body + 1, panel_y, panel_width, height - panel_y) if panel and panel_width >= _MIN_PANEL_WIDTH else None
    )
    return Layout(game, MappingProxyType(places), pitch - gap, gap, step, body, panel_place)


def _body(game: Game, pitch: int) -> int:
    """The width of columns and fans, or of the reserve if that is wider."""
    fans = _FAN_GAP + pitch * len(game.fans) if game.fans else 0
    reserve = RESERVE_ROW * RESERVE_PITCH if game.reserve else 0
    return max(pitch * len(game.columns) + fans, reserve)


def _fixed_rows(game: Game) -> int:
    """The number of rows above the cards of the columns: the top rows, the reserve and the names of the columns."""
    reserve = -(-len(game.reserve) // RESERVE_ROW)
    return (2 if names_foundations(game) else 1) + reserve + 1
