"""Bots that a player sends into a room: child processes of the client, gone when it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from random import Random, SystemRandom
from typing import Final, NamedTuple

from samedeal_client.bots.bot_names import BOT_NAMES
from samedeal_client.bots.local import BotPlan, local_bots
from samedeal_client.bots.strategy import Level
from samedeal_client.net.address import Address

PACE: Final = 20.0
"""Moves a minute: about what somebody makes who knows the game."""


class _Sent(NamedTuple):
    """A bot: the room that it was sent to, and what ends it."""

    room: str
    bot: AsyncExitStack


class Crew:
    """The bots of one player at one server. They follow to rematches until they are taken out, or dismissed."""

    def __init__(self, address: Address, rng: Random | None = None) -> None:
        self._address = address
        self._rng = rng or SystemRandom()
        self._sent: dict[str, _Sent] = {}
        self._sending = asyncio.Lock()
        self._tidying: set[asyncio.Task[None]] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, in the order in which they were sent."""
        return tuple(self._sent)

    def sent_to(self, room: str) -> tuple[str, ...]:
        """The names of those that were sent to a room, or follow to it, be they there yet or not."""
        return tuple(name for name, sent in self._sent.items() if sent.room == room)

    def follow(self, room: str, following: str) -> None:
        """Those of a room follow to that of its rematch, which they do by themselves."""
        for name in self.sent_to(room):
            self._sent[name] = self._sent[name]._replace(room=following)

    async def send(
        self, room: str, level: Level, passphrase: str, *, taken: Collection[str], warn: Callable[[str], None]
    ) -> str:
        """Send a bot into a room: its name, like none of the ``taken`` ones and none of another bot.

        ``warn`` is told if it could not come in, or is gone again. Raises OSError when no process can be started.
        """
        async with self._sending:
            plan = BotPlan(self._name(level, (*taken, *self._sent)), level, PACE)
            bot = AsyncExitStack()
            bots = local_bots(
                self._address, room, [plan], stay=True, warn=warn, ended=self._forget, passphrase=passphrase
            )
            await bot.enter_async_context(bots)
            self._sent[plan.name] = _Sent(room, bot)
        return plan.name

    def _forget(self, name: str) -> None:
        """Tidy up after a bot that has ended by itself."""
        if name in self._sent:
            task = asyncio.create_task(self.take_out(name))
            self._tidying.add(task)
            task.add_done_callback(self._tidying.discard)

    def _name(self, level: Level, taken: Collection[str]) -> str:
        """A name that nobody has, whatever level stands behind it; in a crowd of such names one that has another level."""
        names = self._rng.sample(BOT_NAMES, len(BOT_NAMES))
        first = {name.partition(" ")[0].casefold() for name in taken}
        fresh = [name for name in names if name not in first]
        shared = [name for name in names if f"{name} ({level})" not in taken]
        return f"{(fresh or shared or names)[0]} ({level})"

    async def take_out(self, name: str) -> None:
        """End one of them, and wait until it is gone; its seat in a room that has not begun is free then."""
        sent = self._sent.pop(name, None)
        if sent is not None:
            await sent.bot.aclose()

    async def dismiss(self) -> None:
        """End them all, and wait until they are gone."""
        async with self._sending:
            await asyncio.gather(*(self.take_out(name) for name in self.names), *self._tidying)
