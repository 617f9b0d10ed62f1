"""Signals to the child processes of tests, none of which outlives its test run."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def die_with_parent() -> None:
    """Make the kernel kill this child process when its parent ends. Pass it as ``preexec_fn``. Works on Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def send_signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Send a signal to a process, unless it has ended.

    ``Process.send_signal`` polls for the exit code first, and so takes it from the tasks that wait for it.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)


async def kill_and_wait(process: asyncio.subprocess.Process) -> None:
    """Kill a process and wait until it has ended."""
    send_signal(process, signal.SIGKILL)
    await process.wait()


def is_alive(process: int) -> bool:
    """Return whether a process runs. A process that has ended and is a zombie does not."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()
