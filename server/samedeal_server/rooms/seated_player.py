"""The seat of a connected player."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from samedeal.board_history import Play


@dataclass(eq=False, repr=False, slots=True)
class SeatedPlayer:
    """The seat of a connected player, who commits moves under ``generation``.

    ``play`` is None before the deal. It is also None after a commit with an unknown outcome, until the log is read
    again. ``head`` is the head of the player's chain. ``loading`` must be held while the log is read. ``leaving`` is
    True while the player's request to leave is handled.
    """

    room: str
    player: str
    generation: int
    play: Play | None = None
    head: bytes = b""
    leaving: bool = False
    loading: asyncio.Lock = field(default_factory=asyncio.Lock)
