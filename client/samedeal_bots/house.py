"""The house: declared bots of a server that keep people company who would race alone."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Final

from samedeal.errors import RequestRefused
from samedeal.names import HOUSE_NAMES
from samedeal.protocol.messages import RoomState
from samedeal.protocol_codes import RefusalCode
from samedeal_bots.bot import Bot
from samedeal_link.connection.address import ServerAddress, home_path
from samedeal_link.connection.dial import CannotConnect
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.first_completed import first_of
from samedeal_link.session.room_client import RoomClient
from samedeal_link.solving.bot_levels import LEVELS, Level

LOOK_INTERVAL: Final = 1.0
"""Interval, in seconds, at which the house looks for rooms."""

RETRY_INTERVAL: Final = 3.0
"""Interval, in seconds, at which the house tries to connect, and to become the only house of its server."""

_FEW: Final = 5
"""Number of times that the house is refused in a row until it says so. It may have started before its server."""

_LEAVE_TIMEOUT: Final = 3.0


COMPANY: Final[tuple[Level, ...]] = ("careful", "greedy", "patient")
"""The levels of the bots that go to a room together."""

_EASY_RACES: Final = 3
"""Number of races of a player in which the strongest bots play like the slowest ones."""

_MOST_KNOWN: Final = 10_000
"""Maximum number of players whose races are counted."""


@dataclass(eq=False)
class _Visit:
    """The way of a bot of the house to a room and its rematches. ``bot`` is None until it has a seat."""

    room: str
    bot: Bot | None = None


@dataclass(eq=False, repr=False)
class House:
    """Sends bots to the rooms of a server that wait for them.

    ``key`` is the key of the house, and ``bots`` how many go to somebody who is alone; who has asked for bots gets as many
    as there are seats. ``report`` is called with what the operator should know.
    """

    _address: ServerAddress
    _key: str
    _bots: int
    report: Callable[[str], None]
    _rng: Random
    _name: str = field(default_factory=lambda: secrets.token_hex(8))
    _visits: dict[asyncio.Task[None], _Visit] = field(default_factory=dict)
    _known: dict[str, set[str]] = field(default_factory=dict)
    _failures: int = 0

    async def run(self) -> None:
        """Look for rooms until cancelled. Then all bots leave."""
        try:
            while True:
                try:
                    async with self._link(HOUSE_NAMES[0]) as link:
                        lookout = RoomClient(link)
                        async with first_of(self._look(lookout), _follow(lookout)) as (looking, following):
                            (looking if looking.done() else following).result()
                except (CannotConnect, RequestRefused) as error:
                    self._complain(error)
                await asyncio.sleep(RETRY_INTERVAL)
        finally:
            self._go_home()
            await asyncio.gather(*self._visits, return_exceptions=True)

    def _go_home(self) -> None:
        for visit in [*self._visits]:
            visit.cancel()

    async def _look(self, lookout: RoomClient) -> None:
        """Send bots wherever they are wanted, as long as no other program runs the house."""
        while True:
            try:
                lines = await lookout.house_rooms(self._name)
            except RequestRefused as refused:
                if refused.code == RefusalCode.SERVER_FULL:
                    self._go_home()
                self._complain(refused)
                await asyncio.sleep(RETRY_INTERVAL)
                continue
            for line in lines:
                if line.room not in self._expected:
                    wanted = self._bots if line.starts else line.seats - line.players  # or the race would not start
                    names = self._rng.sample(HOUSE_NAMES, wanted)
                    for name, level in zip(names, COMPANY, strict=False):
                        self._send(line.room, name, level)
            self._failures = 0
            await asyncio.sleep(LOOK_INTERVAL)

    def _complain(self, error: Exception) -> None:
        """Report why the house cannot work, once it has tried a few times."""
        self._failures += 1
        if self._failures == _FEW:
            self.report(str(error))

    @property
    def _expected(self) -> set[str]:
        """The rooms in which bots of the house are, or to which they are on their way."""
        visits = self._visits.values()
        bots = [visit.bot for visit in visits if visit.bot is not None]
        return {visit.room for visit in visits} | {room for bot in bots for room in (bot.room, bot.next_room)}

    def _send(self, room: str, name: str, level: Level) -> None:
        visit = _Visit(room)
        task = asyncio.create_task(self._make(visit, name, level))
        self._visits[task] = visit
        task.add_done_callback(self._visits.pop)

    async def _make(self, visit: _Visit, name: str, level: Level) -> None:
        """Send a bot to a room, and from there to its rematches, until nobody is left."""
        with suppress(CannotConnect, RequestRefused):  # others have come, or the race has begun
            async with self._link(name, home_path(visit.room)) as link:
                rooms = RoomClient(link)
                await rooms.join(visit.room)
                rng = Random(self._rng.getrandbits(64))  # noqa: S311 (a bot's choices are not secret)
                choice = partial(self._level, level)
                visit.bot = Bot(rooms, choice, 0, rng, stay=True, report=lambda _: None, is_house=True)
                try:
                    await visit.bot.run()
                finally:
                    with suppress(RequestRefused, TimeoutError):
                        async with asyncio.timeout(_LEAVE_TIMEOUT):
                            await rooms.leave()

    def _level(self, usual: Level, room: RoomState) -> Level:
        """Return the level of a bot in a race, which is not the strongest if this is one of the first races of a person."""
        people = [seat.player for seat in room.players if not seat.bot]
        for player in people:
            self._known.setdefault(player, set()).add(room.room)
        is_easy = any(len(self._known[player]) <= _EASY_RACES for player in people)
        for player in [*self._known][:-_MOST_KNOWN]:
            del self._known[player]
        return LEVELS[0] if is_easy and usual == LEVELS[-1] else usual

    def _link(self, name: str, home: str = "") -> Link:
        return Link(self._address, name, MemorySessions(), bot=True, house=self._key, home=home)


async def _follow(rooms: RoomClient) -> None:
    """Process events until the link has ended."""
    async for _ in rooms:
        pass
