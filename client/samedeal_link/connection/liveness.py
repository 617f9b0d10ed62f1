"""Whether the server still answers on a connection. Pure: times are arguments, in seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LinkTimeouts:
    """Timeouts of a link, in seconds.

    The link pings the server if no message arrives for ``silence`` seconds, or if a move has had no answer for ``move``
    seconds, from which on the player is told so. If no message at all arrives for ``pong`` seconds after a ping, the
    connection counts as lost. A connection that lasted for ``stable`` seconds resets the backoff.
    """

    silence: float = 10.0
    move: float = 2.0
    pong: float = 5.0
    stable: float = 5.0


class Liveness:
    """When to ping the server on a connection. ``awaits_pong`` is true if no message has arrived since the last ping.

    The first pings are sent when the connection opens, at ``opened``.
    """

    def __init__(self, timeouts: LinkTimeouts, opened: float) -> None:
        self._timeouts = timeouts
        self._heard = opened
        self.ping(opened)

    def ping(self, now: float) -> None:
        """Record that a ping is sent."""
        self._pinged = now
        self.awaits_pong = True

    def hear(self, now: float) -> None:
        """Record that a message has arrived."""
        self._heard = now
        self.awaits_pong = False

    def patience(self, now: float, moved: float | None) -> float:
        """Return how long to wait for a message before this is asked again.

        If it is not above 0, the connection is lost if it awaits a pong, and otherwise a ping is due. ``moved`` is when
        the player made the oldest unanswered move, or None if there is none: one may be made while the link waits.
        """
        if self.awaits_pong:
            return self._pinged + self._timeouts.pong - now
        unanswered = max(now if moved is None else moved, self._pinged) + self._timeouts.move
        return min(self._heard + self._timeouts.silence, unanswered) - now
