"""Resuming a seat, or a spectator's view, on a new connection. Pure: ids and times are arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from samedeal.names import ROOM_CODE
from samedeal.protocol.messages import (
    MAX_ACTIONS_PER_RECOVER,
    Acked,
    AckedAction,
    Act,
    Begin,
    Begun,
    Join,
    Joined,
    Leave,
    Recover,
    Refused,
    RoomState,
    ToServer,
    Watch,
)
from samedeal.protocol_codes import RefusalCode
from samedeal_link.connection.address import home_path
from samedeal_link.connection.unanswered_requests import MAX_RETRY_AFTER, ServerAnswer
from samedeal_link.evidence.evidence import Ack

_PATH: Final = re.compile(rf"/r/{ROOM_CODE.pattern}")

_LATE_JOIN_WINDOW: Final = 60.0
"""Time, in seconds, for which a server may still receive a request that was sent on a lost connection."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """Instructions for the link, after an answer or on a new connection.

    The link sends the messages in ``send``. If ``send_pending`` is true, it then sends every unanswered request. If
    ``reconnect_after`` is a number, the link disconnects and waits for at least that many seconds before it reconnects.
    ``seat_lost`` and ``moves_lost`` are reported to the player.
    """

    send: tuple[ToServer, ...] = ()
    send_pending: bool = False
    reconnect_after: float | None = None
    seat_lost: bool = False
    moves_lost: bool = False


def _named_path(answer: ServerAnswer) -> str:
    """Return the path at which the racers of a room meet, or an empty text if the server names none that can be one."""
    return answer.path if isinstance(answer, Joined) and _PATH.fullmatch(answer.path) else ""


def names_other_room(state: RoomState) -> bool:
    """Return whether the room's only player goes on to the room ``next``, with the deal of an earlier race.

    Otherwise ``next`` is a rematch, which players choose. A server can lead a player to one other room at most.
    """
    has_begun = state.starts > 0 or state.phase not in ("open", "closed")
    return bool(state.next) and not (has_begun or state.earlier or state.options.hosted)


class Resumption:
    """The client's place in a room, and the requests that get the place back after a reconnection.

    ``place`` is the request that entered the room. A request to resume a seat has the revision of the client's newest
    board. If the server's answer has an older revision, the server has lost acknowledged moves. The link then sends
    these moves again with a receipt, before any other request. ``awaiting_seat`` is true from the start of a new
    connection until the request to resume the seat is answered. Meanwhile the link sends no other request. ``new_id``
    returns an id for a message, and ``acks`` the acknowledged actions that the evidence has.
    """

    def __init__(self, new_id: Callable[[], int], acks: Callable[[], Sequence[Ack]]) -> None:
        self.place: Join | Watch | None = None
        self.awaiting_seat = False
        self._new_id = new_id
        self._acks = acks
        self._request: int | None = None
        self._revision = -1
        self._path = ""  # at which the server says that the racers of the room meet
        self._begun: Begun | None = None  # when the player began in a race with a window
        self._receipts: dict[int, bytes] = {}  # of the actions that led to these revisions
        self._recovering: set[int] = set()
        self._late_joins: list[float] = []

    @property
    def home(self) -> str:
        """The path at which to connect for the place in the room. Empty without a place."""
        if self.place is None:
            return ""
        return self._path or home_path(self.place.room, watches=isinstance(self.place, Watch))

    def accepted(self, request: ToServer, answer: ServerAnswer) -> None:
        """Record that the server has accepted a request: the client's new place, or its acknowledged action."""
        match request:
            case Join() | Watch():
                self._enter(request)
                self._path = _named_path(answer)
            case Leave():
                self.left()
            case Begin():
                if isinstance(answer, Begun):
                    self._begun = answer
            case Act():
                if isinstance(answer, Acked):
                    self._revision = max(self._revision, request.revision + 1)
                    self._receipts.setdefault(request.revision + 1, answer.receipt)
            case _:
                pass  # changes neither the place nor the board

    def _enter(self, request: Join | Watch) -> None:
        same_seat = isinstance(request, Join) and isinstance(self.place, Join) and request.room == self.place.room
        if not same_seat:
            self._revision, self._begun = -1, None
            self._receipts.clear()
        self.place = request

    def follow(self, state: RoomState) -> NextStep:
        """Return the step that enters the room ``next`` of the client's room, as what the client is there."""
        if self.place is None or self.place.room != state.room:
            return NextStep()  # on the way already
        self._enter(replace(self.place, room=state.next))
        return NextStep(send=self._request_place())

    def left(self) -> None:
        """Record that the client has left its room."""
        self.place = None

    def board_received(self, revision: int) -> NextStep:
        """Record the ``revision`` of a board that the server has sent.

        Return the step that restores the acknowledged moves that this board lacks.
        """
        self._revision = revision
        return NextStep(send=self._recover(revision))

    def begin(self) -> NextStep:
        """Return the step for the start of a new connection."""
        self._recovering.clear()
        self._request = None
        self.awaiting_seat = isinstance(self.place, Join)
        return NextStep(send=self._request_place(), send_pending=not self.awaiting_seat)

    def resync(self) -> NextStep:
        """Return the step that requests the room and the whole board.

        This step is needed if the client's board differs from the server's.
        """
        self._revision = -1
        return NextStep(send=self._request_place())

    def _request_place(self) -> tuple[ToServer, ...]:
        if self.place is None:
            return ()
        self._request = self._new_id()
        if isinstance(self.place, Watch):
            return (replace(self.place, id=self._request),)
        # Progress updates between two states of the room have no event number, so the whole state is always requested.
        return (replace(self.place, id=self._request, revision=self._revision, event=-1),)

    def expects(self, answer: ServerAnswer | Refused) -> bool:
        """Return whether an answer belongs to a request that this object has made."""
        return answer.to == self._request or answer.to in self._recovering

    def answered(self, answer: ServerAnswer | Refused) -> NextStep:
        """Handle the answer to a request of this object, and return the next step."""
        if answer.to in self._recovering:
            return self._recovery_answered(answer)
        self._request = None
        if isinstance(answer, Refused) and answer.retry_after:
            return NextStep(reconnect_after=min(answer.retry_after, MAX_RETRY_AFTER))
        send_pending, self.awaiting_seat = self.awaiting_seat, False
        if isinstance(answer, Refused):
            self.place = None
            return NextStep(send_pending=send_pending, seat_lost=True)
        recovery: tuple[Begin | Recover, ...] = ()
        if isinstance(answer, Joined):
            self._path, recovery = _named_path(answer), self._recover(answer.revision)
        return NextStep(send=recovery, send_pending=send_pending)

    def _recover(self, revision: int) -> tuple[Begin | Recover, ...]:
        """Return as few requests as possible that restore the acknowledged moves after ``revision``.

        There are none if the server has lost nothing, or if this client does not know all these moves. A server without
        a board has also lost that the player has begun.
        """
        if self._begun is not None and revision < 0 and not self._recovering:
            again = Begin(id=self._new_id(), time=self._begun.time, receipt=self._begun.receipt)
            actions = self._recover(0)
            self._recovering.add(again.id)
            return (again, *actions)
        acks = {ack.revision: ack for ack in self._acks() if ack.revision in self._receipts}
        missing = range(revision + 1, max(self._receipts, default=revision) + 1)
        if self._recovering or not all(each in acks for each in missing):
            return ()
        requests = tuple(
            self._recovery([acks[each] for each in missing[start : start + MAX_ACTIONS_PER_RECOVER]])
            for start in range(0, len(missing), MAX_ACTIONS_PER_RECOVER)
        )
        self._recovering.update(message.id for message in requests)
        return requests

    def _recovery(self, acks: Sequence[Ack]) -> Recover:
        actions = tuple(AckedAction(id=ack.id, action=ack.action, time=ack.time) for ack in acks)
        before, receipt = acks[0].revision - 1, self._receipts[acks[-1].revision]
        return Recover(id=self._new_id(), revision=before, actions=actions, receipt=receipt)

    def _recovery_answered(self, answer: ServerAnswer | Refused) -> NextStep:
        self._recovering.discard(answer.to)
        if isinstance(answer, Refused):
            if answer.retry_after or answer.code == RefusalCode.UNAVAILABLE:
                # Nothing is decided yet. The next connection restores the moves, and then repeats the actions after them.
                return NextStep(reconnect_after=min(answer.retry_after, MAX_RETRY_AFTER))
            self._recovering.clear()
            self._receipts.clear()
        out_of_sync = not self._receipts or self._revision < max(self._receipts)
        resync = self.resync() if out_of_sync and not self._recovering else NextStep()
        return NextStep(send=resync.send, moves_lost=isinstance(answer, Refused))

    def disconnected(self, now: float, *, join_pending: bool) -> None:
        """Record that the connection was lost. ``join_pending`` says whether a request to join is unanswered.

        The server may receive such a request late. It then gives the seat to the dead connection, and closes the new
        one.
        """
        if join_pending or (self._request is not None and isinstance(self.place, Join)):
            self._late_joins.append(now)

    def explains_takeover(self, now: float) -> bool:
        """Return whether an old request of this client may have taken over the client's seat.

        A request to join may reach the server after the client has reconnected. The old connection then takes over the
        seat. Each such request explains one takeover and is then forgotten.
        """
        recent = [at for at in self._late_joins if now - at < _LATE_JOIN_WINDOW]
        self._late_joins = recent[1:]
        return bool(recent)
