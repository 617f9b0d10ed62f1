"""The connections to Redis."""

from __future__ import annotations

import time
from typing import Any, Final

from redis.asyncio import BlockingConnectionPool, Connection, SSLConnection
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import MasterNotFoundError, Sentinel, SentinelConnectionPool
from redis.backoff import NoBackoff
from redis.exceptions import AskError, BusyLoadingError, NoScriptError, RedisError, ResponseError, TryAgainError
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import TimeoutError as NoAnswer

from samedeal_server.metrics import Metrics
from samedeal_server.store.address import WRITE, Address, BadAddress, Host, named
from samedeal_server.store.cluster import Cluster
from samedeal_server.store.database import Demoted, OneRedis
from samedeal_server.store.pulse import Failure, Pulse

_CONNECTIONS: Final = 64
_CONNECT_TIMEOUT: Final = 2.0
_ANSWER_TIMEOUT: Final = 5.0

_SENTINELS: Final = "sentinel_"
"""What begins the names of options that are for Sentinels rather than for the Redis that they name."""


def connect(url: str, pulse: Pulse | None = None, replicas: int = 0) -> OneRedis | Cluster:
    """A client of the Redis at an address, to be closed, which tells ``pulse`` how it goes.

    What is to be kept waits until so many replicas have it. A command is tried once more when its connection turns out to
    be dead: each may be run twice. Raises BadAddress.
    """
    address = Address.read(url)
    told = pulse or Pulse(Metrics(), silent=True)

    def client(pool: Any, where: str) -> OneRedis:
        pool.connection_class = _telling(pool.connection_class, told)
        return OneRedis(pool, where, replicas)

    def node(host: Host) -> OneRedis:
        return client(_pool(address.options, host), named(host))

    try:
        pool: Any = (
            _sentinel_pool(address, told)
            if address.scheme == "sentinel"
            else _pool(address.options, *address.hosts[:1])
        )
        pool.make_connection()
    except TypeError:
        # What redis-py says of an option that it does not know.
        raise BadAddress(f"one of the options after its ? is none that a connection has: {WRITE}") from None
    return (
        Cluster(address.hosts, str(address), node, replicas)
        if address.scheme == "cluster"
        else client(pool, str(address))
    )


def _limits() -> dict[str, Any]:
    return {
        "max_connections": _CONNECTIONS,
        "timeout": _ANSWER_TIMEOUT,
        "socket_connect_timeout": _CONNECT_TIMEOUT,
        "socket_timeout": _ANSWER_TIMEOUT,
        # One that does not answer in time is not asked twice: a player waits who can be told to try again.
        "retry": Retry(NoBackoff(), 1, (LostConnection,)),
    }


def _pool(options: dict[str, Any], *host: Host) -> BlockingConnectionPool:
    to = {"host": host[0][0], "port": host[0][1]} if host else {}
    return BlockingConnectionPool(**{**_limits(), **options, **to})


class _SentinelPool(SentinelConnectionPool, BlockingConnectionPool):
    """Connections to the primary that Sentinels name, for which one waits where there are enough already."""

    pulse: Pulse

    async def get_master_address(self) -> Any:
        """Where the primary is. Raises MasterNotFoundError."""
        try:
            return await super().get_master_address()  # type: ignore[no-untyped-call]  # redis-py leaves it without types
        except MasterNotFoundError:
            error = MasterNotFoundError(f"the Sentinels name no {self.service_name!r} that is up")
            self.pulse.failed("connect", error)
            raise error from None

    async def disconnect(self, inuse_connections: bool = True) -> None:  # noqa: FBT001, FBT002  # as redis-py has it
        """Close those that are idle, or all, and then those to the Sentinels too."""
        await super().disconnect(inuse_connections)
        if inuse_connections:
            for sentinel in self.sentinel_manager.sentinels:
                await sentinel.aclose()


def _sentinel_pool(address: Address, pulse: Pulse) -> Any:
    # redis-py leaves what is called here without types.
    sentinels: Any = Sentinel
    pool: Any = _SentinelPool
    options = {name: value for name, value in address.options.items() if not name.startswith(_SENTINELS)}
    theirs = {name.removeprefix(_SENTINELS): address.options[name] for name in address.options.keys() - options.keys()}
    tls = options.pop("connection_class", Connection) is SSLConnection
    if tls:
        theirs = {**{name: value for name, value in options.items() if name.startswith("ssl_")}, **theirs, "ssl": True}
    limits = {"socket_connect_timeout": _CONNECT_TIMEOUT, "socket_timeout": _CONNECT_TIMEOUT}
    sentinel = sentinels(address.hosts, sentinel_kwargs={**limits, "retry": Retry(NoBackoff(), 1), **theirs})
    connections = pool(address.primary, sentinel, **{**_limits(), **options, "ssl": tls})
    connections.pulse = pulse
    return connections


def _failure(error: RedisError) -> Failure | None:
    """What an error tells of Redis; nothing when it is asked again in other words or in another place."""
    match error:
        case NoAnswer() | BusyLoadingError():
            return "timeout"
        case LostConnection():
            return "lost"
        case NoScriptError() | AskError() | TryAgainError():
            return None
        case ResponseError():
            return "refused"
    return None


def _telling(kind: Any, pulse: Pulse) -> Any:
    """A kind of connections, but that tell of a dead one as redis-py expects it: so that it is replaced, and asked again."""

    class Telling(kind):  # type: ignore[misc]  # which kind it is, TCP, TLS or a Unix socket, the address says
        asked = 0.0
        greeting = False

        async def connect_check_health(self, *args: Any, **options: Any) -> None:
            self.greeting = True
            try:
                await super().connect_check_health(*args, **options)
            except (RedisError, OSError) as error:
                pulse.failed("connect", error)
                raise
            finally:
                self.greeting = False

        async def send_packed_command(self, *args: Any, **options: Any) -> None:
            self.asked = time.perf_counter()
            # Of one that the other end has reset uvloop says RuntimeError, and asyncio keeps its descriptor for the next.
            if self._writer is not None and self._writer.transport.is_closing():
                raise LostConnection("the other end has reset the connection")
            await super().send_packed_command(*args, **options)

        async def read_response(self, *args: Any, **options: Any) -> Any:
            if self.greeting:  # what an older Redis doesn't know is passed over there
                return await super().read_response(*args, **options)
            try:
                answer = await super().read_response(*args, **options)
            except RedisError as error:
                if isinstance(error, ResponseError):
                    self._answered()
                if failure := _failure(error):
                    pulse.failed(failure, error)
                if "READONLY" not in str(error):
                    raise
                # A primary that was made a replica: its address may lead to the new one by now.
                await self.disconnect()
                raise Demoted(str(error)) from error
            if answer is not None:  # a subscriber that hears nothing for a while has not been answered
                self._answered()
            return answer

        def _answered(self) -> None:
            asked, self.asked = self.asked, 0.0
            if asked or pulse.away:
                pulse.answered(asked and time.perf_counter() - asked)

    return Telling
