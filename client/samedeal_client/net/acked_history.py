"""The player's newest acknowledged actions, to be sent again if the server's store loses some. Pure: a frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from samedeal.protocol.messages import MAX_HELD_PER_RECOVER, Acked, Act, Held, Recover

MAX_HELD: Final = 1000
"""Maximum number of actions in a history. It suffices because a failing store loses only the actions of a few seconds.
"""


@dataclass(frozen=True, slots=True)
class AckedHistory:
    """The newest acknowledged actions of a board, each with its receipt.

    ``held`` has the actions, oldest first, and ``receipts`` has their receipts in the same order. The last action led
    to ``revision``.
    """

    revision: int = -1
    held: tuple[Held, ...] = ()
    receipts: tuple[bytes, ...] = ()

    def acked(self, act: Act, answer: Acked) -> AckedHistory:
        """Return the history with the acknowledged ``act`` added.

        An action that the history already has is not added again. If actions between the history and ``act`` are
        missing, the new history has only ``act``.
        """
        if answer.revision <= self.revision and self.held:
            return self
        held = Held(id=act.id, action=act.action, at=answer.at)
        if answer.revision != self.revision + 1:
            return AckedHistory(answer.revision, (held,), (answer.receipt,))
        return AckedHistory(
            answer.revision, (*self.held[1 - MAX_HELD :], held), (*self.receipts[1 - MAX_HELD :], answer.receipt)
        )

    def is_ahead_of(self, revision: int) -> bool:
        """Return whether the server has lost actions and this history has all of them.

        ``revision`` is the revision of the server's board.
        """
        return self.revision - len(self.held) <= revision < self.revision

    def recover(self, revision: int) -> tuple[Recover, ...]:
        """Return as few requests as possible that restore all actions after ``revision``.

        The requests have the id 0, which the caller replaces.
        """
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
