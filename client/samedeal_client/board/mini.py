"""A board drawn small, for looking at many at once: three columns a pile, of deep ones the cards at the top.

::

    3♠ 5♥ ·♦ 2♣  stock 16  w T♥
    ⋮9 7♥ 6♦ 4♥ 8♠ 4♠ ⋮3
    4♦ 6♥ 7♠ K♠ K♠ 2♠ 9♠
"""

from __future__ import annotations

from samedeal.board import Board
from samedeal.games import Game, Kind, Stock
from samedeal_client.board.layout import Size
from samedeal_client.board.toprow import foundations_shown
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span, fit_row

PITCH = 3
_RESERVE_ROW = 8
_LEAST_DEPTH = 3


def smallest_mini(game: Game) -> Size:
    """The least room for a board of a game, its top cards readable."""
    fans = len(game.fans) * PITCH + 1 if game.fans else 0
    reserve = game.of_kind(Kind.RESERVE)
    top = 3 * len(game.foundations) + (11 if game.stock is not Stock.NONE else 0) + (5 if game.waste_at >= 0 else 0)
    width = max(len(game.columns) * PITCH + fans, _RESERVE_ROW * PITCH if reserve else 0, top)
    return Size(width, 1 + -(-len(reserve) // _RESERVE_ROW) + _LEAST_DEPTH)


def draw_mini(board: Board, look: Look, width: int, height: int) -> tuple[Row, ...]:
    """Draw a board in exactly ``height`` rows of ``width`` columns, which is to be ``smallest_mini`` at the least."""
    rows = [_top(board, look), *_reserve(board, look, width)]
    depth = height - len(rows)
    piles = [_pile(board.piles[at], look, depth) for at in (*board.game.columns, *board.game.fans)]
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
            spans += [Span(look.short(pile[-1]), look.style(pile[-1])), Span(" ")]
        else:
            spans.append(Span(look.glyphs.empty + (look.suit(suit) if suit is not None else " ") + " ", "empty"))
    if len(game.foundations) == 1:
        spans.append(Span(f"{board.cards_up}/{game.cards} ", "count"))
    if game.stock_at >= 0:
        spans.append(Span(f" stock {len(board.piles[game.stock_at])}", "label"))
    if game.waste_at >= 0:
        waste = board.piles[game.waste_at]
        spans.append(Span("  w ", "label"))
        spans.append(Span(look.short(waste[-1]), look.style(waste[-1])) if waste else Span(look.glyphs.empty, "empty"))
    return tuple(spans)


def _reserve(board: Board, look: Look, width: int) -> list[Row]:
    places = list(board.game.of_kind(Kind.RESERVE))
    if not places:
        return []
    count = len(places) if len(places) * PITCH <= width else _RESERVE_ROW
    cells = [_cell(board.piles[at][-1:], look) for at in places]
    return [tuple(cells[at : at + count]) for at in range(0, len(cells), count)]


def _cell(card: bytes, look: Look) -> Span:
    return (
        Span(look.short(card[0]).ljust(PITCH), look.style(card[0]))
        if card
        else Span(look.glyphs.empty.ljust(PITCH), "empty")
    )


def _pile(pile: bytes, look: Look, depth: int) -> list[Span]:
    """The cells of a column or a fan: a count of the cards that don't fit, then the others down to the top one."""
    cells = [_cell(b"", look)] if not pile else []
    shown = pile
    if len(pile) > depth:
        shown = pile[len(pile) - depth + 1 :]
        cells.append(Span(f"{look.glyphs.more}{len(pile) - len(shown)}".ljust(PITCH), "more"))
    cells += [_cell(bytes([card]), look) for card in shown]
    return cells + [Span(" " * PITCH)] * (depth - len(cells))
