"""The work that a node does for rooms at intervals."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from itertools import product
from typing import Final

from samedeal.games import GAMES
from samedeal_server.rooms.hub import Hub
from samedeal_server.rooms.registry import RoomRegistry
from samedeal_server.rooms.room_model import next_due
from samedeal_server.rooms.seated_player import SeatedPlayer
from samedeal_server.store.clock import CLOCK_SYNC_INTERVAL
from samedeal_server.telemetry.metrics import PHASES

_SWEEP_INTERVAL: Final = 1.0
POLL_INTERVAL: Final = 3.0
"""Interval, in seconds, at which the stream of every followed room is read, in case announcements were lost."""

REFRESH_INTERVAL: Final = 15.0
REPAIR_INTERVAL: Final = 60.0

_ROOMS_PER_READ: Final = 100
"""Maximum number of rooms that are read at once. Other requests to Redis therefore do not wait for all rooms."""

_SEATS_PER_WRITE: Final = 250
"""Maximum number of players whose presence is recorded at once."""

_EARLY: Final = 1_000
"""Time, in milliseconds, after which a room is ticked again if its tick came too early because of this node's clock."""

_POSTPONED: Final = 60_000
"""Time, in milliseconds, until a room's next tick if a tick failed or only another version can serve the room."""


class Upkeep:
    """Does the periodic work of a node for rooms. An error in one room is logged, and does not affect the others."""

    def __init__(self, rooms: RoomRegistry) -> None:
        self._rooms = rooms
        self._store = rooms.store
        self._guard = rooms.background.guard

    async def run(self) -> None:
        """Do the periodic work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for interval, work in (
                (_SWEEP_INTERVAL, self.sweep),
                (POLL_INTERVAL, self.poll),
                (REFRESH_INTERVAL, self.report_presence),
                (REFRESH_INTERVAL, self.refresh),
                (REFRESH_INTERVAL, self._store.check_settings),
                (CLOCK_SYNC_INTERVAL, self._rooms.clock.sync),
                (REPAIR_INTERVAL, self.repair),
            ):
                group.create_task(self._repeat(interval, work))

    async def _repeat(self, interval: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self._rooms.timers.sleep(interval)
            await self._guard(work())

    async def sweep(self) -> None:
        """Tick rooms whose tick is due, including rooms that no node follows."""
        for room in await self._store.index.due(self._rooms.clock.now(), _ROOMS_PER_READ):
            await self._guard(self._sweep_room(room))

    async def _sweep_room(self, room: str) -> None:
        """Tick an overdue room. Schedule its next tick even if this one fails, so that other rooms get their turn."""
        now = self._rooms.clock.now()
        next_tick = now + _POSTPONED
        try:
            race = await self._rooms.tick(room)
            if race is not None:
                progress = await self._store.load_progress(race) if race.is_hidden else {}
                if due := next_due(race, progress):
                    next_tick = max(due, now + _EARLY)
        finally:
            await self._store.index.reschedule(room, now, next_tick)

    async def poll(self) -> None:
        """Read and apply the missed events of all followed rooms."""
        for hub in list(self._rooms.hubs.values()):
            await self._guard(hub.pull())  # guarded one by one, because part of a cluster may be unavailable

    async def report_presence(self) -> None:
        """Record that this node's players are still connected. Close connections that are not their players' newest."""
        seated = [(hub, seat) for hub in self._rooms.hubs.values() for seat, _ in hub.audience.seats.values()]
        for first in range(0, len(seated), _SEATS_PER_WRITE):
            await self._guard(self._report_presence(seated[first : first + _SEATS_PER_WRITE]))

    async def _report_presence(self, seated: Sequence[tuple[Hub, SeatedPlayer]]) -> None:
        newest = await self._store.record_present([(hub.room, seat.player, seat.generation) for hub, seat in seated])
        for (hub, seat), generation in zip(seated, newest, strict=True):
            if generation is None:  # unknown, because a part of a cluster is unavailable
                continue
            if 0 <= generation < seat.generation:
                hub.audience.force_resync(seat)
            hub.audience.fence(seat.player, generation)

    async def refresh(self) -> None:
        """Refresh all followed rooms, and publish how many spectators they have on this node."""
        for hub in list(self._rooms.hubs.values()):
            await self._guard(self._refresh_room(hub))

    async def _refresh_room(self, hub: Hub) -> None:
        if hub.audience.spectators or hub.model.spectator_count:
            await self._rooms.publish_spectator_count(hub)
        await hub.refresh()

    async def repair(self) -> None:
        """Repair the indexes of the rooms, and count the rooms for the metrics.

        Also store the schema version and the receipt key again, in case Redis has lost them.
        """
        await self._store.record_schema()
        await self._store.load_receipt_key()
        rooms = await self._store.index.newest(self._rooms.limits.rooms)
        counted = Counter[tuple[str, str]]()
        for start in range(0, len(rooms), _ROOMS_PER_READ):
            codes = rooms[start : start + _ROOMS_PER_READ]
            for room, race in zip(codes, await self._store.load_races(codes), strict=True):
                if race is None:
                    await self._store.index.remove_if_gone(room)
                else:
                    counted[race.game.name, race.phase] += 1
                    await self._store.index.update(race)
        for game, phase in product(GAMES, PHASES):
            self._rooms.metrics.rooms.labels(game, phase).set(counted[game, phase])
