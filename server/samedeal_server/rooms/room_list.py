"""The list of rooms for players."""

from __future__ import annotations

import asyncio
from typing import Final

from samedeal.protocol.messages import RoomLine
from samedeal_server.loop_timers import Timers
from samedeal_server.store.store import Store

MAX_LISTED: Final = 100
"""Maximum number of rooms in a list for players."""

LIST_LIFETIME: Final = 1.0
"""Time, in seconds, for which a list answers further requests. Reading 100 rooms costs a node as much as several moves."""


class RoomList:
    """The newest rooms, read at most once in ``LIST_LIFETIME`` however many clients ask."""

    def __init__(self, store: Store, timers: Timers) -> None:
        self._store = store
        self._timers = timers
        self._reading: asyncio.Task[tuple[RoomLine, ...]] | None = None
        self._read_at = 0.0

    async def lines(self) -> tuple[RoomLine, ...]:
        """The newest rooms that can be joined or watched, newest first. Raises StoreUnavailable."""
        now = self._timers.monotonic()
        reading = self._reading
        if reading is None or (reading.done() and (reading.exception() or now >= self._read_at + LIST_LIFETIME)):
            self._read_at = now
            self._reading = reading = asyncio.create_task(self._read())
            reading.add_done_callback(_retrieve_error)
        return await asyncio.shield(reading)

    async def _read(self) -> tuple[RoomLine, ...]:
        return tuple(line for line in await list_rooms(self._store) if line.phase == "open" or line.spectators)


def _retrieve_error(reading: asyncio.Task[tuple[RoomLine, ...]]) -> None:
    """Take note of an error that nobody may be waiting for any more, so that asyncio does not log it."""
    if not reading.cancelled():
        reading.exception()


async def list_rooms(store: Store, limit: int = MAX_LISTED) -> tuple[RoomLine, ...]:
    """Read the newest rooms that are not closed, newest first. Raises StoreUnavailable."""
    races = await store.load_races(await store.index.newest(limit))
    return tuple(
        RoomLine(
            room=race.room,
            game=race.game.name,
            deal=race.deal,
            phase=race.phase,
            players=len(race.racers),
            seats=race.options.players,
            private=race.private,
            spectators=race.options.spectators,
            starts=race.starts,
            delay=race.options.delay,
            bots=race.options.bots,
        )
        for race in races
        if race is not None and race.phase != "closed"
    )
