"""Whether the terminal's background is dark: asked of the terminal itself, which most answer."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

from samedeal_client.text.terminal import LAST, ask

ASK: Final = b"\x1b]11;?\x1b\\" + LAST
"""The question for the background colour (OSC 11)."""

_COLOUR: Final = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})")


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
    dark = dark_of_answer(ask(ASK))
    if dark is None:
        dark = dark_of_environment(os.environ)
    return dark is not False
