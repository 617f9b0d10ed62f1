"""The rules of the games as players read them, on the help screen and from ``samedeal rules``.

``{9S}`` in a text is a card, which is written as the terminal shows cards. Each point names the rulings of RULES.md
(R1-R29) that it states.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from samedeal.cards import Card
from samedeal.games import Game
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, wrap

_CARD: Final = re.compile(r"\{(\w+)\}")


class RulePoint(NamedTuple):
    """One point of the rules, and the rulings of RULES.md that the point states."""

    text: str
    rulings: str = ""


class Section(NamedTuple):
    """A title with the points below it."""

    title: str
    points: tuple[RulePoint, ...]


_BUILD_UP_IN_SUIT: Final = RulePoint(
    "There is one foundation for each suit. Its ace starts it, followed by the two, the three and so on to the king of "
    "the same suit: {2S} on {AS}, {3S} on {2S}."
)
_NEVER_LEAVE: Final = RulePoint("Cards go to a foundation one at a time, and never leave it.", "R5")
_ALTERNATING: Final = "A column builds down by one in alternating colours: {9S} or {9C} on {TH}, then {8D} or {8H}."

_ATHENA: Final = (
    Section("Aim", (RulePoint("Move all 52 cards to the four foundations.", "R8"),)),
    Section(
        "The deal",
        (
            RulePoint(
                "Seven columns of four cards each. From the bottom card of a column to its top card: face down, face up, "
                "face down, face up.",
                "R12",
            ),
            RulePoint(
                "The other 24 cards are the stock, face down. The waste next to it, w, is empty at the start.", "R12"
            ),
        ),
    ),
    Section(
        "Columns",
        (
            RulePoint(_ALTERNATING, "R15"),
            RulePoint(
                "Each card of a run is one lower than the card that it lies on, and of the other colour. You can move "
                "a run from the top of a column in one move, all of it or only its topmost cards. The card of highest rank "
                "among them must fit the target. Face-down cards never move.",
                "R3 R15",
            ),
            RulePoint("Only a king, alone or with the run on it, goes to an empty column.", "R15"),
            RulePoint("A face-down card that becomes the top of its column is turned face up at once.", "R4"),
        ),
    ),
    Section(
        "Stock and waste",
        (
            RulePoint(
                "A draw turns three cards from the stock onto the waste, one after another, so that the third is on top. "
                "If fewer than three are left, it turns all of them.",
                "R13",
            ),
            RulePoint("Only the top card of the waste can be moved, to a column or a foundation."),
            RulePoint(
                "When the stock is empty, the next draw only turns the whole waste over, unshuffled, to become the stock "
                "again. The draw after it turns up cards. The waste can be turned over any number of times.",
                "R14",
            ),
        ),
    ),
    Section("Foundations", (_BUILD_UP_IN_SUIT, _NEVER_LEAVE)),
)

_STEVE: Final = (
    Section("Aim", (RulePoint("Move all 104 cards of two decks to the eight foundations.", "R8"),)),
    Section(
        "The deal",
        (
            RulePoint("Eight columns of one, two, three and so on to eight cards, all face up.", "R16"),
            RulePoint("The other 68 cards are the stock, face down. There is no waste.", "R16"),
        ),
    ),
    Section(
        "Columns",
        (
            RulePoint("A column builds down by one in any suit: any nine on any ten.", "R18"),
            RulePoint(
                "Each card of a run is one lower than the card that it lies on, and of the same suit, as {9S} {8S} {7S}. "
                "You can move a run from the top of a column in one move, all of it or only its topmost cards. The card "
                "of highest rank among them must fit the target. Cards of mixed suits move one at a time.",
                "R3 R18",
            ),
            RulePoint("Any card, or any run in one suit, goes to an empty column.", "R18"),
        ),
    ),
    Section(
        "Stock",
        (
            RulePoint(
                "A deal puts one card from the stock, face up, on each column from left to right, empty ones too. "
                "You may deal whenever you like.",
                "R17",
            ),
            RulePoint(
                "There are eight deals of eight cards, then one of four to the first four columns. After that the stock "
                "stays empty.",
                "R17",
            ),
        ),
    ),
    Section(
        "Foundations",
        (
            RulePoint(
                "There are eight foundations, two for each suit. An ace goes to the first empty one, followed by the two, "
                "the three and so on to the king of the same suit. If both foundations of a suit need a card, the first "
                "gets it.",
                "R19",
            ),
            RulePoint("Cards go to a foundation one at a time.", "R5"),
            RulePoint(
                "The top card of a foundation may move back to a column where it fits, or to an empty column, but not to "
                "another foundation. The foundations are named 01 to 08. Type 0 for any of them; if several have a card "
                "that fits, you are asked which one.",
                "R20",
            ),
        ),
    ),
)

_PHOENIX: Final = (
    Section("Aim", (RulePoint("Move all 52 cards to the four foundations.", "R8"),)),
    Section(
        "The deal",
        (
            RulePoint("Six columns of six cards, all face up.", "R21"),
            RulePoint(
                "The other sixteen cards are the reserve, face up, in two rows. Their keys are q w e r t y u i "
                "and a s d f g h j k. There is no stock: you can see every card from the start.",
                "R21",
            ),
        ),
    ),
    Section(
        "Columns",
        (
            RulePoint(_ALTERNATING, "R22"),
            RulePoint(
                "Each card of a run is one lower than the card that it lies on, and of the other colour. You can move "
                "a run from the top of a column in one move, all of it or only its topmost cards. The card of highest rank "
                "among them must fit the target.",
                "R3 R22",
            ),
            RulePoint("Any card, or any such run, goes to an empty column.", "R22"),
        ),
    ),
    Section(
        "Reserve",
        (
            RulePoint("Any card of the reserve can be moved to a column or a foundation, one at a time.", "R21"),
            RulePoint("No card ever goes to the reserve: an empty reserve pile stays empty.", "R21"),
        ),
    ),
    Section("Foundations", (_BUILD_UP_IN_SUIT, _NEVER_LEAVE)),
)

_ACE_OF_HEARTS: Final = (
    Section("Aim", (RulePoint("Move all 52 cards to the one foundation.", "R8"),)),
    Section(
        "The deal",
        (
            RulePoint("Seven columns of one, two, three and so on to seven cards, all face up.", "R23"),
            RulePoint("The other 24 cards are the stock, face down. There is no waste.", "R23"),
        ),
    ),
    Section(
        "Foundation",
        (
            RulePoint(
                "The ace of hearts starts it. Then come a two, a three and so on up to a king, each of any suit, and then "
                "an ace again. The foundation runs from ace to king four times.",
                "R24",
            ),
            RulePoint(
                "Cards go to the foundation from the tops of columns, one at a time, and never leave it.", "R5 R26"
            ),
        ),
    ),
    Section(
        "Columns",
        (
            RulePoint(
                "A column builds down by one in the same suit: {9H} on {TH}. In the columns, nothing goes on an ace, "
                "and a king goes only to an empty column.",
                "R25",
            ),
            RulePoint(
                "Any number of cards from the top of a column can move together, whatever their order. Only "
                "the bottom card of the group, the one that the others lie on, must fit the target.",
                "R3 R25",
            ),
            RulePoint("Only a king, alone or with any cards on it, goes to an empty column.", "R25"),
        ),
    ),
    Section(
        "Stock",
        (
            RulePoint(
                "A deal puts one card from the stock, face up, on each column from left to right, empty ones too. "
                "You may deal whenever you like.",
                "R23",
            ),
            RulePoint(
                "There are three deals of seven cards, then one of three to the first three columns. After that the "
                "stock stays empty.",
                "R23",
            ),
        ),
    ),
)

_WILLOW: Final = (
    Section("Aim", (RulePoint("Move all 52 cards to the four foundations.", "R8"),)),
    Section(
        "The deal",
        (
            RulePoint("Seven columns of one, two, three and so on to seven cards, all face up.", "R27"),
            RulePoint(
                "Four fans of six cards, named q w e r, all face up. There is no stock: you can see every card from the "
                "start.",
                "R27",
            ),
        ),
    ),
    Section(
        "Columns",
        (
            RulePoint(_ALTERNATING, "R29"),
            RulePoint(
                "Each card of a run is one lower than the card that it lies on, and of the other colour. You can move "
                "a run from the top of a column in one move, all of it or only its topmost cards. The card of highest rank "
                "among them must fit the target.",
                "R3 R29",
            ),
            RulePoint("Any card, or any such run, goes to an empty column.", "R29"),
        ),
    ),
    Section(
        "Fans",
        (
            RulePoint(
                "The top card of a fan can go to a foundation, to a column where it fits, or to an empty column.",
                "R28",
            ),
            RulePoint(
                "A fan takes a card of the same rank as its top card, in any suit: {JH} on {JC}. Such a card can come from "
                "the top of a column or of another fan, one at a time.",
                "R28",
            ),
            RulePoint("An empty fan stays empty.", "R28"),
        ),
    ),
    Section("Foundations", (_BUILD_UP_IN_SUIT, _NEVER_LEAVE)),
)

_ALL_GAMES: Final = (
    Section(
        "Moving",
        (
            RulePoint(
                "No card goes to a foundation automatically, and none has to go. The command that sends every possible card "
                "there makes one move for each card.",
                "R8",
            ),
            RulePoint("Every move, draw and deal counts as one move. Undos are counted separately.", "R9"),
            RulePoint(
                "You may move a whole column to an empty column if its cards are allowed there. That counts as a move, "
                "although it changes nothing.",
                "R6",
            ),
            RulePoint(
                "Undo takes back the last move, then the one before it, including draws and deals. Each room sets how "
                "far undo goes: back to the start, back to the last move that turned up a new card, or not at all.",
                "R10",
            ),
            RulePoint(
                "The game tells you when you are stuck: no move helps any more, even if you can still draw, move a whole "
                "column or, in Steve, take a card off a foundation. You may play on, and undo may help. In a room "
                "without undo, your race ends when no move at all is left, not even one of these.",
                "R7",
            ),
        ),
    ),
    Section(
        "The race",
        (
            RulePoint(
                "All players get the same cards in the same order when the countdown ends, and each plays on a separate "
                "board. You see how many cards the others have on their foundations, but not their boards.",
                "R1 R2",
            ),
            RulePoint(
                "You finish when your last card goes to a foundation. Players who finish are ranked by time. All others "
                "come after them, ranked by cards on the foundations, then by who reached that number first.",
                "R8 R9",
            ),
            RulePoint(
                "The race ends when time is up, or when all players have finished, resigned or run out of moves. It also "
                "ends when all people who still play are stuck, unless the room sets something else. In some rooms it ends "
                "as soon as one player finishes.",
            ),
            RulePoint(
                "Resigning is final. If you quit or lose the connection, the server keeps your seat, but the clock "
                "keeps running.",
            ),
        ),
    ),
    Section(
        "Cards",
        (
            RulePoint(
                "Ranks are A 2 3 4 5 6 7 8 9 10 J Q K, from ace to king. Hearts and diamonds are red, clubs and spades "
                "black. When you type a card, T is the ten and C D H S are the suits: TH is {TH}.",
                "R11",
            ),
        ),
    ),
)

_RULES: Final[dict[str, tuple[Section, ...]]] = {
    "athena": _ATHENA,
    "steve": _STEVE,
    "phoenix": _PHOENIX,
    "ace-of-hearts": _ACE_OF_HEARTS,
    "willow": _WILLOW,
}


def rules_of(game: Game) -> tuple[Section, ...]:
    """Return the complete rules of a game: the game's own rules, then the rules common to all games."""
    return (*_RULES.get(game.name, ()), *_ALL_GAMES)


