"""Counters of the passphrases that players have tried."""

from __future__ import annotations

from typing import Final

from samedeal_server.config.token_buckets import WINDOW
from samedeal_server.store import keys
from samedeal_server.store.command_executor import StorePart
from samedeal_server.store.redis_client import command
from samedeal_server.store.scripts import Script

_COUNT_GUESS: Final = Script("count_guess")


class PassphraseGuesses(StorePart):
    """The counts of tried passphrases. All nodes share them."""

    async def add(self, room: str, network: str, window: int, network_limit: int, room_limit: int) -> bool:
        """Count a guess from a network in a time window. If a limit has been reached, count nothing and return False.

        ``room_limit`` applies to the guesses from all networks together. A network's first guess in a window is exempt
        from ``room_limit``, so that other networks cannot lock it out.
        """
        (counted,) = await self._executor.execute(
            _COUNT_GUESS(
                [keys.guesses(room, window, network), keys.guesses(room, window)], network_limit, room_limit, 2 * WINDOW
            )
        )
        return bool(counted)

    async def remove(self, room: str, network: str, window: int) -> None:
        """Undo the counting of a guess, because the guess was correct."""
        await self._executor.execute(
            command("DECR", keys.guesses(room, window, network)), command("DECR", keys.guesses(room, window))
        )
