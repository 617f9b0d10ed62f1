"""Queries to the terminal. The terminal sends its answers as input, as if they had been typed."""

from __future__ import annotations

import os
import re
import select
import sys
import termios
import time
import tty
from typing import Final

END_QUERY: Final = b"\x1b[c"
"""The query for the kind of terminal (DA1), which every terminal answers.

It is sent after other queries. Once the terminal has answered it, no answer to the other queries follows.
"""

_END_ANSWER: Final = re.compile(rb"\x1b\[\?[0-9;]*c")


def query_terminal(query: bytes, timeout: float = 1.0) -> bytes:
    """Return the terminal's answer to a query that ends with ``END_QUERY``, within ``timeout`` seconds.

    Return an empty answer if standard input or output is not a terminal, or if the terminal does not answer. Call this
    before anything else reads from the terminal.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        return b""
    terminal = sys.stdin.fileno()
    answer = b""
    try:
        before = termios.tcgetattr(terminal)
    except termios.error:
        return b""
    try:
        tty.setcbreak(terminal, termios.TCSANOW)
        sys.stdout.flush()
        os.write(sys.stdout.fileno(), query)
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0 and not _END_ANSWER.search(answer):
            if not select.select([terminal], [], [], left)[0]:
                break
            answer += os.read(terminal, 1024)
    except OSError:
        return b""
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)
    return answer
