"""A process that runs an engine, and kills the engine and all its children when the parent process ends.

The engine inherits standard input and output. This process notices the end of its parent because a pipe closes. It is
run as a file, ``python engine_parent_watch.py PIPE COMMAND ...``, so it imports only the standard library.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress


def main(pipe: int, command: Sequence[str]) -> int:
    """Run an engine until it ends or the pipe closes. Return its exit code, or 128 plus the number of a signal."""
    try:
        engine = subprocess.Popen(command, process_group=0)  # noqa: S603 (the user's own command)
    except OSError as error:
        print(f"{error.strerror}: {command[0]}", file=sys.stderr)
        return 127

    def kill_all() -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(engine.pid, signal.SIGKILL)

    def wait_for_parent() -> None:
        while os.read(pipe, 4096):
            pass
        kill_all()

    threading.Thread(target=wait_for_parent, daemon=True).start()
    code = engine.wait()
    kill_all()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
