"""A small process between a node and the Redis that it started, so that Redis never outlives the node.

Run as a program of its own: ``redis_guard.py PIPE LOCK SCRATCH COMMAND...``. PIPE is the read end of a pipe whose write end
only the node holds; however the node ends, the pipe ends with it, and Redis is told to stop. LOCK is an open file whose lock
Redis inherits, so that it is held for as long as Redis lives. SCRATCH is a directory that is removed at the end. It imports
nothing but the standard library, so that it starts at once.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

GRACE = 30.0
"""Seconds that Redis has to write what it holds before it is killed."""

_PR_SET_PDEATHSIG = 1


def guard(pipe: int, lock: int, scratch: str, command: list[str]) -> int:
    """Run a command until it ends or the pipe does; returns its exit code."""
    # The node alone says when Redis stops: what the terminal or a service manager sends to all must not take it away early.
    # Handlers that do nothing, since Redis would inherit SIG_IGN and miss a stop that comes before it has its own.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, lambda _number, _frame: None)
    os.umask(0o077)
    woken, waker = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    try:
        redis = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[lock], preexec_fn=_end_with_parent)  # noqa: PLW1509, S603  # one thread only; the command is the node's own
        ended = False
        deadline = 0.0
        while redis.poll() is None:
            left = max(0.0, deadline - time.monotonic()) if ended else None
            ready, _, _ = select.select([woken] if ended else [woken, pipe], [], [], left)
            if pipe in ready:
                ended = True
                deadline = time.monotonic() + GRACE
                redis.terminate()
            elif ended and not ready:
                redis.kill()
                redis.wait()
            with suppress(BlockingIOError):
                os.read(woken, 64)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return redis.returncode if redis.returncode >= 0 else 128 - redis.returncode


def _end_with_parent() -> None:
    """Linux: Redis is told to stop when the guard itself is killed."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)


if __name__ == "__main__":
    sys.exit(guard(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]))
