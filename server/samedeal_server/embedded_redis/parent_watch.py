"""A small process between a node and its embedded Redis. The process stops Redis when the node ends.

It is run as ``parent_watch.py PIPE LOCK SCRATCH COMMAND...``:

- PIPE is the descriptor of the read end of a pipe. Only the node has the write end, so the pipe closes when the node
  ends, even if the node is killed.
- LOCK is the descriptor of a locked file. Redis inherits the lock and holds it until Redis ends.
- SCRATCH is a directory that is removed after Redis has ended.

Only the standard library is imported, so that the program starts fast. The client's ``local/parent_watch.py`` does
the same for servers and engines.
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

STOP_TIMEOUT = 30.0
"""Timeout, in seconds, for Redis to write its data and end. After this time Redis is killed."""

_PR_SET_PDEATHSIG = 1


def run_until_pipe_closes(pipe: int, lock: int, scratch: str, command: list[str]) -> int:
    """Run a command until it ends or the pipe closes, and return its exit code.

    When the pipe closes, stop the command. The command inherits the descriptor ``lock``. Remove the directory
    ``scratch`` at the end.
    """
    # Only the node stops Redis. Signals that a terminal or a service manager sends to all processes must not end it early.
    # The handlers do nothing. Redis would inherit SIG_IGN, and could then miss SIGTERM while it starts.
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
                deadline = time.monotonic() + STOP_TIMEOUT
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
    """In the process that becomes Redis, ask the kernel to stop this process if its parent is killed.

    Do nothing on systems other than Linux.
    """
    if sys.platform != "linux":
        return
    parent = os.getppid()
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)


if __name__ == "__main__":
    sys.exit(run_until_pipe_closes(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]))
