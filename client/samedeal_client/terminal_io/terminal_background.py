"""Detection of a dark terminal background."""

from __future__ import annotations

import re
from typing import Final

from samedeal_client.terminal_io.terminal_query import END_QUERY, query_terminal

BACKGROUND_QUERY: Final = b"\x1b]11;?\x1b\\" + END_QUERY
"""The query for the background colour (OSC 11)."""

SLOW_ANSWER: Final = 0.1
"""Time, in seconds, for a terminal's answer. If the answer takes longer, the terminal is too slow to show moving cards."""

_COLOUR: Final = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})")


def dark_of_answer(answer: bytes) -> bool | None:
    """Return whether a terminal's answer names a dark colour, or None if it names no colour."""
    match = _COLOUR.search(answer)
    if match is None:
        return None
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in match.groups())
    return bool(0.299 * red + 0.587 * green + 0.114 * blue < 0.5)


def has_dark_background() -> bool:
    """Return whether the background is dark, or True if that is unknown.

    Call this before anything else reads from the terminal.
    """
    return dark_of_answer(query_terminal(BACKGROUND_QUERY)) is not False
