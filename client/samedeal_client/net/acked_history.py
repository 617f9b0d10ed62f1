"""The player's newest acknowledged actions, to be sent again if the server's store loses some. Pure: a frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from samedeal.protocol.messages import MAX_ACTIONS_PER_RECOVER, Acked, AckedAction, Act, Recover

MAX_ACTIONS: Final = 1000
"""Maximum number of actions in a history. It suffices because a failing store loses only the actions of a few seconds.
"""


@dataclass(frozen=True, slots=True)
class AckedHistory:
    """The newest acknowledged actions of a board, each with its receipt.

    ``actions`` has the actions, oldest first, and ``receipts`` has their receipts in the same order. The last action
    led to ``revision``.
    """

    revision: int = -1
    actions: tuple[AckedAction, ...] = ()
    receipts: tuple[bytes, ...] = ()

    def acked(self, act: Act, answer: Acked) -> AckedHistory:
        """Return the history with the acknowledged ``act`` added.

        An action that the history already has is not added again. If actions between the history and ``act`` are
        missing, the new history has only ``act``.
        """
        revision = act.revision + 1
        if revision <= self.revision and self.actions:
            return self
        action = AckedAction(id=act.id, action=act.action, time=answer.time)
        if revision != self.revision + 1:
            return AckedHistory(revision, (action,), (answer.receipt,))
        return AckedHistory(
            revision, (*self.actions[1 - MAX_ACTIONS :], action), (*self.receipts[1 - MAX_ACTIONS :], answer.receipt)
        )

    def is_ahead_of(self, revision: int) -> bool:
        """Return whether the server has lost actions and this history has all of them.

        ``revision`` is the revision of the server's board.
        """
        return self.revision - len(self.actions) <= revision < self.revision

    def recover(self, revision: int) -> tuple[Recover, ...]:
        """Return as few requests as possible that restore all actions after ``revision``.

        The requests have the id 0, which the caller replaces.
        """
        first = revision - self.revision + len(self.actions)
        return tuple(
            Recover(
                id=0,
                revision=revision + start - first,
                actions=self.actions[start : start + MAX_ACTIONS_PER_RECOVER],
                receipt=self.receipts[min(start + MAX_ACTIONS_PER_RECOVER, len(self.actions)) - 1],
            )
            for start in range(first, len(self.actions), MAX_ACTIONS_PER_RECOVER)
        )
