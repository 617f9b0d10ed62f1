"""Small boards, for watching many at once: full boards if they fit, otherwise cards of one row and three characters.

A deep pile shows only its top cards. Above them stands the number of the other cards. If there is no room for a blank
between two tens, a ten is a ``T``::

     3♠ 5♥ ·♦ 2♣ ░16 10♥
     +9 7♥ 6♦ 4♥ 8♠ 4♠ +3
     4♦ 6♥ T♠ K♠ K♠ 2♠ 9♠
"""

from __future__ import annotations

from typing import Final

from samedeal.board import Board
from samedeal.cards import DOWN, HIDDEN
from samedeal.game import Game, Group
from samedeal_client.board.card_tile import Shade, tile, tile_style
from samedeal_client.board.draw_board import draw_board
from samedeal_client.board.foundation_order import foundations_shown
from samedeal_client.board.layout import Size, layout, smallest
from samedeal_client.board.marks import run_length
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, fit_row

_MIN_PITCH: Final = 3
_WIDE_PITCH: Final = 4
"""The widths of a pile, in characters. With the minimum width, a ten is shortened to ``T``."""

_RESERVE_ROW: Final = 8
_MIN_DEPTH: Final = 3
_GOOD_HEIGHT: Final = 10
_STOCK_WIDTH: Final = len(" ░24")
_WASTE_WIDTH: Final = len(" 10H")


def smallest_mini(game: Game) -> Size:
    """Return the minimum size of a board on which the top cards are readable."""
    return Size(_width(game, _MIN_PITCH), 1 + -(-len(game.singles) // _RESERVE_ROW) + _MIN_DEPTH)


def _width(game: Game, pitch: int) -> int:
    columns = len(game.columns) * pitch + (len(game.fans) * pitch + 1 if game.fans else 0)
    stock = (_STOCK_WIDTH if game.stock.action else 0) + (_WASTE_WIDTH if game.waste_at >= 0 else 0)
    count = len(f" {game.cards}/{game.cards}") if len(game.foundations) == 1 else 0
    top = len(game.foundations) * pitch + count + stock
    return max(columns, _RESERVE_ROW * pitch if game.singles else 0, top)


def mini_quality(game: Game, size: Size) -> int:
    """Return a number that tells how well a board of this ``size`` can be read. Larger numbers are better.

    The number is the area of a card. It is 0 if a ten must be shortened to ``T``, or if only few cards fit.
    """
    full = smallest(game)
    if size.width >= full.width and size.height >= full.height:
        card = layout(game, *size).card
        return card.width * card.height
    return _MIN_PITCH * (size.width >= _width(game, _WIDE_PITCH) and size.height >= _GOOD_HEIGHT)


def draw_mini(board: Board, look: Look, width: int, height: int) -> tuple[Row, ...]:
    """Draw a board in exactly ``height`` rows of ``width`` characters. The minimum is ``smallest_mini``."""
    full = smallest(board.game)
    if width >= full.width and height >= full.height:
        rows = list(draw_board(board, look, layout(board.game, width, height)).rows)
        rows += [()] * (height - len(rows))
    else:
        rows = _small_rows(board, look, width, height)
    return tuple(fit_row(row, width) for row in rows[:height])


def _small_rows(board: Board, look: Look, width: int, height: int) -> list[Row]:
    pitch = _WIDE_PITCH if width >= _width(board.game, _WIDE_PITCH) else _MIN_PITCH
    rows = [_top(board, look, pitch), *_reserve(board, look, width, pitch)]
    depth = height - len(rows)
    piles = [
        _pile(board.piles[at], board.game.piles[at], look, depth, pitch)
        for at in (*board.game.columns, *board.game.fans)
    ]
    gap = len(board.game.columns) if board.game.fans else -1
    for y in range(depth):
        spans: list[Span] = []
        for number, pile in enumerate(piles):
            if number == gap:
                spans.append(Span(" "))
            spans += pile[y]
        rows.append(tuple(spans))
    return rows


def _top(board: Board, look: Look, pitch: int) -> Row:
    game = board.game
    spans: list[Span] = []
    for at, suit in foundations_shown(board):
        pile = board.piles[at]
        if pile:
            spans += _cell(pile[-1:], look, pitch, "paper")
        else:
            empty = look.glyphs.empty + (look.suit(suit) if suit is not None else " ")
            spans.append(Span(empty.rjust(pitch), "empty"))
    if len(game.foundations) == 1:
        spans.append(Span(f" {board.foundation_cards}/{game.cards}", "count"))
    if game.stock_at >= 0:
        spans += (Span(" "), Span(f"{look.glyphs.back}{len(board.piles[game.stock_at]):>2}", "back seen-card"))
    if game.waste_at >= 0:
        spans += _cell(board.piles[game.waste_at][-1:], look, _WIDE_PITCH, "paper")
    return tuple(spans)


def _reserve(board: Board, look: Look, width: int, pitch: int) -> list[Row]:
    places = board.game.singles
    if not places:
        return []
    count = len(places) if len(places) * pitch <= width else _RESERVE_ROW
    cells = [_cell(board.piles[at][-1:], look, pitch, "paper") for at in places]
    return [tuple(span for cell in cells[at : at + count] for span in cell) for at in range(0, len(cells), count)]


def _cell(card: bytes, look: Look, pitch: int, shade: Shade) -> Row:
    if not card:
        return (Span(look.glyphs.empty.rjust(pitch), "empty"),)
    code = card[0] | HIDDEN if card[0] & DOWN else card[0]  # a face is not shown, even if it was seen
    if pitch < _WIDE_PITCH and not code & DOWN:
        return (Span(" "), Span(look.short(code), tile_style(code, look, shade, "")))
    ((face,),) = tile(code, look, pitch - 1, 1, shade)
    return (Span(" "), face)


def _pile(pile: bytes, group: Group, look: Look, depth: int, pitch: int) -> list[Row]:
    """Return the cells of a column or a fan. If not all cards fit, the first cell says how many are left out."""
    cells = [_cell(b"", look, pitch, "paper")] if not pile else []
    first = max(len(pile) - depth + 1, 0) if len(pile) > depth else 0
    if first:
        cells.append((Span(f"+{first}".rjust(pitch), "more"),))
    run = len(pile) - run_length(group, pile)
    cells += [
        _cell(pile[card : card + 1], look, pitch, "paper" if card >= run else "buried")
        for card in range(first, len(pile))
    ]
    return cells + [(Span(" " * pitch),)] * (depth - len(cells))
