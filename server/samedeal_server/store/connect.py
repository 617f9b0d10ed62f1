"""The connection to Redis."""

from __future__ import annotations

from typing import Any, Final

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as LostConnection

_CONNECTIONS: Final = 64
_CONNECT_TIMEOUT: Final = 2.0
_ANSWER_TIMEOUT: Final = 5.0


def connect(url: str) -> Redis:
    """A client of the Redis at a URL; raises ValueError for one that is none.

    A command is tried once more when its connection turns out to be dead: every script may be run twice.
    """
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=_CONNECTIONS,
        timeout=_ANSWER_TIMEOUT,
        socket_connect_timeout=_CONNECT_TIMEOUT,
        socket_timeout=_ANSWER_TIMEOUT,
        retry=Retry(NoBackoff(), 1),
    )
    pool.connection_class = _telling(pool.connection_class)
    return Redis.from_pool(pool)


def _telling(kind: Any) -> Any:
    """A kind of connections, but that tell of a dead one as redis-py expects it: so that it is replaced, and asked again."""

    class Telling(kind):  # type: ignore[misc]  # which kind it is, TCP, TLS or a Unix socket, the address says
        async def send_packed_command(self, *args: Any, **options: Any) -> None:
            try:
                await super().send_packed_command(*args, **options)
            except RuntimeError as error:  # what uvloop says of a connection that the other end has reset
                raise LostConnection(str(error)) from error

    return Telling
