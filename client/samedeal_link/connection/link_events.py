"""The events that a link reports in addition to the server's messages."""

from __future__ import annotations

from dataclasses import dataclass

from samedeal.protocol.messages import (
    BoardState,
    DelayedBoard,
    DelayedMove,
    Drawn,
    Notice,
    ProgressUpdate,
    Refused,
    RoomState,
)
from samedeal_link.connection.unanswered_requests import ServerAnswer


@dataclass(frozen=True, slots=True)
class Connected:
    """A new connection of the link. ``resumed`` is true if the link was connected before."""

    resumed: bool


@dataclass(frozen=True, slots=True)
class Lost:
    """The loss of the connection, or a failed attempt to reconnect. ``sentence`` tells the player the reason.

    The next attempt starts in ``retry_in`` seconds. ``server_gone`` is true if the server has stopped: it has said so, or
    nothing listens at its address.
    """

    sentence: str
    retry_in: float
    server_gone: bool = False


@dataclass(frozen=True, slots=True)
class SeatLost:
    """The loss of a player's seat or of a spectator's view.

    The server refused to resume the seat or view, or removed the player from the room.
    """

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the link, after which the link does not reconnect.

    ``code`` is a close code, a refusal code or a ``ClientCode``.
    """

    code: str
    sentence: str


ModelMessage = ServerAnswer | Refused | RoomState | Drawn | BoardState | ProgressUpdate | DelayedBoard | DelayedMove
"""Every message except ``Notice``. Its effect is in the model, where front ends find it."""

LinkEvent = ModelMessage | Notice | Connected | Lost | SeatLost | Ended
