"""The connection to Redis."""

from __future__ import annotations

from typing import Final

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

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
    return Redis.from_pool(pool)
