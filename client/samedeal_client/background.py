"""Whether the terminal's background is dark: asked of the terminal itself, which most answer."""

from __future__ import annotations

import os
import re
import select
import sys
import termios
import time
import tty
from collections.abc import Mapping
from typing import Final

ASK: Final = b"\x1b]11;?\x1b\\\x1b[c"
"""The question for the background colour (OSC 11), and one that every terminal answers, so that the wait has an end."""

_LONGEST: Final = 1.0
_COLOUR: Final = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})")
_LAST_ANSWER: Final = re.compile(rb"\x1b\[\?[0-9;]*c")


def dark_of_answer(answer: bytes) -> bool | None:
    """Read a terminal's answer; None where it names no colour."""
    match = _COLOUR.search(answer)
    if match is None:
        return None
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in match.groups())
    return bool(0.299 * red + 0.587 * green + 0.114 * blue < 0.5)


def dark_of_environment(environment: Mapping[str, str]) -> bool | None:
    """What ``COLORFGBG`` says, as some terminals set it; None without it."""
    ground = environment.get("COLORFGBG", "").rpartition(";")[2]
    return int(ground) in (0, 1, 2, 3, 4, 5, 6, 8) if ground.isascii() and ground.isdigit() else None


def is_dark() -> bool:
    """Whether the background is dark; dark where nothing tells. To be asked before anything else reads the terminal."""
    answer = _ask() if sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb" else b""
    dark = dark_of_answer(answer)
    if dark is None:
        dark = dark_of_environment(os.environ)
    return dark is not False


def _ask() -> bytes:
    ours = sys.stdin.fileno()
    before = termios.tcgetattr(ours)
    answer = b""
    try:
        tty.setcbreak(ours, termios.TCSANOW)
        os.write(sys.stdout.fileno(), ASK)
        end = time.monotonic() + _LONGEST
        while (left := end - time.monotonic()) > 0 and not _LAST_ANSWER.search(answer):
            if not select.select([ours], [], [], left)[0]:
                break
            answer += os.read(ours, 256)
    except OSError:
        return b""
    finally:
        termios.tcsetattr(ours, termios.TCSANOW, before)
    return answer
