"""Earlier races whose deals can be dealt again, and what is remembered of the players."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from samedeal.protocol.codec import pack
from samedeal_server.races.earlier import EarlierRace, PlayerPast
from samedeal_server.store import keys
from samedeal_server.store.command_executor import StorePart
from samedeal_server.store.redis_client import command
from samedeal_server.store.schema import readable
from samedeal_server.store.scripts import REPLACE_STRING

_MOST: Final = 64
"""Maximum number of earlier races of a game."""

PAST_LIFETIME: Final = 30 * 86_400
"""Time, in seconds, for which they are kept after the last change."""


class EarlierRaces(StorePart):
    """The earlier races in Redis."""

    async def keep(self, game: str, race_id: str, race: EarlierRace) -> None:
        """Add a race to those of a game, unless it is among them. The oldest one goes if there are too many."""
        key = keys.earlier(game)
        _, _, kept = await self._executor.execute(
            command("HSET", key, race_id, pack(race)),
            command("EXPIRE", key, PAST_LIFETIME),
            command("HKEYS", key),
        )
        if old := sorted(kept, key=_start)[:-_MOST]:
            await self._executor.execute(command("HDEL", key, *old))

    async def of_game(self, game: str) -> dict[str, EarlierRace]:
        """Return the earlier races of a game by their ids, the newest one first."""
        (found,) = await self._executor.execute(command("HGETALL", keys.earlier(game)))
        newest_first = sorted(found, key=_start, reverse=True)
        return {id_.decode(): race for id_ in newest_first for race in readable([found[id_]], EarlierRace)}

    async def past(self, player: str) -> PlayerPast:
        """Return what is remembered of a player."""
        return _past(await self._packed_past(player))

    async def change_past(self, player: str, change: Callable[[PlayerPast], PlayerPast]) -> None:
        """Remember something else of a player. If another node does so at the same time, both changes are made."""
        while True:
            packed = await self._packed_past(player)
            before = _past(packed)
            after = change(before)
            if after == before:
                return
            replacing = REPLACE_STRING([keys.past(player)], packed, pack(after), 1000 * PAST_LIFETIME)
            (replaced,) = await self._executor.execute(replacing)
            if replaced:
                return

    async def _packed_past(self, player: str) -> bytes:
        (found,) = await self._executor.execute(command("GET", keys.past(player)))
        return found or b""


def _past(packed: bytes) -> PlayerPast:
    return next(iter(readable([packed], PlayerPast)), PlayerPast())


def _start(race_id: bytes) -> bytes:
    """Return the time in the id of a race."""
    return race_id.rpartition(b".")[2]
