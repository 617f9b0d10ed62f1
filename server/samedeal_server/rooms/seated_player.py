"""The seat of a connected player."""

from __future__ import annotations

import asyncio

from samedeal.board_history import Play


class SeatedPlayer:
    """The seat of a connected player, who commits moves under ``generation``.

    ``play`` is None before the deal. It is also None after a commit with an unknown outcome, until the log is read
    again. ``head`` is the head of the player's chain. ``loading`` must be held while the log is read. ``leaving`` is
    True while the player's request to leave is handled.
    """

    __slots__ = ("generation", "head", "leaving", "loading", "play", "player", "room")

    def __init__(self, room: str, player: str, generation: int) -> None:
        self.room = room
        self.player = player
        self.generation = generation
        self.play: Play | None = None
        self.head = b""
        self.leaving = False
        self.loading = asyncio.Lock()
