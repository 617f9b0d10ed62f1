"""Stock, waste, foundations and reserve."""

from __future__ import annotations

from samedeal.board import Board
from samedeal.cards import Card
from samedeal_client.drawing.board_picture import HitArea, HitTarget, Region
from samedeal_client.drawing.foundation_order import foundations_shown
from samedeal_client.drawing.layout import (
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
from samedeal_client.drawing.marks import NO_MARKS, STRENGTH, Marks, mark_signs, with_signs
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span


class _Line:
    """A row under construction, with its hit areas."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.areas: list[HitArea] = []
        self.x = 0

    def add(self, text: str, style: str = "", hit: HitTarget | None = None, y: int = 0, height: int = 1) -> None:
        self.spans.append(Span(text, style))
        if hit is not None:
            self.areas.append(HitArea(self.x, y, len(text), height, hit))
        self.x += len(text)

    def row(self, width: int) -> Row:
        return (*self.spans, Span(" " * (width - self.x))) if width > self.x else tuple(self.spans)


def draw_top(board: Board, look: Look, at: Layout, marks: Marks = NO_MARKS) -> Region:
    """Draw stock, waste and foundations."""
    game = board.game
    place = at.places[TOP]
    line = _Line()
    if game.stock_at >= 0:
        _draw_stock(line, board, look, marks)
    if game.waste_at >= 0:
        _draw_waste(line, board, look, marks)
    line.add(" 0 ", "label", HitTarget(game.keys[game.foundations.start]))
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
    return Region(TOP, place, tuple(rows), tuple(line.areas))


def _draw_stock(line: _Line, board: Board, look: Look, marks: Marks) -> None:
    key = board.game.keys[board.game.stock_at]
    mark = marks.of_pile(key)
    before, after = mark_signs(look, mark)
    text = f"{before}{look.glyphs.space} {board.stock_label}{after}".ljust(STOCK_WIDTH)
    line.add(text, mark or "label", HitTarget(key))


def _draw_waste(line: _Line, board: Board, look: Look, marks: Marks) -> None:
    game = board.game
    key, waste = game.keys[game.waste_at], board.piles[game.waste_at]
    mark = marks.of_pile(key)
    line.add(f"{key} waste ", mark or "label", HitTarget(key))
    marked = marks.of_cards(key, waste)
    shown = range(max(len(waste) - WASTE_SHOWN, 0), len(waste))
    for card in shown:
        top = card == len(waste) - 1
        mark = marked.get(card, "")
        sign = mark if STRENGTH[mark] > STRENGTH["top"] or not top else "top"
        style = f"{look.style(waste[card])} {'top' if top else 'under'} {mark}".rstrip()
        line.add(with_signs(look.card(waste[card]), look, sign), style, HitTarget(key, card))
    if not waste:
        line.add(with_signs(look.glyphs.empty + " ", look, ""), "empty")
    line.add(" " * FOUNDATION_PITCH * (WASTE_SHOWN - max(len(shown), 1)))


def _draw_foundation(
    line: _Line, board: Board, index: int, suit: int | None, look: Look, marks: Marks, height: int
) -> None:
    key, pile = board.game.keys[index], board.piles[index]
    mark = marks.of_cards(key, pile).get(len(pile) - 1, "") if pile else marks.of_pile(key)
    if pile:
        text, style = look.card(pile[-1]), look.style(pile[-1])
    else:
        text, style = look.glyphs.empty + (look.suit(suit) if suit is not None else " "), "empty"
    hit = HitTarget(key, len(pile) - 1 if pile else None)
    line.add(with_signs(text, look, mark), f"{style} {mark}".rstrip(), hit, height=height)


def _draw_next(line: _Line, board: Board, look: Look) -> None:
    """Draw the next card of the single foundation, and the number of cards on it."""
    game = board.game
    pile = board.piles[game.foundations.start]
    group = game.piles[game.foundations.start]
    hit = HitTarget(game.keys[game.foundations.start])
    waits = group.on[pile[-1]] if pile else group.on_empty
    if len(pile) < game.cards:
        card = Card(waits[0])
        line.add("  next ", "label", hit)
        text = look.card(card) if len(waits) == 1 else look.card(card)[:-1]
        line.add(f"{text:<3}", look.style(card) if len(waits) == 1 else "count", hit)
    line.add(f" {len(pile):>2}/{game.cards}", "count", hit)


def draw_reserve(board: Board, look: Look, at: Layout, marks: Marks = NO_MARKS) -> Region:
    """Draw the reserve, each card after its pile's name."""
    place = at.places[RESERVE]
    rows: list[Row] = []
    areas: list[HitArea] = []
    reserve = board.game.reserve
    for first in range(reserve.start, reserve.stop, RESERVE_ROW):
        line = _Line()
        for index in range(first, min(first + RESERVE_ROW, reserve.stop)):
            key, pile = board.game.keys[index], board.piles[index]
            marked = marks.of_pile(key) if not pile else marks.of_cards(key, pile).get(0, "")
            before, after = mark_signs(look, marked)
            line.add(key, marks.of_pile(key) or "label", HitTarget(key))
            text = look.card(pile[0]) if pile else look.glyphs.empty
            style = look.style(pile[0]) if pile else "empty"
            hit = HitTarget(key, 0) if pile else HitTarget(key)
            line.add(f"{before}{text}{after}".ljust(RESERVE_PITCH - 1), f"{style} {marked}".rstrip(), hit)
        areas += [area._replace(y=len(rows)) for area in line.areas]
        rows.append(line.row(place.width))
    return Region(RESERVE, place, tuple(rows), tuple(areas))
