"""The draws of a joint deal in which the player takes part: when to commit to a share, and when to reveal it. Pure.

A server that could choose the deal would need the player's share twice: once to see the deal, and once to replace it. So a
client reveals its share once in a draw, for the seats and commitments that it was shown before, and in another draw only
if somebody has lost a seat. DEALS.md, *The verdict*, has the rules.
"""

from __future__ import annotations

from samedeal.joint_deal import HIGHEST_DRAW, MAX_DRAWS, opening_of, share_commitment
from samedeal.protocol.messages import CommitShare, RevealShare, RoomState, Seat
from samedeal_link.evidence import facts
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.facts import Promise, Sealed


def agrees(evidence: Evidence, drawn: facts.SharesShown) -> bool:
    """Return whether shares are those that were promised to the player, who may have missed the last draw."""
    own = evidence.draw(drawn.draw)
    if own is None:
        return has_missed(evidence, drawn.draw)
    shares = {each.seat: each.share for each in drawn.shares}
    shown = tuple((each.seat, each.name, each.commitment) for each in drawn.shares)
    return shown == own.seats and shares.get(evidence.seat) == evidence.shares[own.draw]


def has_missed(evidence: Evidence, draw: int) -> bool:
    """Return whether the player revealed no share in a draw, nor in a later one."""
    return all(each.draw < draw for each in evidence.draws)


def wanted_share(evidence: Evidence, state: RoomState) -> int:
    """Return the number of the draw for which the player has to draw a share, or 0 if there is none."""
    is_asked = state.room == evidence.room and state.phase == "countdown" and _seat_in(evidence, state) is not None
    return state.draw if is_asked and is_draw(evidence, state.draw) and state.draw not in evidence.shares else 0


def is_draw(evidence: Evidence, draw: int) -> bool:
    """Return whether a race may have a draw. Those of a window go on after its doors were opened again."""
    return 0 < draw <= (HIGHEST_DRAW if evidence.window else MAX_DRAWS)


def _seat_in(evidence: Evidence, state: RoomState) -> Seat | None:
    if evidence.role != "player" or evidence.is_out:
        return None
    return next((seat for seat in _drawing(evidence, state) if seat.player == evidence.player), None)


def _drawing(evidence: Evidence, state: RoomState) -> list[Seat]:
    """Return the seats of those who draw the deal: all of them, or in a race with a window those who were there."""
    return [seat for seat in state.players if not evidence.window or seat.seat in state.drawing]


def answer(evidence: Evidence, state: RoomState) -> tuple[Evidence, CommitShare | RevealShare | None]:
    """Return the request that the player has to send after a room state, if any, with the evidence before it.

    The id of the request is 0. It is returned again for each state that waits for it, because the server may have
    lost it. After a contradiction, the player reveals nothing.
    """
    seat, draw = _seat_in(evidence, state), state.draw
    is_known = evidence.drawn is not None and evidence.draw(draw) is None
    is_drawing = state.room == evidence.room and state.phase == "countdown" and not is_known
    if (
        seat is None
        or not is_drawing
        or draw not in evidence.shares
        or evidence.terms is None
        or evidence.contradiction
    ):
        return evidence, None
    share, drawing = evidence.shares[draw], _drawing(evidence, state)
    promise = share_commitment(evidence.digest, evidence.commitment, evidence.seat, evidence.name, draw, share)
    if not all(each.share_commitment for each in drawing):
        return evidence, CommitShare(id=0, draw=draw, commitment=promise)
    if seat.share_commitment != promise:
        return evidence, None  # another program of the player takes part, or the server lies
    seats = tuple(sorted((each.seat, each.name, each.share_commitment) for each in drawing))
    known = _revealing(evidence, Sealed(draw, seats))
    is_settled = known is not None and not known.contradiction
    return known or evidence, RevealShare(id=0, draw=draw, share=share) if is_settled else None


def _places(seats: tuple[Promise, ...]) -> set[tuple[int, str]]:
    """Return the numbers of seats with the names of their players."""
    return {(seat, name) for seat, name, _ in seats}


def _revealing(evidence: Evidence, sealed: Sealed) -> Evidence | None:
    """Return the evidence before a share is revealed, or None if the player has revealed for other seats or later draws."""
    earlier = evidence.draw(sealed.draw)
    if earlier is not None:
        return evidence if earlier == sealed else None
    known, last = evidence, evidence.draws[-1] if evidence.draws else None
    if last is not None:
        if sealed.draw < last.draw:
            return None
        before, places = _places(last.seats), _places(sealed.seats)
        lost = {(each.seat, each.name) for each in evidence.lost if each.draw >= last.draw}
        is_needed = places < before and before - places <= lost
        if evidence.window:  # who was away may come, and who was there may be away
            opening = opening_of(sealed.draw)  # in another one, everybody draws again
            out = {(each.seat, each.name) for each in evidence.lost if opening_of(each.draw) == opening}
            is_needed = bool(before & lost) and not places & lost & out
        is_back = evidence.out_after == len(evidence.draws)  # a player who came back was not shown who else has gone
        known = evidence.finding_if(not (is_needed or is_back), "no_seat_lost")
    return known if known.contradiction else known.plus(sealed)
