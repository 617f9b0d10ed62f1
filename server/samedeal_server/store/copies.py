"""Everything in Redis that a server can't make again, copied and put back."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from typing import Final

from msgspec import Struct
from redis.exceptions import ResponseError

from samedeal_server.store import keys
from samedeal_server.store.database import on
from samedeal_server.store.redis import Script, Store

_AT_A_TIME: Final = 200
_TRIES: Final = 50
_PAUSE: Final = 0.02

_INDEXES: Final = (keys.ROOMS.encode(), keys.DUE.encode())
_PASSING: Final = frozenset(key.encode() for key in (keys.NODE_NAMES, keys.ORDERS))
_PASSING_KINDS: Final = (keys.node("").encode(), keys.player("").encode(), keys.PROBE.encode())
"""What is about the nodes that run, and good for nobody after them."""

_SESSION: Final = keys.session("").encode()
_ROOM: Final = f"{keys.PREFIX}{{".encode()


_DUMP: Final = Script("dump")


class Copy(Struct, frozen=True, tag=True):
    """A key as Redis dumps it; ``lives`` is in milliseconds, 0 for without end."""

    key: bytes
    lives: int
    value: bytes

    @property
    def is_session(self) -> bool:
        """Whether it is a player's session."""
        return self.key.startswith(_SESSION)


def _passes(key: bytes) -> bool:
    return key in _PASSING or key.startswith(_PASSING_KINDS)


class Copies:
    """Copies of what is in a store. Every method raises ``redis.RedisError`` when Redis does not answer."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def redis_version(self) -> str:
        """The version of this Redis."""
        first, *_ = await self._store.redis.primaries()
        return str((await first.info("server"))["redis_version"])

    async def _keys(self, pattern: str) -> AsyncIterator[bytes]:
        for one in await self._store.redis.primaries():
            async for key in one.scan_iter(match=pattern, count=1000):
                yield key

    # ---------------------------------------------------------------- copying

    async def indexes(self) -> list[Copy]:
        """The indexes of the rooms, which ``index`` brings up to what the rooms say themselves."""
        return await self._each(_INDEXES)

    async def rooms(self) -> AsyncIterator[list[Copy]]:
        """The keys of each room, as they are at one moment."""
        found: defaultdict[str, set[bytes]] = defaultdict(set)
        async for key in self._keys(f"{keys.PREFIX}{{*"):
            found[key[len(_ROOM) :].partition(b"}")[0].decode()].add(key)
        for room in sorted(found):
            if copies := await self._room(room, found[room]):
                yield copies

    async def _room(self, room: str, found: set[bytes]) -> list[Copy]:
        meta = keys.meta(room)
        for _ in range(_TRIES):
            ((phase, version),) = await self._store.ask(on("HMGET", meta, "phase", "version"))
            if phase is None or phase == b"closed":
                return []
            (race,) = await self._store.races([room])
            # Who has come since the keys were looked for has keys that were not found.
            players = [racer.player for racer in race.racers] if race is not None else []
            owned = {key for each in players for key in (keys.run(room, each), keys.log(room, each))}
            named = {keys.secret(room), keys.events(room)}
            wanted = [meta, *sorted(({key.decode() for key in found} | owned | named) - {meta})]
            (flat,) = await self._store.ask(_DUMP(wanted, version))
            if flat:
                return [
                    Copy(key.encode(), max(lives, 0), value)
                    for key, value, lives in zip(wanted, flat[::2], flat[1::2], strict=True)
                    if value is not None
                ]
            await asyncio.sleep(_PAUSE)
        raise ResponseError(f"the room {room} changes too fast to be copied")

    async def others(self) -> AsyncIterator[Copy]:
        """What belongs to no room, sessions above all."""
        waiting: list[bytes] = []
        async for key in self._keys(f"{keys.PREFIX}*"):
            if key.startswith(_ROOM) or key in _INDEXES or _passes(key):
                continue
            waiting.append(key)
            if len(waiting) == _AT_A_TIME:
                for copy in await self._each(waiting):
                    yield copy
                waiting.clear()
        for copy in await self._each(waiting):
            yield copy

    async def _each(self, wanted: Sequence[bytes]) -> list[Copy]:
        flat = await self._store.ask(*(on(name, key.decode()) for key in wanted for name in ("DUMP", "PTTL")))
        return [
            Copy(key, max(lives, 0), value)
            for key, value, lives in zip(wanted, flat[::2], flat[1::2], strict=True)
            if value is not None
        ]

    # ---------------------------------------------------------------- putting back

    async def some_key(self) -> str:
        """The name of a key that is there already, or empty."""
        async for key in self._keys(f"{keys.PREFIX}*"):
            if key not in (keys.LAYOUTS.encode(), keys.RECEIPTS.encode()) and not _passes(key):
                return str(key.decode())
        return ""

    async def clear(self) -> None:
        """Take everything away."""
        waiting: list[bytes] = []
        async for key in self._keys(f"{keys.PREFIX}*"):
            waiting.append(key)
            if len(waiting) == _AT_A_TIME:
                await self._remove(waiting)
                waiting.clear()
        await self._remove(waiting)

    async def _remove(self, unwanted: Sequence[bytes]) -> None:
        await self._store.ask(*(on("DEL", key.decode()) for key in unwanted))

    async def put(self, copies: Sequence[Copy]) -> None:
        """Put keys back. Raises ResponseError where this Redis can't read them."""
        await self._store.ask(
            *(on("RESTORE", copy.key.decode(), copy.lives, copy.value, "REPLACE") for copy in copies), kept=True
        )

    async def index(self, copies: Sequence[Copy]) -> None:
        """Have the indexes know the rooms among keys that were put back."""
        rooms = [copy.key[len(_ROOM) :].partition(b"}")[0].decode() for copy in copies if copy.key.endswith(b"}:meta")]
        for race in await self._store.races(rooms):
            if race is not None:
                await self._store.index(race)
