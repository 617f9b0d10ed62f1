"""The positions of a game's piles on the screen, in characters and rows counted from 0.

Piles stand in a grid whose cells are as wide as a card and the gap to its left. From top to bottom there are stock,
waste and foundations, then the reserve, then columns and fans. Some games differ from this:

- If there are as many fans as foundations, and neither a stock nor a reserve, the foundations are above the fans. The
  columns are to the left of both, and use all rows.
- If the reserve is wider than the columns, and there are no fans, the foundations are below it, to the right of the
  columns.
- Cells have the place of a reserve. If there is room for them beside the foundations, they stand to the left of them.

Each pile has its name above it. The panel with the rivals is on the right, and the board is centred in the space that is
left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from samedeal.game import Game

TOP: Final = "top"
RESERVE: Final = "reserve"

WASTE_SHOWN: Final = 3
RESERVE_ROW: Final = 8

FRAME_ROWS: Final = 3
"""Number of rows around a board on a screen: the header, the message line and the keys."""

_NEXT_WIDTH: Final = len("next 10♥")
_INDEX_WIDTH: Final = len("10♥")
_WASTE_CELLS: Final = 2
_MIN_ROWS: Final = 12
"""Minimum number of rows for the cards of a column. So few suffice because two cards of a long run may share a row."""

_USUAL_DEPTH: Final = 14
_USUAL_DEPTH_DEALT: Final = 24
"""The number of cards in a deep column: in most games, and in games whose stock is dealt to the columns."""

_USUAL_FAN_DEPTH: Final = 8
"""The number of cards in a deep fan."""

_FOUNDATIONS_BESIDE_COLUMNS: Final = 2
"""The number of foundations in each row, if the foundations are to the right of the columns."""

_FAN_GAP: Final = 2
_SMALL_SCREEN: Final = 60
"""Width of the smallest screen. The piles of a game that is wider have no gaps there."""

_MIN_PANEL_WIDTH: Final = 22
_MAX_PANEL_WIDTH: Final = 46


class Rect(NamedTuple):
    """A rectangle of the screen."""

    x: int
    y: int
    width: int
    height: int


class Size(NamedTuple):
    """A width in characters and a height in rows."""

    width: int
    height: int


class CardSize(NamedTuple):
    """The size of a card.

    A covered card shows at most ``step`` of its rows. ``max_gap`` is the maximum number of blanks between two piles.
    """

    width: int
    height: int
    step: int
    max_gap: int

    @property
    def is_large(self) -> bool:
        """Whether a card has space for more than its rank and suit."""
        return self.height > 2


class _Choice(NamedTuple):
    """A card size, the minimum size of the board and its panel together, and the minimum width of the panel."""

    card: CardSize
    least: Size
    panel: int


_CHOICES: Final = (
    _Choice(CardSize(9, 7, 3, 3), Size(150, 48), 40),
    _Choice(CardSize(7, 5, 3, 2), Size(0, 34), 28),
    _Choice(CardSize(7, 5, 2, 2), Size(0, 0), 28),
    _Choice(CardSize(5, 3, 2, 2), Size(0, 0), _MIN_PANEL_WIDTH),
    _Choice(CardSize(5, 2, 1, 1), Size(0, 0), _MIN_PANEL_WIDTH),
    _Choice(CardSize(4, 2, 1, 1), Size(0, 0), _MIN_PANEL_WIDTH),
    _Choice(CardSize(4, 1, 1, 1), Size(0, 0), _MIN_PANEL_WIDTH),
)


@dataclass(frozen=True)
class Layout:
    """The places of a board's regions on the screen.

    The keys of ``places`` are ``top``, ``reserve`` if the game has one, and the names of the columns and fans. Each
    column has a ``gap`` to its left. ``panel`` is the place for the rivals, or None if the layout has no panel.
    """

    game: Game
    places: Mapping[str, Rect]
    card: CardSize
    gap: int
    panel: Rect | None

    @property
    def pitch(self) -> int:
        """The width of a card plus a gap."""
        return self.card.width + self.gap

    @property
    def body(self) -> Rect:
        """The smallest rectangle around the board, without the panel."""
        return around(self.places.values())


def around(places: Iterable[Rect]) -> Rect:
    """Return the smallest rectangle around other rectangles."""
    corners = [(place.x, place.y, place.x + place.width, place.y + place.height) for place in places]
    left, top, _, _ = map(min, zip(*corners, strict=True))
    _, _, right, bottom = map(max, zip(*corners, strict=True))
    return Rect(left, top, right - left, bottom - top)


@lru_cache(maxsize=16)
def smallest(game: Game) -> Size:
    """Return the minimum size in which a game's board fits. The panel, title and key lines are not included."""
    card = _CHOICES[-1].card
    width = _width(game, card, 1)
    return Size(width if width <= _SMALL_SCREEN else _width(game, card, 0), _fixed_rows(game, card) + _MIN_ROWS)


