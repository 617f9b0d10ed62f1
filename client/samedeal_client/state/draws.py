"""The draws of a joint deal in which the player took part: what was shown to the player, and what the player revealed.

A server that could choose the deal would need the player's share twice: once to see the deal, and once to replace it. So a
client reveals its share once in a draw, for the seats and commitments that it was shown before. It reveals a share in
another draw only if the draw follows and a seat has been lost, in its room or in one that shares the deal. DEALS.md, *What
a player's program checks*, has the rules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, NamedTuple

from samedeal.deal_proof import RevealedShare
from samedeal.joint_deal import share_commitment
from samedeal.protocol.messages import DrawnShare, RoomState


class DrawProblem(Enum):
    """A way in which a server deviates from the rules of a draw. The value is the sentence for the player."""

    OWN_COMMITMENT = "The server shows a promise in your name that you have not made."
    OTHER_SEATS = (
        "The server changed the players of the draw, or their promises, after you had revealed your random number."
    )
    SKIPPED_DRAW = "The server wants your random number for a draw that does not follow the last one."
    NO_SEAT_LOST = "The server draws the deal again, although nobody has lost a seat."
    EARLIER_DRAW = (
        "The server went back to an earlier draw of the deal. It may have lost data, or it liked that deal better."
    )
    OTHER_SHARES = "The server drew the deal from other random numbers than those that were promised."
    DENIED = (
        "The server says that you did not answer in time when the deal was drawn. "
        "But you did, and it had confirmed that."
    )
    UNHEARD = (
        "The server says that you did not answer in time when the deal was drawn. Your answer was sent, "
        "but the server never confirmed it."
    )


UNSURE_PROBLEMS: Final = frozenset((DrawProblem.EARLIER_DRAW, DrawProblem.OWN_COMMITMENT, DrawProblem.UNHEARD))
"""The problems that an honest server may cause, if it has lost data or the player uses several programs."""


class ShownSeat(NamedTuple):
    """A seat as the room showed it when the draw was sealed: its number, the player's name and the commitment.

    Another room that shares the deal stands in the list as a seat 0: with its code and its seal, which commits it to all
    that its players have promised.
    """

    seat: int
    name: str
    commitment: bytes


@dataclass(frozen=True)
class Draw:
    """A draw in which the player has revealed a share. ``seats`` are those that were shown before, the lowest first."""

    number: int
    seats: tuple[ShownSeat, ...]
    share: bytes

    def place(self, room: str) -> tuple[int, str]:
        """Return the seat and the name of the player whose share this is."""
        return next(
            (seat, name)
            for seat, name, commitment in self.seats
            if commitment == share_commitment(room, name, self.number, self.share)
        )

    def has_shares(self, shares: Iterable[RevealedShare | DrawnShare], seals: Iterable[tuple[str, bytes]] = ()) -> bool:
        """Return whether ``shares`` are exactly those that were promised in this draw, and the player's is among them.

        ``seals`` are those of the other rooms that share the deal, by their codes.
        """
        revealed = list(shares)
        own = (ShownSeat(share.seat, share.name, share.commitment) for share in revealed)
        shown = (*(ShownSeat(0, room, seal) for room, seal in seals), *own)
        return shown == self.seats and any(share.share == self.share for share in revealed)


@dataclass(frozen=True)
class OwnDraws:
    """The draws of one race in which the player has revealed a share, in order.

    ``stay`` is the number of draws that the player had revealed in before the player took the present seat.
    ``problem`` is the first deviation of the server. ``was_present`` says that this client had the seat before the draw
    was sealed, so that no deal can have been drawn without its share.
    """

    revealed: tuple[Draw, ...] = ()
    stay: int = 0
    problem: DrawProblem | None = None
    was_present: bool = False

    @property
    def last(self) -> Draw | None:
        """The last draw in which the player has revealed a share."""
        return self.revealed[-1] if self.revealed else None

    def with_problem(self, problem: DrawProblem) -> OwnDraws:
        """Return the draws with a problem, unless they have one already."""
        return self if self.problem else replace(self, problem=problem)

    def seeing(self, number: int, *, is_sealed: bool) -> OwnDraws:
        """Return the draws after the room has shown a draw. It has the number ``number`` and may be sealed."""
        last = self.last
        went_back = last is not None and (number < last.number or (number == last.number and not is_sealed))
        return self.with_problem(DrawProblem.EARLIER_DRAW) if went_back else self

    def revealing(self, draw: Draw, lost: Collection[tuple[int, str]] = ()) -> OwnDraws:
        """Return the draws after the player's share is revealed in ``draw``, or with the problem that forbids this.

        ``lost`` is about a deal that is drawn again because of other rooms. It has the draw and the room of each lost
        seat, in all rooms.
        """
        for earlier in self.revealed:
            if earlier.number == draw.number:
                return self if earlier == draw else self.with_problem(DrawProblem.OTHER_SEATS)
        last = self.last
        if last is not None and len(self.revealed) > self.stay:
            failed = {number for number, _ in lost} or {last.number}
            if draw.number < last.number or not failed.issuperset(range(last.number, draw.number)):
                return self.with_problem(DrawProblem.SKIPPED_DRAW)
            before, now = _places(last), _places(draw)
            is_lost_elsewhere = now == before and any((last.number, room) in lost for seat, room in before if not seat)
            if not (now < before or is_lost_elsewhere):
                return self.with_problem(DrawProblem.NO_SEAT_LOST)
        return replace(self, revealed=(*self.revealed, draw))

    def problem_of_shares(
        self, number: int, shares: Iterable[RevealedShare | DrawnShare], seals: Iterable[tuple[str, bytes]] = ()
    ) -> DrawProblem | None:
        """Return the problem with the shares that are said to have been revealed in the draw with this number.

        Return None if the player may have revealed a share with another client that knows more.
        """
        last = self.last
        if last is None:
            return DrawProblem.OTHER_SHARES if self.was_present else None
        if number > last.number:
            return DrawProblem.OTHER_SHARES
        if number < last.number:
            return DrawProblem.EARLIER_DRAW
        return None if last.has_shares(shares, seals) else DrawProblem.OTHER_SHARES


def _places(draw: Draw) -> set[tuple[int, str]]:
    return {(seat.seat, seat.name) for seat in draw.seats}


def is_repetition(state: RoomState) -> bool:
    """Return whether the deal of an earlier race is dealt again, because only one player came to a room without a host.

    This is the only case in which the deal and the commitment of a room change. Such a deal is public.
    """
    return (
        bool(state.earlier) and state.deal.startswith("again ") and not state.options.hosted and len(state.players) == 1
    )


def shown_seats(state: RoomState) -> tuple[ShownSeat, ...]:
    """Return the other rooms that share the deal with their seals, and the seats of a room with their commitments."""
    rooms = (ShownSeat(0, room.room, room.seal) for room in state.rooms)
    return tuple(sorted((*rooms, *(ShownSeat(seat.seat, seat.name, seat.share_commitment) for seat in state.players))))


def commitment_of(state: RoomState, name: str, share: bytes) -> bytes:
    """Return the commitment to a share for the present draw of a room."""
    return share_commitment(state.room, name, state.draw, share)
