"""Compact states of a board without hidden cards, and facts about their parts.

A **state** is a tuple of ``bytes``: the *tops* of the foundations, the *side* (all cards that are neither in a column
nor on a foundation), and the columns. Boards on which the same cards can be played share a state:

- Columns are sorted, because the rules never tell them apart. A stock that is dealt in rows is the exception: its cards
  go to the columns from left to right (RULES.md, rulings R17, R23). As long as such a stock has cards, columns keep their
  places.
- Fans are sorted, and so are the piles of a reserve, because the rules never tell them apart either.
- The tops of the foundations are sorted. A top alone decides which card comes next. If two foundations take the same
  card, the rules pick the first (RULES.md, ruling R19). Both choices lead to the same sorted tops.
- Cards are not marked as seen or unseen. Cards that lie face down in a column stay marked as face down, because they
  can't be moved together with others.
- A stock and its waste are reduced to the cards that can still be drawn, see ``StateSpace.drawn_part``.

The facts about a part, such as the cards of a column that can be moved together, depend only on the part and the game.
A search computes them once and looks them up from then on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from samedeal.cards import DOWN, FACE, TURN_UP
from samedeal.game import Game
from samedeal.policies import Base, Build
from samedeal.position import Position

State = tuple[bytes, ...]
"""The parts of a state: the tops of the foundations, the side, and the columns."""

TOPS: Final = 0

ONE: Final = tuple(bytes([code]) for code in range(256))
"""For each byte, a pile with only that byte."""

_UNMARK: Final = bytes(code & (DOWN | FACE) for code in range(256))
_PART: Final = b"\xfe"
_FAN: Final = b"\xff"

Given = tuple[int, bytes]
"""A card that can be taken from a part of a state, and the part without the card."""

CardGroup = tuple[int, bytes, bytes]
"""Cards of a column that can be moved together: the deepest card, the rest of the column, and the cards."""


class TopsFacts(NamedTuple):
    """The moves that the tops of the foundations allow.

    ``takes`` maps each card that fits on a foundation to the tops after the move. If foundations take complete suits, it
    is the king of the suit. ``gives`` holds the cards that can
    leave a foundation. ``safe`` holds the cards that can go to a foundation from a column or the reserve without making
    a win impossible, and ``safe_from_fan`` those that can do so from a fan. ``StateSpace.safe_cards`` explains both.
    """

    takes: dict[int, bytes]
    gives: tuple[Given, ...]
    safe: bytes
    safe_from_fan: bytes


class SideFacts(NamedTuple):
    """The moves that the side of a state allows: its fans, its reserve and its stock.

    ``gives`` holds all cards that can be taken from the side, including ``from_reserve`` and ``from_fans``. ``shifts``
    holds the possible sides after a move within the side, such as from one fan to another. ``free_cells`` is the number of
    cells without a card. ``row`` holds the next row of the stock, and ``after_row`` is the side after dealing
    this row.
    """

    gives: tuple[Given, ...]
    from_reserve: tuple[Given, ...]
    from_fans: tuple[Given, ...]
    shifts: tuple[bytes, ...]
    free_cells: int
    row: bytes
    after_row: bytes


class Side(NamedTuple):
    """The cards of a state that are neither in columns nor on foundations: fans, reserve and stock.

    Cards in cells are part of ``reserve``, because no game has both a reserve and cells.
    ``stock`` is empty in a game without a stock. If the stock is dealt in rows, ``stock`` is the number of its cards,
    as one byte. If the stock is drawn to a waste, ``stock`` is the value of ``StateSpace.drawn_part``.
    """

    fans: tuple[bytes, ...]
    reserve: bytes
    stock: bytes

    @classmethod
    def unpack(cls, side: bytes) -> Side:
        """Return the side that ``pack`` has turned into these bytes."""
        fans, reserve, stock = side.split(_PART)
        return cls(tuple(fans.split(_FAN)) if fans else (), reserve, stock)

    def pack(self) -> bytes:
        """Return the side as bytes. Empty fans are left out, because no card can be put on them any more."""
        return _PART.join((_FAN.join(sorted(filter(None, self.fans))), self.reserve, self.stock))


class StateSpace:
    """The conversion of boards to states, and the facts about the parts of states.

    ``stock`` is the stock of the board at which the search starts. If it is dealt in rows, the states hold only the
    number of cards that are left in it.
    """

    def __init__(self, game: Game, stock: bytes) -> None:
        self.game = game
        self._stock = stock
        self.columns = game.piles[game.columns.start]
        self.foundations = game.piles[game.foundations.start]
        self.empty_side = Side((), b"", b"\0" if game.stock.action else b"").pack()
        self.has_safe_cards = (
            self.columns.build is Build.DOWN_ALTERNATING
            and not self.columns.lifts_any
            and self.foundations.build is Build.UP_SAME_SUIT
            and not game.stock.to_columns
            and game.decks == 1
        )
        self.takes_side = bool(game.fans or game.cells)
        """Whether a card of a column can go to the side (fans, reserve and stock)."""
        self.postpones = self.foundations.gives or self.columns.sequence != self.columns.on
        """Whether the search postpones moves that seldom help.

        These are moves off a foundation, and moves that divide a run: they take only a part of the cards that could be
        moved together, and put it where it can't be moved together with the card below it.
        """

    def state(self, board: Position) -> State:
        """Return the state of a board."""
        game, piles = self.game, board.piles
        tops = bytes(sorted(piles[at][-1] if piles[at] else 0 for at in game.foundations))
        stock = b""
        if game.stock.to_waste:
            cards = board.waste + board.stock[::-1]
            stock = self.drawn_part(cards.translate(TURN_UP), len(board.waste))
        elif game.stock.to_columns:
            stock = ONE[len(board.stock)]
        reserve = bytes(sorted(b"".join(piles[at] for at in game.singles)))
        side = Side(tuple(piles[at] for at in game.fans), reserve, stock).pack()
        columns = [piles[at].translate(_UNMARK) for at in game.columns]
        if not self.keeps_places(side):
            columns.sort()
        return (tops, side, *columns)

    def keeps_places(self, side: bytes) -> bool:
        """Return whether the columns keep their places instead of being sorted.

        They do as long as the stock has cards to deal to them.
        """
        return self.game.stock.to_columns and side != self.empty_side

    def drawn_part(self, cards: bytes, drawn: int) -> bytes:
        """Return the part of a state that says which cards can still be drawn from a stock and its waste.

        ``cards`` are the cards of the waste, from its deepest card, followed by the cards of the stock in the order in
        which they are drawn. The first ``drawn`` of them are the waste.

        Draws change nothing else. So only those cards matter that draws can bring to the top of the waste. With n cards
        and draws of three, these are the cards number ``drawn``, ``drawn + 3`` and so on, then number n, and after a
        redeal the numbers 3, 6 and so on. If redeals are unlimited, and ``drawn`` is n or a multiple of three, the
        numbers after a redeal include all the others. Such a waste is therefore the same as an empty waste.
        """
        at_start = drawn == len(cards) or drawn % self.game.stock.drawn == 0
        return ONE[0 if at_start and self.game.stock.redeals else drawn] + cards

    def tops_facts(self, tops: bytes) -> TopsFacts:
        """Return the moves that the tops of the foundations allow."""
        group = self.foundations
        takes: dict[int, bytes] = {}
        for at, top in enumerate(tops):
            for card in group.on[top] if top else group.on_empty:
                takes.setdefault(card, bytes(sorted(tops[:at] + ONE[card + 1 - group.takes] + tops[at + 1 :])))
        gives = []
        if group.gives:
            for top in dict.fromkeys(filter(None, tops)):
                below = top - 1 if top & 15 > 1 else 0
                gives.append((top, bytes(sorted(tops.replace(ONE[top], ONE[below], 1)))))
        safe, safe_from_fan = self.safe_cards(tops) if self.has_safe_cards else (b"", b"")
        return TopsFacts(takes, tuple(gives), safe, safe_from_fan)

    def safe_cards(self, tops: bytes) -> tuple[bytes, bytes]:
        """Return the cards that are safe from a column or the reserve, and those that are safe from a fan.

        A card is safe if playing it to its foundation never makes a win impossible.

        The rule is for one deck, foundations that build in suits, and columns that build in alternating colours and give
        only runs in this order. A card of rank r that fits on its foundation is **safe** if both foundations of the other
        colour have reached rank r-2, and the foundation of the other suit of its own colour has reached r-3. It is safe
        from a fan if all other foundations have reached r-1. It is never safe from the waste, because taking a card
        from the waste changes which cards later draws bring to its top.

        *Proof.* Let A be a state that can be won, and B the state after the safe card c went to its foundation. B can
        be won too: follow the moves that win A, and keep B equal to A, except that a set X of cards is already on the
        foundations in B. X starts as {c}. This invariant holds: in A, only cards of X lie on a card of X in a column, and
        every card of X is safe under the tops of B. (A card on a foundation is safe if the same bounds hold for its rank.)
        Tops go down only in case 7, so a safe card stays safe. Consider the next move in A:

        1. The deepest card that it takes is in X. Then all cards that it takes are in X, and B has nothing to do.
        2. It takes a group whose deepest cards are not in X. Those cards are at the top of the same pile in B, and still in
           a row, so B moves them without the others. If the target is empty in A, it is empty in B.
        3. The target in A is a card x of X in a column, of rank r. The group in A is d, e, ...: d has rank r-1 and the
           other colour, e has rank r-2 and the colour of x, and so on. In B the foundation of d has reached r-2, because x
           is safe, so d is in X or next on its foundation. The foundation of e has reached r-3, so the same is true of e.
           The cards after e are in X, because all foundations have reached r-3. So B plays e and d to foundations, unless
           they are in X, and both join X. They are safe, because all foundations have reached r-3.
        4. It plays a card that is not in X to a foundation. The card fits in B too: it is not on a foundation of B yet, and
           no top of B is below that of A.
        5. It draws, or turns the waste over. No card of X is in the stock or the waste, so B does the same.
        6. It puts a card d on a fan. If the card under it in A is not in X, B does the same. A card x of X can get into a
           fan in two ways. Either it was put there later, on a card of its rank: then d has that rank too, and B puts d on
           the first card below that is not in X. Or it was in the fan when it joined X: then all foundations have reached
           its rank minus one. So d, of the same rank, fits on its foundation. B plays it there, and d joins X.
        7. It takes a card y off a foundation. If y is safe in B, it joins X, and B has nothing to do. Otherwise no card of X
           lies on y in B, because y would be safe too, and the target is not a card of X, because the cards that fit on a
           safe card are safe. So B does the same. A card of X stays safe: if its bounds required y on the foundation, then
           y, two or more ranks lower, would be safe.
        8. It puts a card into a cell. B does the same. Whenever cells and empty columns limit a move in A, B has at least as
           many of them, and moves no more cards.

        Cards that B uncovers earlier than A are turned up earlier, which forbids nothing. When A is won, so is B.
        """
        heights = [0] * 4
        for top in filter(None, tops):
            heights[top >> 4] = top & 15
        safe = safe_from_fan = b""
        for suit, height in enumerate(heights):
            if height == 13:
                continue
            rank, twin = height + 1, heights[3 - suit]
            other_colour = min(heights[1], heights[2]) if suit in (0, 3) else min(heights[0], heights[3])
            card = suit << 4 | rank
            if other_colour >= rank - 2 and twin >= rank - 3:
                safe += ONE[card]
            if min(other_colour, twin) >= rank - 1:
                safe_from_fan += ONE[card]
        return safe, safe_from_fan

    def side_facts(self, packed: bytes) -> SideFacts:
        """Return the moves that a side (fans, reserve and stock) allows."""
        side = Side.unpack(packed)
        from_reserve = tuple(
            (card, side._replace(reserve=side.reserve.replace(ONE[card], b"")).pack()) for card in side.reserve
        )
        from_fans = tuple(
            (fan[-1], side._replace(fans=(*others, fan[:-1])).pack()) for fan, others in _each_and_others(side.fans)
        )
        row = after_row = b""
        if self.keeps_places(packed):
            left = side.stock[0]
            row = self.game.stock.next_cards(self._stock[:left], len(self.game.columns)).translate(TURN_UP)
            after_row = side._replace(stock=ONE[left - len(row)]).pack()
        gives = (*from_reserve, *from_fans, *self._drawn(side))
        free_cells = len(self.game.cells) - len(side.reserve)
        return SideFacts(gives, from_reserve, from_fans, self._shifts(side, gives), free_cells, row, after_row)

    def _drawn(self, side: Side) -> Iterator[Given]:
        """Yield each card that draws can bring to the top of the waste, and the side (fans, reserve and stock) without it.

        See ``drawn_part``.
        """
        step, total = self.game.stock.drawn, len(side.stock) - 1
        if step and total:
            drawn, cards = side.stock[0], side.stock[1:]
            again = range(step, total, step) if self.game.stock.redeals else ()
            for top in dict.fromkeys((*range(drawn or step, total, step), total, *again)):
                left = self.drawn_part(cards[: top - 1] + cards[top:], top - 1)
                yield cards[top - 1], side._replace(stock=left).pack()

    def sides_with(self, packed_and_card: bytes) -> tuple[bytes, ...]:
        """Return the possible sides after a card was put on a fan or into a cell.

        The argument is a side (fans, reserve and stock), followed by the byte of the card.
        """
        game, side, card = self.game, Side.unpack(packed_and_card[:-1]), packed_and_card[-1:]
        on = game.piles[game.fans.start].on if game.fans else ()
        sides = [
            side._replace(fans=(*others, fan + card)).pack()
            for fan, others in _each_and_others(side.fans)
            if card[0] in on[fan[-1]]
        ]
        if len(side.reserve) < len(game.cells):
            sides.append(side._replace(reserve=bytes(sorted(side.reserve + card))).pack())
        return tuple(sides)

    def _shifts(self, side: Side, gives: tuple[Given, ...]) -> tuple[bytes, ...]:
        game = self.game
        if bool(game.fans) + bool(game.reserve) + bool(game.cells) + game.stock.to_waste > 1:
            return tuple(after for card, left in gives for after in self.sides_with(left + ONE[card]))
        on = game.piles[game.fans.start].on if game.fans else ()
        return tuple(
            side._replace(fans=(*rest, source[:-1], fan + source[-1:])).pack()
            for fan, others in _each_and_others(side.fans)
            for source, rest in _each_and_others(others)
            if source[-1] in on[fan[-1]]
        )

    def most_together(self, side: SideFacts, columns: list[bytes]) -> tuple[int, int]:
        """Return how many cards can be moved together: onto a card, and to an empty column (RULES.md, ruling R39)."""
        if not self.columns.needs_places:
            return self.game.cards, self.game.cards
        if self.columns.base is not Base.ANY:
            return side.free_cells + 1, side.free_cells + 1
        most = (side.free_cells + 1) << columns.count(b"")
        return most, most // 2

    def groups(self, column: bytes) -> tuple[CardGroup, ...]:
        """Return the cards of a column that can be moved together, the smallest group first."""
        run = self.columns.run
        found = []
        for size in range(1, len(column) + 1):
            if size > 1 and column[1 - size] not in run[column[-size]]:
                break
            left = column[:-size]
            if left and left[-1] >= DOWN:
                left = left[:-1] + ONE[left[-1] & FACE]
            found.append((column[-size], left, column[-size:]))
        return tuple(found)


def _each_and_others(fans: tuple[bytes, ...]) -> Iterator[tuple[bytes, tuple[bytes, ...]]]:
    for at, fan in enumerate(fans):
        yield fan, fans[:at] + fans[at + 1 :]
