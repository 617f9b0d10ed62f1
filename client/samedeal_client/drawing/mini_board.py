"""Small boards, for watching many at once: three or four characters a pile, and only the top cards of deep piles.

::

     3♠ 5♥ ·♦ 2♣  stock 16  waste 10♥
     ⋮9 7♥ 6♦ 4♥ 8♠ 4♠ ⋮3
     4♦ 6♥10♠ K♠ K♠ 2♠ 9♠
"""

from __future__ import annotations

from typing import Final

from samedeal.board import Board
from samedeal.cards import DOWN, HIDDEN
from samedeal.games import Game
from samedeal_client.drawing.foundation_order import foundations_shown
from samedeal_client.drawing.layout import Size
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, fit_row

_MIN_PITCH: Final = 3
_WIDE_PITCH: Final = 4
"""The widths of a pile, in characters: without and with a blank between two tens."""

_RESERVE_ROW: Final = 8
_MIN_DEPTH: Final = 3
_STOCK_WIDTH: Final = len("  stock 24")
_WASTE_WIDTH: Final = len("  waste 10H")


def smallest_mini(game: Game) -> Size:
    """Return the minimum size of a board on which the top cards are readable."""
    return Size(_width(game, _MIN_PITCH), 1 + -(-len(game.reserve) // _RESERVE_ROW) + _MIN_DEPTH)


def _width(game: Game, pitch: int) -> int:
    columns = len(game.columns) * pitch + (len(game.fans) * pitch + 1 if game.fans else 0)
    stock = (_STOCK_WIDTH if game.stock.action else 0) + (_WASTE_WIDTH if game.waste_at >= 0 else 0)
    count = len(f" {game.cards}/{game.cards}") if len(game.foundations) == 1 else 0
    top = len(game.foundations) * _MIN_PITCH + count + stock
    return max(columns, _RESERVE_ROW * pitch if game.reserve else 0, top)


def draw_mini(board: Board, look: Look, width: int, height: int) -> tuple[Row, ...]:
    """Draw a board in exactly ``height`` rows of ``width`` characters, at least the size of ``smallest_mini``."""
    pitch = _WIDE_PITCH if width >= _width(board.game, _WIDE_PITCH) else _MIN_PITCH
    rows = [_top(board, look), *_reserve(board, look, width, pitch)]
    depth = height - len(rows)
    piles = [_pile(board.piles[at], look, depth, pitch) for at in (*board.game.columns, *board.game.fans)]
    gap = len(board.game.columns) if board.game.fans else -1
    for y in range(depth):
        spans: list[Span] = []
        for at, pile in enumerate(piles):
            if at == gap:
                spans.append(Span(" "))
            spans.append(pile[y])
        rows.append(tuple(spans))
    return tuple(fit_row(row, width) for row in rows[:height])


def _top(board: Board, look: Look) -> Row:
    game = board.game
    spans: list[Span] = []
    for at, suit in foundations_shown(board):
        pile = board.piles[at]
        if pile:
            spans.append(Span(look.card(pile[-1]).rjust(_MIN_PITCH), look.style(pile[-1])))
        else:
            empty = look.glyphs.empty + (look.suit(suit) if suit is not None else " ")
            spans.append(Span(empty.rjust(_MIN_PITCH), "empty"))
    if len(game.foundations) == 1:
        spans.append(Span(f" {board.foundation_cards}/{game.cards}", "count"))
    if game.stock_at >= 0:
        spans.append(Span(f"  stock {len(board.piles[game.stock_at])}", "label"))
    if game.waste_at >= 0:
        waste = board.piles[game.waste_at]
        spans.append(Span("  waste ", "label"))
        spans.append(Span(look.card(waste[-1]), look.style(waste[-1])) if waste else Span(look.glyphs.empty, "empty"))
    return tuple(spans)


def _reserve(board: Board, look: Look, width: int, pitch: int) -> list[Row]:
    places = board.game.reserve
    if not places:
        return []
    count = len(places) if len(places) * pitch <= width else _RESERVE_ROW
    cells = [_cell(board.piles[at][-1:], look, pitch) for at in places]
    return [tuple(cells[at : at + count]) for at in range(0, len(cells), count)]


def _cell(card: bytes, look: Look, pitch: int) -> Span:
    if not card:
        return Span(look.glyphs.empty.rjust(pitch), "empty")
    code = card[0] | HIDDEN if card[0] & DOWN else card[0]  # a spectator's small board shows no face-down card
    return Span(look.card(code).rjust(pitch), look.style(card[0]))


def _pile(pile: bytes, look: Look, depth: int, pitch: int) -> list[Span]:
    """The cells of a column or a fan: the number of cards that don't fit, then the cards down to the top one."""
    cells = [_cell(b"", look, pitch)] if not pile else []
    shown = pile
    if len(pile) > depth:
        shown = pile[len(pile) - depth + 1 :]
        cells.append(Span(f"{look.glyphs.more}{len(pile) - len(shown)}".rjust(pitch), "more"))
    cells += [_cell(bytes([card]), look, pitch) for card in shown]
    return cells + [Span(" " * pitch)] * (depth - len(cells))
