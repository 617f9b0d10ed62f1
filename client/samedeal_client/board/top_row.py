"""Drawing of stock, waste, foundations and reserve."""

from __future__ import annotations

from functools import partial

from samedeal.board import Board
from samedeal.cards import Card
from samedeal.moves import FOUNDATION
from samedeal_client.board.board_picture import Canvas, HitArea, HitTarget, Region
from samedeal_client.board.card_tile import slot, stock_tile, tile, waste_tile
from samedeal_client.board.column import pile_label, takes_text
from samedeal_client.board.foundation_order import foundations_shown
from samedeal_client.board.layout import (
    RESERVE,
    RESERVE_ROW,
    TOP,
    WASTE_SHOWN,
    Layout,
    foundations_in_row,
    foundations_x,
    reserve_pitch,
    waste_step,
)
from samedeal_client.board.marks import NO_MARKS, Marks
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Span


def draw_top(board: Board, look: Look, at: Layout, marks: Marks = NO_MARKS) -> Region:
    """Draw stock, waste and foundations, each with its name above it."""
    game = board.game
    place = at.places[TOP]
    canvas = Canvas(place.height)
    if game.stock_at >= 0:
        _draw_stock(canvas, board, look, at, marks)
    if game.waste_at >= 0:
        _draw_waste(canvas, board, look, at, marks)
    left, in_row = foundations_x(game, at.card, at.gap), foundations_in_row(game)
    for number, (index, suit) in enumerate(foundations_shown(board)):
        row, column = divmod(number, in_row)
        corner = left + column * at.pitch, row * (1 + at.card.height)
        _draw_foundation(canvas, board, index, suit, look, at, marks, corner)
    if len(game.foundations) == 1:
        _draw_next(canvas, board, look, left + at.pitch)
    return canvas.region(TOP, place)


def _draw_stock(canvas: Canvas, board: Board, look: Look, at: Layout, marks: Marks) -> None:
    game, card = board.game, at.card
    key, stock, waste = game.keys[game.stock_at], board.stock, board.waste
    mark = marks.of_pile(key)
    count = len(waste) if game.stock.is_redeal(stock, waste) else len(stock)
    key_name = "Space" if card.width > len("Space") - (not mark) else look.glyphs.space
    canvas.put(0, 0, [(pile_label(key_name, look, card.width, mark),)])
    if stock:
        canvas.put(0, 1, stock_tile(count, look, card.width, card.height, mark))
    else:
        redeal = f"{look.glyphs.redeal}{count}" if waste else ""
        canvas.put(0, 1, slot(redeal, look, card.width, card.height, mark))
    canvas.areas.append(HitArea(0, 0, card.width, 1 + card.height, HitTarget(key)))


def _draw_waste(canvas: Canvas, board: Board, look: Look, at: Layout, marks: Marks) -> None:
    game, card = board.game, at.card
    key, waste = game.keys[game.waste_at], board.piles[game.waste_at]
    x, step = at.pitch, waste_step(card, at.gap)
    label = pile_label(key, look, card.width, marks.of_pile(key))
    canvas.put(x, 0, [(label,)])
    canvas.areas.append(HitArea(x, 0, card.width, 1, HitTarget(key)))
    if not waste:
        canvas.put(x, 1, slot("", look, card.width, card.height, marks.of_pile(key)))
        canvas.areas.append(HitArea(x, 1, card.width, card.height, HitTarget(key)))
    marked = marks.of_cards(key, waste)
    top = len(waste) - 1
    for number in range(max(len(waste) - WASTE_SHOWN, 0), len(waste)):
        mark = marked.get(number, "")
        width = card.width if number == top else step
        draw = tile if number == top else waste_tile
        rows = draw(waste[number], look, width, card.height, mark=mark)
        canvas.put(x, 1, rows)
        canvas.areas.append(HitArea(x, 1, width, card.height, HitTarget(key, number)))
        x += step


def _draw_foundation(
    canvas: Canvas,
    board: Board,
    index: int,
    suit: int | None,
    look: Look,
    at: Layout,
    marks: Marks,
    corner: tuple[int, int],
) -> None:
    x, y = corner
    key, pile, card = board.game.keys[index], board.piles[index], at.card
    group = board.game.piles[index]
    mark = marks.of_pile(key)
    canvas.put(x, y, [(pile_label(FOUNDATION, look, card.width, mark, marks.count(key)),)])
    if pile:
        mark = marks.of_cards(key, pile).get(len(pile) - 1, "")
        rows = tile(pile[-1], look, card.width, card.height, mark=mark)
    else:
        takes = look.suit(suit) if suit is not None else takes_text(group, look)
        rows = slot(takes, look, card.width, card.height, mark)
    canvas.put(x, y + 1, rows)
    hit = HitTarget(key, len(pile) - 1 if pile else None)
    canvas.areas.append(HitArea(x, y, card.width, 1 + card.height, hit))


def _draw_next(canvas: Canvas, board: Board, look: Look, x: int) -> None:
    """Write beside the foundation which card it takes next. This is for games with only one foundation."""
    game = board.game
    pile = board.piles[game.foundations.start]
    group = game.piles[game.foundations.start]
    waits = group.on[pile[-1]] if pile else group.on_empty
    if len(pile) < game.cards:
        card = Card(waits[0])
        name = look.card(card) if len(waits) == 1 else look.card(card)[:-1]
        canvas.put(x, 1, [(Span("next ", "pile"), Span(name, "title"))])


def draw_reserve(board: Board, look: Look, at: Layout, marks: Marks = NO_MARKS) -> Region:
    """Draw the reserve. The name of a pile is above its card, or to the left of a small card."""
    place, card = at.places[RESERVE], at.card
    canvas = Canvas(place.height)
    height = card.height if card.is_large else 1
    pitch = reserve_pitch(card, at.gap)
    for number, index in enumerate(board.game.singles):
        key, pile = board.game.keys[index], board.piles[index]
        mark = marks.of_cards(key, pile).get(0, "") if pile else marks.of_pile(key)
        x, y = number % RESERVE_ROW * pitch, number // RESERVE_ROW * (height + card.is_large)
        if card.is_large:
            canvas.put(x, y, [(pile_label(key, look, card.width, mark, marks.count(key)),)])
        else:
            canvas.put(x, y, [(Span(key, mark or "pile"),)])
        draw = partial(tile, pile[0]) if pile else partial(slot, "")
        canvas.put(x + (not card.is_large), y + card.is_large, draw(look, card.width, height, mark=mark))
        hit = HitTarget(key, 0) if pile else HitTarget(key)
        canvas.areas.append(HitArea(x, y, card.width + (not card.is_large), height + card.is_large, hit))
    return canvas.region(RESERVE, place)
