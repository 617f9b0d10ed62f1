"""The checks of the terminal and the machine for ``samedeal doctor``.

``check_glyphs`` reads the terminal's answer to ``GLYPH_QUERY``.
"""

from __future__ import annotations

import curses
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import astuple

from samedeal.games import GAMES
from samedeal_client.board.layout import FRAME_ROWS, Size, smallest
from samedeal_client.terminal_io.terminal_query import END_QUERY
from samedeal_client.text.appearance import UNICODE
from samedeal_operate.doctor_results import Finding, found

RECOMMENDED_SIZE: Final = Size(80, 24)
"""The terminal size that all screens are designed for."""

_GLYPHS: Final = tuple(
    dict.fromkeys(char for char in "".join(map("".join, (*astuple(UNICODE), "●○‹›•←→"))) if not char.isascii())
)
"""The non-ASCII characters on screens. Each must be one column wide."""

_GLYPH_PROBE: Final = b"\r%s\x1b[6n"
GLYPH_QUERY: Final = b"".join(_GLYPH_PROBE % char.encode() for char in _GLYPHS) + b"\r\x1b[K" + END_QUERY
"""A query that prints each glyph at the start of the line and asks for the position of the cursor after the glyph.

At its end, the query clears the line.
"""

_CURSOR_REPORT: Final = re.compile(rb"\x1b\[\d+;(\d+)R")


def terminal_colours(term: str) -> int:
    """Return the number of colours of a terminal according to terminfo. A terminal that terminfo lacks has none.

    Curses loads only one terminal in a process, so later calls are about the first terminal.
    """
    try:
        curses.setupterm(term or "dumb", sys.__stdout__.fileno() if sys.__stdout__ else 1)
    except (curses.error, OSError, ValueError):
        return 0
    return max(curses.tigetnum("colors"), 0)


def check_size(columns: int, lines: int) -> Finding:
    """Check that the terminal is large enough."""
    size = f"{columns} columns, {lines} rows"
    small = [
        game.title
        for game in GAMES.values()
        if columns < (minimum := smallest(game)).width or lines < minimum.height + FRAME_ROWS
    ]
    enough = f"{RECOMMENDED_SIZE.width} columns and {RECOMMENDED_SIZE.height} rows"
    if len(small) == len(GAMES):
        return found("too_small_for_all", size=size, enough=enough)
    if small:
        return found("too_small_for_some", size=size, games=", ".join(small), enough=enough)
    return found("large_enough", size=size)


def check_colours(environment: Mapping[str, str], known: int) -> Finding:
    """Check how many colours the terminal has, according to the environment and terminfo."""
    term = environment.get("TERM", "")
    if term in ("", "dumb", "unknown"):
        return found("unknown_terminal", term=term or "not set")
    if environment.get("NO_COLOR"):
        return found("colours_off")
    if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return found("colours", number="16 million")
    if known >= 256:
        return found("colours", number=known)
    if known >= 8:
        return found("few_colours", number=known, richer=_richer(term))
    return found("no_colours", term=term)


def _richer(term: str) -> str:
    base = term.partition("-")[0] or "xterm"
    return f"{'screen' if base == 'screen' else base if base == 'tmux' else 'xterm'}-256color"


def check_encoding(name: str | None) -> Finding:
    """Check that the encoding of standard output is UTF-8."""
    if (name or "").lower().replace("-", "").replace("_", "") == "utf8":
        return found("utf_8")
    return found("not_utf_8", encoding=name or "no encoding")


def check_glyphs(answer: bytes) -> Finding:
    """Check that each glyph is one column wide, from the terminal's answer to ``GLYPH_QUERY``."""
    ends = [int(column) for column in _CURSOR_REPORT.findall(answer)]
    if len(ends) != len(_GLYPHS):
        return found("silent_terminal")
    wrong = [f"{glyph} takes {end - 1}" for glyph, end in zip(_GLYPHS, ends, strict=True) if end != 2]
    if wrong:
        listed = ", ".join(wrong[:6]) + (f" and {len(wrong) - 6} more" if len(wrong) > 6 else "")
        return found("wide_glyphs", glyphs=listed)
    return found("narrow_glyphs")


def check_files(directories: Mapping[str, Path]) -> Finding:
    """Check that files can be saved.

    ``directories`` maps a kind of file, such as ``records``, to its directory. The directory need not exist yet.
    """
    for contents, directory in directories.items():
        existing = next(parent for parent in (directory, *directory.parents) if parent.exists())
        if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
            return found("unsaved", contents=contents, directory=directory, existing=existing)
    places = ", ".join(f"{contents} in {directory}" for contents, directory in directories.items())
    return found("saved", places=places)


_FIND_REDIS: Final = """
from samedeal_server.embedded_redis.binary import find_redis_binary
from samedeal_server.errors import StartupError
try:
    print(find_redis_binary())
except StartupError as error:
    raise SystemExit(f"{error}")
"""
"""A program for another process, because the client must not import the server. It prints the path of Redis."""


def check_hosting(python: str = sys.executable) -> Finding:
    """Check that the server and a Redis for it are installed."""
    result = subprocess.run(  # noqa: S603 (this Python)
        [python, "-c", _FIND_REDIS], capture_output=True, text=True, timeout=60, check=False
    )
    if not result.returncode:
        return found("can_host", redis=result.stdout.strip())
    output = (result.stderr.strip().splitlines() or ["the server check failed"])[-1]
    problem, _, advice = output.partition(": ")
    return found("cannot_host", problem=problem, advice=advice or "run samedeal serve to see the error")
