"""An entry of the log of a player's committed actions. Pure."""

from __future__ import annotations

from msgspec import Struct


class LogEntry(Struct, frozen=True):
    """A committed action, with the revision and the counts after it.

    ``request`` is the id of the request. ``seen`` holds the cards that the action turned up for the first time.
    ``committed_at`` is the time of the commit, in milliseconds since 1970.
    """

    revision: int
    request: int
    action: str
    seen: bytes
    foundation_cards: int
    moves: int
    undos: int
    committed_at: int
