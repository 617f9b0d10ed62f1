"""What was acked to this client, to be given back to a server whose store has lost it. Pure: a frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

from samedeal.protocol.messages import MOST_HELD, Acked, Act, Held, Recover

MOST: Final = 1000
"""Acked actions that are held: a store loses those of some seconds."""


@dataclass(frozen=True, slots=True)
class Holding:
    """The newest acked actions of a board, each with its receipt, up to ``revision``."""

    revision: int = -1
    held: tuple[Held, ...] = ()
    receipts: tuple[bytes, ...] = ()

    def acked(self, act: Act, answer: Acked) -> Self | Holding:
        """With one more action, or without those before it where it does not follow on them."""
        if answer.revision <= self.revision and self.held:
            return self
        held = Held(id=act.id, action=act.action, at=answer.at)
        if answer.revision != self.revision + 1:
            return Holding(answer.revision, (held,), (answer.receipt,))
        return Holding(answer.revision, (*self.held[1 - MOST :], held), (*self.receipts[1 - MOST :], answer.receipt))

    def behind(self, revision: int) -> bool:
        """Whether a server whose board is at a revision has lost actions, all of which are held."""
        return self.revision - len(self.held) <= revision < self.revision

    def recover(self, revision: int) -> tuple[Recover, ...]:
        """What gives a server back all that it has lost, without ids; as many at once as go."""
        first = revision - self.revision + len(self.held)
        return tuple(
            Recover(
                id=0,
                revision=revision + start - first,
                held=self.held[start : start + MOST_HELD],
                receipt=self.receipts[min(start + MOST_HELD, len(self.held)) - 1],
            )
            for start in range(first, len(self.held), MOST_HELD)
        )
