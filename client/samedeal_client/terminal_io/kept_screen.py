"""The screen of an app that has ended, which stays until the next app of this program draws."""

from __future__ import annotations

import shutil
from typing import ClassVar, Final

from samedeal.terminal_text import columns_of
from samedeal_client.text.spans import cut

LEAVE_SCREEN: Final = "\x1b[?1049l"
SHOW_CURSOR: Final = "\x1b[?25h"


class KeptScreen:
    """The screen that an app has kept. ``is_shown`` is true until the next app draws, or until ``leave`` is called."""

    is_shown: ClassVar[bool] = False

    @classmethod
    def leave(cls) -> None:
        """Show the shell again, if the screen is shown."""
        if cls.is_shown:
            cls.is_shown = False
            print(LEAVE_SCREEN + SHOW_CURSOR, end="", flush=True)

    @classmethod
    def say(cls, text: str) -> None:
        """Show a text in the middle of the screen, if the screen is shown."""
        if cls.is_shown and text:
            print(boxed(text, *shutil.get_terminal_size()), end="", flush=True)


def boxed(text: str, width: int, height: int) -> str:
    """Return the output that shows a text in a box in the middle of a terminal. The cursor then is in the last row."""
    text = f"  {cut(text, max(width - 4, 1))}  "
    blank = " " * columns_of(text)
    x, y = max(width - columns_of(text), 0) // 2 + 1, max(height - 3, 0) // 2 + 1
    rows = "".join(f"\x1b[{y + row};{x}H{line}" for row, line in enumerate((blank, text, blank)))
    return f"\x1b[0;7m{rows}\x1b[0m\x1b[{height};1H\x1b[K"
