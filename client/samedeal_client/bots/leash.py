"""Runs a command that ends when standard input does: with whoever holds the other end of that pipe, however they ended.

To be run as a file, ``python leash.py COMMAND ...``; it needs nothing but the standard library.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

_PATIENCE = 5.0
"""Seconds that the command has to end by itself once it is told to."""


def main(command: Sequence[str]) -> int:
    """Run the command to its end: its exit code, 128 and the signal's number where one ended it."""
    # Told to end before there is a child, it must not die and leave the child that is just being made.
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: told.set())
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 (what we were told to run)

    def end() -> None:
        child.terminate()
        timer = threading.Timer(_PATIENCE, child.kill)
        timer.daemon = True
        timer.start()

    def pull() -> None:
        while os.read(0, 4096):
            pass
        end()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: end())
    if told.is_set():
        end()
    threading.Thread(target=pull, daemon=True).start()
    code = child.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
