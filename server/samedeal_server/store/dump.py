"""Dumping and restoring of all keys except those that running nodes write anew."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final

from msgspec import Struct

from samedeal_server.errors import StoreUnavailable
from samedeal_server.store import keys
from samedeal_server.store.redis_client import command
from samedeal_server.store.scripts import Script
from samedeal_server.store.store import Store

_BATCH: Final = 200
_MAX_ATTEMPTS: Final = 50
_RETRY_INTERVAL: Final = 0.02

_INDEXES: Final = (keys.ROOMS.encode(), keys.LISTED.encode(), keys.DUE.encode())
_TRANSIENT_PREFIXES: Final = (keys.NODES.encode(), keys.player("").encode(), keys.PROBE.encode(), keys.NEWS.encode())
"""Prefixes of keys that are useless after the nodes have stopped: data about nodes and players' connections, and news."""

_SESSION: Final = keys.session("").encode()
_ROOM: Final = f"{keys.PREFIX}{{".encode()

_DUMP_ROOM: Final = Script("dump_room")


class DumpedKey(Struct, frozen=True, tag=True):
    """A key and its value, as Redis's DUMP returns the value.

    ``ttl`` is the remaining lifetime of the key in milliseconds. It is 0 if the key does not expire.
    """

    key: bytes
    ttl: int
    value: bytes

    @property
    def is_session(self) -> bool:
        """Whether the key holds the session of a player who has entered a room."""
        return self.key.startswith(_SESSION)


def _is_transient(key: bytes) -> bool:
    return key.startswith(_TRANSIENT_PREFIXES)


def _room_of(key: bytes) -> str:
    return key[len(_ROOM) :].partition(b"}")[0].decode()


class KeyDump:
    """Dumps the keys of a store, or restores them. Every method raises StoreUnavailable if Redis fails."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._executor = store.executor

    async def redis_version(self) -> str:
        """Return the version of this Redis."""
        infos = await self._executor.server_info()
        return str(next(iter(infos.values()))["redis_version"])

    async def indexes(self) -> list[DumpedKey]:
        """Dump the indexes of the rooms.

        The rooms are dumped at other moments, so the indexes may differ from the dumped rooms. Call ``rebuild_indexes``
        after a restore.
        """
        return await self._dump(_INDEXES)

    async def rooms(self) -> AsyncIterator[list[DumpedKey]]:
        """Yield a dump of each room that is not closed. All keys of a room are dumped at the same moment."""
        keys_by_room: defaultdict[str, set[bytes]] = defaultdict(set)
        async for key in self._executor.scan(f"{keys.PREFIX}{{*"):
            keys_by_room[_room_of(key)].add(key)
        for room in sorted(keys_by_room):
            if dumped := await self._dump_room(room, keys_by_room[room]):
                yield dumped

    async def _dump_room(self, room: str, scanned: set[bytes]) -> list[DumpedKey]:
        meta = keys.meta(room)
        for _ in range(_MAX_ATTEMPTS):
            ((phase, version),) = await self._executor.execute(command("HMGET", meta, "phase", "version"))
            if phase is None or phase == b"closed":
                return []
            (race,) = await self._store.load_races([room])
            # Players who joined after the scan have keys that it did not find.
            players = [racer.player for racer in race.racers] if race is not None else []
            player_keys = {key for each in players for key in (keys.progress(room, each), keys.log(room, each))}
            room_keys = {keys.secret(room), keys.events(room)}
            wanted = [meta, *sorted(({key.decode() for key in scanned} | player_keys | room_keys) - {meta})]
            (flat,) = await self._executor.execute(_DUMP_ROOM(wanted, version))
            if flat:
                return _dumped([key.encode() for key in wanted], flat)
            await asyncio.sleep(_RETRY_INTERVAL)
        raise StoreUnavailable(f"the room {room} changes too fast to be dumped")

    async def other_keys(self) -> AsyncIterator[DumpedKey]:
        """Yield a dump of each key that belongs to no room. Most of these keys are sessions.

        The indexes and keys with one of ``_TRANSIENT_PREFIXES`` are left out.
        """
        async for batch in self._batches(
            lambda key: not (key.startswith(_ROOM) or key in _INDEXES or _is_transient(key))
        ):
            for dumped in await self._dump(batch):
                yield dumped

    async def _batches(self, wanted: Callable[[bytes], bool]) -> AsyncIterator[list[bytes]]:
        """Yield the keys of Samedeal that are ``wanted``, in lists of ``_BATCH`` keys. The last list may be shorter."""
        batch: list[bytes] = []
        async for key in self._executor.scan(f"{keys.PREFIX}*"):
            if wanted(key):
                batch.append(key)
            if len(batch) == _BATCH:
                yield batch
                batch = []
        yield batch

    async def _dump(self, wanted: Sequence[bytes]) -> list[DumpedKey]:
        flat = await self._executor.execute(
            *(command(name, key.decode()) for key in wanted for name in ("DUMP", "PTTL"))
        )
        return _dumped(wanted, flat)

    async def find_key(self) -> str:
        """Return the name of some key in the store, or an empty string if the store is empty.

        The schema versions, the receipt key, the removed names, and keys with one of ``_TRANSIENT_PREFIXES`` do not count.
        """
        async for key in self._executor.scan(f"{keys.PREFIX}*"):
            if key.decode() not in (keys.SCHEMAS, keys.RECEIPT_KEY, keys.REMOVED) and not _is_transient(key):
                return str(key.decode())
        return ""

    async def clear(self) -> None:
        """Delete all keys of Samedeal."""
        async for batch in self._batches(lambda _: True):
            await self._executor.execute(*(command("DEL", key.decode()) for key in batch))

    async def restore(self, dumped: Sequence[DumpedKey]) -> None:
        """Store dumped keys, and replace existing keys of the same names.

        Raise StoreRejected if Redis cannot read the values.
        """
        await self._executor.execute(
            *(command("RESTORE", each.key.decode(), each.ttl, each.value, "REPLACE") for each in dumped), durable=True
        )

    async def rebuild_indexes(self, restored: Sequence[DumpedKey]) -> None:
        """Add the rooms among the restored keys to the indexes of the rooms."""
        rooms = [_room_of(each.key) for each in restored if each.key.endswith(b"}:meta")]
        for race in await self._store.load_races(rooms):
            if race is not None:
                await self._store.index.update(race)


def _dumped(names: Sequence[bytes], values_and_ttls: Sequence[Any]) -> list[DumpedKey]:
    return [
        DumpedKey(key, max(ttl, 0), value)
        for key, value, ttl in zip(names, values_and_ttls[::2], values_and_ttls[1::2], strict=True)
        if value is not None
    ]
