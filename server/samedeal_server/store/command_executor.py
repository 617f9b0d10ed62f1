"""Execution of commands. Scripts that Redis does not know are loaded, and errors of the Redis client are converted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from redis.exceptions import NoScriptError, RedisError

from samedeal_server.store.redis_client import (
    PrimaryClient,
    RedisCommand,
    converted_errors,
    unavailable,
    with_followers,
)
from samedeal_server.store.redis_cluster import RedisClient
from samedeal_server.store.scripts import Script

_INFO_TIMEOUT: Final = 2.0
"""Timeout, in seconds, for a primary to answer INFO."""


async def _info(primary: PrimaryClient) -> dict[str, Any] | RedisError | OSError:
    try:
        async with asyncio.timeout(_INFO_TIMEOUT):
            return dict(await primary.info())
    except (RedisError, OSError) as error:
        return error


class Executor:
    """Executes commands on Redis. Every method other than ``try_execute`` raises StoreUnavailable if Redis fails."""

    def __init__(self, redis: RedisClient) -> None:
        self.redis = redis

    async def execute(self, *commands: RedisCommand, durable: bool = False) -> list[Any]:
        """Execute commands and return their answers. If commands failed, raise StoreUnavailable for the first of them.

        ``PrimaryClient.try_execute`` explains ``durable``.
        """
        answers = await self.try_execute(commands, durable=durable)
        for answer in answers:
            if isinstance(answer, Exception):
                raise unavailable(answer)
        return answers

    async def try_execute(self, commands: Sequence[RedisCommand], *, durable: bool = False) -> list[Any]:
        """Execute commands. Return for each command its answer, or the RedisError or OSError with which it failed.

        ``PrimaryClient.try_execute`` explains ``durable``.
        """
        answers = await self.redis.try_execute(commands, durable=durable)
        if missing := {i for i, answer in enumerate(answers) if isinstance(answer, NoScriptError)}:
            # Another client may have loaded the script while Redis executed this batch, so that only the first commands
            # failed.
            repeated = with_followers(commands, missing)
            sources = [Script.with_source(commands[i]) for i in repeated]
            for i, answer in zip(repeated, await self.redis.try_execute(sources, durable=durable), strict=True):
                answers[i] = answer
        return answers

    async def server_info(self) -> dict[str, dict[str, Any]]:
        """Return the output of Redis's INFO for each primary, by the address of the primary.

        Primaries that do not answer are left out.
        """
        with converted_errors():
            primaries = await self.redis.primaries()
            results = await asyncio.gather(*map(_info, primaries))
            infos = {
                primary.where: info for primary, info in zip(primaries, results, strict=True) if isinstance(info, dict)
            }
            if not infos and isinstance(results[0], Exception):
                raise results[0]
            return infos

    async def scan(self, pattern: str) -> AsyncIterator[bytes]:
        """Yield the keys on all primaries that match a pattern.

        A key may be yielded twice. Keys that are created during the scan may be missing.
        """
        with converted_errors():
            for primary in await self.redis.primaries():
                async for key in primary.scan_iter(match=pattern, count=1000):
                    yield key


class StorePart:
    """A part of the store. Its methods raise StoreUnavailable if Redis fails."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
