"""Columns and fans: the name, then the cards downwards with the top card last.

If a column has too few rows for its cards, each covered card gets one row. If the rows are still too few, the deepest
cards stand two in a row (``3♥Q♦``). If even this does not suffice, ``+5`` stands for the deepest five.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from samedeal.board import Board
from samedeal.cards import DOWN, RANKS, Card
from samedeal.game import Group
from samedeal_client.board.board_picture import HitArea, HitTarget, Region
from samedeal_client.board.card_tile import Shade, covered_tile, slot, tile, tile_style
from samedeal_client.board.layout import CardSize, Layout
from samedeal_client.board.marks import NO_MARKS, STRENGTH, Marks, mark_sign, run_length
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span

_SLOT_HEIGHT = 3
"""Minimum height, in rows, of the outline of an empty column."""


class ColumnPacking(NamedTuple):
    """The distribution of a column's cards over its rows.

    If ``collapsed`` is not 0, a sign in the first row stands for that many of the deepest cards. The next ``pairs``
    rows have two cards each. ``heights`` has the number of rows for each of the other cards.
    """

    collapsed: int
    pairs: int
    heights: tuple[int, ...]


def pack_column(group: Group, pile: bytes, rows: int, card: CardSize) -> ColumnPacking:
    """Return the distribution of a pile's cards over ``rows`` rows.

    ``rows`` must be at least half the length of the longest possible run, plus two.
    """
    size = len(pile)
    if size <= rows:
        return ColumnPacking(0, 0, _heights(pile, rows - size, card))
    run = run_length(group, pile)
    singles = min(run, 2 * (rows - 1) - run)
    if 2 * rows - size >= singles:
        return ColumnPacking(0, size - rows, (1,) * (2 * rows - size))
    pairs = rows - 1 - singles
    return ColumnPacking(size - 2 * pairs - singles, pairs, (1,) * singles)


def _heights(pile: bytes, spare: int, card: CardSize) -> tuple[int, ...]:
    """Return the number of rows of each card. The top card gets spare rows first, then the face-up cards closest to it."""
    heights = [1] * len(pile)
    for at in range(len(pile) - 1, -1, -1):
        wanted = card.height if at == len(pile) - 1 else 1 if pile[at] & DOWN else card.step
        heights[at] += min(wanted - 1, spare)
        spare -= heights[at] - 1
    return tuple(heights)


def draw_column(board: Board, key: str, look: Look, at: Layout, marks: Marks = NO_MARKS) -> Region:
    """Draw a column or a fan with its name above it."""
    place = at.places[key]
    index = board.game.index[key]
    pile = board.piles[index]
    group = board.game.piles[index]
    width, card_width = place.width, at.card.width
    gap = Span(" " * at.gap)
    pile_mark = marks.of_pile(key)
    rows: list[Row] = [(gap, pile_label(key, look, card_width, pile_mark, marks.count(key)))]
    if not pile:
        height = min(max(at.card.height, _SLOT_HEIGHT), place.height - 1)
        rows += [(gap, *row) for row in slot(takes_text(group, look), look, card_width, height, pile_mark)]
        return Region(key, place, tuple(rows), (HitArea(0, 0, width, place.height, HitTarget(key)),))
    size = len(pile)
    collapsed, pairs, heights = pack_column(group, pile, place.height - 1, at.card)
    marked = marks.of_cards(key, pile)
    areas: list[HitArea] = []
    if collapsed:
        mark = max((marked.get(card, "") for card in range(collapsed)), key=STRENGTH.__getitem__)
        text = f"+{collapsed}{mark_sign(look, mark)}".center(card_width)
        rows.append((gap, Span(text, f"buried {mark}".rstrip())))
        areas.append(HitArea(0, 1, width, 1, HitTarget(key, None, collapsed)))
    first_movable = size - run_length(group, pile)
    singles = collapsed + 2 * pairs
    for card in range(collapsed, singles, 2):
        shades: tuple[Shade, Shade] = (_shade(card, first_movable), _shade(card + 1, first_movable))
        cards, two = (pile[card], pile[card + 1]), (marked.get(card, ""), marked.get(card + 1, ""))
        row, middle = _pair(cards, shades, two, look, card_width, at.gap)
        areas.append(HitArea(0, len(rows), middle, 1, HitTarget(key, card)))
        areas.append(HitArea(middle, len(rows), width - middle, 1, HitTarget(key, card + 1)))
        rows.append(row)
    for card, height in enumerate(heights, singles):
        mark, shade = marked.get(card, ""), _shade(card, first_movable)
        areas.append(HitArea(0, len(rows), width, height, HitTarget(key, card)))
        if card == size - 1:
            shown = tile(pile[card], look, card_width, height, shade, mark)
        else:
            shown = covered_tile(pile[card], look, card_width, at.card.height, height, shade, mark)
        rows += [(gap, *row) for row in shown]
    areas.append(HitArea(0, 0, width, place.height, HitTarget(key)))
    return Region(key, place, tuple(rows), tuple(areas))


def _shade(card: int, first_movable: int) -> Shade:
    return "paper" if card >= first_movable else "buried"


def pile_label(name: str, look: Look, width: int, mark: str, count: int = 0) -> Span:
    """Return the name of a pile and the sign of its mark, centred. On a marked pile a ``count`` above 0 follows."""
    text = f"{name} {mark_sign(look, mark)}{count}" if mark and count else f"{name}{mark_sign(look, mark)}"
    if len(text) > width:
        text = text.replace(" ", "")[:width]
    return Span(text.center(width), mark or "pile")


def takes_text(group: Group, look: Look) -> str:
    """Return the text in the outline of an empty pile: ``any``, or the rank or the card that the pile takes.

    Return an empty text if the pile takes no card.
    """
    if group.takes > 1:
        return "K-A"
    takes = group.on_empty
    if len(takes) == 1:
        return look.card(takes[0])
    ranks = {Card(code).rank for code in takes}
    return "any" if len(ranks) > 1 else "".join(RANKS[rank - 1] for rank in ranks)


@lru_cache(maxsize=4096)
def _pair(
    cards: tuple[int, int], shades: tuple[Shade, Shade], marks: tuple[str, str], look: Look, width: int, gap: int
) -> tuple[Row, int]:
    """Return a row with two cards, and the x position at which the second card begins.

    The sign of each card's mark follows the card. If there is room for only one sign, the stronger mark has it. If
    there is no room, the sign of the stronger mark stands in the gap before the cards, if there is one.
    """
    name = look.card if width > 2 * len("10♥") else look.short
    first, second = map(name, cards)
    signs = [mark_sign(look, mark) for mark in marks]
    before = ""
    if len(first + second) == width:
        before = max(marks, key=STRENGTH.__getitem__)
        signs = ["", ""]
    elif len(first + second) + sum(map(len, signs)) > width:
        signs[STRENGTH[marks[0]] >= STRENGTH[marks[1]]] = ""
    left, right = first + signs[0], second + signs[1]
    left += " " * (not signs[0] and len(left + right) < width)
    row = (
        Span(mark_sign(look, before).rjust(gap)[:gap], before),
        Span(left, tile_style(cards[0], look, shades[0], marks[0])),
        Span(right.ljust(width - len(left)), tile_style(cards[1], look, shades[1], marks[1])),
    )
    return row, gap + len(left)
