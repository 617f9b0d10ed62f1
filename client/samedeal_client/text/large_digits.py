"""Large digits for the countdown."""

from __future__ import annotations

from typing import Final

from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span

HEIGHT: Final = 5

_SHAPES: Final = {
    "0": ("####", "#  #", "#  #", "#  #", "####"),
    "1": ("  # ", " ## ", "  # ", "  # ", " ###"),
    "2": ("####", "   #", "####", "#   ", "####"),
    "3": ("####", "   #", " ###", "   #", "####"),
    "4": ("#  #", "#  #", "####", "   #", "   #"),
    "5": ("####", "#   ", "####", "   #", "####"),
    "6": ("####", "#   ", "####", "#  #", "####"),
    "7": ("####", "   #", "  # ", " #  ", " #  "),
    "8": ("####", "#  #", "####", "#  #", "####"),
    "9": ("####", "#  #", "####", "   #", "####"),
}


def large_number(number: int, look: Look, style: str = "title") -> tuple[Row, ...]:
    """Return a number in ``HEIGHT`` rows. Each cell of a digit is two columns wide, so that the cell looks square."""
    block = "##" if look.ascii else "██"
    rows = ["  ".join(_wide(_SHAPES[digit][y], block) for digit in str(number)) for y in range(HEIGHT)]
    return tuple((Span(row, style),) for row in rows)


def _wide(shape: str, block: str) -> str:
    return "".join(block if cell == "#" else "  " for cell in shape)
