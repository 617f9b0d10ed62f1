"""Tasks that are to end do end, and what they end with is nobody's trouble."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable

import pytest

from samedeal_server import tasks
from samedeal_server.tasks import end, pass_over_lost_connections


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_AGAIN_AFTER", 0.01)


async def stubborn(swallow: int) -> None:
    """Passes over so many cancellations."""
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if not swallow:
                raise
            swallow -= 1


async def begun(work: Awaitable[None]) -> asyncio.Task[None]:
    """A task that has come to where it waits."""
    task = asyncio.ensure_future(work)
    await asyncio.sleep(0)
    assert isinstance(task, asyncio.Task)
    return task


@pytest.mark.parametrize("swallow", [0, 1, 3])
async def test_a_task_that_swallows_cancellations_ends(swallow: int) -> None:
    task = await begun(stubborn(swallow))
    await end([task])
    assert task.cancelled()


async def test_tasks_that_end_tasks_have_ended_them_even_when_they_are_hurried() -> None:
    inner = await begun(stubborn(4))

    async def keeps() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await end([inner])

    outer = await begun(keeps())
    await end([outer])
    ended = inner.cancelled(), outer.cancelled()
    await end([inner])
    assert ended == (True, True)


async def test_what_a_task_ended_with_is_passed_over() -> None:
    async def fails() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("a mistake")

    said: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(context))
    task = await begun(fails())
    await end([task])
    assert task.done()
    del task
    await asyncio.sleep(0)
    assert said == []


async def failed(error: Exception) -> None:
    raise error


def forgotten_future(error: Exception) -> None:
    asyncio.get_running_loop().create_future().set_exception(error)


async def forgotten_task(error: Exception) -> None:
    task = asyncio.ensure_future(failed(error))
    await asyncio.wait([task])


async def test_a_connection_that_is_lost_under_nobody_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    pass_over_lost_connections()
    forgotten_future(BrokenPipeError(32, "Broken pipe"))
    gc.collect()
    assert not caplog.records


async def test_other_faults_that_nobody_takes_up_are_told(caplog: pytest.LogCaptureFixture) -> None:
    pass_over_lost_connections()
    forgotten_future(ValueError("a mistake"))
    await forgotten_task(BrokenPipeError(32, "Broken pipe"))
    gc.collect()
    assert sorted(record.message.splitlines()[0] for record in caplog.records) == [
        "Future exception was never retrieved",
        "Task exception was never retrieved",
    ]
