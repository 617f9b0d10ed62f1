"""Helpers for asyncio tasks: cancel reliably, and silence errors of cancelled tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, Final, TypeVar

RECANCEL_INTERVAL: Final = 0.5
"""Interval, in seconds, at which a cancelled task that has not ended is cancelled again."""


_Result = TypeVar("_Result")


async def cancel_and_wait(tasks: Iterable[asyncio.Task[Any]], recancel_interval: float = RECANCEL_INTERVAL) -> None:
    """Cancel tasks, wait until all of them have ended, and ignore their results.

    A library may swallow a cancellation that arrives while it connects. Tasks are therefore cancelled again until they
    end. If the caller itself is cancelled, it still waits for all tasks, and then raises CancelledError.
    """
    cancelled_tasks = list(tasks)
    pending = {task for task in cancelled_tasks if not task.done()}
    caller_cancelled = False
    while pending:
        for task in pending:
            task.cancel()
        try:
            await asyncio.wait(pending, timeout=recancel_interval)
        except asyncio.CancelledError:
            caller_cancelled = True
        pending = {task for task in pending if not task.done()}
    for task in cancelled_tasks:
        retrieve_error(task)
    if caller_cancelled:
        raise asyncio.CancelledError


async def uninterrupted(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Return the result of ``work``. If the caller is cancelled meanwhile, ``work`` still ends before CancelledError."""
    task = asyncio.ensure_future(work)
    caller_cancelled = False
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            caller_cancelled = True
    if caller_cancelled:
        retrieve_error(task)
        raise asyncio.CancelledError
    return task.result()


def retrieve_error(task: asyncio.Task[Any]) -> None:
    """Retrieve the error of a task that has ended. Otherwise asyncio logs it if nobody waits for the task any more."""
    if not task.cancelled():
        task.exception()


def ignore_lost_connections() -> None:
    """Keep the event loop from logging a lost connection to which a cancelled task was writing.

    A task that writes to a stream waits for a future, which gets an exception when the connection is lost. If the task
    was cancelled in the same turn of the event loop, for example by a timeout, nobody retrieves this exception, and
    asyncio would log it. All other exceptions that nobody retrieves are still logged.
    """
    asyncio.get_running_loop().set_exception_handler(_handle_exception)


def _handle_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    future = context.get("future")
    lost = isinstance(context.get("exception"), ConnectionError)
    if not (lost and isinstance(future, asyncio.Future) and not isinstance(future, asyncio.Task)):
        loop.default_exception_handler(context)
