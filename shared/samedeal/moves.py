"""Moves as a player names them: a pile, a pile and how many cards; or a draw; or a deal."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from samedeal.errors import MalformedText

FOUNDATION: Final = "0"
"""The target that means "the foundation that takes it": which one that is never needs saying (rulings R19, R24)."""

_TRANSFER: Final = re.compile(r"(0[1-8]|[1-8a-z]) ([0-8a-z])(?: x([2-9]|[1-9][0-9]))?")


class Move(NamedTuple):
    """One move, as text ``3 5`` (a card), ``3 5 x4`` (a group of four), ``w 0``, ``01 5``, ``draw`` or ``deal``.

    ``source`` and ``target`` are the names of piles as in ``Game.keys``, with ``0`` for "a foundation" as a target.
    In a draw or a deal ``source`` is that word and ``target`` is empty. Whether a game has such piles is the board's
    to say: a move stands for itself.
    """

    source: str
    target: str
    size: int = 1

    @classmethod
    def parse(cls, text: str) -> Move:
        """Read the text of a move exactly as ``str`` writes it. Raises MalformedText."""
        if text in (DRAW.source, DEAL.source):
            return cls(text, "")
        match = _TRANSFER.fullmatch(text)
        if match is None:
            raise MalformedText(
                f"{text[:40]!r} is not a move: write a source and a target pile and the number of cards, "
                "as in '3 5', '3 5 x4' or '3 0', or 'draw' or 'deal'"
            )
        source, target, count = match.groups()
        return cls(source, target, int(count or 1))

    @property
    def is_transfer(self) -> bool:
        """Whether it names two piles, as opposed to a draw or a deal."""
        return self.target != ""

    def __str__(self) -> str:
        if not self.target:
            return self.source
        return f"{self.source} {self.target}" + (f" x{self.size}" if self.size > 1 else "")

    def __repr__(self) -> str:
        return f"Move.parse({str(self)!r})"


DRAW: Final = Move("draw", "")
"""Athena's draw, which is a redeal when the stock is empty (ruling R14)."""

DEAL: Final = Move("deal", "")
"""Steve's and Ace of Hearts' deal of a row (rulings R17, R23)."""
