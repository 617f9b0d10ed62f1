"""The look of the client: glyphs or ASCII, colours or none.

A look chooses characters and names of styles, never colours. The full screen maps style names to a theme, the line client
maps them to escape sequences. Every suit has its own character, so no information depends on colour alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from samedeal.cards import DOWN, FACE, RANKS, SUITS, UNSEEN, Card
from samedeal_client.text.spans import Span, ascii_only

STYLE_NAMES: Final = frozenset(
    (
        *("red", "black", "diamond", "club"),  # suits; the last two only with four colours
        *(
            "hidden",
            "seen",
            "empty",
            "more",
        ),  # face down, face down but already seen, empty pile, no room
        *("paper", "buried", "back"),  # cards: movable, covered, face down
        *("red-card", "black-card", "diamond-card", "club-card", "seen-card"),  # what is printed on a card
        *(
            "source",
            "target",
            "last",
            "found",
            "hint",
            "edge",
        ),  # marks and the edge between two cards, added to a card's own style
        *("label", "count", "title", "notice"),
        *("name", "you", "away", "alarm", "bar", "rest", "spark", "axis"),
        *("line1", "line2", "line3", "line4"),  # the curves of a plot
        *("key", "field", "selected", "good", "bad"),  # controls: key, value, selected; results: good, bad
    )
)
"""The names of styles. A span may combine several."""

_CARD: Final = re.compile(rf"\b[{RANKS}][{SUITS}]\b")

_RANKS: Final = ("", "A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")


class Glyphs(NamedTuple):
    """The characters of a look, each one column wide. ``space`` stands for the space bar and may have two columns."""

    suits: str
    hidden: str
    empty: str
    more: str
    ellipsis: str
    pointer: str
    space: str
    dot: str
    dash: str
    star: str
    up: str
    down: str
    bar: str
    half_bar: str
    rest: str
    blocks: str
    spark: str
    plot: tuple[str, ...]
    strokes: str
    back: str
    edge: str
    courts: str
    outline: tuple[str, ...]
    redeal: str
    marks: str


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
    star="★",
    up="▲",
    down="▼",
    bar="━",
    half_bar="╾",
    rest="─",
    blocks=" ▏▎▍▌▋▊▉█",
    spark="▁▂▃▄▅▆▇█",
    plot=tuple("┤┼─┴┬│╭╯╮╰"),
    strokes="─·×+",
    back="░",
    edge="▁",
    courts="♞♛♚",
    outline=tuple("╭╮╰╯─│"),
    redeal="↻",
    marks="•↓?↑*",
)

ASCII: Final = Glyphs(
    suits="CDHS",
    hidden="#",
    empty=".",
    more=":",
    ellipsis="~",
    pointer=">",
    space="Sp",
    dot="-",
    dash="-",
    star="*",
    up="^",
    down="v",
    bar="#",
    half_bar="-",
    rest="-",
    blocks=" #",
    spark="_.:-=+*#",
    plot=tuple("|+-++|****"),
    strokes="*.x+",
    back=":",
    edge="_",
    courts="JQK",
    outline=tuple("++++-|"),
    redeal="@",
    marks=".<?^*",
)


@dataclass(frozen=True, slots=True)
class Look:
    """The abilities of the terminal and the player's wishes.

    ``ascii`` writes 10H instead of 10♥. ``four_colour`` gives each suit its own colour. Without ``colour`` (NO_COLOR) cards
    are in reverse video. ``dark`` tells a theme that the terminal's background is dark. With ``felt`` everything lies on
    a dark green card table. With ``motion`` cards fly to their new piles.
    """

    ascii: bool = False
    four_colour: bool = False
    colour: bool = True
    dark: bool = True
    felt: bool = False
    motion: bool = False

    def on_table(self) -> Look:
        """Return the look of boards. Where there are colours, they lie on felt."""
        return replace(self, dark=True, felt=True) if self.colour else self

    @property
    def glyphs(self) -> Glyphs:
        """The set of symbols, Unicode or ASCII, that this appearance draws with."""
        return ASCII if self.ascii else UNICODE

    def displayable(self, text: str) -> str:
        """Return a string from outside, such as a player's name, in characters of this look."""
        return ascii_only(text) if self.ascii else text

    def with_card_symbols(self, sentence: str) -> str:
        """A sentence of the engine with its cards in the notation of this look: ``10♥`` for ``TH``."""
        return _CARD.sub(lambda match: self.card(Card.parse(match[0])), self.displayable(sentence))

    def card(self, code: int) -> str:
        """A card in up to five columns: ``10♥``, ``(10♥)`` if face down but already seen, ``▒▒`` if unknown."""
        if code >= UNSEEN:
            return self.glyphs.hidden * 2
        face = _RANKS[code & 0x0F] + self.suit(code >> 4 & 3)
        return f"({face})" if code & DOWN else face

    def short(self, code: int) -> str:
        """A card in two columns, ``T♥``. A face-down card never shows its face."""
        if code & DOWN:
            return self.glyphs.hidden * 2
        return (_RANKS[code & 0x0F].replace("10", "T")) + self.suit(code >> 4 & 3)

    def suit(self, suit: int) -> str:
        """The character of a suit, given by its index in ``cards.SUITS``."""
        return self.glyphs.suits[suit]

    def suit_style(self, suit: int) -> str:
        """The style of the cards of a suit."""
        if self.four_colour:
            return ("club", "diamond", "red", "black")[suit]
        return ("black", "red", "red", "black")[suit]

    def style(self, code: int) -> str:
        """The style of a card."""
        if code & DOWN:
            return "hidden" if code >= UNSEEN else "seen"
        return self.suit_style((code & FACE) >> 4)

    def span(self, code: int) -> Span:
        """A card in its style."""
        return Span(self.card(code), self.style(code))
