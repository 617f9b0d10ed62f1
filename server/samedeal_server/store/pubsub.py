"""Announcements: typed values for the messages that Redis publishes to nodes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from samedeal.errors import RequestRefused
from samedeal_server.store import keys
from samedeal_server.store.address import Host
from samedeal_server.store.data_loss_risk import has_sharded_pubsub
from samedeal_server.store.events import SequencedEvent, decode_announced_event
from samedeal_server.store.redis_cluster import RedisClient
from samedeal_server.store.schema import reading
from samedeal_server.tasks import cancel_and_wait
from samedeal_server.telemetry.logger import get_logger

SILENCE_TIMEOUT: Final = 5.0
"""Time, in seconds, without an announcement after which Redis is pinged. The timeout for the answer is the same."""

_RETRY_INTERVAL: Final = 0.5
_MAX_READ_AHEAD: Final = 1000
"""Maximum number of announcements that were read from the connection and not yet yielded."""

_log = get_logger()


class Announcement(NamedTuple):
    """An event of a room, which was announced.

    Without an event, the subscription to the events of the room has begun. Events before this notice may have been
    missed. Without a room too, there is a new order of the operator or a changed ban, of which every node is told.
    """

    room: str = ""
    event: SequencedEvent | None = None


class Listener:
    """The subscriptions of a node to announcements.

    On a cluster, the listener subscribes to a room over a connection to the room's primary. When a connection is lost,
    or a room moves to another primary, the listener subscribes to the room again and yields that its subscription has begun.
    """

    def __init__(self, redis: RedisClient) -> None:
        self.rooms: set[str] = set()
        self._redis = redis
        self._announcements: asyncio.Queue[Announcement] = asyncio.Queue(_MAX_READ_AHEAD)
        self._subscriptions: dict[Host | None, _Subscription] = {}
        self._assigned: dict[str, _Subscription] = {}

    async def subscribe(self, room: str) -> None:
        """Subscribe to the events of a room."""
        self.rooms.add(room)
        await self._assign(room)

    async def unsubscribe(self, room: str) -> None:
        """Unsubscribe from the events of a room.

        If ``subscribe`` is called for the same room in the meantime, subscribe to the room again.
        """
        self.rooms.discard(room)
        if assigned := self._assigned.pop(room, None):
            await assigned.unsubscribe(room)
        if room in self.rooms:
            await self._assign(room)

    async def announcements(self) -> AsyncGenerator[Announcement]:
        """Yield announcements forever, as they arrive. Errors of Redis are logged and not raised."""
        assigning = asyncio.create_task(self._assign_forever())
        try:
            while True:
                yield await self._announcements.get()
        finally:
            await cancel_and_wait([assigning, *(each.reading for each in self._subscriptions.values())])

    async def _assign_forever(self) -> None:
        """Subscribe to each room at the primary that has the room's keys.

        Subscribe again whenever that primary changes.
        """
        self._subscription(None)
        while True:
            for room in list(self.rooms):
                await self._assign(room)
            used = {*self._assigned.values(), self._subscriptions[None]}
            for primary, subscription in list(self._subscriptions.items()):
                if subscription not in used:
                    del self._subscriptions[primary]
                    await cancel_and_wait([subscription.reading])
            await asyncio.sleep(_RETRY_INTERVAL)

    async def _assign(self, room: str) -> None:
        primary = self._redis.primary_for(keys.channel(room))
        subscription = self._subscription(primary)
        before = self._assigned.get(room)
        if subscription is before:
            return
        self._assigned[room] = subscription
        if before is not None:
            await before.unsubscribe(room)
        if self._assigned.get(room) is subscription:
            await subscription.subscribe(room)

    def _subscription(self, primary: Host | None) -> _Subscription:
        if primary not in self._subscriptions:
            self._subscriptions[primary] = _Subscription(self._redis, primary, self._announcements)
        return self._subscriptions[primary]


@dataclass(eq=False, repr=False)
class _Subscription:
    """A connection that subscribes to rooms and puts the announcements into a queue. A lost connection is reopened.

    ``primary`` is the address of a primary of a cluster. If ``primary`` is None, the connection leads to any server,
    and receives the announcements for every node too. The task ``reading`` reads announcements until it is cancelled.
    """

    _redis: RedisClient
    _primary: Host | None
    _announcements: asyncio.Queue[Announcement]
    rooms: set[str] = field(default_factory=set)
    _pubsub: PubSub | None = None
    _sharded: bool = False
    _reconnect: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.reading = asyncio.create_task(self._read_forever())

    async def subscribe(self, room: str) -> None:
        """Subscribe to the events of a room."""
        self.rooms.add(room)
        if self._pubsub is not None:
            await self._send(self._subscribe(self._pubsub, room))

    async def unsubscribe(self, room: str) -> None:
        """Unsubscribe from the events of a room.

        If ``subscribe`` is called for the same room in the meantime, subscribe to the room again.
        """
        self.rooms.discard(room)
        if self._pubsub is not None:
            leave = self._pubsub.sunsubscribe if self._sharded else self._pubsub.unsubscribe
            await self._send(leave(keys.channel(room)))
            if room in self.rooms:
                await self.subscribe(room)

    async def _subscribe(self, pubsub: PubSub, room: str) -> None:
        await (pubsub.ssubscribe if self._sharded else pubsub.subscribe)(keys.channel(room))

    async def _send(self, request: Awaitable[None]) -> None:
        """Send a request over the connection.

        If sending fails, reconnect. The new connection subscribes to the same rooms again.
        """
        try:
            await request
        except Exception as error:  # noqa: BLE001  # any error: the reader may be reconnecting the same connection
            _log.debug("redis_error", error=str(error), during="subscribe")
            self._reconnect.set()

    async def _read_forever(self) -> None:
        while True:
            self._reconnect.clear()
            reading, asked = asyncio.create_task(self._read()), asyncio.create_task(self._reconnect.wait())
            try:
                await asyncio.wait((reading, asked), return_when=asyncio.FIRST_COMPLETED)
            finally:
                await cancel_and_wait((reading, asked))
            if not reading.cancelled():
                # The connection itself reports that Redis is unreachable. Only the listener notices that Redis is silent.
                error = reading.exception()
                if isinstance(error, TimeoutError):
                    _log.warning("subscription_timed_out", error=str(error))
                else:
                    _log.debug("redis_error", error=str(error), during="subscription")
            with suppress(RedisError, OSError):
                await self._redis.primaries()  # the rooms of a cluster may have moved
            await asyncio.sleep(_RETRY_INTERVAL)

    async def _read(self) -> None:
        """Subscribe over a new connection and read announcements until an error is raised.

        Raise TimeoutError if Redis sends nothing and does not answer a ping.
        """
        async with self._redis.listener(self._primary) as redis, redis.pubsub() as pubsub:
            self._sharded = has_sharded_pubsub(await redis.info("server"))
            if self._primary is None:
                await pubsub.subscribe(keys.NODES)
            subscribed: set[str] = set()
            while missing := self.rooms - subscribed:  # rooms may be added meanwhile
                for room in sorted(missing):
                    await self._subscribe(pubsub, room)
                subscribed |= missing
            self._pubsub = pubsub
            try:
                await self._receive(pubsub)
            finally:
                self._pubsub = None  # set before the connection closes, so that no request is sent over it

    async def _receive(self, pubsub: PubSub) -> None:
        pinged = False
        while True:
            message = await pubsub.get_message(timeout=SILENCE_TIMEOUT)
            if message is None:
                if pinged:
                    raise TimeoutError("Redis sends no announcements and does not answer a ping")
                await pubsub.ping()
            pinged = message is None
            if message and (announcement := self._decode(message["type"], message["channel"], message["data"])):
                await self._announcements.put(announcement)

    def _decode(self, kind: str, channel: bytes | None, data: bytes) -> Announcement | None:
        if channel == keys.NODES.encode():
            return Announcement()
        room = keys.room_of(channel) if channel else ""
        if room in self.rooms and kind in ("subscribe", "ssubscribe"):
            return Announcement(room)
        if room in self.rooms and kind in ("message", "smessage"):
            with suppress(RequestRefused), reading():
                return Announcement(room, decode_announced_event(data))
            return Announcement(room)  # only another release can read it, so the room itself tells what has changed
        return None
