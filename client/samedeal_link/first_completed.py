"""Waiting for the first of several asyncio tasks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

_Result = TypeVar("_Result")


@asynccontextmanager
async def first_of(*coroutines: Coroutine[Any, Any, _Result]) -> AsyncIterator[tuple[asyncio.Task[_Result], ...]]:
    """Run coroutines as tasks, enter the context when the first of them ends, and cancel the others on exit.

    Yield the tasks in the order of the coroutines. If a task fails, the context does not raise the exception, but the
    task's ``result`` does. The server has a helper like this one, because client and server share only ``samedeal``,
    which does not use asyncio.
    """
    tasks = tuple(asyncio.create_task(coroutine) for coroutine in coroutines)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
