"""The state of a client's connection, for front ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """The state of the connection.

    ``ping`` is the newest round trip in milliseconds, or None if it is unknown. ``retry_at`` is the time of the next
    attempt to reconnect, on the session's clock. ``reason`` is a sentence for the player that says why the connection
    was lost or has ended. ``server_gone`` is true if the connection was lost because the server has stopped.
    """

    state: Literal["up", "lost", "ended"] = "up"
    ping: int | None = None
    retry_at: float = 0.0
    reason: str = ""
    server_gone: bool = False
