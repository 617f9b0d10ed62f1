"""Many spectators are served in passes that do not overlap."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, cast

from samedeal_server.rooms.audience import FLUSH_BATCH, Audience
from samedeal_server.rooms.player_connection import PlayerConnection


class Spectator:
    """A connection that counts how often it is flushed. ``on_first_flush`` is called the first time."""

    def __init__(self) -> None:
        self.flushes = 0
        self.on_first_flush: Callable[[], None] | None = None

    def flush(self) -> None:
        """Count the call."""
        self.flushes += 1
        if self.on_first_flush is not None:
            self.on_first_flush()
            self.on_first_flush = None


def crowd(tasks: list[asyncio.Task[object]]) -> tuple[Audience, list[Spectator]]:
    """An audience with more spectators than are served at once. Its passes are added to ``tasks``."""

    def spawn(function: Callable[[], Coroutine[Any, Any, object]]) -> None:
        tasks.append(asyncio.create_task(function()))

    audience, spectators = Audience(spawn), [Spectator() for _ in range(FLUSH_BATCH + 1)]
    audience.spectators = cast("set[PlayerConnection]", set(spectators))
    return audience, spectators


async def test_messages_share_a_pass_unless_it_has_begun() -> None:
    passes: list[asyncio.Task[object]] = []
    audience, spectators = crowd(passes)
    spectators[0].on_first_flush = audience.flush_spectators
    for most in (2, 3):
        for _ in range(5):
            audience.flush_spectators()
        await asyncio.gather(*passes)
        assert [spectator.flushes for spectator in spectators] == [most] * len(spectators)
