"""What works in this terminal and on this machine: each check is a function of what it looks at.

``glyphs`` and ``mouse`` read a terminal's answers; ``GLYPH_QUESTION`` and ``MOUSE_QUESTION`` are what it is asked.
"""

from __future__ import annotations

import curses
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from samedeal.games import GAMES
from samedeal_client.board.layout import Size, smallest
from samedeal_client.text.findings import Finding, fail, ok, warn
from samedeal_client.text.look import UNICODE
from samedeal_client.text.terminal import LAST

FRAME_ROWS: Final = 3
"""Rows that a race needs beside its board."""

WELL: Final = Size(80, 24)
"""The size that everything is made for."""

_GLYPHS: Final = tuple(
    dict.fromkeys(char for char in "".join(map("".join, (*UNICODE, "●○⏎⌫‹›•←→"))) if not char.isascii())
)
"""What screens are drawn with beside ASCII; each is meant to take one column."""

_RULER: Final = b"\r%s\x1b[6n"
GLYPH_QUESTION: Final = b"".join(_RULER % char.encode() for char in _GLYPHS) + b"\r\x1b[K" + LAST
"""Draws each glyph at the beginning of the line and asks where the cursor is after it; the line is blank again then."""

MOUSE_QUESTION: Final = b"\x1b[?1006$p" + LAST
"""Asks whether the terminal knows how to report the mouse (DECRQM for SGR mouse reports)."""

_PLACE: Final = re.compile(rb"\x1b\[\d+;(\d+)R")
_MODE: Final = re.compile(rb"\x1b\[\?1006;(\d)\$y")


class Described(NamedTuple):
    """What the description of a terminal says: how many colours it has, and whether it reports the mouse."""

    colours: int
    mouse: bool


def described(term: str) -> Described:
    """What this machine's terminal descriptions say of a terminal by its name; nothing of one that they don't know.

    The first terminal that a process asks for is the only one that it is told of.
    """
    try:
        curses.setupterm(term or "dumb", sys.__stdout__.fileno() if sys.__stdout__ else 1)
    except (curses.error, OSError, ValueError):
        return Described(0, mouse=False)
    return Described(max(curses.tigetnum("colors"), 0), mouse=curses.tigetstr("kmous") is not None)


def size(columns: int, lines: int) -> Finding:
    """Whether the terminal is large enough."""
    said = f"{columns} columns, {lines} rows"
    small = [
        game.title
        for game in GAMES.values()
        if columns < (least := smallest(game)).width or lines < least.height + FRAME_ROWS
    ]
    larger = f"make the window larger, or the letters smaller: {WELL.width} columns and {WELL.height} rows do for all"
    if len(small) == len(GAMES):
        return fail("size", f"{said}: too small for any game", larger)
    if small:
        return warn("size", f"{said}: too small for {', '.join(small)}", larger)
    return ok("size", said)


def colours(environment: Mapping[str, str], known: Described) -> Finding:
    """Whether there are colours, by the environment and the terminal's description."""
    term = environment.get("TERM", "")
    if term in ("", "dumb", "unknown"):
        return fail(
            "colours",
            f"TERM is {term or 'not set'}: nothing is known of this terminal",
            "use another terminal, or play in lines with --plain",
        )
    if environment.get("NO_COLOR"):
        return ok("colours", "off, as NO_COLOR wishes: marks are shown as signs")
    if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return ok("colours", "16 million")
    if known.colours >= 256:
        return ok("colours", f"{known.colours}")
    if known.colours >= 8:
        return warn(
            "colours",
            f"{known.colours}: shades may be hard to tell apart",
            f"set TERM to {_richer(term)}, if it is one",
        )
    return warn("colours", f"none by the description of {term}", "set TERM to what this terminal is")


def _richer(term: str) -> str:
    base = term.partition("-")[0] or "xterm"
    return f"{'screen' if base == 'screen' else base if base == 'tmux' else 'xterm'}-256color"


