"""Waiting for the first of several tasks."""

from __future__ import annotations

import asyncio

import pytest

from samedeal_link.first_completed import first_of


async def forever(ended: list[str]) -> str:
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("cancelled")
    return "never"


async def test_cancelled_caller_cancels_all() -> None:
    ended: list[str] = []

    async def wait() -> None:
        async with first_of(forever(ended), forever(ended)):
            pytest.fail("nothing ends")

    waiting = asyncio.create_task(wait())
    await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert ended == ["cancelled"] * 2


async def test_first_result_enters_the_context_and_cancels_the_rest() -> None:
    ended: list[str] = []
    async with first_of(asyncio.sleep(0, "done"), forever(ended)) as (first, second):
        assert (first.result(), second.done(), ended) == ("done", False, [])
    assert ended == ["cancelled"]
