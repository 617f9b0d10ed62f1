"""The appearance of the client: Unicode or ASCII characters, with colours or without.

A ``Look`` chooses characters and names of styles, never colours. The full screen maps style names to the colours of a
theme, and the line client maps them to escape sequences. Every suit has its own character, so no information depends on
colour alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from msgspec import Struct

from samedeal.cards import DOWN, FACE, RANKS, SYMBOLS, UNSEEN, Card
from samedeal.data_files import read_data
from samedeal_client.text.spans import Span, ascii_only

_CARD: Final = re.compile(rf"(10|[{RANKS}])([{SYMBOLS}])")

_RANKS: Final = ("", "A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
_RANK_WORDS: Final = ("", "ace", *_RANKS[2:11], "jack", "queen", "king")
_SUIT_WORDS: Final = ("clubs", "diamonds", "hearts", "spades")


class Glyphs(Struct, frozen=True, forbid_unknown_fields=True):
    """Characters for drawing, by what they stand for."""

    suits: str
    hidden: str
    empty: str
    ellipsis: str
    pointer: str
    space: str
    dot: str
    dash: str
    star: str
    bar: str
    rest: str
    meter: tuple[str, str]
    spark: str
    plot: tuple[str, ...]
    strokes: str
    back: str
    edge: str
    side_edge: str
    outline: tuple[str, ...]
    redeal: str
    marks: str


class _GlyphFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of ``glyphs.toml``."""

    unicode: Glyphs
    ascii: Glyphs
    replaced_by: dict[str, str]


_FILE: Final = read_data("samedeal_client.text", "glyphs.toml", _GlyphFile)
UNICODE: Final = _FILE.unicode
ASCII: Final = _FILE.ascii
REPLACED_BY: Final = _FILE.replaced_by
"""For each character of ASCII, others that it stands for on a terminal without them."""


def capitalized(sentence: str) -> str:
    """Return a sentence with a capital letter at its start."""
    return sentence[:1].upper() + sentence[1:]


@dataclass(frozen=True, slots=True)
class Look:
    """The appearance that the terminal allows and the player has chosen.

    If ``ascii`` is true, the ten of hearts is 10H instead of 10♥. If ``words`` is true, it is "10 of hearts", because
    screen readers read the characters of suits badly. ``four_colour`` gives each suit its own colour. Without
    ``colour`` (NO_COLOR) cards are in reverse video. ``dark`` says that the terminal's background is dark. If ``felt``
    is true, everything lies on a dark green card table. If ``motion`` is true, cards fly to their new piles.
    """

    ascii: bool = False
    four_colour: bool = False
    colour: bool = True
    dark: bool = True
    felt: bool = False
    motion: bool = False
    words: bool = False

    def on_table(self) -> Look:
        """Return the look for boards. If there are colours, boards lie on felt."""
        return replace(self, dark=True, felt=True) if self.colour else self

    @property
    def glyphs(self) -> Glyphs:
        """The set of characters, Unicode or ASCII, with which this look draws."""
        return ASCII if self.ascii else UNICODE

    def displayable(self, text: str) -> str:
        """Return ``text``, such as a player's name, in characters that this look allows."""
        return ascii_only(text) if self.ascii else text

    def with_card_symbols(self, sentence: str) -> str:
        """Return a sentence with its cards written as in this look, such as ``10H`` instead of ``10♥``."""
        text = _CARD.sub(lambda match: self.card(Card.of(_RANKS.index(match[1]), SYMBOLS.index(match[2]))), sentence)
        return self.displayable(capitalized(text) if self.words else text)

    def card(self, code: int) -> str:
        """Return a card: ``10♥``, ``(10♥)`` if face down but already seen, ``▒▒`` if unknown.

        Without ``words``, a card has at most five columns.
        """
        if code >= UNSEEN:
            return self.glyphs.hidden * 2
        rank, suit = code & 0x0F, code >> 4 & 3
        face = f"{_RANK_WORDS[rank]} of {_SUIT_WORDS[suit]}" if self.words else _RANKS[rank] + self.suit(suit)
        return f"({face})" if code & DOWN else face

    def short(self, code: int) -> str:
        """Return a card in two columns, ``T♥``. A face-down card is shown as hidden, even if its face is known."""
        if code & DOWN:
            return self.glyphs.hidden * 2
        return (_RANKS[code & 0x0F].replace("10", "T")) + self.suit(code >> 4 & 3)

    def suit(self, suit: int) -> str:
        """Return the character of a suit, given by its index in ``cards.SUITS``."""
        return self.glyphs.suits[suit]

    def suit_style(self, suit: int) -> str:
        """Return the name of the style for the cards of a suit."""
        if self.four_colour:
            return ("club", "diamond", "red", "black")[suit]
        return ("black", "red", "red", "black")[suit]

    def style(self, code: int) -> str:
        """Return the name of a card's style."""
        if code & DOWN:
            return "hidden" if code >= UNSEEN else "seen"
        return self.suit_style((code & FACE) >> 4)

    def span(self, code: int) -> Span:
        """Return a card in its style."""
        return Span(self.card(code), self.style(code))
