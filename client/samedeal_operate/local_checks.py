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
from samedeal_operate.doctor_results import Finding, fail, ok, warn

RECOMMENDED_SIZE: Final = Size(80, 24)
"""The terminal size that all screens are designed for."""

_GLYPHS: Final = tuple(
    dict.fromkeys(char for char in "".join(map("".join, (*astuple(UNICODE), "●○⏎⌫‹›•←→"))) if not char.isascii())
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
    measured = f"{columns} columns, {lines} rows"
    small = [
        game.title
        for game in GAMES.values()
        if columns < (minimum := smallest(game)).width or lines < minimum.height + FRAME_ROWS
    ]
    enough = f"{RECOMMENDED_SIZE.width} columns and {RECOMMENDED_SIZE.height} rows"
    larger = f"make the window larger or the font smaller; {enough} fit all games"
    if len(small) == len(GAMES):
        return fail("size", f"{measured}: too small for any game", larger)
    if small:
        return warn("size", f"{measured}: too small for {', '.join(small)}", larger)
    return ok("size", measured)


def check_colours(environment: Mapping[str, str], known: int) -> Finding:
    """Check how many colours the terminal has, according to the environment and terminfo."""
    term = environment.get("TERM", "")
    if term in ("", "dumb", "unknown"):
        return fail(
            "colours", f"TERM is {term or 'not set'}: unknown terminal", "use another terminal, or play with --plain"
        )
    if environment.get("NO_COLOR"):
        return ok("colours", "off, because NO_COLOR is set; signs replace the marks")
    if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return ok("colours", "16 million")
    if known >= 256:
        return ok("colours", str(known))
    if known >= 8:
        return warn(
            "colours",
            f"{known}: shades may be hard to distinguish",
            f"set TERM to {_richer(term)}, if the terminal supports it",
        )
    return warn("colours", f"none, according to terminfo for {term}", "set TERM to the type of this terminal")


def _richer(term: str) -> str:
    base = term.partition("-")[0] or "xterm"
    return f"{'screen' if base == 'screen' else base if base == 'tmux' else 'xterm'}-256color"


def check_encoding(name: str | None) -> Finding:
    """Check that the encoding of standard output is UTF-8."""
    if (name or "").lower().replace("-", "").replace("_", "") == "utf8":
        return ok("letters", "UTF-8")
    return warn(
        "letters",
        f"{name or 'no encoding'}: suits are written as letters, 10H for the ten of hearts",
        "set a UTF-8 locale, for example LANG=C.UTF-8",
    )


def check_glyphs(answer: bytes) -> Finding:
    """Check that each glyph is one column wide, from the terminal's answer to ``GLYPH_QUERY``."""
    ends = [int(column) for column in _CURSOR_REPORT.findall(answer)]
    if len(ends) != len(_GLYPHS):
        return warn(
            "glyphs", "the terminal does not report its cursor position", "if columns of cards are crooked, use --ascii"
        )
    wrong = [f"{glyph} takes {end - 1}" for glyph, end in zip(_GLYPHS, ends, strict=True) if end != 2]
    if wrong:
        listed = ", ".join(wrong[:6]) + (f" and {len(wrong) - 6} more" if len(wrong) > 6 else "")
        return warn(
            "glyphs",
            f"not one column wide: {listed}",
            "use --ascii, or set ambiguous-width characters to narrow in the terminal",
        )
    return ok("glyphs", "each one column wide")


def missing_terminal() -> Finding:
    """Return the finding that replaces the checks of the terminal if there is no terminal."""
    return warn(
        "terminal",
        "input or output is not a terminal: size, colours and glyphs were not checked",
        "run samedeal doctor in the terminal that you play in",
    )


def check_files(directories: Mapping[str, Path]) -> Finding:
    """Check that files can be saved.

    ``directories`` maps a kind of file, such as ``records``, to its directory. The directory need not exist yet.
    """
    for contents, directory in directories.items():
        existing = next(parent for parent in (directory, *directory.parents) if parent.exists())
        if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
            return warn("files", f"cannot save {contents} in {directory}", f"get write permission for {existing}")
    return ok("files", ", ".join(f"{contents} in {directory}" for contents, directory in directories.items()))


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
        return ok("hosting", result.stdout.strip())
    output = (result.stderr.strip().splitlines() or ["the server check failed"])[-1]
    problem, _, advice = output.partition(": ")
    return warn("hosting", problem, advice or "run samedeal serve to see the error")
