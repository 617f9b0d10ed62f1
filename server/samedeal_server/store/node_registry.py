"""Data that all nodes share and that belongs to no room: the running nodes, orders of the operator, and bans.

Each command has a single key and therefore also works on a cluster. The data about running nodes is stored in three
copies, so that operators can see the nodes while a primary of a cluster is down.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct

from samedeal.protocol.admin import BanLine, NodeLine, Phases, RedisLine, Whereabouts
from samedeal.protocol.codec import pack
from samedeal_server.errors import StoreUnavailable
from samedeal_server.races.server_bans import Bans
from samedeal_server.store import keys
from samedeal_server.store.redis_client import RedisCommand, command
from samedeal_server.store.schema import readable, reading
from samedeal_server.store.store import Store

NODE_LIFETIME: Final = 10
"""Time, in seconds, for which a node is listed after its last heartbeat."""

PLAYER_LIFETIME: Final = 86_400
"""Time, in seconds, for which the node and the address of a player's last connection are stored."""

_MAX_ORDERS: Final = 100
_BATCH: Final = 500
_NAME_LIFETIME: Final = 60_000
"""Time, in milliseconds, for which the name of a node is stored after its last heartbeat."""


_UNREADABLE: Final = "This server cannot read the ban. The operator can lift it with unban, or ban anew."


class SayOrder(Struct, frozen=True, tag=True):
    """An order to every node to send a message to all its players."""

    text: str


class DrainOrder(Struct, frozen=True, tag=True):
    """An order to one node to drain."""

    node: str


NodeOrder = SayOrder | DrainOrder


def _decode_order(packed: bytes | None) -> NodeOrder | None:
    kind: Any = NodeOrder
    return next(iter(readable([packed], kind)), None)


def _decode_ban(target: bytes, packed: bytes) -> BanLine:
    """Decode a ban. One of an unknown form is in force until the operator lifts it, since nobody can tell when it ends."""
    unknown = BanLine(target=target.decode(errors="replace"), since=0, reason=_UNREADABLE)
    return next(iter(readable([packed], BanLine)), unknown)


