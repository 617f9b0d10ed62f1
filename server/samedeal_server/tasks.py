"""Ending tasks for certain."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

_AGAIN_AFTER: Final = 0.5


async def end(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks until they have ended, and pass over what they ended with.

    A library may swallow a cancellation that comes while it connects; the next one finds it elsewhere. Who is cancelled
    while ending others has ended them first: tasks end tasks that end tasks.
    """
    ending = list(tasks)
    pending = {task for task in ending if not task.done()}
    cancelled = False
    while pending:
        for task in pending:
            task.cancel()
        try:
            await asyncio.wait(pending, timeout=_AGAIN_AFTER)
        except asyncio.CancelledError:
            cancelled = True
        pending = {task for task in pending if not task.done()}
    for task in ending:
        if not task.cancelled():
            task.exception()
    if cancelled:
        raise asyncio.CancelledError
