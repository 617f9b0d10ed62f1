"""The grid of boards that a spectator sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from samedeal.board import Board, Step
from samedeal.game import Game
from samedeal.terminal_text import columns_of
from samedeal_client.board.layout import Size
from samedeal_client.board.mini_board import draw_mini, mini_quality, smallest_mini
from samedeal_client.panels.meters import bar
from samedeal_client.panels.players_panel import progress_text
from samedeal_client.panels.race_feed import RankedPlayer
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import fit_player_name, player_name
from samedeal_client.text.spans import Row, Span, fit_row, row_width
from samedeal_link.model.model import WatchedBoard
from samedeal_link.records.spectating import PLAYER_KEYS

_BAR: Final = 10
_MIN_FULL_WORDS: Final = 40
"""Minimum width, in columns, of a board whose heading has full words."""


@dataclass(frozen=True, slots=True)
class Grid:
    """An arrangement of boards of one size, ``columns`` by ``rows`` on a page.

    Boards that do not fit are on further pages.
    """

    columns: int
    rows: int
    cell: Size
    pages: int

    @property
    def on_page(self) -> int:
        """The number of boards on a page."""
        return self.columns * self.rows

    def board_at(self, x: int, y: int, page: int) -> int:
        """Return the index of the board at a terminal cell. ``x`` and ``y`` are the cell's column and row on the page.

        If there is no board, the index is beyond the last board.
        """
        column = min(x // (self.cell.width + 1), self.columns - 1)
        row = min(y // (self.cell.height + 1), self.rows - 1)
        return page * self.on_page + row * self.columns + column


def arrange(game: Game, count: int, width: int, height: int) -> Grid:
    """Arrange ``count`` boards, each with a heading, on as few pages as possible and as readable as possible."""
    minimum = smallest_mini(game)
    most = max(1, min(count, (width + 1) // (minimum.width + 2)))
    grids = [_grid(count, columns, minimum.height, width, height) for columns in range(most, 0, -1)]
    return max(
        grids, key=lambda grid: (-grid.pages, mini_quality(game, Size(grid.cell.width - 1, grid.cell.height - 1)))
    )


def _grid(count: int, columns: int, min_rows: int, width: int, height: int) -> Grid:
    rows = max(1, min(-(-count // columns), (height + 1) // (min_rows + 2)))
    columns = max(1, min(columns, -(-count // rows)))
    cell = Size((width - (columns - 1)) // columns, (height - (rows - 1)) // rows)
    return Grid(columns, rows, cell, max(1, -(-count // (columns * rows))))


def board_keys(players: Sequence[RankedPlayer], seats: Mapping[str, int], grid: Grid, page: int) -> dict[str, str]:
    """Return the key that shows each player's board.

    ``seats`` maps players to the numbers of their seats, which never change. If there are more seats than keys, only
    the boards on the page have keys.
    """
    if max(seats.values(), default=0) <= len(PLAYER_KEYS):
        return {player: PLAYER_KEYS[seat - 1] for player, seat in seats.items()}
    shown = players[page * grid.on_page : (page + 1) * grid.on_page]
    return {player.player: key for player, key in zip(shown, PLAYER_KEYS, strict=False)}


def board_grid_rows(
    players: Sequence[RankedPlayer],
    boards: Mapping[str, WatchedBoard],
    keys: Mapping[str, str],
    look: Look,
    grid: Grid,
    page: int,
) -> tuple[Row, ...]:
    """Return the rows of a page of boards. Lines separate the boards. ``keys`` maps players to their keys."""
    line, cross = ("|", "+") if look.ascii else ("│", "┼")
    first = page * grid.on_page
    shown = players[first : first + grid.on_page]
    rows: list[Row] = []
    blank = (Span(" " * grid.cell.width),)
    for start in range(0, len(shown), grid.columns):
        if start:
            separators = [Span(look.glyphs.rest * grid.cell.width, "rest")] * grid.columns
            rows.append(_joined([(span,) for span in separators], Span(cross, "rest")))
        cells = [
            _cell(shown[number], boards, keys, look, grid.cell) if number < len(shown) else ()
            for number in range(start, start + grid.columns)
        ]
        rows += [
            _joined([cell[y] if y < len(cell) else blank for cell in cells], Span(line, "rest"))
            for y in range(grid.cell.height)
        ]
    return tuple(rows)


def _joined(cells: Sequence[Row], separator: Span) -> Row:
    row: list[Span] = []
    for index, cell in enumerate(cells):
        row += [separator, *cell] if index else cell
    return tuple(row)


def _cell(
    player: RankedPlayer, boards: Mapping[str, WatchedBoard], keys: Mapping[str, str], look: Look, size: Size
) -> tuple[Row, ...]:
    watched = boards.get(player.player)
    head = cell_head(player, keys.get(player.player, " "), watched, look, size.width)
    if watched is None:
        return (head, fit_row((Span("  no board yet", "label"),), size.width))
    inner = draw_mini(watched.play.board, look, size.width - 1, size.height - 1)
    return (head, *(fit_row((Span(" "), *row), size.width) for row in inner))


def cell_head(player: RankedPlayer, key: str, watched: WatchedBoard | None, look: Look, width: int) -> Row:
    """Return the heading of a board: its key, the player, and the progress.

    The last move and a bar are added if there is space.
    """
    progress = f" {progress_text(player, full_words=width >= _MIN_FULL_WORDS)} "
    name_width = columns_of(player_name(player.name, look, bot=player.bot))
    move = ""
    if watched is not None and watched.play.last is not None:
        move = f": {last_move_text(watched.play.board, watched.play.last, look)}"
    available = max(width - 4 - len(progress), 0)
    if name_width + columns_of(move) > available:
        move = ""
    used = name_width + columns_of(move)
    bars = _BAR if available > used + _BAR else 0
    left = (
        Span(f"[{key}]", "title"),
        Span(" "),
        Span(
            fit_player_name(player.name, look, min(name_width, available), bot=player.bot),
            "you" if player.you else "name",
        ),
        Span(move, "label"),
    )
    right = (*(bar(player.foundation_cards, player.total, bars, look) if bars else ()), Span(progress, "count"))
    return (*fit_row(left, width - row_width(right)), *right)


def last_move_text(board: Board, step: Step, look: Look) -> str:
    """Return the last move on a board as ``6♥ 5▸2``: the moved card that lies deepest, source and target."""
    move = step.move
    if not move.is_transfer:
        return move.source
    pile = board.piles[step.target]
    card = pile[-step.size] if len(pile) >= step.size else pile[-1]
    return f"{look.card(card)} {move.source}{look.glyphs.pointer}{move.target}"
