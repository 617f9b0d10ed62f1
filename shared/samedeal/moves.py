"""Moves as a player types them: ``draw``, ``deal``, or a source, a target and a number of cards."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from samedeal.errors import MalformedText

FOUNDATION: Final = "0"
"""The target that stands for all foundations.

The moved card decides which foundation takes it (RULES.md, rulings R19, R24).
"""

TRANSFER: Final = re.compile(r"(0[1-8]|[1-9a-z]) ([0-9a-z])(?: x([2-9]|[1-9][0-9]))?")
"""A pattern for the text of a move between two piles: source, target and number of cards."""


class Move(NamedTuple):
    """A move.

    Its text is ``3 5`` (one card), ``3 5 x4`` (four cards), ``w 0``, ``01 5``, ``draw`` or ``deal``, for example.
    ``source`` and ``target`` are names of piles, as in ``Game.keys``. The target ``0`` stands for the foundations. For
    a draw or a deal, ``source`` is the word ``draw`` or ``deal``, and ``target`` is empty. The board checks whether the
    game has such piles.
    """

    source: str
    target: str
    size: int = 1

    @classmethod
    @lru_cache(maxsize=1024)  # players type the same few hundred texts: 0.1 µs instead of 0.6 µs
    def parse(cls, text: str) -> Move:
        """Return the move for a text that ``str`` has written. Raise MalformedText for any other text."""
        if text in (DRAW.source, DEAL.source):
            return cls(text, "")
        match = TRANSFER.fullmatch(text)
        if match is None:
            raise MalformedText(
                f"{text[:40]!r} is not a move of any game. Write a source pile, a target pile and, if needed, a number of "
                "cards, as in '3 5' or '3 5 x4'. Or write 'draw' or 'deal'."
            )
        source, target, count = match.groups()
        return cls(source, target, int(count or 1))

    @property
    def is_transfer(self) -> bool:
        """Whether the move takes cards from one pile to another, instead of being a draw or a deal."""
        return self.target != ""

    def __str__(self) -> str:
        if not self.target:
            return self.source
        return f"{self.source} {self.target}" + (f" x{self.size}" if self.size > 1 else "")

    def __repr__(self) -> str:
        return f"Move.parse({str(self)!r})"


DRAW: Final = Move("draw", "")
"""A draw to the waste. When the stock is empty, it turns the waste over instead (RULES.md, ruling R14)."""

DEAL: Final = Move("deal", "")
"""A deal of one card to each column (RULES.md, rulings R17, R23)."""
