"""Columns and fans: the name, then the cards downwards with the top card last.

A column that is too deep for its place shows two buried cards a row (``3♥Q♦``). If that is not enough, ``⋮+5`` stands for
the deepest five. Each card of the run at the top always has its own row.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from samedeal.board import Board
from samedeal.cards import DECK, DOWN, FACE, UNSEEN
from samedeal.games import Group
from samedeal_client.drawing.board_picture import HitArea, HitTarget, Region
from samedeal_client.drawing.layout import Layout
from samedeal_client.drawing.marks import NO_MARKS, STRENGTH, Marks, mark_signs, run_length, with_signs
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span


class ColumnPacking(NamedTuple):
    """The distribution of a column's cards over its rows.

    One row stands for the deepest ``collapsed`` cards, then come ``pairs`` rows with two cards each. The other cards are
    ``step`` rows apart.
    """

    collapsed: int
    pairs: int
    step: int


def pack_column(group: Group, pile: bytes, rows: int, step: int) -> ColumnPacking:
    """Fit a pile into rows, with its cards ``step`` rows apart if possible. There are more rows than the longest run."""
    size = len(pile)
    if size * step < rows + step:
        return ColumnPacking(0, 0, step)
    if size <= rows:
        return ColumnPacking(0, 0, 1)
    run = run_length(group, pile)
    if 2 * rows - size >= run:
        return ColumnPacking(0, size - rows, 1)
    pairs = rows - 1 - run
    return ColumnPacking(size - 2 * pairs - run, pairs, 1)


def draw_column(board: Board, key: str, look: Look, at: Layout, marks: Marks = NO_MARKS) -> Region:
    """Draw a column or a fan with its name above it."""
    place = at.places[key]
    index = board.game.index[key]
    pile = board.piles[index]
    group = board.game.piles[index]
    width = place.width
    cells = _cells(look, at.cell, at.gap)
    plain = marks is NO_MARKS
    rows = [_label(key, look, at, "" if plain else marks.of_pile(key))]
    if not pile:
        rows.append(_empty(index in board.game.columns, look, at, "" if plain else marks.of_pile(key)))
        return Region(key, place, tuple(rows), (HitArea(0, 0, width, place.height, HitTarget(key)),))
    size = len(pile)
    collapsed, pairs, step = pack_column(group, pile, place.height - 1, at.step)
    marked = {} if plain else marks.of_cards(key, pile)
    areas: list[HitArea] = []
    y = 1
    if collapsed:
        mark = max((marked.get(card, "") for card in range(collapsed)), key=STRENGTH.__getitem__)
        rows.append(_collapsed(collapsed, mark, look, at))
        areas.append(HitArea(0, 1, width, 1, HitTarget(key, None, collapsed)))
        y = 2
    singles = collapsed + 2 * pairs
    for card in range(collapsed, singles, 2):
        two = (marked.get(card, ""), marked.get(card + 1, "")) if marked else ("", "")
        row, middle = _pair(pile[card], pile[card + 1], two, look, at.cell, at.gap)
        rows.append(row)
        areas.append(HitArea(0, y, middle, 1, HitTarget(key, card)))
        areas.append(HitArea(middle, y, width - middle, 1, HitTarget(key, card + 1)))
        y += 1
    if step == 1 and not marked:
        rows += [cells[card] for card in pile[singles:]]
    else:
        blank = (Span(" " * width),)
        for card in range(singles, size):
            mark = marked.get(card, "")
            rows.append(_cells(look, at.cell, at.gap, mark)[pile[card]] if mark else cells[pile[card]])
            if step == 2 and card < size - 1:
                rows.append(blank)
    areas += [
        HitArea(0, y + (card - singles) * step, width, step, HitTarget(key, card)) for card in range(singles, size)
    ]
    areas.append(HitArea(0, 0, width, place.height, HitTarget(key)))
    return Region(key, place, tuple(rows), tuple(areas))


@lru_cache(maxsize=64)
def _cells(look: Look, cell: int, gap: int, mark: str = "") -> tuple[Row, ...]:
    """The row of a card on its own, for each of the 256 codes; empty for a code that is not a card."""
    return tuple(
        _cell(code, look, cell, gap, mark) if code >= UNSEEN or (code < 0x80 and code & FACE in DECK) else ()
        for code in range(256)
    )


def _cell(code: int, look: Look, cell: int, gap: int, mark: str) -> Row:
    style = f"{look.style(code)} {mark}".rstrip()
    if code >= UNSEEN:
        return _padded(look.glyphs.hidden * cell, style, gap)
    if code & DOWN:
        return _padded(look.card(code).rjust(5).center(cell), style, gap)
    return _padded(with_signs(look.card(code), look, mark).center(cell), style, gap)


def _padded(text: str, style: str, gap: int) -> Row:
    return (Span(text, style), Span(" " * gap)) if gap else (Span(text, style),)


def _label(key: str, look: Look, at: Layout, mark: str) -> Row:
    before, after = mark_signs(look, mark)
    return _padded(f"{before}{key}{after}".center(at.cell), mark or "label", at.gap)


def _empty(is_column: bool, look: Look, at: Layout, mark: str) -> Row:  # noqa: FBT001 (private)
    """Draw an empty column as a place for cards, and an empty fan, which takes no card (ruling R28), as a dot."""
    dot = look.glyphs.empty
    before = mark_signs(look, mark)[0].strip()
    # Without a gap between cells, the last character stays blank to separate the places.
    dots = at.cell if at.gap else at.cell - 1
    text = (before + dot * dots)[:dots].ljust(at.cell) if is_column else dot.center(at.cell)
    return _padded(text, f"empty {mark}".rstrip(), at.gap)


def _collapsed(count: int, mark: str, look: Look, at: Layout) -> Row:
    text = f"{mark_signs(look, mark)[0]}{look.glyphs.more}+{count}".ljust(5)
    return _padded(text.center(at.cell), f"more {mark}".rstrip(), at.gap)


@lru_cache(maxsize=4096)
def _pair(first: int, second: int, marks: tuple[str, str], look: Look, cell: int, gap: int) -> tuple[Row, int]:
    """Two cards in a row, and the character column of the second one. The row has room for the sign of one mark only."""
    strongest = max(marks, key=STRENGTH.__getitem__)
    before, after = mark_signs(look, strongest)
    sign = before.strip() or after.strip()
    lead = " " * ((cell - 5) // 2)
    name = look.card
    if len(lead + sign + name(first) + name(second)) >= cell + gap:
        name = look.short  # there is no room for a ten in three columns
    left = lead + (sign if marks[0] == strongest else "") + name(first)
    right = (sign if marks[0] != strongest else "") + name(second)
    row = (
        Span(left, f"{look.style(first)} {marks[0]}".rstrip()),
        Span(right, f"{look.style(second)} {marks[1]}".rstrip()),
        Span(" " * (cell + gap - len(left) - len(right))),
    )
    return row, len(left)
