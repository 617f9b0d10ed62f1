"""The events of a connection that a Link reports, in addition to the server's messages."""

from __future__ import annotations

from dataclasses import dataclass

from samedeal.protocol.messages import ToClient


@dataclass(frozen=True, slots=True)
class Connected:
    """The link is connected. ``resumed`` is true if it was connected before."""

    resumed: bool


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection was lost, or an attempt to reconnect failed. ``sentence`` says why, for the player.

    The next attempt starts in ``retry_in`` seconds.
    """

    sentence: str
    retry_in: float


@dataclass(frozen=True, slots=True)
class SeatLost:
    """The player is no longer in the room: the server refused to resume the seat or the view, or removed the player."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The link has ended and does not reconnect. ``code`` is a close code, a refusal code or a ``ClientCode``."""

    code: str
    sentence: str


LinkEvent = ToClient | Connected | Lost | SeatLost | Ended
