"""How a board looks, pure: a board, a look and a size in, a picture out.

What is too deep to be seen on it can be read in ``pile_line``.
"""

from __future__ import annotations

from samedeal.board import Board
from samedeal.games import Game, Kind
from samedeal_client.board.column import draw_column
from samedeal_client.board.layout import RESERVE, TOP, Layout, Rect, layout, smallest
from samedeal_client.board.marks import NO_MARKS, Marks
from samedeal_client.board.picture import Part, Picture
from samedeal_client.board.toprow import draw_reserve, draw_top
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span, fit_row, row_text, wrap


def draw_board(
    board: Board, look: Look, width: int, height: int, marks: Marks = NO_MARKS, *, roomy: bool = True
) -> Picture:
    """Draw a board alone within ``width`` and ``height``; a sentence instead where that is less than ``smallest``.

    Without ``roomy`` cards never lie on every second row only.
    """
    needed = smallest(board.game)
    if width < needed.width or height < needed.height:
        return _too_small(board.game, width, height)
    return draw(board, look, layout(board.game, width, height, roomy=roomy), marks)


def draw(board: Board, look: Look, at: Layout, marks: Marks = NO_MARKS) -> Picture:
    """Draw a board in the places of a layout."""
    parts = [draw_top(board, look, at, marks)]
    if RESERVE in at.places:
        parts.append(draw_reserve(board, look, at, marks))
    keys = board.game.keys
    parts += [draw_column(board, keys[pile], look, at, marks) for pile in (*board.game.columns, *board.game.fans)]
    return Picture(tuple(parts))


def draw_part(board: Board, name: str, look: Look, at: Layout, marks: Marks = NO_MARKS) -> Part:
    """Draw one part alone, by its name in ``Layout.places``."""
    if name == TOP:
        return draw_top(board, look, at, marks)
    if name == RESERVE:
        return draw_reserve(board, look, at, marks)
    return draw_column(board, name, look, at, marks)


def part_of(game: Game, pile: str) -> str:
    """The name of the part that shows a pile."""
    kind = game.piles[game.index[pile]].kind
    if kind in (Kind.COLUMN, Kind.FAN):
        return pile
    return RESERVE if kind is Kind.RESERVE else TOP


def _too_small(game: Game, width: int, height: int) -> Picture:
    needed = smallest(game)
    sentence = f"{game.title} needs {needed.width} columns and {needed.height} rows; here are {width} and {height}"
    rows = tuple(fit_row((Span(line, "notice"),), width) for line in wrap(sentence, max(width, 1))[: max(height, 1)])
    return Picture((Part(TOP, Rect(0, 0, width, len(rows)), rows, ()),))


def pile_line(board: Board, key: str, look: Look) -> str:
    """A whole pile in words and cards, from its deepest card, as in ``column 3, 5 cards: ▒▒ 10♠ ▒▒ 3♣ 2♦``.

    Of a stock only the number of cards is told.
    """
    return " ".join(row_text(row) for row in pile_rows(board, key, look))


def pile_rows(board: Board, key: str, look: Look, width: int | None = None) -> tuple[Row, ...]:
    """What ``pile_line`` says, in as many rows of at most ``width`` columns as it takes."""
    index = board.game.index[key]
    pile, kind = board.piles[index], board.game.piles[index].kind
    name = kind.value if kind is Kind.STOCK else f"{kind.value} {key}"
    count = f"{len(pile)} card{'s' if len(pile) != 1 else ''}" if pile else "empty"
    told = kind is not Kind.STOCK and bool(pile)
    words = [Span(f"{name}, {count}{':' if told else ''}", "label")]
    words += [look.span(card) for card in pile] if told else []
    rows: list[list[Span]] = [[]]
    taken = 0
    for word in words:
        if width is not None and taken + len(word.text) > width and rows[-1]:
            rows.append([])
            taken = 0
        if rows[-1]:
            rows[-1].append(Span(" "))
        rows[-1].append(word)
        taken += len(word.text) + 1
    return tuple(tuple(row) for row in rows)
