"""Bots that a player sends into a room: child processes of the client, gone when it is."""

from __future__ import annotations

from collections.abc import Callable, Container
from contextlib import AsyncExitStack
from random import Random, SystemRandom
from typing import Final

from samedeal_client.bots.local import BotPlan, local_bots, plan_bots
from samedeal_client.bots.strategy import Level
from samedeal_client.net.address import Address

PACE: Final = 20.0
"""Moves a minute: about what somebody makes who knows the game."""


class Crew:
    """The bots of one player at one server. They follow to rematches until they are dismissed."""

    def __init__(self, address: Address, rng: Random | None = None) -> None:
        self._address = address
        self._rng = rng or SystemRandom()
        self._bots = AsyncExitStack()

    async def send(
        self, room: str, level: Level, passphrase: str, *, taken: Container[str], warn: Callable[[str], None]
    ) -> str:
        """Send a bot into a room: its name, none of the ``taken`` ones.

        ``warn`` is told if it could not come in, or is gone again. Raises OSError when no process can be started.
        """
        plan = self._plan(level, taken)
        bots = local_bots(self._address, room, [plan], stay=True, warn=warn, passphrase=passphrase)
        await self._bots.enter_async_context(bots)
        return plan.name

    def _plan(self, level: Level, taken: Container[str]) -> BotPlan:
        """One of the names that nobody has; a room has fewer seats than there are names."""
        plans = plan_bots(15, level, PACE, self._rng)
        return next((plan for plan in plans if plan.name not in taken), plans[0])

    async def dismiss(self) -> None:
        """End them all, and wait until they are gone."""
        await self._bots.aclose()
