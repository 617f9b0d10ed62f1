"""Many boards at once, pure: how they are arranged on a screen, and the rows that show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from samedeal.board import Board, Step
from samedeal.games import Game
from samedeal.names import columns_of
from samedeal_client.board.layout import Size
from samedeal_client.board.mini import draw_mini, smallest_mini
from samedeal_client.rooms.model import Watched
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span, fit, fit_row, row_width
from samedeal_client.views.panel import Rival, bar, clock_text

NUMBERS: Final = "123456789abcdefg"
"""The keys of the boards, in the order in which they are shown; there are as many as a room has seats."""

_BAR: Final = 10

Order = Literal["place", "seat", "name", "pace"]
ORDERS: Final[tuple[Order, ...]] = ("place", "seat", "name", "pace")


@dataclass(frozen=True, slots=True)
class Grid:
    """Boards in ``columns`` by ``rows`` of the same size, the first at the top left; what doesn't fit is on more pages."""

    columns: int
    rows: int
    cell: Size
    pages: int

    @property
    def on_page(self) -> int:
        """How many boards a page has."""
        return self.columns * self.rows

    def hit(self, x: int, y: int, page: int) -> int:
        """The number, from 0, of the board at a column and a row."""
        column = min(x // (self.cell.width + 1), self.columns - 1)
        row = min(y // (self.cell.height + 1), self.rows - 1)
        return page * self.on_page + row * self.columns + column


def grid(game: Game, count: int, width: int, height: int) -> Grid:
    """Arrange boards on a screen; as many as fit side by side, each with a line for its player and one under it."""
    least = smallest_mini(game)
    columns = max(1, min(count, (width + 1) // (least.width + 3)))
    rows_wanted = -(-count // columns)
    rows = max(1, min(rows_wanted, (height + 1) // (least.height + 2)))
    columns = max(1, min(columns, -(-count // rows)))
    cell = Size((width - (columns - 1)) // columns, (height - (rows - 1)) // rows)
    return Grid(columns, rows, cell, max(1, -(-count // (columns * rows))))


def in_order(rivals: Sequence[Rival], order: Order, seats: Mapping[str, int]) -> tuple[Rival, ...]:
    """The players, who come in the order of their places, in another order."""
    match order:
        case "place":
            return tuple(rivals)
        case "seat":
            return tuple(sorted(rivals, key=lambda rival: seats.get(rival.player, 0)))
        case "name":
            return tuple(sorted(rivals, key=lambda rival: rival.name.casefold()))
        case "pace":
            return tuple(sorted(rivals, key=lambda rival: -sum(rival.activity)))


def gallery_rows(
    rivals: Sequence[Rival], boards: Mapping[str, Watched], look: Look, at: Grid, page: int
) -> tuple[Row, ...]:
    """The boards of a page, with lines between them."""
    line, cross = ("|", "+") if look.ascii else ("│", "┼")
    first = page * at.on_page
    shown = rivals[first : first + at.on_page]
    rows: list[Row] = []
    for start in range(0, len(shown), at.columns):
        if start:
            ruled = [Span(look.glyphs.rest * at.cell.width, "rest")] * at.columns
            rows.append(_joined([(span,) for span in ruled], Span(cross, "rest")))
        cells = [
            _cell(shown[number], first + number, boards, look, at.cell) if number < len(shown) else ()
            for number in range(start, start + at.columns)
        ]
        rows += [
            _joined([_at(cell, y, at.cell.width) for cell in cells], Span(line, "rest")) for y in range(at.cell.height)
        ]
    return tuple(rows)


def _joined(cells: Sequence[Row], between: Span) -> Row:
    row: list[Span] = []
    for at, cell in enumerate(cells):
        row += [between, *cell] if at else cell
    return tuple(row)


def _at(cell: tuple[Row, ...], y: int, width: int) -> Row:
    return cell[y] if y < len(cell) else (Span(" " * width),)


def _cell(rival: Rival, number: int, boards: Mapping[str, Watched], look: Look, size: Size) -> tuple[Row, ...]:
    watched = boards.get(rival.player)
    head = cell_head(rival, NUMBERS[number], watched, look, size.width, look.short)
    if watched is None:
        return (head, fit_row((Span("  not in sight yet", "label"),), size.width))
    inner = draw_mini(watched.play.board, look, size.width - 1, size.height - 1)
    return (head, *(fit_row((Span(" "), *row), size.width) for row in inner))


def cell_head(
    rival: Rival, key: str, watched: Watched | None, look: Look, width: int, card: Callable[[int], str]
) -> Row:
    """The line over a board: its key, the player, the last move, cards up, and a bar where there is room.

    ``card`` writes a card as the board under it does.
    """
    up = f" home {clock_text(rival.home)} " if rival.home is not None else f" {rival.up}/{rival.total} "
    name = look.says(rival.name) + (" (out)" if rival.out and rival.home is None else "")
    move = ""
    if watched is not None and watched.play.last is not None:
        move = f" {look.glyphs.pointer} {last_move(watched.play.board, watched.play.last, card)}"
    room = max(width - 3 - len(up), 0)
    taken = columns_of(name) + len(move)
    bars = _BAR if room > taken + _BAR else 0
    left = (
        Span(f" {key} ", "title"),
        Span(fit(name, min(columns_of(name), room), look.glyphs.ellipsis), "you" if rival.you else "name"),
        Span(move, "label"),
    )
    right = (*(bar(rival.up, rival.total, bars, look) if bars else ()), Span(up, "count"))
    return (*fit_row(left, width - row_width(right)), *right)


def last_move(board: Board, step: Step, name: Callable[[int], str]) -> str:
    """The move that led to a board, as ``5 2 (6♥)``: from where to where, and the card that leads."""
    move = step.move
    if not move.is_transfer:
        return move.source
    pile = board.piles[step.target]
    card = pile[-step.size] if len(pile) >= step.size else pile[-1]
    return f"{move.source} {move.target} ({name(card)})"
