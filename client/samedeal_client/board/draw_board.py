"""Drawing a board in a given ``Look`` and size. Pure.

``pile_rows`` lists all cards of a pile, including those that are too deep to be seen on the board.
"""

from __future__ import annotations

from samedeal.board import Board
from samedeal.game import Game
from samedeal_client.board.board_picture import BoardPicture, Region
from samedeal_client.board.column import draw_column
from samedeal_client.board.layout import RESERVE, TOP, Layout
from samedeal_client.board.marks import NO_MARKS, Marks
from samedeal_client.board.top_row import draw_reserve, draw_top
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, counted, wrap_row


def draw_board(board: Board, look: Look, at: Layout, marks: Marks = NO_MARKS) -> BoardPicture:
    """Draw a board at the places of a layout."""
    return BoardPicture(tuple(draw_region(board, name, look, at, marks) for name in at.places))


def draw_region(board: Board, name: str, look: Look, at: Layout, marks: Marks = NO_MARKS) -> Region:
    """Draw the region with this name in ``Layout.places``."""
    if name == TOP:
        return draw_top(board, look, at, marks)
    if name == RESERVE:
        return draw_reserve(board, look, at, marks)
    return draw_column(board, name, look, at, marks)


def region_of(game: Game, pile: str) -> str:
    """Return the name of the region that shows a pile."""
    at = game.index[pile]
    if at in game.columns or at in game.fans:
        return pile
    return RESERVE if at in game.singles else TOP


def pile_rows(board: Board, key: str, look: Look, width: int) -> list[Row]:
    """Return rows that list all cards of a pile from the deepest, as in ``column 3, 5 cards: ▒▒ 10♠ ▒▒ 3♣ 2♦``.

    The rows are at most ``width`` characters wide. For a stock only the number of cards is shown.
    """
    index = board.game.index[key]
    pile, name = board.piles[index], board.game.pile_name(key)
    count = counted(len(pile), "card") if pile else "empty"
    lists_cards = index != board.game.stock_at and bool(pile)
    words = [Span(f"{name}, {count}{':' if lists_cards else ''}", "label")]
    words += [look.span(card) for card in pile] if lists_cards else []
    row = tuple(span for word in words for span in (Span(" "), word))
    return wrap_row(row[1:], width, indent="")
