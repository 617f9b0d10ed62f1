from __future__ import annotations

import pytest
from rich.color import Color, ColorSystem

from samedeal_client.full_screen.widgets.style_colours import COLOURS, style_of
from samedeal_client.text.appearance import Look


@pytest.mark.parametrize("style", COLOURS.styles)
def test_colourless_styles_have_no_colour(style: str) -> None:
    made = style_of(style, Look(colour=False))
    assert made.color is None
    assert made.bgcolor is None


def luminance(colour: Color | None) -> float:
    """The relative luminance of a colour, as the Web Content Accessibility Guidelines define it."""
    assert colour is not None
    parts = [part / 255 for part in colour.get_truecolor()]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("tile", ["paper", "buried", "source", "target", "partial", "last", "found", "hint"])
@pytest.mark.parametrize("suit", ["red", "black", "diamond", "club"])
def test_suits_are_readable_on_every_tile(tile: str, suit: str) -> None:
    """The contrast is at least 4.5 to 1."""
    style = style_of(f"{tile} {suit}-card", Look())
    low, high = sorted((luminance(style.color), luminance(style.bgcolor)))
    assert (high + 0.05) / (low + 0.05) >= 4.5


def test_tiles_differ_in_sixteen_colours() -> None:
    tiles = [
        style_of(tile, Look()).bgcolor for tile in ("paper", "buried", "back", "source", "target", "hint", "found")
    ]
    assert len({colour.downgrade(ColorSystem.STANDARD) for colour in tiles if colour is not None}) == len(tiles)
    suits = [style_of(f"paper {suit}-card", Look()).color for suit in ("black", "red", "diamond", "club")]
    assert len({colour.downgrade(ColorSystem.STANDARD) for colour in suits if colour is not None}) == len(suits)
