"""Three indexes of all rooms: by creation time, in the order of lists, and by the time of their next tick."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from samedeal.race.due_times import due_at
from samedeal.race.values import Race
from samedeal_server.store import keys
from samedeal_server.store.command_executor import StorePart
from samedeal_server.store.redis_client import RedisCommand, command
from samedeal_server.store.scripts import Script

_RESCHEDULE_TICK: Final = Script("reschedule_tick")


_SERIES_LIFETIME: Final = 8 * 86_400
"""Lifetime, in seconds, of the link to the newest room of a standing series, which the repair of the indexes renews."""

EMPTY: Final = 10**13
"""What the score of a room without players is lower by, in the index for lists. All times of opening are below it."""


class ListedRoom(NamedTuple):
    """A room as the index for lists has it.

    ``origin`` is that of the race. ``since`` is the time, in milliseconds, at which the room was opened, or is to start.
    ``empty`` says that the room has no players.
    """

    origin: str
    room: str
    since: int
    empty: bool


class RoomIndex(StorePart):
    """Sorted sets of room codes: by creation time, in the order of lists, and by the time of the room's next tick.

    They may name rooms that no longer exist.
    """

    async def update(self, race: Race, before: Race | None = None) -> None:
        """Add the room of a race to the indexes. Remove the room if the race is closed.

        If ``before``, the race before a change, has the same place in the indexes of rooms, only the tick is scheduled.
        Lists have only public rooms. If an earlier tick of the room is already scheduled, keep that tick. Another node may
        have scheduled it for a newer state of the race.
        """
        if race.phase == "closed":
            await self._executor.execute(
                command("ZREM", keys.ROOMS, race.room),
                command("ZREM", keys.LISTED, _member(race.origin, race.room)),
                command("ZREM", keys.DUE, race.room),
                *self._windows(race),
            )
        else:
            commands = [command("ZADD", keys.DUE, "LT", due_at(race), race.room), *self._windows(race)]
            if race.opens and not race.next:
                commands.append(command("SET", keys.series(race.home or race.room), race.room, "EX", _SERIES_LIFETIME))
            if before is None or _since(before) != _since(race):
                commands.append(command("ZADD", keys.ROOMS, race.created, race.room))
                if race.is_for_everybody:
                    commands.append(command("ZADD", keys.LISTED, _since(race), _member(race.origin, race.room)))
            await self._executor.execute(*commands)

    @staticmethod
    def _windows(race: Race) -> list[RedisCommand]:
        if not race.window:
            return []
        member = _member(race.origin, race.room)
        is_over = race.phase in ("finished", "closed")
        return [command("ZREM", keys.WINDOWS, member) if is_over else command("ZADD", keys.WINDOWS, race.ends, member)]

    async def windows(self, now: int) -> list[str]:
        """Return the origin of each room with a window that is not over."""
        _, found = await self._executor.execute(
            command("ZREMRANGEBYSCORE", keys.WINDOWS, "-inf", now), command("ZRANGE", keys.WINDOWS, 0, -1)
        )
        return [member.decode().partition(" ")[0] for member in found]

    async def series_room(self, series: str) -> str:
        """Return the room of the newest race of a standing series, or an empty text. It may have followers."""
        (room,) = await self._executor.execute(command("GET", keys.series(series)))
        return room.decode() if room else ""

    async def reschedule(self, room: str, now: int, next_tick: int) -> None:
        """Set the next tick of a room, unless an earlier one is scheduled that was not overdue at the time ``now``.

        Both times are in milliseconds since 1970.
        """
        await self._executor.execute(_RESCHEDULE_TICK([keys.DUE], room, now, next_tick))

    async def remove_if_gone(self, room: str) -> None:
        """Remove a room from the indexes if it no longer exists."""
        (exists,) = await self._executor.execute(command("EXISTS", keys.meta(room)))
        if not exists:
            await self._executor.execute(command("ZREM", keys.ROOMS, room), command("ZREM", keys.DUE, room))

    async def count(self) -> int:
        """Return the approximate number of rooms."""
        (count,) = await self._executor.execute(command("ZCARD", keys.ROOMS))
        return int(count)

    async def newest(self, limit: int) -> list[str]:
        """Return the codes of the newest rooms, newest first."""
        (found,) = await self._executor.execute(command("ZREVRANGE", keys.ROOMS, 0, limit - 1))
        return [room.decode() for room in found]

    async def listed(self, limit: int) -> list[ListedRoom]:
        """Return the first ``limit`` rooms of the index for lists: those with players first, the newest ones first."""
        (found,) = await self._executor.execute(command("ZREVRANGE", keys.LISTED, 0, limit - 1, "WITHSCORES"))
        rooms = []
        for member, score in found:
            origin, _, room = member.decode().partition(" ")
            since, empty = int(float(score)), float(score) < 0
            rooms.append(ListedRoom(origin, room, since + EMPTY * empty, empty))
        return rooms

    async def unlist(self, gone: Iterable[ListedRoom]) -> None:
        """Remove rooms that no longer exist from the index for lists."""
        if members := [_member(line.origin, line.room) for line in gone]:
            await self._executor.execute(command("ZREM", keys.LISTED, *members))

    async def due(self, now: int, limit: int) -> list[str]:
        """Return the codes of at most ``limit`` rooms whose tick is due at ``now``, longest overdue first."""
        (found,) = await self._executor.execute(command("ZRANGEBYSCORE", keys.DUE, "-inf", now, "LIMIT", 0, limit))
        return [room.decode() for room in found]


def _since(race: Race) -> int:
    """Return the score of a room in the index for lists."""
    return race.created if race.racers else max(race.created, race.options.start_at) - EMPTY


def _member(origin: str, room: str) -> str:
    return f"{origin} {room}"
