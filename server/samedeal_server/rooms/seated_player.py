"""A connected player's seat."""

from __future__ import annotations

import asyncio

from samedeal.board_history import Play


class SeatedPlayer:
    """The seat and the board of a connected player, who may commit moves under this ``generation``.

    ``play`` is None before the deal, and after a commit with an unknown outcome, until the log is read again.
    ``head`` is the head of the chain of the actions of ``play``. Hold ``loading`` while reading the log.
    ``leaving`` is True while the player's Leave is handled.
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
