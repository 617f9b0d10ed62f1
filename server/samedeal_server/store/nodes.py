"""What all nodes share beside the rooms: who they are, what the operator told them, and whom they keep away.

Each command touches one key, so that it is the same on a cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from samedeal.protocol.admin import BanLine, NodeLine, Phases, RedisLine, Whereabouts
from samedeal.protocol.codec import pack, unpack
from samedeal_server.store import keys
from samedeal_server.store.database import Command
from samedeal_server.store.redis import Store

NODE_LIFETIME: Final = 10
"""Seconds after which a node that says nothing is no longer named."""

PLAYER_LIFETIME: Final = 86_400
"""Seconds for which it is kept where a player was."""

_ORDERS_KEPT: Final = 100
_AT_A_TIME: Final = 500
_FORGOTTEN_AFTER: Final = 60_000


class Tell(Struct, frozen=True, tag=True):
    """Every node is to tell this to everybody on it."""

    text: str


class Stop(Struct, frozen=True, tag=True):
    """A node is to drain."""

    node: str


Order = Tell | Stop


def _order(packed: bytes) -> Order | None:
    kind: Any = Order
    try:
        order: Order = unpack(packed, kind)
    except ValueError:
        return None
    return order


class Nodes:
    """The part of the store that is about nodes. Every method raises ``redis.RedisError`` when Redis does not answer."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def _ask(self, *commands: tuple[str | bytes | int, ...]) -> list[Any]:
        """Send commands, of each of which the second word is the one key; returns their answers."""
        return await self._store.ask(*(Command(str(words[1]), words) for words in commands))

    # ---------------------------------------------------------------- who they are

    async def beat(self, line: NodeLine) -> None:
        """Say how a node fares; that holds for ten seconds."""
        await self._ask(
            ("SET", keys.node(line.node), pack(line), "EX", NODE_LIFETIME),
            ("ZADD", keys.NODE_NAMES, line.heard, line.node),
            ("ZREMRANGEBYSCORE", keys.NODE_NAMES, "-inf", line.heard - _FORGOTTEN_AFTER),
        )

    async def gone(self, node: str) -> None:
        """Say that a node has stopped."""
        await self._ask(("DEL", keys.node(node)), ("ZREM", keys.NODE_NAMES, node))

    async def lines(self) -> tuple[NodeLine, ...]:
        """The nodes that are heard of, by name."""
        (names,) = await self._ask(("ZRANGE", keys.NODE_NAMES, 0, -1))
        found = await self._ask(*(("GET", keys.node(name.decode())) for name in sorted(names)))
        return tuple(unpack(packed, NodeLine) for packed in found if packed is not None)

    async def seen(self, where: Whereabouts) -> None:
        """Note where a player is."""
        await self._ask(("SET", keys.player(where.player), pack(where), "EX", PLAYER_LIFETIME))

    async def whereabouts(self, players: Sequence[str]) -> tuple[Whereabouts, ...]:
        """Where players were when they last said hello, of those who did within a day."""
        found = await self._ask(*(("GET", keys.player(player)) for player in players))
        return tuple(unpack(packed, Whereabouts) for packed in found if packed is not None)

    # ---------------------------------------------------------------- what they are told

    async def order(self, order: Order) -> None:
        """Tell nodes to do something; each that runs does it, though the announcement be lost."""
        await self._ask(("XADD", keys.ORDERS, "MAXLEN", "~", _ORDERS_KEPT, "*", "order", pack(order)))
        await self.call()

    async def call(self) -> None:
        """Have every node look at once at what concerns it."""
        await self._ask(("PUBLISH", keys.NODES, b""))

    async def newest_order(self) -> str:
        """The id of the newest order."""
        (newest,) = await self._ask(("XREVRANGE", keys.ORDERS, "+", "-", "COUNT", 1))
        return newest[0][0].decode() if newest else "0-0"

    async def orders(self, after: str) -> list[tuple[str, Order | None]]:
        """The orders after the one of an id, each with its own; None in the place of one that only later versions know."""
        (found,) = await self._ask(("XRANGE", keys.ORDERS, f"({after}", "+"))
        return [(id_.decode(), _order(fields[b"order"])) for id_, fields in found]

    # ---------------------------------------------------------------- whom they keep away

    async def ban(self, line: BanLine) -> None:
        """Keep somebody away, on every node."""
        await self._ask(("HSET", keys.BANS, line.who, pack(line)))
        await self.call()

    async def unban(self, who: str) -> bool:
        """Keep somebody away no longer; False when there was no such ban."""
        (lifted,) = await self._ask(("HDEL", keys.BANS, who))
        await self.call()
        return bool(lifted)

    async def bans(self, now: int) -> tuple[BanLine, ...]:
        """The bans in force at a time, newest first; those that are over are forgotten."""
        (found,) = await self._ask(("HVALS", keys.BANS))
        lines = [unpack(packed, BanLine) for packed in found]
        over = [line.who for line in lines if 0 < line.until <= now]
        if over:
            await self._ask(("HDEL", keys.BANS, *over))
        holding = (line for line in lines if line.who not in over)
        return tuple(sorted(holding, key=lambda line: (-line.since, line.who)))

    # ---------------------------------------------------------------- how all fares

    async def phases(self, rooms: Sequence[str]) -> Phases:
        """How many of these rooms are in each phase."""
        counts = dict.fromkeys(Phases.__struct_fields__, 0)
        for first in range(0, len(rooms), _AT_A_TIME):
            for phase in await self._ask(
                *(("HGET", keys.meta(room), "phase") for room in rooms[first : first + _AT_A_TIME])
            ):
                if phase is not None and phase.decode() in counts:
                    counts[phase.decode()] += 1
        return Phases(**counts)

    async def redis_line(self, answer: float) -> RedisLine:
        """How Redis fares, all primaries of a cluster together, which took so many milliseconds to answer."""
        infos = [await one.info() for one in await self._store.redis.primaries()]
        return RedisLine(
            version=str(infos[0].get("redis_version", "")),
            answer=answer,
            memory=sum(int(info.get("used_memory", 0)) for info in infos),
            clients=sum(int(info.get("connected_clients", 0)) for info in infos),
            commands=sum(int(info.get("instantaneous_ops_per_sec", 0)) for info in infos),
        )
