"""The tables of tides, and of all tides in a game on a day: reading them, and pushing their changes to those who look."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Final

from samedeal.errors import SamedealError
from samedeal.games import game_named
from samedeal.protocol.messages import FollowTable, Standing, TideLine, TideTable
from samedeal.record import Record
from samedeal.tides import day_of, ordered, results_of, shown_to
from samedeal_server.loop_timers import Timers
from samedeal_server.races import refusals
from samedeal_server.races.race import Race, standings
from samedeal_server.rooms.background_tasks import BackgroundTasks
from samedeal_server.rooms.player_connection import PlayerConnection
from samedeal_server.store.store import Store
from samedeal_server.store.tide_store import LIFETIME

FOLLOWED: Final = 60.0
"""Time, in seconds, for which a client that has asked for a table gets its changes. Then it has to ask again."""

INTERVAL: Final = 2.0
"""Time, in seconds, between two looks at a table that clients follow."""

DAY_INTERVAL: Final = 10.0
"""The same for the table of a day, which has more lines and changes less."""

_ROOMS_PER_READ: Final = 32


def standing_lines(race: Race, lines: Iterable[Standing], *, racing: bool = False) -> tuple[TideLine, ...]:
    """Return standings of a race as lines of a table without places."""
    return tuple(
        TideLine(
            player=line.player,
            name=line.name,
            room=race.room,
            foundation_cards=line.foundation_cards,
            time=line.time,
            deal=race.deal_room,
            bot=line.bot,
            racing=racing,
        )
        for line in lines
    )


async def tide_table(store: Store, game: str, tide: int, *, day: bool = False) -> tuple[TideLine, ...]:
    """Return the table of a tide, or of all tides in its game on its day, also of races that are under way.

    ``tide`` is when the tide starts. Raise StoreUnavailable if Redis fails.
    """
    starts = await store.tides.of_day(game, day_of(tide)) if day else [tide]
    return ordered([line for start in starts for line in await _results(store, game, start)])


async def _results(store: Store, game: str, tide: int) -> list[TideLine]:
    found = await store.tides.results(game, tide)
    lines = [line for results in found.values() for line in results]
    unfinished = [room for room, results in found.items() if not results]
    for at in range(0, len(unfinished), _ROOMS_PER_READ):
        for race in await store.load_races(unfinished[at : at + _ROOMS_PER_READ]):
            if race is not None and race.tide == tide and race.phase in ("racing", "finished"):
                now = race.standings or standings(race, await store.load_progress(race))
                lines += standing_lines(race, now, racing=race.phase == "racing")
    return lines


async def rebuild(store: Store, most: int) -> None:
    """Derive the results of tides from the newest records again, at most ``most``, where Redis has lost them."""
    kept: dict[tuple[str, int], set[str]] = {}
    for line in await store.records.newest(most):
        tide = line.game, line.tide
        if not line.tide:
            continue
        if tide not in kept:
            kept[tide] = {room for room, results in (await store.tides.results(*tide)).items() if results}
        access = None if line.room in kept[tide] else await store.records.access(line.race)
        if access is not None:
            text = await store.records.text(line.race)
            with suppress(SamedealError):  # it has just been deleted, or is of another version
                record = await asyncio.to_thread(Record.read, text)
                await store.tides.keep(*tide, line.room, results_of(record, access.players))


class _Follower:
    """A client that follows a table: until when, of which table it was sent lines last, and these lines."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.table: tuple[TideLine, ...] = ()
        self.known: list[TideLine] = []


_Key = tuple[str, int, bool]


class TideTables:
    """The tables that clients of this node follow. A table is read only while somebody follows it."""

    def __init__(self, store: Store, background: BackgroundTasks, timers: Timers) -> None:
        self._store = store
        self._background = background
        self._timers = timers
        self.tables: dict[_Key, dict[PlayerConnection, _Follower]] = {}

    async def follow(self, connection: PlayerConnection, message: FollowTable) -> None:
        """Send a client the table of a tide or a day, and its changes for a minute. It follows no other table then.

        Raise SamedealError if there is no such game, or if no tide can have started at this time.
        """
        game_named(message.game)
        now = await self._store.now()
        if abs(message.tide - now) > 1000 * LIFETIME:
            raise refusals.no_tide()
        for followers in self.tables.values():
            followers.pop(connection, None)
        key = message.game, message.tide, message.day
        if key not in self.tables:
            self.tables[key] = {}
            self._background.spawn(partial(self._push_all, key))
        self.tables[key][connection] = _Follower(self._timers.monotonic() + FOLLOWED)

    async def _push_all(self, key: _Key) -> None:
        followers = self.tables[key]
        try:
            while followers:
                await self._background.guard(self._push(key, followers))
                await self._timers.sleep(DAY_INTERVAL if key[2] else INTERVAL)
        finally:
            del self.tables[key]

    async def _push(self, key: _Key, followers: dict[PlayerConnection, _Follower]) -> None:
        game, tide, day = key
        table = await tide_table(self._store, game, tide, day=day)
        bots = sum(line.bot for line in table)
        for connection, follower in list(followers.items()):
            if connection.closing or follower.until < self._timers.monotonic():
                del followers[connection]
                continue
            if table == follower.table:
                continue
            follower.table, lines = table, shown_to(table, connection.player)
            if lines == follower.known:
                continue
            new = tuple(line for line in lines if line not in follower.known)
            follower.known = lines
            shown = tuple(line.player for line in lines)
            people = len(table) - bots
            connection.send(TideTable(game=game, tide=tide, day=day, people=people, bots=bots, shown=shown, lines=new))