def encoding(name: str | None) -> Finding:
    """Whether glyphs can be written, by the encoding of standard output."""
    if (name or "").lower().replace("-", "").replace("_", "") == "utf8":
        return ok("letters", "UTF-8")
    return warn(
        "letters",
        f"{name or 'no encoding'}: suits are written as letters, 10H for the ten of hearts",
        "for glyphs set the locale to one with UTF-8, as in LANG=C.UTF-8",
    )


def glyphs(answer: bytes) -> Finding:
    """Whether every glyph takes one column, by the terminal's answer to ``GLYPH_QUESTION``."""
    ends = [int(column) for column in _PLACE.findall(answer)]
    if len(ends) != len(_GLYPHS):
        return warn(
            "glyphs",
            "the terminal doesn't tell where its cursor is",
            "if columns of cards are not straight, use --ascii",
        )
    wrong = [f"{glyph} takes {end - 1}" for glyph, end in zip(_GLYPHS, ends, strict=True) if end != 2]
    if wrong:
        told = ", ".join(wrong[:6]) + (f" and {len(wrong) - 6} more" if len(wrong) > 6 else "")
        return warn(
            "glyphs",
            f"not one column each: {told}",
            "use --ascii, or tell the terminal that characters of ambiguous width are narrow",
        )
    return ok("glyphs", f"suits and lines take one column each: {UNICODE.suits} {UNICODE.hidden} {UNICODE.bar}")


def mouse(answer: bytes, known: Described) -> Finding:
    """Whether clicks are reported, by the answer to ``MOUSE_QUESTION`` and the terminal's description."""
    match = _MODE.search(answer)
    if match is not None and match[1] != b"0":
        return ok("mouse", "reported")
    if match is None and known.mouse:
        return ok("mouse", "reported, by the terminal's description")
    return warn(
        "mouse", "not reported, as far as the terminal tells", "everything can be done by keyboard; F1 shows how"
    )


def no_terminal() -> Finding:
    """What is said in place of the checks of a terminal where there is none."""
    return warn(
        "terminal",
        "input or output is no terminal: size, colours, glyphs and mouse were not looked at",
        "run samedeal doctor in the terminal that you play in; without one, --plain works with lines",
    )


def screens() -> Finding:
    """Whether the full screen can be had."""
    if importlib.util.find_spec("textual") is None:
        return warn("screen", "Textual is not installed: races are played in lines", "pip install textual")
    return ok("screen", "Textual is there")


def files(directories: Mapping[str, Path]) -> Finding:
    """Whether what is kept can be kept: directories by what they are for, which need not be there yet."""
    for what, directory in directories.items():
        there = next(parent for parent in (directory, *directory.parents) if parent.exists())
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            return warn("files", f"{what} can't be kept in {directory}", f"let yourself write to {there}")
    return ok("files", ", ".join(f"{what} in {directory}" for what, directory in directories.items()))


_FIND_REDIS: Final = """
try:
    from samedeal_server.redis_binary import find_redis_binary
except ModuleNotFoundError as error:
    raise SystemExit(f"missing {error.name}")
from samedeal_server.errors import StartupError
try:
    print(find_redis_binary())
except StartupError as error:
    raise SystemExit(f"{error}")
"""
"""The server is asked in a process of its own: the client knows nothing of it."""


def hosting(python: str = sys.executable) -> Finding:
    """Whether races can be hosted here: the server and a Redis for it."""
    asked = subprocess.run(  # noqa: S603 (this very Python)
        [python, "-c", _FIND_REDIS], capture_output=True, text=True, timeout=60, check=False
    )
    if not asked.returncode:
        return ok("hosting", asked.stdout.strip())
    said = (asked.stderr.strip().splitlines() or ["the server can't be asked"])[-1]
    if said.startswith("missing "):
        return warn(
            "hosting",
            f"the server can't run here: {said.removeprefix('missing ')} is not installed",
            "to host races, or to practise without a server: pip install samedeal",
        )
    what, _, advice = said.partition(": ")
    return warn("hosting", what, advice or "run samedeal serve to see what it says")
