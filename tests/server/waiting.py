"""Waiting for conditions that set no event."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from inspect import isawaitable
from typing import Final

from redis.exceptions import RedisError

TIMEOUT: Final = 90.0
"""Timeout, in seconds, for a condition to become true. A Sentinel that was stalled for 2 seconds does nothing for 30."""


async def until(condition: Callable[[], object]) -> None:
    """Wait until a condition is true, or what it lets await is. An error of Redis counts as false."""
    async with asyncio.timeout(TIMEOUT):
        while True:
            with suppress(RedisError, OSError):
                found = condition()
                if await found if isawaitable(found) else found:
                    return
            await asyncio.sleep(0.01)
