"""Questions to the terminal itself, which it answers as if somebody had typed the answer."""

from __future__ import annotations

import os
import re
import select
import sys
import termios
import time
import tty
from typing import Final

LAST: Final = b"\x1b[c"
"""A question that every terminal answers, to be asked last, so that the wait for the others has an end."""

_LAST_ANSWER: Final = re.compile(rb"\x1b\[\?[0-9;]*c")


def ask(question: bytes, patience: float = 1.0) -> bytes:
    """What the terminal answers to a question that ends with ``LAST``, within ``patience`` seconds.

    Empty where standard input and output are no terminal, or where it says nothing. To be asked before anything else reads
    the terminal.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        return b""
    ours = sys.stdin.fileno()
    answer = b""
    try:
        before = termios.tcgetattr(ours)
    except termios.error:
        return b""
    try:
        tty.setcbreak(ours, termios.TCSANOW)
        sys.stdout.flush()
        os.write(sys.stdout.fileno(), question)
        end = time.monotonic() + patience
        while (left := end - time.monotonic()) > 0 and not _LAST_ANSWER.search(answer):
            if not select.select([ours], [], [], left)[0]:
                break
            answer += os.read(ours, 1024)
    except OSError:
        return b""
    finally:
        termios.tcsetattr(ours, termios.TCSANOW, before)
    return answer
