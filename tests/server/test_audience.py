"""Many spectators are woken in passes that do not overlap."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, cast

from samedeal_server.connections.connection import Connection
from samedeal_server.rooms.audience import WAKE_BATCH, Audience


class Spectator:
    """A connection that counts how often it is woken. ``on_first_wake`` is called when it is woken for the first time."""

    def __init__(self) -> None:
        self.wakes = 0
        self.on_first_wake: Callable[[], None] | None = None

    def wake(self) -> None:
        """Count the call."""
        self.wakes += 1
        if self.on_first_wake is not None:
            self.on_first_wake()
            self.on_first_wake = None


def crowd(tasks: list[asyncio.Task[None]]) -> tuple[Audience, list[Spectator]]:
    """An audience with more spectators than are woken at once. Its passes are added to ``tasks``."""

    def spawn(function: Callable[[], Coroutine[Any, Any, None]]) -> None:
        tasks.append(asyncio.create_task(function()))

    audience, spectators = Audience(spawn), [Spectator() for _ in range(WAKE_BATCH + 1)]
    audience.spectators = cast("set[Connection]", set(spectators))
    return audience, spectators


async def test_messages_before_a_pass_share_it() -> None:
    passes: list[asyncio.Task[None]] = []
    audience, spectators = crowd(passes)
    for _ in range(5):
        audience.wake_spectators()
    await asyncio.gather(*passes)
    assert [spectator.wakes for spectator in spectators] == [1] * len(spectators)


async def test_messages_during_a_pass_are_sent_after_it() -> None:
    passes: list[asyncio.Task[None]] = []
    audience, spectators = crowd(passes)
    spectators[0].on_first_wake = audience.wake_spectators
    audience.wake_spectators()
    await asyncio.gather(*passes)
    assert [spectator.wakes for spectator in spectators] == [2] * len(spectators)
    audience.wake_spectators()
    await asyncio.gather(*passes)
    assert [spectator.wakes for spectator in spectators] == [3] * len(spectators)
