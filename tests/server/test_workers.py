"""The process of a worker, as its parent sees it."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from samedeal_server.process.workers import Worker, started_workers
from tests.server.client import DEADLINE
from tests.server.expected_errors import refused


async def test_worker_that_does_not_start_is_an_error() -> None:
    with refused("worker_failed"):
        await started_workers((sys.executable, "-c", ""), 1).__aenter__()


async def test_worker_that_is_told_to_stop_while_it_starts_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Worker(1, ("sleep", "3600"), f"1:{tmp_path}")
    spawn = asyncio.create_subprocess_exec

    async def told_meanwhile(*words: Any, **options: Any) -> asyncio.subprocess.Process:
        worker.send(signal.SIGTERM)
        return await spawn(*words, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", told_meanwhile)
    try:
        async with asyncio.timeout(DEADLINE):
            assert not await worker.start()
            await worker.end()
    finally:
        if worker.process is not None and worker.process.returncode is None:
            worker.process.kill()
    assert worker.process is not None
    assert worker.process.returncode == -signal.SIGTERM
