"""Ending tasks for certain, and what becomes of those that nobody waits for any more."""

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


def pass_over_lost_connections() -> None:
    """Have the running loop say nothing of a connection that was lost under somebody who has just been cancelled.

    Streams tell whoever waits to write that the connection is gone; nobody takes it up who was cancelled in the same turn,
    as a time-out does. Everything else that nobody takes up is told as ever.
    """
    asyncio.get_running_loop().set_exception_handler(_tell)


def _tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    waited_for = context.get("future")
    lost = isinstance(context.get("exception"), ConnectionError)
    if not (lost and isinstance(waited_for, asyncio.Future) and not isinstance(waited_for, asyncio.Task)):
        loop.default_exception_handler(context)
