"""What tests of more than one part need: a real Redis, and hypothesis without a clock."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, settings
from redis import Redis

from samedeal_server.embedded import EmbeddedRedis

# A machine that is busy with something else is slow, not wrong.
settings.register_profile("without a clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("without a clock")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def redis_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The URL of a Redis that lives as long as this process's tests."""
    async with EmbeddedRedis(tmp_path_factory.mktemp("redis"), "everysec") as url:
        yield url


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """The URL of an empty Redis."""
    with Redis.from_url(redis_server) as redis:
        redis.flushall()
    return redis_server