def foundations_x(game: Game, card: CardSize, gap: int) -> int:
    """Return the left edge of the first foundation in the top region."""
    pitch = card.width + gap
    if game.waste_at >= 0:
        waste_end = pitch + (WASTE_SHOWN - 1) * waste_step(card, gap) + card.width
        return max((1 + _WASTE_CELLS) * pitch, waste_end + gap)
    return (1 + (len(game.foundations) == 1)) * pitch if game.stock.action else 0


def waste_step(card: CardSize, gap: int) -> int:
    """Return the number of characters that a covered card of the waste shows."""
    return max((_WASTE_CELLS * (card.width + gap) - gap - card.width) // (WASTE_SHOWN - 1), _INDEX_WIDTH)


def reserve_pitch(card: CardSize, gap: int) -> int:
    """Return the width of a pile of the reserve, in characters, including its gap.

    The pile's name is above a large card, and to the left of a small card.
    """
    return card.width + gap + (not card.is_large)


@lru_cache(maxsize=64)
def layout(game: Game, width: int, height: int, *, panel: bool = False) -> Layout:
    """Return the layout for a screen of at least ``smallest(game)``.

    If ``panel`` is true and there is room for a panel, the layout has one.
    """
    panel = panel and any(_fits(choice, game, width, height, panel=True) for choice in _CHOICES)
    choice = next((choice for choice in _CHOICES if _fits(choice, game, width, height, panel=panel)), _CHOICES[-1])
    card = choice.card
    available = width - (choice.panel + 1) * panel
    gap = next((gap for gap in range(card.max_gap, 0, -1) if _width(game, card, gap) <= available), 0)
    pitch = card.width + gap
    body = _width(game, card, gap)
    panel_width = min(max(width - body - 1 - gap, choice.panel), _MAX_PANEL_WIDTH) if panel else 0
    left = max(width - body - gap - (panel_width + 1) * panel, 0) // 2
    spare_rows = height - _fixed_rows(game, card) - _MIN_ROWS
    columns_x = left + _columns_x(game, pitch)
    fans_x = columns_x + pitch * len(game.columns) + _FAN_GAP
    first = y = 1 if card.is_large and spare_rows > card.height + 4 else 0
    top_width = _top_width(game, card, gap) - gap
    top = Rect((fans_x if _has_top_above_fans(game) else left) + gap, y, top_width, _top_rows(game, card))
    if not _has_top_beside_columns(game):
        y += top.height
    places = {TOP: top}
    if reserve := game.singles:
        y += spare_rows > card.height and not _has_top_beside_columns(game)
        rows = _reserve_rows(game, card)
        reserve_width = min(RESERVE_ROW, len(reserve)) * reserve_pitch(card, gap) - gap
        if _has_cells_beside_top(game):
            places[RESERVE] = Rect(left + gap, top.y, reserve_width, rows)
            places[TOP] = top._replace(x=left + body - top_width)
        else:
            places[RESERVE] = Rect(left + gap, y, reserve_width, rows)
            y += rows
    if _has_top_above_fans(game):
        top = places[TOP] = top._replace(height=top.height + (spare_rows > card.height + 1))
    y += spare_rows > card.height + 1
    if _has_top_beside_columns(game):
        places[TOP] = Rect(left + gap + places[RESERVE].width - top_width, y, top_width, top.height)
    columns_y = first if _has_top_above_fans(game) else y
    for number, at in enumerate(game.columns):
        places[game.keys[at]] = Rect(columns_x + number * pitch, columns_y, pitch, height - columns_y)
    for number, at in enumerate(game.fans):
        places[game.keys[at]] = Rect(fans_x + number * pitch, y, pitch, height - y)
    panel_place = Rect(width - panel_width, 0, panel_width, height) if panel else None
    return Layout(game, MappingProxyType(places), card, gap, panel_place)


def _fits(choice: _Choice, game: Game, width: int, height: int, *, panel: bool) -> bool:
    card = choice.card
    beside = (choice.panel + 1) * panel
    if card.is_large:
        depth = _USUAL_DEPTH_DEALT if game.stock.to_columns else _USUAL_DEPTH
        above = _fixed_rows(game, card)
        rows = max(depth, above + _USUAL_FAN_DEPTH - 1) if _has_top_above_fans(game) else above + depth - 1
        rows = max(rows + card.height, choice.least.height)
    else:
        rows = _fixed_rows(game, card) + _MIN_ROWS
    least_width = max(_width(game, card, 1) + beside, choice.least.width if panel else 0)
    return width >= least_width and height >= rows


def _has_top_above_fans(game: Game) -> bool:
    """Return whether each foundation stands above a fan."""
    return len(game.fans) == len(game.foundations) and not game.singles and not game.stock.action


def _has_top_beside_columns(game: Game) -> bool:
    """Return whether the foundations stand to the right of the columns, below the reserve."""
    spare_columns = min(RESERVE_ROW, len(game.singles)) - len(game.columns)
    return not game.stock.action and not game.fans and spare_columns >= _FOUNDATIONS_BESIDE_COLUMNS


def _has_cells_beside_top(game: Game) -> bool:
    """Return whether the cells stand to the left of the foundations."""
    fits = len(game.cells) + len(game.foundations) <= len(game.columns)
    return bool(game.cells) and fits and not game.stock.action and not game.fans


def foundations_in_row(game: Game) -> int:
    """Return the number of foundations in each row of foundations."""
    return _FOUNDATIONS_BESIDE_COLUMNS if _has_top_beside_columns(game) else len(game.foundations)


def _columns_x(game: Game, pitch: int) -> int:
    """Return the left edge of the columns, counted from the left edge of the board.

    If there are as many columns as foundations, each column stands under a foundation, to the right of the stock.
    Otherwise the columns begin at 0.
    """
    return pitch if len(game.foundations) == len(game.columns) else 0


def _width(game: Game, card: CardSize, gap: int) -> int:
    pitch = card.width + gap
    fans = _FAN_GAP + pitch * len(game.fans) if game.fans else 0
    columns = _columns_x(game, pitch) + pitch * len(game.columns) + fans
    reserve = min(RESERVE_ROW, len(game.singles)) * reserve_pitch(card, gap)
    top = _top_width(game, card, gap)
    return max(columns, reserve + top if _has_cells_beside_top(game) else max(reserve, top))


def _top_width(game: Game, card: CardSize, gap: int) -> int:
    return (
        foundations_x(game, card, gap)
        + (card.width + gap) * foundations_in_row(game)
        + (_NEXT_WIDTH + gap) * (len(game.foundations) == 1)
    )


def _reserve_rows(game: Game, card: CardSize) -> int:
    return -(-len(game.singles) // RESERVE_ROW) * (1 + card.height if card.is_large else 1)


def _fixed_rows(game: Game, card: CardSize) -> int:
    """Return the number of rows above the cards of the columns: the top region, the reserve and the names of the columns."""
    top = 0 if _has_top_beside_columns(game) else _top_rows(game, card)
    return (max if _has_cells_beside_top(game) else int.__add__)(top, _reserve_rows(game, card)) + 1


def _top_rows(game: Game, card: CardSize) -> int:
    return -(-len(game.foundations) // foundations_in_row(game)) * (1 + card.height)
