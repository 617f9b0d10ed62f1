"""The player's shares of joint deals: when to commit to a share, when to reveal it, and when not to. Pure.

DEALS.md, *What a player's program checks*, has the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from samedeal.joint_deal import MAX_DRAWS
from samedeal.protocol.messages import CommitShare, RevealShare, RoomState
from samedeal_client.state.draws import Draw, DrawProblem, OwnDraws, commitment_of, is_repetition, shown_seats
from samedeal_client.state.journal_file import RaceJournals


class JointShares:
    """The shares of one player. ``draws`` are those of the race in which the player has a seat.

    ``store`` keeps them. ``new_share`` returns a new random share.
    """

    def __init__(self, new_share: Callable[[], bytes], store: RaceJournals) -> None:
        self.draws = OwnDraws()
        self._new_share = new_share
        self._store = store
        self._room = ""
        self._commitment = b""
        self._race: tuple[str, bytes] = ("", b"")
        self._shares: dict[int, bytes] = {}
        self._reveals: dict[int, int] = {}
        self._confirmed: set[int] = set()

    def entered(self, room: str) -> None:
        """Record that the player has taken a seat, or has returned to one, because the player asked for it."""
        if room != self._race[0]:
            self.draws = OwnDraws()
        self._room, self._commitment = room, b""

    def connected(self) -> None:
        """Record that there is a new connection. Answers to earlier requests never come."""
        self._reveals.clear()
        self.draws = replace(self.draws, was_present=False)  # meanwhile, the player may have used another client

    def is_other_race(self, state: RoomState) -> bool:
        """Return whether the room was opened anew, while the player thought to have a seat in it.

        A server that could take a player along into the new room would get another share, and so another deal. Only
        the deal of an earlier race, for a player for whom nobody came, needs no share.
        """
        if is_repetition(state):
            self._commitment = state.commitment
        return bool(self._commitment) and state.room == self._room and state.commitment != self._commitment

    def sent(self, request: CommitShare | RevealShare) -> None:
        """Record the id under which a request is sent."""
        if isinstance(request, RevealShare):
            self._reveals[request.id] = request.draw

    def accepted(self, request: int) -> None:
        """Record that the server has accepted the request with this id."""
        if request in self._reveals:
            self._confirmed.add(self._reveals.pop(request))

    def answer(self, state: RoomState, player: str) -> CommitShare | RevealShare | None:
        """Return the request that the player has to send after a room state, if any. Its id is 0.

        A request is returned again for each state that waits for it, because the server may have lost it.
        """
        if state.room != self._room:
            return None
        seat = next((seat for seat in state.players if seat.player == player), None)
        is_sealed = all(shown.share_commitment for shown in state.players)
        is_undrawn = state.phase == "open" or (state.phase == "countdown" and not state.shares and not is_sealed)
        if seat is not None and is_undrawn:
            self.draws = replace(self.draws, was_present=True)
        if not state.draw:
            return None
        self._follow(state, player)
        self._check_losses(state)
        if state.shares:
            if seat is not None and state.phase in ("countdown", "racing"):
                seals = [(room.room, room.seal) for room in state.rooms]
                problem = self.draws.problem_of_shares(state.draw, state.shares, seals)
                self.draws = self.draws.with_problem(problem) if problem else self.draws
            return None
        if state.phase != "countdown" or seat is None:
            return None
        if state.draw > MAX_DRAWS:
            self.draws = self.draws.with_problem(DrawProblem.SKIPPED_DRAW)
            return None
        if state.draw not in self._shares:
            self._shares[state.draw] = self._new_share()
            self._store.keep_share(state, player, self._shares[state.draw])
        share, seats = self._shares[state.draw], shown_seats(state)
        commitment = commitment_of(state, seat.name, share)
        self.draws = self.draws.seeing(state.draw, is_sealed=is_sealed)
        if not is_sealed:
            return CommitShare(id=0, draw=state.draw, commitment=commitment)
        if seat.share_commitment != commitment:
            self.draws = self.draws.with_problem(DrawProblem.OWN_COMMITMENT)
            return None
        draw = Draw(state.draw, seats, share)
        elsewhere = {(lost.draw, lost.room) for lost in state.elsewhere}
        lost = elsewhere | {(lost.draw, "") for lost in state.lost} if elsewhere else ()
        before, self.draws = self.draws, self.draws.revealing(draw, lost)
        if draw not in self.draws.revealed:
            return None
        if self.draws is not before:
            self._store.keep_draw(state, player, draw)
        return RevealShare(id=0, draw=state.draw, share=share)

    def _follow(self, state: RoomState, player: str) -> None:
        """Begin with the draws that are kept of this race, if the player has just taken a seat in it.

        A new seat can be taken only in an open room. In a countdown, the player has returned to the seat of the last
        draw, unless this seat has been lost since.
        """
        if self._commitment:
            return
        self._commitment = state.commitment
        if self._race != (state.room, state.commitment):
            self._race = state.room, state.commitment
            self._confirmed.clear()
            self._shares, revealed, stay = self._store.draws(state, player)
            self.draws = OwnDraws(revealed, stay, was_present=self.draws.was_present)
        last = self.draws.last
        if last is not None and (state.phase == "open" or _has_lost_seat(state, last)):
            self.draws = replace(self.draws, stay=len(self.draws.revealed))
            self._store.keep_seat(state, player)

    def _check_losses(self, state: RoomState) -> None:
        lost = {(lost.draw, (lost.seat, lost.name)) for lost in state.lost if lost.reason == "silent"}
        for draw in self.draws.revealed:
            if (draw.number, draw.place(state.room)) in lost:
                is_confirmed = draw.number in self._confirmed
                self.draws = self.draws.with_problem(DrawProblem.DENIED if is_confirmed else DrawProblem.UNHEARD)


def _has_lost_seat(state: RoomState, draw: Draw) -> bool:
    """Return whether the player's seat in ``draw`` is said to have been lost, in this draw or a later one."""
    return any(lost.draw >= draw.number and (lost.seat, lost.name) == draw.place(state.room) for lost in state.lost)
