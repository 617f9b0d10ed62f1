"""Earlier races whose deals can be dealt again, and what is remembered of the players."""

from __future__ import annotations

from typing import Final

from samedeal.protocol.codec import pack, unpack
from samedeal_server.races.earlier import EarlierRace, PlayerPast
from samedeal_server.store import keys
from samedeal_server.store.command_executor import StorePart
from samedeal_server.store.redis_client import command

_MOST: Final = 64
"""Maximum number of earlier races of a game."""

PAST_LIFETIME: Final = 30 * 86_400
"""Time, in seconds, for which they are kept after the last change."""


class EarlierRaces(StorePart):
    """The earlier races in Redis."""

    async def keep(self, game: str, race: EarlierRace) -> None:
        """Add a race to those of a game. The oldest one goes if there are too many."""
        key = keys.earlier(game)
        await self._executor.execute(
            command("LPUSH", key, pack(race)),
            command("LTRIM", key, 0, _MOST - 1),
            command("EXPIRE", key, PAST_LIFETIME),
        )

    async def of_game(self, game: str) -> list[EarlierRace]:
        """Return the earlier races of a game, the newest one first."""
        (found,) = await self._executor.execute(command("LRANGE", keys.earlier(game), 0, _MOST - 1))
        return [unpack(data, EarlierRace) for data in found]

    async def past(self, player: str) -> PlayerPast:
        """Return what is remembered of a player."""
        (found,) = await self._executor.execute(command("GET", keys.past(player)))
        return unpack(found, PlayerPast) if found else PlayerPast()

    async def set_past(self, player: str, past: PlayerPast) -> None:
        """Remember something else of a player."""
        await self._executor.execute(command("SET", keys.past(player), pack(past), "EX", PAST_LIFETIME))
