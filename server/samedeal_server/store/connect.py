"""Creation of clients for Redis, with their connection pools, timeouts and Sentinels.

The connections report their answers and failures to ``RedisAvailability``.
"""

from __future__ import annotations

import time
from typing import Any, Final

from redis.asyncio import BlockingConnectionPool, Connection, SSLConnection
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import MasterNotFoundError, Sentinel, SentinelConnectionPool
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import RedisError, ResponseError

from samedeal_server.store.address import Host, InvalidRedisAddress, RedisAddress, format_host
from samedeal_server.store.availability import RedisAvailability
from samedeal_server.store.redis_client import PrimaryClient
from samedeal_server.store.redis_cluster import ClusterClient, RedisClient
from samedeal_server.store.shared_connection import ANSWER_TIMEOUT, PrimaryDemoted, classify
from samedeal_server.telemetry.metrics import Metrics

_CONNECTIONS: Final = 64
_CONNECT_TIMEOUT: Final = 2.0

_LIMITS: Final[dict[str, Any]] = {
    "max_connections": _CONNECTIONS,
    "timeout": ANSWER_TIMEOUT,
    "socket_connect_timeout": _CONNECT_TIMEOUT,
    "socket_timeout": ANSWER_TIMEOUT,
    # A command that timed out is not retried. The player waits, and can retry instead.
    "retry": Retry(NoBackoff(), 1, (LostConnection,)),
}

_SENTINELS: Final = "sentinel_"
"""Prefix of the options for the connections to the Sentinels.

All other options are for the connection to the primary.
"""


def connect(url: str, availability: RedisAvailability | None = None, replicas: int = 0) -> RedisClient:
    """Create a client for the Redis at an address. The caller closes the client.

    The client reports answers and failures to ``availability``. Durable writes wait for ``replicas`` replicas. If a
    connection turns out to be dead, the client sends the command again over a new connection, so a command may run
    twice. Raise InvalidRedisAddress if the address is malformed.
    """
    address = RedisAddress.parse(url)
    monitor = availability or RedisAvailability(Metrics())

    def client(pool: Any, where: str) -> PrimaryClient:
        kinds, known = (_Monitored, pool.connection_class), {"availability": monitor, "where": where}
        pool.connection_class = type("Monitored", kinds, known)
        return PrimaryClient(pool, where, monitor, replicas)

    def node(host: Host) -> PrimaryClient:
        return client(_pool(address.options, host), format_host(host))

    try:
        pool: Any = (
            _sentinel_pool(address, monitor)
            if address.scheme == "sentinel"
            else _pool(address.options, *address.hosts[:1])
        )
        pool.make_connection()
    except TypeError:
        # redis-py raises TypeError for an option that it does not know.
        raise InvalidRedisAddress("It has an unknown option after the ?. Correct its name, or remove it.") from None
    return (
        ClusterClient(address.hosts, str(address), node, monitor, replicas)
        if address.scheme == "cluster"
        else client(pool, str(address))
    )


def _pool(options: dict[str, Any], *host: Host) -> BlockingConnectionPool:
    to = {"host": host[0][0], "port": host[0][1]} if host else {}
    return BlockingConnectionPool(**{**_LIMITS, **options, **to})


class _SentinelPool(SentinelConnectionPool, BlockingConnectionPool):
    """A bounded pool of connections to the primary that Sentinels name.

    If all connections are in use, a caller waits until one is free. Failures to find the primary are reported to
    ``availability``, under the address ``where``.
    """

    def __init__(self, availability: RedisAvailability, where: str, *args: Any, **options: Any) -> None:
        self._availability = availability
        self._where = where
        super().__init__(*args, **options)  # type: ignore[no-untyped-call]  # redis-py leaves it without types

    async def get_master_address(self) -> Any:
        """Return the address of the primary. Raise MasterNotFoundError if no Sentinel names a running primary."""
        try:
            return await super().get_master_address()  # type: ignore[no-untyped-call]  # redis-py leaves it without types
        except MasterNotFoundError:
            error = MasterNotFoundError(f"no Sentinel names a running primary {self.service_name!r}")
            self._availability.record_failure(self._where, "connect", error)
            raise error from None

    async def disconnect(self, inuse_connections: bool = True) -> None:  # noqa: FBT001, FBT002  # as redis-py has it
        """Close the idle connections.

        If ``inuse_connections`` is true, close all connections, also those to the Sentinels.
        """
        await super().disconnect(inuse_connections)
        if inuse_connections:
            for sentinel in self.sentinel_manager.sentinels:
                await sentinel.aclose()


def _sentinel_pool(address: RedisAddress, availability: RedisAvailability) -> Any:
    # The functions of redis-py that are called here have no types.
    sentinels: Any = Sentinel
    pool: Any = _SentinelPool
    options = {name: value for name, value in address.options.items() if not name.startswith(_SENTINELS)}
    sentinel_options = {
        name.removeprefix(_SENTINELS): address.options[name] for name in address.options.keys() - options.keys()
    }
    tls = options.pop("connection_class", Connection) is SSLConnection
    if tls:
        tls_options = {name: value for name, value in options.items() if name.startswith("ssl_")}
        sentinel_options = {**tls_options, **sentinel_options, "ssl": True}
    limits = {"socket_connect_timeout": _CONNECT_TIMEOUT, "socket_timeout": _CONNECT_TIMEOUT}
    sentinel = sentinels(address.hosts, sentinel_kwargs={**limits, "retry": Retry(NoBackoff(), 1), **sentinel_options})
    return pool(availability, str(address), address.primary, sentinel, **{**_LIMITS, **options, "ssl": tls})


class _Monitored(AbstractConnection):
    """A connection that reports its answers and errors to ``availability``.

    If the connection is dead, it raises LostConnection, so that redis-py retries.
    """

    availability: RedisAvailability
    where: str
    sent_at = 0.0
    in_handshake = False

    async def connect_check_health(self, *args: Any, **options: Any) -> None:
        self.in_handshake = True
        try:
            await super().connect_check_health(*args, **options)
        except (RedisError, OSError) as error:
            self.availability.record_failure(self.where, "connect", error)
            raise
        finally:
            self.in_handshake = False

    async def send_packed_command(self, *args: Any, **options: Any) -> None:
        self.sent_at = time.perf_counter()
        # On a connection that was reset, uvloop raises RuntimeError, and asyncio leaves its descriptor open.
        if self._writer is not None and self._writer.transport.is_closing():
            raise LostConnection("Redis has reset the connection")
        await super().send_packed_command(*args, **options)

    async def read_response(self, *args: Any, **options: Any) -> Any:
        if self.in_handshake:  # redis-py ignores errors about commands that an older Redis does not know
            return await super().read_response(*args, **options)
        try:
            answer = await super().read_response(*args, **options)
        except RedisError as error:
            if isinstance(error, ResponseError):
                self._answered()
            if failure := classify(error):
                self.availability.record_failure(self.where, failure, error)
            if "READONLY" not in str(error):
                raise
            # The primary was made a replica. A new connection to its address may reach the new primary.
            await self.disconnect()
            raise PrimaryDemoted(str(error)) from error
        if answer is not None:  # a subscriber gets None on a timeout
            self._answered()
        return answer

    def _answered(self) -> None:
        sent_at, self.sent_at = self.sent_at, 0.0
        if sent_at or self.availability.is_down(self.where):
            self.availability.record_answer(self.where, sent_at and time.perf_counter() - sent_at)
