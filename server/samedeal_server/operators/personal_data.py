"""What is stored about one player: finding it, exporting it, and removing it (deploy/PRIVACY.md)."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Collection
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from samedeal.games import GAMES
from samedeal.names import removed_name
from samedeal.race.commands import LeaveCommand, RenameCommand
from samedeal.race.room_state import own_race
from samedeal.race.transitions import apply
from samedeal.race.values import Race
from samedeal.sentences import refused
from samedeal_server.races.server_bans import PLAYER
from samedeal_server.store import keys
from samedeal_server.store.news import NewsId
from samedeal_server.store.node_registry import Nodes
from samedeal_server.store.redis_client import command
from samedeal_server.store.store import Store

_BATCH: Final = 200
_ALL: Final = NewsId(0, 0)
_RECORDED: Final = re.compile(r"^player: \d+ (.+)(?:\n.+)*", re.MULTILINE)
"""The lines of a record about one player. They have the name of nobody else."""


class PersonalData:
    """What is stored about players. Every method raises StoreUnavailable if Redis fails."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._nodes = Nodes(store)

    async def find(self, player: str) -> str:
        """Return a player's id. ``player`` is the id, or a name that one player has or is shown by, in a room or a record.

        Raise RequestRefused if no player has this name, or several have it.
        """
        if PLAYER.fullmatch(player):
            return player
        name, found = player.strip().casefold(), set[str]()
        async for race in self._races():
            names = [(racer.player, racer.name, racer.shown or racer.name) for racer in race.racers]
            found |= {player for player, *each in names if name in map(str.casefold, each)}
        async for _, ids, blocks in self._records():
            found |= {player for player, block in zip(ids, blocks, strict=True) if block[1].casefold() == name}
        if len(found) > 1:
            raise refused("many_players", player=player, ids=", ".join(sorted(found)[:10]))
        if not found:
            raise refused("unknown_player", player=player)
        return found.pop()

    async def export(self, player: str) -> bytes:
        """Return everything that is stored about a player as JSON, without names of others and without seeds.

        What the player does in a race is left out until the race is over, because whoever asks may race too. Raise
        RequestRefused if nothing is stored.
        """
        store = self._store
        found: dict[str, Any] = {
            "last_connection": await self._nodes.whereabouts([player]),
            "past": await store.earlier.past(player),
            "bans": [ban for ban in await self._nodes.bans(await store.now()) if ban.target == player],
            "rooms": [
                await self._seat(race, player)
                async for race in self._races()
                if race.racer(player) or any(line.player == player for line in race.table)
            ],
            "records": [
                {"race": race, "lines": blocks[ids.index(player)][0].splitlines()}
                async for race, ids, blocks in self._records()
                if player in ids
            ],
            "news": [
                line for _, news in await store.news.after(_ALL) for line in news.standings if line.player == player
            ],
            "reported": [each for _, each in await store.reports.after(_ALL) if each.player == player],
            "sessions": len([key async for key in self._sessions({player})]),
            "removed": bool(await store.records.removed([player])),
        }
        found["reported"] = [{"time": each.time, "room": each.room, "name": each.name} for each in found["reported"]]
        if found["past"] == type(found["past"])():
            del found["past"]
        if not any(found.values()):
            raise refused("unknown_player", player=player)
        return msgspec.json.format(msgspec.json.encode({"player": player} | found), indent=1)

    async def _seat(self, race: Race, player: str) -> dict[str, Any]:
        table = [line for line in race.table if line.player == player]
        if not race.result.finished_at:
            seat = own_race(race, "").racer(player)
            return {"room": race.room, "seat": seat and replace(seat, share=b""), "table": table}
        log = [entry async for part in self._store.log_parts(race.room, player) for entry in part]
        progress = (await self._store.load_progress(race)).get(player)
        actions = [(entry.committed_at, entry.action) for entry in log]
        own = {"room": race.room, "seat": race.racer(player), "table": table}
        return own | {"progress": progress, "actions": actions}

    async def forget(self, players: Collection[str]) -> int:
        """Remove what is stored about players, and their names wherever they are bound to hashes.

        Return the number of records that have changed. What is repeated changes nothing, as after a restore.
        """
        store, execute = self._store, self._store.executor.execute
        if not players:
            return 0
        now = await store.now()
        await execute(*(command("HSETNX", keys.REMOVED, player, now) for player in players), durable=True)
        sessions = [key async for key in self._sessions(players)]
        kept = [key(player) for player in players for key in (keys.past, keys.player)]
        await execute(*(command("DEL", key) for key in (*sessions, *kept)))
        async for race in self._races():  # after the sessions, so that nobody comes back to a seat
            for racer in race.racers:
                if racer.player in players:
                    await self._remove(race.room, racer.player)
        for game in GAMES:
            (races,) = await execute(command("HGETALL", keys.earlier(game)))
            if gone := [race for race, packed in races.items() if any(player.encode() in packed for player in players)]:
                await execute(command("HDEL", keys.earlier(game), *gone))
        told = [
            id_ for id_, news in await store.news.after(_ALL) if {each.player for each in news.standings} & {*players}
        ]
        await store.news.remove(told)
        reports = await store.reports.after(_ALL)
        await store.reports.remove([id_ for id_, each in reports if {each.player, each.reporter} & {*players}])
        return sum(
            [
                await store.records.remove_names(race)
                for race, ids in await store.records.players()
                if {*ids} & {*players}
            ]
        )

    async def remove_again(self, removed: Collection[str]) -> None:
        """Forget the players and delete the records that were removed before a restore, or are not there yet."""
        now = await self._store.now()
        await self.forget([each for each in removed if PLAYER.fullmatch(each)])
        for each in removed:
            await self._store.records.delete(each)  # a player's id is that of no race
            await self._store.executor.execute(command("HSETNX", keys.REMOVED, each, now), durable=True)

    async def _remove(self, room: str, player: str) -> None:
        """Remove the name of a player from a room. Free the seat if the room is open, because the player can never come."""
        while snapshot := await self._store.load(room):
            racer = snapshot.race.racer(player)
            if snapshot.race.phase == "closed" or racer is None:
                return
            race, changes = apply(snapshot.race, RenameCommand(player, removed_name(racer.seat)), snapshot.now)
            if race.phase == "open":
                race, left = apply(race, LeaveCommand(player), snapshot.now)
                changes = (*changes, *left)
            if not changes or await self._store.compare_and_set(snapshot, race, changes, ""):
                return

    async def _races(self) -> AsyncIterator[Race]:
        rooms = await self._store.index.newest(await self._store.index.count())
        for first in range(0, len(rooms), _BATCH):
            for race in await self._store.load_races(rooms[first : first + _BATCH]):
                if race is not None:
                    yield race

    async def _records(self) -> AsyncIterator[tuple[str, list[str], list[re.Match[str]]]]:
        """Yield the id of each record, those of its players, and their lines, both in the order of the seats."""
        for race, ids in await self._store.records.players():
            blocks = list(_RECORDED.finditer((await self._store.records.text(race)).decode()))
            if len(blocks) == len(ids):  # otherwise it has just expired
                yield race, ids, blocks

    async def _sessions(self, players: Collection[str]) -> AsyncIterator[str]:
        wanted = {player.encode() for player in players}
        for pattern in (keys.session("*"), keys.guest("*"), keys.moving("*")):
            found = [key.decode() async for key in self._store.executor.scan(pattern)]
            for first in range(0, len(found), _BATCH):
                batch = found[first : first + _BATCH]
                values = await self._store.executor.execute(*(command("GET", key) for key in batch))
                for key, value in zip(batch, values, strict=True):
                    if value in wanted:
                        yield key
