"""The events of a connection that a Link reports, in addition to the server's messages."""

from __future__ import annotations

from dataclasses import dataclass

from samedeal.protocol.messages import ToClient


@dataclass(frozen=True, slots=True)
class Connected:
    """A new connection of the link. ``resumed`` is true if the link was connected before."""

    resumed: bool


@dataclass(frozen=True, slots=True)
class Lost:
    """The loss of the connection, or a failed attempt to reconnect. ``sentence`` says why, for the player.

    The next attempt starts in ``retry_in`` seconds.
    """

    sentence: str
    retry_in: float


@dataclass(frozen=True, slots=True)
class SeatLost:
    """The loss of the seat or the view: the server refused to resume it, or removed the player."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the link, which does not reconnect. ``code`` is a close code, a refusal code or a ``ClientCode``."""

    code: str
    sentence: str


LinkEvent = ToClient | Connected | Lost | SeatLost | Ended
