"""Runs a command, and ends it when the parent process ends, which closes standard input.

This module is run as a file, ``python parent_watch.py COMMAND ...``, and imports only the standard library. Its
counterpart on the server is ``samedeal_server/embedded_redis/parent_watch.py``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

_STOP_TIMEOUT = 5.0
"""Timeout, in seconds, for the command to end after SIGTERM. After the timeout the command is killed."""

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(command: Sequence[str]) -> int:
    """Run the command to its end. Return its exit code, or 128 plus the number of the signal that ended it."""
    # A signal before the child exists must not end this process, or the child that is being started would be orphaned.
    stop_requested = threading.Event()
    for number in _SIGNALS:
        signal.signal(number, lambda *_: stop_requested.set())
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 (the caller's own command)

    def stop_child() -> None:
        child.terminate()
        timer = threading.Timer(_STOP_TIMEOUT, child.kill)
        timer.daemon = True
        timer.start()

    def wait_for_parent() -> None:
        while os.read(0, 4096):
            pass
        stop_child()

    for number in _SIGNALS:
        signal.signal(number, lambda *_: stop_child())
    if stop_requested.is_set():
        stop_child()
    threading.Thread(target=wait_for_parent, daemon=True).start()
    code = child.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
