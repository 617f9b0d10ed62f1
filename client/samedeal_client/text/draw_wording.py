"""Words about the draw of a joint deal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from samedeal.joint_deal import MAX_DRAWS, LossReason
from samedeal.protocol.messages import RoomState

LOSSES: Final[Mapping[LossReason, str]] = {"left": "left", "kicked": "was removed", "silent": "did not answer in time"}
"""Why a player lost the seat during a draw, in words."""


def words_text(words: str) -> str:
    """Return the words of a deal with their name, or an empty string if they are not known."""
    return f"Deal words: {words}" if words else ""


def losses_text(before: RoomState | None, after: RoomState) -> list[str]:
    """Return a sentence for each player who has lost the seat while the deal was drawn, since the state ``before``.

    If the deal is drawn again for that, the last sentence says so.
    """
    known = before.lost if before is not None and before.commitment == after.commitment else ()
    losses = after.lost[len(known) :]
    sentences = [f"{lost.name} {LOSSES[lost.reason]} while the deal was drawn." for lost in losses]
    if after.phase == "countdown" and any(lost.draw < after.draw for lost in losses):
        sentences.append(f"It is drawn again (draw {(after.draw - 1) % MAX_DRAWS + 1} of {MAX_DRAWS}).")
    return sentences
