"""The bots that a player adds to rooms: child processes that end with the client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from itertools import chain, count
from random import SystemRandom
from typing import Final, NamedTuple

from samedeal_client.local.bot_names import BOT_NAMES
from samedeal_client.local.local_processes import BotPlan, local_bot
from samedeal_link.connection.address import ServerAddress
from samedeal_link.solving.bot_levels import Level

DEFAULT_PACE: Final = 10.0
"""Number of moves a minute that need a thought, about as many as a person makes."""


class _RunningBot(NamedTuple):
    """A bot: the room to which the bot was added, the bot's plan, and the context that ends the bot's process."""

    room: str
    plan: BotPlan
    process: AsyncExitStack


class LocalBots:
    """The bots of one player on one server. They join each rematch until they are removed."""

    def __init__(self, address: ServerAddress) -> None:
        self._address = address
        self._running: dict[str, _RunningBot] = {}
        self._adding = asyncio.Lock()
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bots, in the order in which they were added."""
        return tuple(self._running)

    def names_in(self, room: str) -> tuple[str, ...]:
        """Return the names of the bots in a room, including bots that have not joined the room yet."""
        return tuple(name for name, bot in self._running.items() if bot.room == room)

    def move_to_rematch(self, room: str, rematch: str) -> None:
        """Record that the bots of a room now belong to the room ``rematch``.

        Their processes join the rematch by themselves.
        """
        for name in self.names_in(room):
            self._running[name] = self._running[name]._replace(room=rematch)

    async def add(
        self,
        room: str,
        level: Level,
        passphrase: str,
        *,
        taken: Collection[str],
        warn: Callable[[str], None],
        pace: float = DEFAULT_PACE,
    ) -> str:
        """Start a bot that joins a room. Return the bot's name, which is neither in ``taken`` nor another bot's name.

        ``warn`` is called with a sentence if the bot fails, for example because it can't join. Raise OSError if no
        process can be started.
        """
        async with self._adding:
            plan = BotPlan(self._free_name((*taken, *self._running)), level, pace)
            await self._start(room, plan, passphrase, warn)
        return plan.name

    async def move(self, room: str, new_room: str, passphrase: str, warn: Callable[[str], None]) -> None:
        """End the bots of a room, and start bots with the same names and levels that join ``new_room``.

        ``warn`` is called as in ``add``. Raise OSError if no process can be started.
        """
        plans = [self._running[name].plan for name in self.names_in(room)]
        await asyncio.gather(*(self.remove(plan.name) for plan in plans))
        for plan in plans:
            async with self._adding:
                await self._start(new_room, plan, passphrase, warn)

    async def _start(self, room: str, plan: BotPlan, passphrase: str, warn: Callable[[str], None]) -> None:
        process = AsyncExitStack()
        await process.enter_async_context(local_bot(self._address, room, plan, passphrase, warn, self._end))
        self._running[plan.name] = _RunningBot(room, plan, process)

    def _free_name(self, taken: Collection[str]) -> str:
        """Return a name of ``BOT_NAMES`` that is not in ``taken``. If all are taken, return one with a number."""
        names = SystemRandom().sample(BOT_NAMES, len(BOT_NAMES))
        numbered = (f"{name}{number}" for number in count(2) for name in names)
        used = {name.casefold() for name in taken}
        return next(name for name in chain(names, numbered) if name not in used)

    async def remove(self, name: str) -> None:
        """End a bot and wait for its process. Before the race, this frees the bot's seat."""
        if ending := self._end(name):
            await asyncio.shield(ending)

    async def remove_all(self) -> None:
        """End all bots and wait until their processes have ended.

        Also wait for the processes of bots that were removed earlier.
        """
        async with self._adding:
            for name in self.names:
                self._end(name)
            await asyncio.gather(*self._ending)

    def _end(self, name: str) -> asyncio.Task[None] | None:
        """Start a task that ends a bot, and return the task. Return None if there is no such bot."""
        bot = self._running.pop(name, None)
        if bot is None:
            return None
        task = asyncio.create_task(bot.process.aclose())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task
