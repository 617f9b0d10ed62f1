"""The shares of a racer on plain frames: what the racer commits to, what it reveals, and what it was shown before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from samedeal.joint_deal import share_commitment
from samedeal.protocol.messages import CommitShare, RevealShare, RoomState
from samedeal.terms import RoomTerms

ShownSeats = tuple[tuple[int, str, bytes], ...]
"""The number, the player's name and the commitment of each seat, the lowest first."""


def shown_seats(state: RoomState) -> ShownSeats:
    """Return the seats that draw the deal, as a room shows them. In one with a window, these are not all."""
    drawing = state.drawing or [seat.seat for seat in state.players]
    return tuple(
        sorted((each.seat, each.name, each.share_commitment) for each in state.players if each.seat in drawing)
    )


class Shares:
    """The shares of one racer by draw. ``new_share`` returns a random share.

    ``revealed`` has the seats that the racer was shown before it revealed its share, by draw.
    """

    def __init__(self, new_share: Callable[[], bytes], revealed: dict[int, ShownSeats], complaints: list[str]) -> None:
        self._new_share = new_share
        self._revealed = revealed
        self._complaints = complaints
        self._shares: dict[int, bytes] = {}

    def forget(self) -> None:
        """Forget all shares, as a client does that is killed and keeps nothing."""
        self._shares.clear()

    def answer(self, state: RoomState, player: str) -> CommitShare | RevealShare | None:
        """Return what the racer has to send after a room state, without an id, or None."""
        seat = next((seat for seat in state.players if seat.player == player), None)
        if state.phase != "countdown" or not state.draw or seat is None:
            return None
        if seat.seat not in [at for at, _, _ in shown_seats(state)]:
            return None
        promise = partial(share_commitment, RoomTerms.parse(state.terms).digest, state.commitment, seat.seat, seat.name)
        seats = shown_seats(state)
        if not all(commitment for _, _, commitment in seats):
            share = self._shares.setdefault(state.draw, self._new_share())
            return CommitShare(id=0, draw=state.draw, commitment=promise(state.draw, share))
        known = self._shares.get(state.draw, b"")
        if not known:
            return None  # the racer was killed after it had committed itself
        if seat.share_commitment != promise(state.draw, known):
            # A killed racer may have sent its commitment again after the draw was sealed.
            return None
        if self._revealed.setdefault(state.draw, seats) != seats:
            self._complaints.append(f"was shown two sets of seats in draw {state.draw}")
            return None
        return RevealShare(id=0, draw=state.draw, share=known)
