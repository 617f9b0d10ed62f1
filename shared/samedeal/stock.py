"""Stock policies: the rules for how the cards of a game's stock come into play.

A policy has no cards of its own. Its methods get the cards of the stock and of the waste. The engine, the screens and
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
    waste has cards. ``effect`` says what the action does, such as "puts one card from the stock on each column".
    ``instruction`` tells the player what to do with the stock. ``drawn`` is the number of cards that a draw puts on the
    waste, or 0 if cards are dealt to the columns.
    """

    effect: str = ""
    instruction: str = ""
    action: Move | None = None
    drawn: int = 0

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
        return not stock and bool(waste)

    def next_cards(self, stock: bytes, columns: int) -> bytes:
        """Return the cards that the next draw or deal takes from the stock, in the order in which they are turned up.

        ``columns`` is the number of columns. The last draw or deal may take fewer cards (RULES.md, rulings R13, R17,
        R23).
        """
        return stock[: -(self.drawn or columns) - 1 : -1]

    def waste_tops(self, stock: bytes, waste: bytes) -> Iterator[int]:
        """Yield the cards that draws will bring to the top of the waste.

        The draws are those of the rest of this pass through the stock and of the next pass.
        """
        if self.to_waste:
            drawn = stock[::-1]
            for cards in (drawn, waste + drawn):
                yield from cards[self.drawn - 1 :: self.drawn]
                yield from cards[-1:]


NO_STOCK: Final = StockPolicy()

DRAW_THREE: Final = StockPolicy(
    "turns three cards from the stock onto the waste",
    "draw three cards, or turn the waste over when the stock is empty",
    DRAW,
    drawn=3,
)
"""The policy that draws three cards to the waste.

When the stock is empty, the waste is turned over, any number of times.
"""

DEAL_ROW: Final = StockPolicy("puts one card from the stock on each column", "deal a card to each column", DEAL)
"""The policy that deals one card to each column, from left to right, until the stock is empty."""

STOCKS: Final = {"none": NO_STOCK, "draws of three": DRAW_THREE, "dealt in rows": DEAL_ROW}
"""The policies by their names in files of games."""
