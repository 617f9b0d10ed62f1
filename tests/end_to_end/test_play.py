"""``samedeal play``: a race on this machine runs to its standings and leaves no process behind."""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
from typing import Any

import pytest

from samedeal_client.local import local_processes, parent_watch
from tests.end_to_end.processes import DEADLINE, Programs, nothing_remains
from tests.server.waiting import until


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
async def test_stopping_or_killing_leaves_no_process(programs: Programs, end: signal.Signals) -> None:
    race = await programs.samedeal("play", "willow", "--bots", "1")
    await race.expect("The race starts in")
    assert any("samedeal_server" in command for command in programs.left_running().values())
    bots = sum("samedeal_client bot " in command for command in programs.left_running().values())
    assert bots == 2  # one races for the player
    race.signal(end)
    assert await race.exit_code() == (-end if end is signal.SIGKILL else 128 + end)
    await nothing_remains(programs)


async def test_stopping_during_the_start_leaves_no_process(programs: Programs) -> None:
    race = await programs.samedeal("play", "willow", "--bots", "1")
    await until(lambda: any("samedeal_server" in command for command in programs.left_running().values()))
    race.signal(signal.SIGTERM)
    assert await race.exit_code() == 128 + signal.SIGTERM
    await nothing_remains(programs)


async def test_cancelled_start_of_a_server_leaves_no_process(
    programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the start of the process that watches were cancelled, nobody would end the server that it has started."""
    watched, start = asyncio.Event(), asyncio.create_subprocess_exec

    async def start_slowly(*command: str, **options: Any) -> asyncio.subprocess.Process:
        process = await start(*command, **options)
        watched.set()
        await until(lambda: sum("samedeal_server" in each for each in programs.left_running().values()) > 1)
        return process

    async def serve() -> None:
        async with local_processes.local_server():
            pass

    monkeypatch.setenv("HOME", str(programs.home))
    monkeypatch.setattr(asyncio, "create_subprocess_exec", start_slowly)
    serving = asyncio.create_task(serve())
    await watched.wait()
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    await nothing_remains(programs)


async def test_frozen_server_is_killed_with_its_children(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(programs.home))
    monkeypatch.setattr(tempfile, "tempdir", str(programs.temporary))
    monkeypatch.setattr(local_processes, "STOP_TIMEOUT", 0.1)
    async with asyncio.timeout(2 * DEADLINE), local_processes.local_server():
        programs.kill(f"{sys.executable} -I -S {parent_watch.__file__}", signal.SIGSTOP)
    await nothing_remains(programs)


async def test_a_dead_server_ends_the_race_with_an_error(programs: Programs) -> None:
    race = await programs.samedeal("play", "willow", "--bots", "1")
    await race.expect("The race starts in")
    programs.kill(f"{sys.executable} -m samedeal_server --announce")
    await race.expect(r"samedeal: The server has ended with code 137")
    assert await race.exit_code() == 1
    await nothing_remains(programs)
