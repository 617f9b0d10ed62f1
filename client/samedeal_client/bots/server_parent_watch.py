"""A process that runs a server, and ends the server when the parent process ends.

This process notices the end of its parent because its standard input closes. It is run as a file,
``python server_parent_watch.py DATA COMMAND ...``, so it imports only the standard library. DATA is the server's data
directory, which is removed after the server has ended. ``samedeal_server/embedded_redis/parent_watch.py`` does the same
for the server's own Redis.
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
"""Timeout, in seconds, for the command to end after SIGTERM. After the timeout the command is killed."""

_LOCK_TIMEOUT = 30.0
"""Timeout, in seconds, for the server's Redis to end and release its lock."""

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(data: str, command: Sequence[str]) -> int:
    """Run a server until it ends, and then remove its data directory ``data``. Return the server's exit code.

    Stop the server when the parent process closes standard input, or ends. If a signal ended the server, return 128 plus
    the number of this signal. A signal to this process itself must not end it, because nobody would end the server then.
    """
    for number in _SIGNALS:  # whoever sends one of them to all processes also ends the parent
        signal.signal(number, lambda *_: None)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 (the caller's own command)

    def wait_for_parent() -> None:
        while os.read(0, 4096):
            pass
        child.terminate()
        time.sleep(_STOP_TIMEOUT)
        child.kill()

    threading.Thread(target=wait_for_parent, daemon=True).start()
    code = child.wait()
    remove_data(data)
    return code if code >= 0 else 128 - code


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
    sys.exit(main(sys.argv[1], sys.argv[2:]))
