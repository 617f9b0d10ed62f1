"""Pictures of jacks, queens and kings, two pixels to a character. Pure."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from samedeal_client.text.spans import Row, Span, merged

_JACK, _QUEEN, _KING = 11, 12, 13

_PICTURES: Final[dict[tuple[int, int], str]] = {
    (_JACK, 3): """
        .rrrg
        rrrrr
        hkskh
        hsssh
        .rgr.
        rrrrr
    """,
    (_QUEEN, 3): """
        .g.g.
        hgggh
        hkskh
        hsssh
        hrsrh
        rrgrr
    """,
    (_KING, 3): """
        g.g.g
        ggggg
        sksks
        hhshh
        .hhh.
        rrgrr
    """,
    (_JACK, 5): """
        .rrrr.g
        rrrrrrg
        ggggggg
        .hsssh.
        .hkskh.
        .hsssh.
        ..sss..
        .rrgrr.
        rrrgrrr
        rrrgrrr
    """,
    (_QUEEN, 5): """
        .g.g.g.
        .ggggg.
        hhhhhhh
        hhssshh
        hhkskhh
        hhssshh
        hhhshhh
        hrrsrrh
        rrrgrrr
        rrrgrrr
    """,
    (_KING, 5): """
        .g.g.g.
        .ggggg.
        .ggggg.
        .hsssh.
        .hkskh.
        .hhshh.
        .hhhhh.
        rrhhhrr
        rrrhrrr
        rrrgrrr
    """,
}
"""The pictures, by rank and number of rows. Letters stand for gold, skin, hair, robe and ink (``k``), dots for paper.
"""

_COLOURS: Final = {"g": "gold", "s": "skin", "h": "hair", "k": "black-card"}


@lru_cache(maxsize=64)
def court_picture(rank: int, suit_style: str, shade: str, rows: int) -> tuple[Row, ...]:
    """Return the picture of a court card in ``rows`` rows. Return no rows if there is no picture of this height.

    ``suit_style`` is the style of the robe. ``shade`` is the style of the background, which a mark does not change.
    """
    lines = _PICTURES.get((rank, rows), "").split()
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
