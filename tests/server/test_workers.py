"""The process of a worker, as its parent sees it."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from samedeal_server.process import workers
from samedeal_server.process.workers import Worker, started_workers
from tests.server.client import DEADLINE
from tests.server.expected_errors import refused
from tests.server.waiting import until

HANGING = """
import socket, time
checks = socket.create_server(("127.0.0.1", 0))
socket.socket(fileno=0).sendall(b"http://127.0.0.1:%d\\n" % checks.getsockname()[1])
time.sleep(3600)
"""


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


async def test_worker_that_hangs_is_killed_and_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "HANG_TIMEOUT", 0.2)
    monkeypatch.setattr(workers, "RESTART_INTERVAL", 0)
    async with started_workers((sys.executable, "-c", HANGING), 1) as (worker,):
        first, running = worker.process, asyncio.create_task(worker.keep_running())
        await until(lambda: worker.process is not first and worker.health_url)
        assert first is not None
        assert first.returncode == -signal.SIGKILL
        worker.send(signal.SIGTERM)
        await running
