"""How stock, waste, foundations and reserve look."""

from __future__ import annotations

from typing import Final

from samedeal.board import Board
from samedeal.cards import Card
from samedeal.games import Build, Kind, Stock
from samedeal_client.board.layout import (
    FOUNDATION_PITCH,
    RESERVE,
    RESERVE_PITCH,
    RESERVE_ROW,
    STOCK_WIDTH,
    TOP,
    WASTE_SHOWN,
    Layout,
    names_foundations,
)
from samedeal_client.board.marks import NO_MARKS, STRENGTH, Marks, signed, signs
from samedeal_client.board.picture import Hit, Part, Spot
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span

_SHOWN_SUITS: Final = (3, 2, 1, 0)


class _Line:
    """A row under construction, with the spots on it."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.spots: list[Spot] = []
        self.x = 0

    def add(self, text: str, style: str = "", hit: Hit | None = None, y: int = 0, height: int = 1) -> None:
        self.spans.append(Span(text, style))
        if hit is not None:
            self.spots.append(Spot(self.x, y, len(text), height, hit))
        self.x += len(text)

    def row(self, width: int) -> Row:
        return (*self.spans, Span(" " * (width - self.x))) if width > self.x else tuple(self.spans)


def draw_top(board: Board, look: Look, at: Layout, marks: Marks = NO_MARKS) -> Part:
    """Draw stock, waste and foundations."""
    game = board.game
    place = at.places[TOP]
    line = _Line()
    if game.stock_at >= 0:
        _draw_stock(line, board, look, marks)
    if game.waste_at >= 0:
        _draw_waste(line, board, look, marks)
    line.add(" 0 ", "label", Hit(game.keys[game.foundations.start]))
    first = line.x
    for index, suit in foundations_shown(board):
        _draw_foundation(line, board, index, suit, look, marks, place.height)
    if len(game.foundations) == 1:
        _draw_next(line, board, look)
    rows = [line.row(place.width)]
    if names_foundations(game):
        names = _Line()
        names.add(" " * first)
        for index, _ in foundations_shown(board):
            key = game.keys[index]
            mark = marks.of_pile(key)
            names.add(f"{key:>4} ", mark or "label")
        rows.append(names.row(place.width))
    return Part(TOP, place, tuple(rows), tuple(line.spots))


def _draw_stock(line: _Line, board: Board, look: Look, marks: Marks) -> None:
    game = board.game
    count, again = len(board.piles[game.stock_at]), 0
    if not count and game.stock is Stock.DRAW_THREE:
        again = len(board.piles[game.waste_at])
    mark = marks.of_pile("stock")
    before, after = signs(look, mark)
    word = f"redeal {again}" if again else f"stock {count}"
    text = f"{before}{look.glyphs.space} {word}{after}".ljust(STOCK_WIDTH)
    line.add(text, mark or "label", Hit("stock"))


def _draw_waste(line: _Line, board: Board, look: Look, marks: Marks) -> None:
    game = board.game
    key, waste = game.keys[game.waste_at], board.piles[game.waste_at]
    mark = marks.of_pile(key)
    line.add(f" {key} ", mark or "label", Hit(key))
    marked = marks.of_cards(key, waste)
    shown = range(max(len(waste) - WASTE_SHOWN, 0), len(waste))
    for card in shown:
        top = card == len(waste) - 1
        mark = marked.get(card, "")
        sign = mark if STRENGTH[mark] > STRENGTH["top"] or not top else "top"
        style = f"{look.style(waste[card])} {'top' if top else 'under'} {mark}".rstrip()
        line.add(signed(look.card(waste[card]), look, sign), style, Hit(key, card))
    line.add(" " * FOUNDATION_PITCH * (WASTE_SHOWN - len(shown)))


def foundations_shown(board: Board) -> list[tuple[int, int | None]]:
    """The positions of the foundations in the order in which they are shown, each with the suit of an empty one.

    One foundation for each suit: spades, hearts, diamonds, clubs, whichever pile holds them. Else the piles as they come,
    since which comes first matters (ruling R19), and an empty one has no suit.
    """
    game = board.game
    group = game.piles[game.foundations.start]
    if group.build is not Build.UP_SAME_SUIT or len(game.foundations) != len(_SHOWN_SUITS):
        return [(index, None) for index in game.foundations]
    held = {Card(board.piles[index][0]).suit: index for index in game.foundations if board.piles[index]}
    free = iter([index for index in game.foundations if not board.piles[index]])
    return [(held[suit] if suit in held else next(free), suit) for suit in _SHOWN_SUITS]


def _draw_foundation(
    line: _Line, board: Board, index: int, suit: int | None, look: Look, marks: Marks, height: int
) -> None:
    key, pile = board.game.keys[index], board.piles[index]
    mark = marks.of_cards(key, pile).get(len(pile) - 1, "") if pile else marks.of_pile(key)
    if pile:
        text, style = look.card(pile[-1]), look.style(pile[-1])
    else:
        text, style = look.glyphs.empty + (look.suit(suit) if suit is not None else " "), "empty"
    hit = Hit(key, len(pile) - 1 if pile else None)
    line.add(signed(text, look, mark), f"{style} {mark}".rstrip(), hit, height=height)


def _draw_next(line: _Line, board: Board, look: Look) -> None:
    """What the only foundation waits for, and how much of it is done."""
    game = board.game
    pile = board.piles[game.foundations.start]
    group = game.piles[game.foundations.start]
    hit = Hit(game.keys[game.foundations.start])
    waits = group.on[pile[-1]] if pile else group.on_empty
    if len(pile) < game.cards:
        card = Card(waits[0])
        line.add("  next ", "label", hit)
        text = look.card(card) if len(waits) == 1 else look.card(card)[:-1]
        line.add(f"{text:<3}", look.style(card) if len(waits) == 1 else "count", hit)
    line.add(f" {len(pile):>2}/{game.cards}", "count", hit)


def draw_reserve(board: Board, look: Look, at: Layout, marks: Marks = NO_MARKS) -> Part:
    """Draw the reserve, each card after its name."""
    place = at.places[RESERVE]
    rows: list[Row] = []
    spots: list[Spot] = []
    reserve = board.game.of_kind(Kind.RESERVE)
    for first in range(reserve.start, reserve.stop, RESERVE_ROW):
        line = _Line()
        for index in range(first, min(first + RESERVE_ROW, reserve.stop)):
            key, pile = board.game.keys[index], board.piles[index]
            marked = marks.of_pile(key) if not pile else marks.of_cards(key, pile).get(0, "")
            before, after = signs(look, marked)
            line.add(key, marks.of_pile(key) or "label", Hit(key))
            text = look.card(pile[0]) if pile else look.glyphs.empty
            style = look.style(pile[0]) if pile else "empty"
            hit = Hit(key, 0) if pile else Hit(key)
            line.add(f"{before}{text}{after}".ljust(RESERVE_PITCH - 1), f"{style} {marked}".rstrip(), hit)
        spots += [spot._replace(y=len(rows)) for spot in line.spots]
        rows.append(line.row(place.width))
    return Part(RESERVE, place, tuple(rows), tuple(spots))
