"""Large digits for the countdown."""

from __future__ import annotations

from typing import Final

from samedeal.data_files import read_data
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span

_SHAPES: Final = read_data("samedeal_client.text", "large_digits.toml", dict[str, str])


def large_number(number: int, look: Look, style: str = "title") -> tuple[Row, ...]:
    """Return a number in five rows. Each cell of a digit is two columns wide, so that the cell looks square."""
    block = "##" if look.ascii else "██"
    shapes = [_SHAPES[digit].split() for digit in str(number)]
    rows = [
        "  ".join(cells.replace("#", block).replace(".", "  ") for cells in row) for row in zip(*shapes, strict=True)
    ]
    return tuple((Span(row, style),) for row in rows)
