"""Tests of the task helpers: racing, reliable cancellation, and exceptions that nobody retrieves."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable

import pytest

from samedeal_server.tasks import cancel_and_wait, ignore_lost_connections


async def swallow_cancellations(count: int) -> None:
    """Ignore ``count`` cancellations, then end with the next one."""
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if not count:
                raise
            count -= 1


async def started(work: Awaitable[None]) -> asyncio.Task[None]:
    """Start a task and let it run until it waits."""
    task = asyncio.ensure_future(work)
    await asyncio.sleep(0)
    assert isinstance(task, asyncio.Task)
    return task


async def raise_error(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_swallowed_cancellation_is_repeated(count: int) -> None:
    task = await started(swallow_cancellations(count))
    await cancel_and_wait([task], recancel_interval=0.01)
    assert task.cancelled()


def abandon_future(error: Exception) -> None:
    asyncio.get_running_loop().create_future().set_exception(error)


async def test_lost_connection_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    ignore_lost_connections()
    abandon_future(BrokenPipeError(32, "Broken pipe"))
    gc.collect()
    assert not caplog.records


async def test_other_unretrieved_exceptions_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    ignore_lost_connections()
    abandon_future(ValueError("a mistake"))
    await asyncio.wait([asyncio.ensure_future(raise_error(BrokenPipeError(32, "Broken pipe")))])
    gc.collect()
    assert sorted(record.message.splitlines()[0] for record in caplog.records) == [
        "Future exception was never retrieved",
        "Task exception was never retrieved",
    ]
