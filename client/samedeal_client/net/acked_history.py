"""Acknowledged actions with their receipts, kept for a server whose store loses them. Pure: a frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from samedeal.protocol.messages import MAX_HELD_PER_RECOVER, Acked, Act, Held, Recover

MAX_HELD: Final = 1000
"""Maximum number of actions kept. A failing store loses only the actions of its last few seconds."""


@dataclass(frozen=True, slots=True)
class AckedHistory:
    """The newest acknowledged actions of a board, each with its receipt. The last one led to ``revision``."""

    revision: int = -1
    held: tuple[Held, ...] = ()
    receipts: tuple[bytes, ...] = ()

    def acked(self, act: Act, answer: Acked) -> AckedHistory:
        """Return the history with ``act`` added. If ``act`` does not follow the older actions, they are dropped."""
        if answer.revision <= self.revision and self.held:
            return self
        held = Held(id=act.id, action=act.action, at=answer.at)
        if answer.revision != self.revision + 1:
            return AckedHistory(answer.revision, (held,), (answer.receipt,))
        return AckedHistory(
            answer.revision, (*self.held[1 - MAX_HELD :], held), (*self.receipts[1 - MAX_HELD :], answer.receipt)
        )

    def is_ahead_of(self, revision: int) -> bool:
        """Whether a server whose board is at ``revision`` has lost actions, and this history holds all of them."""
        return self.revision - len(self.held) <= revision < self.revision

    def recover(self, revision: int) -> tuple[Recover, ...]:
        """Return the fewest possible requests, still without ids, that restore all actions after ``revision``."""
        first = revision - self.revision + len(self.held)
        return tuple(
            Recover(
                id=0,
                revision=revision + start - first,
                held=self.held[start : start + MAX_HELD_PER_RECOVER],
                receipt=self.receipts[min(start + MAX_HELD_PER_RECOVER, len(self.held)) - 1],
            )
            for start in range(first, len(self.held), MAX_HELD_PER_RECOVER)
        )