class Nodes:
    """The shared data about nodes, players' addresses, orders and bans.

    Every method raises StoreUnavailable if Redis fails.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._executor = store.executor

    async def heartbeat(self, line: NodeLine) -> None:
        """Store the state of a node. The node is then listed for the next ten seconds."""
        await self._update_copies(
            lambda copy: (
                command("SET", keys.node(copy, line.node), pack(line), "EX", NODE_LIFETIME),
                command("ZADD", keys.node_names(copy), line.last_seen, line.node),
                command("ZREMRANGEBYSCORE", keys.node_names(copy), "-inf", line.last_seen - _NAME_LIFETIME),
            )
        )

    async def remove_node(self, node: str) -> None:
        """Remove a stopped node from the list."""
        await self._update_copies(
            lambda copy: (command("DEL", keys.node(copy, node)), command("ZREM", keys.node_names(copy), node))
        )

    async def _update_copies(self, commands: Callable[[int], tuple[RedisCommand, ...]]) -> None:
        """Execute commands for each copy of the data about nodes. Raise StoreUnavailable if no copy could be updated.

        ``commands`` takes the number of a copy and returns the commands for it.
        """
        updating = (self._executor.execute(*commands(copy)) for copy in keys.NODE_COPIES)
        failures = [
            each for each in await asyncio.gather(*updating, return_exceptions=True) if not isinstance(each, list)
        ]
        if len(failures) == len(keys.NODE_COPIES):
            raise failures[0]

    async def lines(self) -> tuple[NodeLine, ...]:
        """Return the states of all running nodes, sorted by name."""
        for copy in keys.NODE_COPIES:
            with suppress(StoreUnavailable):
                return await self._lines(copy)
        return await self._lines(keys.NODE_COPIES[0])

    async def _lines(self, copy: int) -> tuple[NodeLine, ...]:
        (names,) = await self._executor.execute(command("ZRANGE", keys.node_names(copy), 0, -1))
        found = await self._executor.execute(
            *(command("GET", keys.node(copy, name.decode())) for name in sorted(names))
        )
        return tuple(readable(found, NodeLine))

    async def record_whereabouts(self, where: Whereabouts) -> None:
        """Store the node and the address of a player's connection."""
        await self._executor.execute(command("SET", keys.player(where.player), pack(where), "EX", PLAYER_LIFETIME))

    async def whereabouts(self, players: Sequence[str]) -> tuple[Whereabouts, ...]:
        """Return the node and the address of the last connection of each of these players.

        Players who have not connected in the last 24 hours are left out.
        """
        found = await self._executor.execute(*(command("GET", keys.player(player)) for player in players))
        return tuple(readable(found, Whereabouts))

    async def players_at(self, target: str) -> list[str]:
        """Return the players who last connected from an address or a network, at most 24 hours ago."""
        at = Bans([BanLine(target=target, since=0)])
        names = [key async for key in self._executor.scan(keys.player("*"))]
        found = await self.whereabouts([name.decode().removeprefix(keys.player("")) for name in names])
        return [each.player for each in found if at.of("", each.address, 0)]

    async def send_order(self, order: NodeOrder) -> None:
        """Store an order and announce it to all nodes. A node that misses the announcement polls for orders anyway."""
        await self._executor.execute(
            command("XADD", keys.ORDERS, "MAXLEN", "~", _MAX_ORDERS, "*", "order", pack(order))
        )
        await self.notify_nodes()

    async def notify_nodes(self) -> None:
        """Make every node poll for orders and bans now."""
        await self._executor.execute(command("PUBLISH", keys.NODES, b""))

    async def newest_order_id(self) -> str:
        """Return the id of the newest order, or ``0-0`` if there is none."""
        (newest,) = await self._executor.execute(command("XREVRANGE", keys.ORDERS, "+", "-", "COUNT", 1))
        return newest[0][0].decode() if newest else "0-0"

    async def orders(self, after: str) -> list[tuple[str, NodeOrder | None]]:
        """Return all orders that are newer than the order with the id ``after``, and their ids.

        An order that this version cannot decode is returned as None.
        """
        (found,) = await self._executor.execute(command("XRANGE", keys.ORDERS, f"({after}", "+"))
        return [(id_.decode(), _decode_order(fields.get(b"order"))) for id_, fields in found]

    async def ban(self, line: BanLine) -> None:
        """Add a ban, which applies on every node."""
        await self._executor.execute(command("HSET", keys.BANS, line.target, pack(line)))
        await self.notify_nodes()

    async def unban(self, target: str) -> bool:
        """Lift a ban. Return False if there was no such ban."""
        (lifted,) = await self._executor.execute(command("HDEL", keys.BANS, target))
        await self.notify_nodes()
        return bool(lifted)

    async def bans(self, now: int) -> tuple[BanLine, ...]:
        """Return the bans that are in force at ``now``, newest first. Delete the expired bans.

        ``now`` is in milliseconds since 1970.
        """
        (found,) = await self._executor.execute(command("HGETALL", keys.BANS))
        lines = [_decode_ban(target, packed) for target, packed in found.items()]
        expired = [line.target for line in lines if 0 < line.until <= now]
        if expired:
            await self._executor.execute(command("HDEL", keys.BANS, *expired))
        in_force = (line for line in lines if line.target not in expired)
        return tuple(sorted(in_force, key=lambda line: (-line.since, line.target)))

    async def words(self) -> str:
        """Return the words that names must not have, as the operator wrote them."""
        (found,) = await self._executor.execute(command("GET", keys.WORDS))
        return (found or b"").decode()

    async def set_words(self, words: str) -> None:
        """Replace the words that names must not have, on every node."""
        await self._executor.execute(command("SET", keys.WORDS, words), durable=True)
        await self.notify_nodes()

    async def record_backup(self, now: int) -> None:
        """Record that a backup was made at ``now``, in milliseconds since 1970."""
        await self._executor.execute(command("SET", keys.LAST_BACKUP, now))

    async def last_backup(self) -> int:
        """Return when the newest backup was made, in milliseconds since 1970, or 0 if there was none."""
        (made,) = await self._executor.execute(command("GET", keys.LAST_BACKUP))
        with reading():
            return int(made or 0)

    async def phases(self, rooms: Sequence[str]) -> Phases:
        """Return how many of the rooms are in each phase, and how many of them only another version can serve."""
        counts: Counter[str] = Counter()
        closes: list[int] = []
        for first in range(0, len(rooms), _BATCH):
            batch = rooms[first : first + _BATCH]
            races = await self._store.load_races(batch)
            found = [race for race in races if race is not None]
            counts.update(race.phase for race in found)
            closes += [race.ends for race in found if race.window and race.phase not in ("finished", "closed")]
            unknown = [room for room, race in zip(batch, races, strict=True) if race is None]
            exist = await self._executor.execute(*(command("EXISTS", keys.meta(room)) for room in unknown))
            counts["other_version"] += sum(exist)
        del counts["closed"]
        return Phases(**counts, windows=len(closes), last_closes=max(closes, default=0))

    async def redis_line(self, latency: float) -> RedisLine:
        """Return the state of Redis, summed over all primaries.

        ``latency`` is the response time of Redis in milliseconds.
        """
        infos = list((await self._executor.server_info()).values())
        return RedisLine(
            problem=self._executor.redis.availability.problem,
            version=str(infos[0].get("redis_version", "")),
            latency=latency,
            memory=sum(int(info.get("used_memory", 0)) for info in infos),
            clients=sum(int(info.get("connected_clients", 0)) for info in infos),
            commands=sum(int(info.get("instantaneous_ops_per_sec", 0)) for info in infos),
        )
