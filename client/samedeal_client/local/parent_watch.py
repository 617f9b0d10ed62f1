"""A process that runs a server or an engine, and ends it when the parent process ends.

This process notices the end of its parent because a pipe closes. It is run as a file,
``python parent_watch.py PIPE DATA COMMAND ...``, so it imports only the standard library. PIPE is the descriptor of the
read end. DATA is the data directory of a server, which is removed after the server has ended, or empty for an engine.
The server's own Redis has ``samedeal_server/embedded_redis/parent_watch.py``.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_STOP_TIMEOUT = 5.0
"""Timeout, in seconds, for a server to end after SIGTERM. After the timeout it is killed."""

_LOCK_TIMEOUT = 30.0
"""Timeout, in seconds, for the server's Redis to end and release its lock."""

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(pipe: int, data: str, command: Sequence[str]) -> int:
    """Run a command until it ends. Return its exit code, 128 plus the number of a signal, or 127 if it can't be run.

    Stop the command when the parent process closes the pipe, or ends. A server stops its children itself, and an engine
    is killed together with them. A signal to this process itself must not end it, because nobody would end the command
    then.
    """
    for number in _SIGNALS:  # whoever sends one of them to all processes also ends the parent
        signal.signal(number, lambda *_: None)
    stdin = subprocess.DEVNULL if pipe == 0 else None
    try:
        child = subprocess.Popen(command, stdin=stdin, process_group=None if data else 0)  # noqa: S603 (the user's own command)
    except OSError as error:
        print(f"{error.strerror}: {command[0]}", file=sys.stderr)
        return 127

    def wait_for_parent() -> None:
        while os.read(pipe, 4096):
            pass
        if data:
            child.terminate()
            time.sleep(_STOP_TIMEOUT)
            child.kill()
        else:
            _kill_group(child.pid)

    threading.Thread(target=wait_for_parent, daemon=True).start()
    code = child.wait()
    if data:
        remove_data(data)
    else:
        _kill_group(child.pid)
    return code if code >= 0 else 128 - code


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def remove_data(data: str) -> None:
    """Remove the data directory of a server that has ended.

    The server's Redis may still be running, and holds a lock in the directory until it ends. Wait for the lock first,
    but not for longer than ``_LOCK_TIMEOUT``.
    """
    with suppress(OSError):
        lock = os.open(Path(data, "lock"), os.O_RDWR)
        try:
            deadline = time.monotonic() + _LOCK_TIMEOUT
            while not _try_lock(lock) and time.monotonic() < deadline:
                time.sleep(0.05)
        finally:
            os.close(lock)
    shutil.rmtree(data, ignore_errors=True)


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
