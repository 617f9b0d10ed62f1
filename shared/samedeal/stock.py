"""Stock policies: the rules for how the cards of a game's stock come into play.

A policy has no cards of its own. Its methods get the cards of the stock and of the waste. The rules, the screens and
the bots all use the policy, so that the rules of the stock are in one place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from samedeal.moves import DEAL, DRAW, Move


@dataclass(frozen=True)
class StockPolicy:
    """The rules for the stock of a game.

    ``action`` is the move that uses the stock, or None in a game without a stock. It is legal while the stock or the
    waste has cards. ``drawn`` is the number of cards that a draw puts on the waste, or 0 if cards are dealt to the
    columns. ``redeals`` says whether the waste is turned over when the stock is empty. ``fills_columns`` says whether
    cards are also dealt to empty columns. If it is false, nothing is dealt while a column is empty.
    """

    action: Move | None = None
    drawn: int = 0
    redeals: bool = False
    fills_columns: bool = True

    @property
    def effect(self) -> str:
        """What the action does, such as "puts one card from the stock on each column"."""
        if not self.drawn:
            return "puts one card from the stock on each column"
        return f"turns {_CARDS[self.drawn]} from the stock onto the waste"

    @property
    def instruction(self) -> str:
        """What the player can do with the stock."""
        if not self.drawn:
            return "deal a card to each column"
        return f"draw {_CARDS[self.drawn]}{', or turn the waste over when the stock is empty' * self.redeals}"

    @property
    def verb(self) -> str:
        """The word for ``action`` in key hints. It is empty in a game without a stock."""
        return self.action.source if self.action else ""

    @property
    def to_columns(self) -> bool:
        """Whether cards are dealt from the stock to the columns."""
        return self.action == DEAL

    @property
    def to_waste(self) -> bool:
        """Whether cards are drawn from the stock to the waste."""
        return self.action == DRAW

    def is_redeal(self, stock: bytes, waste: bytes) -> bool:
        """Return whether the next draw turns the waste over instead of drawing (RULES.md, ruling R14)."""
        return self.redeals and not stock and bool(waste)

    def next_cards(self, stock: bytes, columns: int) -> bytes:
        """Return the cards that the next draw or deal takes from the stock, in the order in which they are turned up.

        ``columns`` is the number of columns. The last draw or deal may take fewer cards (RULES.md, rulings R13, R17,
        R23).
        """
        return stock[: -(self.drawn or columns) - 1 : -1]

    def waste_tops(self, stock: bytes, waste: bytes) -> Iterator[int]:
        """Yield the cards that draws will bring to the top of the waste.

        The draws are those of the rest of this pass through the stock and, if there is a redeal, of the next pass.
        """
        if self.to_waste:
            drawn = stock[::-1]
            for cards in (drawn, waste + drawn) if self.redeals else (drawn,):
                yield from cards[self.drawn - 1 :: self.drawn]
                yield from cards[-1:]


_CARDS: Final = {1: "a card", 3: "three cards"}

STOCKS: Final = {
    "none": StockPolicy(),
    "draws of one": StockPolicy(DRAW, 1, redeals=True),
    "draws of one, without redeals": StockPolicy(DRAW, 1),
    "draws of three": StockPolicy(DRAW, 3, redeals=True),
    "draws of three, without redeals": StockPolicy(DRAW, 3),
    "dealt in rows": StockPolicy(DEAL),
    "dealt in rows, with no empty column": StockPolicy(DEAL, fills_columns=False),
}
"""The policies by their names in files of games. Rows have a card for each column, from left to right."""
