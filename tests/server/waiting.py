"""Waiting for conditions that set no event."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from inspect import isawaitable
from typing import Any, Final

from redis.exceptions import RedisError

TIMEOUT: Final = 90.0
"""Timeout, in seconds, for a condition to become true. A Sentinel that was stalled for 2 seconds does nothing for 30."""


async def until(condition: Callable[[], object]) -> Any:
    """Wait until a condition is true, or what it lets await is, and return it. An error of Redis counts as false."""
    async with asyncio.timeout(TIMEOUT):
        while True:
            with suppress(RedisError, OSError):
                found = condition()
                if found := await found if isawaitable(found) else found:
                    return found
            await asyncio.sleep(0.01)
