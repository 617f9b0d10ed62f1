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
from samedeal.laws.safe_cards import joins_runs, reach_of, safe_cards
from samedeal.policies import Base
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
    a win impossible, and ``safe_from_fan`` those that can do so from a fan. ``laws.safe_cards`` says why.
    """

    takes: dict[int, bytes]
    gives: tuple[Given, ...]
    safe: bytes
    safe_from_fan: bytes


class SideFacts(NamedTuple):
    """The moves that the side of a state allows: its fans, its reserve and its stock.

    ``gives`` holds all cards that can be taken from the side, including ``from_reserve`` and ``from_fans``. ``shifts``
    holds the possible sides after a move within the side, such as from one fan to another. ``joins`` maps each card of a
    column onto which a card in a cell goes at once to the card in the cell. ``free_cells`` is the number of cells without a
    card. ``row`` holds the next row of the stock, and ``after_row`` is the side after dealing this row.
    """

    gives: tuple[Given, ...]
    from_reserve: tuple[Given, ...]
    from_fans: tuple[Given, ...]
    shifts: tuple[bytes, ...]
    joins: dict[int, Given]
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
        builds_each_card_once = self.foundations.follows_suit and len(set(game.deck)) == game.cards
        self.has_safe_cards = builds_each_card_once and reach_of(game) is not None and not game.stock.to_columns
        """Whether the search plays safe cards at once (``samedeal.laws.safe_cards``)."""
        self.joins_runs = joins_runs(game)
        """Whether cards in cells go onto runs at once, and runs go to cells only as a whole (``safe_cards.joins_runs``)."""
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
        safe, safe_from_fan = safe_cards(self.game, tops) if self.has_safe_cards else (b"", b"")
        return TopsFacts(takes, tuple(gives), safe, safe_from_fan)

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
        joins = {given[0] + 1: given for given in from_reserve} if self.joins_runs else {}
        return SideFacts(gives, from_reserve, from_fans, self._shifts(side, gives), joins, free_cells, row, after_row)

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
