"""How a column or a fan looks: its name, then its cards downwards, the top one last.

A column that is too deep for its place shows two buried cards a row (``3♥Q♦``), and when that isn't enough ``⋮+5`` for
the deepest five; each card of the run on its top has a row for itself always.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from samedeal.board import Board
from samedeal.cards import DECK, DOWN, FACE, UNSEEN
from samedeal.games import Group, Kind
from samedeal_client.board.layout import Layout
from samedeal_client.board.marks import NO_MARKS, STRENGTH, Marks, run_length, signed, signs
from samedeal_client.board.picture import Hit, Part, Spot
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span


class Squeeze(NamedTuple):
    """How the cards of a column share its rows: the deepest ``covered`` by one sign, then ``pairs`` of two a row."""

    covered: int
    pairs: int
    step: int


def squeeze(group: Group, pile: bytes, rows: int, step: int) -> Squeeze:
    """Fit a pile into more rows than the longest run, its cards ``step`` rows apart or, where they don't fit so, one."""
    size = len(pile)
    if size * step < rows + step:
        return Squeeze(0, 0, step)
    if size <= rows:
        return Squeeze(0, 0, 1)
    run = run_length(group, pile)
    if 2 * rows - size >= run:
        return Squeeze(0, size - rows, 1)
    pairs = rows - 1 - run
    return Squeeze(size - 2 * pairs - run, pairs, 1)


def draw_column(board: Board, key: str, look: Look, at: Layout, marks: Marks = NO_MARKS) -> Part:
    """Draw one column or fan with its name above it."""
    place = at.places[key]
    index = board.game.index[key]
    pile = board.piles[index]
    group = board.game.piles[index]
    width = place.width
    cells = _cells(look, at.cell, at.gap)
    plain = marks is NO_MARKS
    rows = [_label(key, look, at, "" if plain else marks.of_pile(key))]
    if not pile:
        rows.append(_empty(group.kind, look, at, "" if plain else marks.of_pile(key)))
        return Part(key, place, tuple(rows), (Spot(0, 0, width, place.height, Hit(key)),))
    size = len(pile)
    covered, pairs, step = squeeze(group, pile, place.height - 1, at.step)
    marked = {} if plain else marks.of_cards(key, pile)
    spots: list[Spot] = []
    y = 1
    if covered:
        mark = max((marked.get(card, "") for card in range(covered)), key=STRENGTH.__getitem__)
        rows.append(_covered(covered, mark, look, at))
        spots.append(Spot(0, 1, width, 1, Hit(key, None, covered)))
        y = 2
    singles = covered + 2 * pairs
    for card in range(covered, singles, 2):
        two = (marked.get(card, ""), marked.get(card + 1, "")) if marked else ("", "")
        row, middle = _pair(pile[card], pile[card + 1], two, look, at.cell, at.gap)
        rows.append(row)
        spots.append(Spot(0, y, middle, 1, Hit(key, card)))
        spots.append(Spot(middle, y, width - middle, 1, Hit(key, card + 1)))
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
    spots += [Spot(0, y + (card - singles) * step, width, step, Hit(key, card)) for card in range(singles, size)]
    spots.append(Spot(0, 0, width, place.height, Hit(key)))
    return Part(key, place, tuple(rows), tuple(spots))


@lru_cache(maxsize=64)
def _cells(look: Look, cell: int, gap: int, mark: str = "") -> tuple[Row, ...]:
    """The row of a card that has a row for itself, for each of the 256 codes; empty for a code that is no card."""
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
    return _padded(signed(look.card(code), look, mark).center(cell), style, gap)


def _padded(text: str, style: str, gap: int) -> Row:
    return (Span(text, style), Span(" " * gap)) if gap else (Span(text, style),)


def _label(key: str, look: Look, at: Layout, mark: str) -> Row:
    before, after = signs(look, mark)
    return _padded(f"{before}{key}{after}".center(at.cell), mark or "label", at.gap)


def _empty(kind: Kind, look: Look, at: Layout, mark: str) -> Row:
    """An empty column is drawn as a place, an empty fan as a dot: nothing is ever put there again (ruling R28)."""
    dot = look.glyphs.empty
    before = signs(look, mark)[0].strip()
    # Cells without a gap between them leave one at the end, so that each place can be told from the next.
    dots = at.cell if at.gap else at.cell - 1
    text = (before + dot * dots)[:dots].ljust(at.cell) if kind is Kind.COLUMN else dot.center(at.cell)
    return _padded(text, f"empty {mark}".rstrip(), at.gap)


def _covered(count: int, mark: str, look: Look, at: Layout) -> Row:
    text = f"{signs(look, mark)[0]}{look.glyphs.more}+{count}".ljust(5)
    return _padded(text.center(at.cell), f"more {mark}".rstrip(), at.gap)


@lru_cache(maxsize=4096)
def _pair(first: int, second: int, marks: tuple[str, str], look: Look, cell: int, gap: int) -> tuple[Row, int]:
    """Two cards in a row, and the column at which the second begins; one sign fits, before the first card it is for."""
    strongest = max(marks, key=STRENGTH.__getitem__)
    before, after = signs(look, strongest)
    sign = before.strip() or after.strip()
    lead = " " * ((cell - 5) // 2)
    left = lead + (sign if marks[0] == strongest else "") + look.short(first)
    right = (sign if marks[0] != strongest else "") + look.short(second)
    row = (
        Span(left, f"{look.style(first)} {marks[0]}".rstrip()),
        Span(right, f"{look.style(second)} {marks[1]}".rstrip()),
        Span(" " * (cell + gap - len(left) - len(right))),
    )
    return row, len(left)
