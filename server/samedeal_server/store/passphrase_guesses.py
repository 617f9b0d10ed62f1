"""Counters of the passphrases that were compared with those of rooms."""

from __future__ import annotations

from typing import Final

from samedeal_server.config.token_buckets import WINDOW
from samedeal_server.store import keys
from samedeal_server.store.command_executor import Executor
from samedeal_server.store.redis_client import command
from samedeal_server.store.scripts import Script

_COUNT_GUESS: Final = Script("count_guess")


class PassphraseGuesses:
    """The counters, which all nodes share. Every method raises StoreUnavailable."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    async def add(self, room: str, network: str, window: int, network_limit: int, room_limit: int) -> bool:
        """Count a guess in a window of time. Return False, and count nothing, if there were too many before.

        The first guess of a network in a window is always counted.
        """
        (counted,) = await self._executor.execute(
            _COUNT_GUESS(
                [keys.guesses(room, window, network), keys.guesses(room, window)], network_limit, room_limit, 2 * WINDOW
            )
        )
        return bool(counted)

    async def remove(self, room: str, network: str, window: int) -> None:
        """Subtract a correct guess from the counters."""
        await self._executor.execute(
            command("DECR", keys.guesses(room, window, network)), command("DECR", keys.guesses(room, window))
        )
