from __future__ import annotations

from itertools import product

import pytest
from rich.color import Color, ColorSystem

from samedeal_client.full_screen.widgets.style_colours import COLOURS, style_of
from samedeal_client.text.appearance import Look

LOOKS = [Look(colour=colour, dark=dark, four_colour=four) for colour, dark, four in product((True, False), repeat=3)]


@pytest.mark.parametrize("style", COLOURS.styles)
def test_colourless_styles_have_no_colour(style: str) -> None:
    made = style_of(style, Look(colour=False))
    assert made.color is None
    assert made.bgcolor is None


@pytest.mark.parametrize("mark", ["source", "target", "found", "hint"])
@pytest.mark.parametrize("look", LOOKS)
def test_marks_differ_from_every_card_style(mark: str, look: Look) -> None:
    for card in ("red", "black", "diamond", "club"):
        assert style_of(f"{card} {mark}", look) != style_of(card, look)


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


def test_boards_lie_on_felt_where_there_are_colours() -> None:
    for dark in (True, False):
        assert style_of("", Look(dark=dark).on_table()) == style_of("", Look(felt=True))
        assert Look(dark=dark, colour=False).on_table() == Look(dark=dark, colour=False)


def test_suit_colours_are_two_or_four() -> None:
    for dark in (True, False):
        two = Look(dark=dark)
        assert style_of(two.suit_style(1), two) == style_of(two.suit_style(2), two)
        assert style_of(two.suit_style(0), two) != style_of(two.suit_style(1), two)
        four = Look(dark=dark, four_colour=True)
        assert len({style_of(four.suit_style(suit), four) for suit in range(4)}) == 4
