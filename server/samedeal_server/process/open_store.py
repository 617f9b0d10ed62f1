"""The opening of the store: connect to Redis, check it, and prepare it for this version of Samedeal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from samedeal_server.errors import StartupError, StoreUnavailable
from samedeal_server.store.address import InvalidRedisAddress
from samedeal_server.store.availability import RedisAvailability
from samedeal_server.store.connect import connect
from samedeal_server.store.preflight import check_redis
from samedeal_server.store.store import Store
from samedeal_server.telemetry.metrics import Metrics


@asynccontextmanager
async def open_store(url: str, replicas: int, metrics: Metrics) -> AsyncIterator[Store]:
    """Open the store on the Redis at ``url``. Close the store when the ``async with`` block ends.

    ``replicas`` is the number of replicas that must confirm each move before its ack. Raise StartupError if this Redis
    cannot be used.
    """
    try:
        redis = connect(url, RedisAvailability(metrics), replicas)
    except InvalidRedisAddress as error:
        # The address is not repeated, because it may contain a password.
        raise StartupError("bad_redis_url", error=error) from None
    async with redis:
        await check_redis(redis)
        store = Store(redis, metrics)
        with store_required():
            await store.check_schema()
            await store.record_schema()
            await store.load_receipt_key()
            await store.check_settings()
        yield store


@contextmanager
def store_required() -> Iterator[None]:
    """Convert StoreUnavailable from the ``with`` block to StartupError, because a node cannot start without Redis."""
    try:
        yield
    except StoreUnavailable as error:
        raise StartupError("redis_stopped_at_start", error=error) from None
