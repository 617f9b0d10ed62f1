"""How things look on a terminal: which glyphs it has, and whether colours can be counted on.

A look chooses characters and the names of styles, never colours: the Textual client maps the names to a theme, the line
client to escapes or to nothing. A suit always has its own character, so that colour adds to it and never replaces it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from samedeal.cards import DOWN, FACE, RANKS, SUITS, UNSEEN, Card
from samedeal_client.text.spans import Span, ascii_only

STYLES: Final = frozenset(
    (
        *("red", "black", "diamond", "club"),  # a card; the latter two only with four colours
        *("hidden", "seen", "empty", "more"),  # face down, face down but known, an empty place, cards too deep to show
        *("under", "top"),  # a card of the waste that can't be played, and the one that can
        *("source", "target", "last", "found", "hint"),  # marks, after a card's own style
        *("label", "count", "title", "notice"),
        *("name", "you", "away", "bar", "rest", "spark", "axis"),
        *("line1", "line2", "line3", "line4"),  # the players of a plot
        *("key", "field", "selected", "good", "bad"),  # what can be pressed, changed, is chosen, is well, is wrong
    )
)
"""The names that a style is made of."""

_CARD: Final = re.compile(rf"\b[{RANKS}][{SUITS}]\b")

_RANKS: Final = ("", "A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")


class Glyphs(NamedTuple):
    """The characters of a look; each takes one column; ``space`` names the space bar."""

    suits: str
    hidden: str
    empty: str
    more: str
    ellipsis: str
    pointer: str
    space: str
    dot: str
    dash: str
    bar: str
    half_bar: str
    rest: str
    blocks: str
    spark: str
    plot: tuple[str, ...]
    strokes: str


UNICODE: Final = Glyphs(
    suits="♣♦♥♠",
    hidden="▒",
    empty="·",
    more="⋮",
    ellipsis="…",
    pointer="▸",
    space="␣",
    dot="·",
    dash="–",
    bar="━",
    half_bar="╾",
    rest="─",
    blocks=" ▏▎▍▌▋▊▉█",
    spark="▁▂▃▄▅▆▇█",
    plot=tuple("┤┼─┴┬│╭╯╮╰"),
    strokes="─·×+",
)

ASCII: Final = Glyphs(
    suits="CDHS",
    hidden="#",
    empty=".",
    more=":",
    ellipsis="~",
    pointer=">",
    space="_",
    dot="-",
    dash="-",
    bar="#",
    half_bar="-",
    rest="-",
    blocks=" #",
    spark="_.:-=+*#",
    plot=tuple("|+-++|****"),
    strokes="*.x+",
)


@dataclass(frozen=True, slots=True)
class Look:
    """What a terminal can show and a player wants to see.

    ``ascii`` writes 10H for 10♥; ``four_colour`` tells diamonds from hearts and clubs from spades; without ``colour`` (as
    with NO_COLOR) marks are signs beside the cards; ``dark`` is the terminal's background, for whoever picks colours.
    """

    ascii: bool = False
    four_colour: bool = False
    colour: bool = True
    dark: bool = True

    @property
    def glyphs(self) -> Glyphs:
        """Its characters."""
        return ASCII if self.ascii else UNICODE

    def says(self, text: str) -> str:
        """A text by somebody else, a name for instance, in characters that this look has."""
        return ascii_only(text) if self.ascii else text

    def told(self, sentence: str) -> str:
        """A sentence of the engine with its cards as this look writes them: ``10♥`` for ``TH``."""
        return _CARD.sub(lambda match: self.card(Card.parse(match[0])), self.says(sentence))

    def card(self, code: int) -> str:
        """A card as it lies, up to five columns: ``10♥``, ``(10♥)`` face down but seen, ``▒▒`` face down."""
        if code >= UNSEEN:
            return self.glyphs.hidden * 2
        face = _RANKS[code & 0x0F] + self.suit(code >> 4 & 3)
        return f"({face})" if code & DOWN else face

    def short(self, code: int) -> str:
        """A card in two columns, ``T♥``; one that lies face down without its face."""
        if code & DOWN:
            return self.glyphs.hidden * 2
        return (_RANKS[code & 0x0F].replace("10", "T")) + self.suit(code >> 4 & 3)

    def suit(self, suit: int) -> str:
        """The character of a suit, an index into ``cards.SUITS``."""
        return self.glyphs.suits[suit]

    def suit_style(self, suit: int) -> str:
        """The style of the cards of a suit."""
        if self.four_colour:
            return ("club", "diamond", "red", "black")[suit]
        return ("black", "red", "red", "black")[suit]

    def style(self, code: int) -> str:
        """The style of a card as it lies."""
        if code & DOWN:
            return "hidden" if code >= UNSEEN else "seen"
        return self.suit_style((code & FACE) >> 4)

    def span(self, code: int) -> Span:
        """A card as it lies, in its style."""
        return Span(self.card(code), self.style(code))