def with_card_symbols(text: str, look: Look) -> str:
    """Return a text with its ``{9S}`` placeholders replaced by cards."""
    return _CARD.sub(lambda match: look.card(Card.parse(match[1])), text)


_UP_IN_SUIT: Final = "Foundations: up in one suit, from ace to king."

_IN_SHORT: Final = {
    "athena": (
        _UP_IN_SUIT,
        "Columns: down, alternating colours; a king if empty.",
        "A draw turns three cards; play the top of the waste.",
    ),
    "steve": (
        _UP_IN_SUIT,
        "Columns: down in any suit; runs of one suit move.",
        "The stock deals a card onto each column.",
    ),
    "phoenix": (
        _UP_IN_SUIT,
        "Columns: down, alternating colours; any card if empty.",
        "The reserve: play any of its cards at any time.",
    ),
    "ace-of-hearts": (
        "The foundation: ace of hearts, any two, any three ...",
        "Columns: down in one suit; a king if empty.",
        "Any card moves with all cards on it; the stock deals.",
    ),
    "willow": (
        _UP_IN_SUIT,
        "Columns: down, alternating colours; any card if empty.",
        "Fans: move the top card, or put the same rank on it.",
    ),
}


def short_rules(game: str) -> tuple[str, ...]:
    """Return the rules of a game in three lines of at most 54 columns. Return no lines for an unknown game."""
    return _IN_SHORT.get(game, ())


def rules_rows(game: Game, look: Look, width: int) -> tuple[Row, ...]:
    """Return the rules of a game in rows of at most ``width`` columns."""
    return tuple(_rows(rules_of(game), look, width))


def _rows(sections: tuple[Section, ...], look: Look, width: int) -> Iterator[Row]:
    dot = look.glyphs.dot
    for number, section in enumerate(sections):
        if number:
            yield ()
        yield (Span(f" {section.title}", "title"),)
        for point in section.points:
            for line, text in enumerate(wrap(with_card_symbols(point.text, look), max(width - 6, 1))):
                yield (Span(f"   {dot} " if not line else "     ", "label"), Span(text))
