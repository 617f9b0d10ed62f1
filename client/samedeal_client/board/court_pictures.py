"""Pictures of jacks, queens and kings, two pixels to a character. Pure."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

from samedeal.data_files import read_data
from samedeal_client.text.spans import Row, Span, merged

_RANKS: Final = {11: "jack", 12: "queen", 13: "king"}

_COLOURS: Final = {"g": "gold", "s": "skin", "h": "hair", "k": "black-card"}


@cache
def _pictures() -> dict[str, dict[int, str]]:
    """Return the pictures by rank and number of rows."""
    return read_data("samedeal_client.board", "court_pictures.toml", dict[str, dict[int, str]])


@lru_cache(maxsize=64)
def court_picture(rank: int, suit_style: str, shade: str, rows: int) -> tuple[Row, ...]:
    """Return the picture of a court card in ``rows`` rows. Return no rows if there is no picture of this height.

    ``suit_style`` is the style of the robe. ``shade`` is the style of the background, which a mark does not change.
    """
    lines = _pictures()[_RANKS[rank]].get(rows, "").split()
    return tuple(
        merged(_pixels(*pixels, suit_style, shade) for pixels in zip(upper, lower, strict=True))
        for upper, lower in zip(lines[::2], lines[1::2], strict=True)
    )


def _pixels(above: str, below: str, suit_style: str, shade: str) -> Span:
    """Return a character that shows the pixel ``above`` in its upper half and the pixel ``below`` in its lower half."""
    upper, lower = (_COLOURS.get(pixel, suit_style) for pixel in (above, below))
    if above == below == ".":
        return Span(" ", shade)
    if below == ".":
        return Span("▀", f"{shade} {upper}")
    if above == ".":
        return Span("▄", f"{shade} {lower}")
    return Span("█", f"{shade} {upper}") if above == below else Span("▀", f"{upper} on-{lower.removesuffix('-card')}")
