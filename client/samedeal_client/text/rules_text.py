"""The rules of the five games as a player reads them: written once, for the help screen and for ``samedeal rules``.

``{9S}`` in a text is a card, written as the terminal shows cards. Beside each sentence stand the rulings (R1-R29) that it
tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from samedeal.cards import Card
from samedeal.games import Game
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span, wrap

_CARD: Final = re.compile(r"\{(\w+)\}")


class Point(NamedTuple):
    """A sentence or a few, and the rulings that they tell."""

    text: str
    rulings: str = ""


class Section(NamedTuple):
    """Points under a title."""

    title: str
    points: tuple[Point, ...]


_UP_IN_SUIT: Final = Point(
    "There is one foundation for each suit. Its ace starts it, then the two, the three and so on up to the king, each of "
    "the same suit: {2S} on {AS}, {3S} on {2S}."
)
_FOR_GOOD: Final = Point("One card goes up at a time, and what lies on a foundation stays there.", "R5")
_ALTERNATING: Final = "A column builds down by one in alternating colours: {9S} or {9C} on {TH}, {8D} or {8H} on that."

_ATHENA: Final = (
    Section("Aim", (Point("Bring all 52 cards up to the four foundations.", "R8"),)),
    Section(
        "The deal",
        (
            Point(
                "Seven columns of four cards each: from the deepest, one face down, one face up, one face down, and the "
                "top one face up.",
                "R12",
            ),
            Point("The other 24 cards are the stock, face down. The waste beside it, w, is empty at the start.", "R12"),
        ),
    ),
    Section(
        "Columns",
        (
            Point(_ALTERNATING, "R15"),
            Point(
                "Cards at the top of a column that run down by one in alternating colours can move together, all of them "
                "or the last few; the deepest of those that move must fit where they go. Cards face down never move.",
                "R3 R15",
            ),
            Point("Only a king, alone or leading its run, goes to an empty column.", "R15"),
            Point("A card face down that becomes the top of its column is turned up at once.", "R4"),
        ),
    ),
    Section(
        "Stock and waste",
        (
            Point(
                "A draw turns three cards from the stock onto the waste, one after another, so that the third lies on "
                "top. When fewer than three are left, all of them.",
                "R13",
            ),
            Point("Only the top card of the waste can be played, to a column or a foundation."),
            Point(
                "When the stock is empty, a draw turns the whole waste over to be the stock again, unshuffled, and draws "
                "nothing yet. That can be done as often as you like; with stock and waste both empty there is no draw.",
                "R14",
            ),
        ),
    ),
    Section("Foundations", (_UP_IN_SUIT, _FOR_GOOD)),
)

_STEVE: Final = (
    Section("Aim", (Point("Bring all 104 cards of two decks up to the eight foundations.", "R8"),)),
    Section(
        "The deal",
        (
            Point("Eight columns of one, two, three and so on to eight cards, all face up.", "R16"),
            Point("The other 68 cards are the stock, face down. There is no waste.", "R16"),
        ),
    ),
    Section(
        "Columns",
        (
            Point("A column builds down by one in any suit: any nine on any ten.", "R18"),
            Point(
                "Cards at the top of a column that run down by one in one suit, as {9S} {8S} {7S}, can move together, all "
                "of them or the last few; the deepest of those that move must fit. A run of mixed suits moves card by "
                "card.",
                "R3 R18",
            ),
            Point("Any card, or any run in one suit, goes to an empty column.", "R18"),
        ),
    ),
    Section(
        "Stock",
        (
            Point(
                "A deal puts one card from the stock face up on each column from left to right, on empty ones too. You "
                "may deal whenever you like.",
                "R17",
            ),
            Point(
                "There are eight deals of eight cards, then one of four, to the first four columns. Then the stock is "
                "empty for good.",
                "R17",
            ),
        ),
    ),
    Section(
        "Foundations",
        (
            Point(
                "There are eight, two for each suit. An ace goes to the first empty one; then the two, the three and so "
                "on up to the king follow, each of the same suit. Where both foundations of a suit wait for a card, the "
                "first gets it.",
                "R19",
            ),
            Point("One card goes up at a time.", "R5"),
            Point(
                "The top card of a foundation may come back to a column where it fits, or to an empty one, but never go "
                "to another foundation. They are named 01 to 08; the key of all is 0, and where several have a card that "
                "fits you are asked which.",
                "R20",
            ),
        ),
    ),
)

_PHOENIX: Final = (
    Section("Aim", (Point("Bring all 52 cards up to the four foundations.", "R8"),)),
    Section(
        "The deal",
        (
            Point("Six columns of six cards, all face up.", "R21"),
            Point(
                "The other sixteen cards are the reserve, face up, each for itself: q w e r t y u i and a s d f g h j k. "
                "There is no stock: everything can be seen from the start.",
                "R21",
            ),
        ),
    ),
    Section(
        "Columns",
        (
            Point(_ALTERNATING, "R22"),
            Point(
                "Cards at the top of a column that run down by one in alternating colours can move together, all of them "
                "or the last few; the deepest of those that move must fit.",
                "R3 R22",
            ),
            Point("Any card, or any such run, goes to an empty column.", "R22"),
        ),
    ),
    Section(
        "Reserve",
        (
            Point("Any card of the reserve can be played to a column or a foundation, one at a time.", "R21"),
            Point("Nothing is ever put into the reserve: a place that is empty stays empty.", "R21"),
        ),
    ),
    Section("Foundations", (_UP_IN_SUIT, _FOR_GOOD)),
)

_ACE_OF_HEARTS: Final = (
    Section("Aim", (Point("Bring all 52 cards up to the one foundation.", "R8"),)),
    Section(
        "The deal",
        (
            Point("Seven columns of one, two, three and so on to seven cards, all face up.", "R23"),
            Point("The other 24 cards are the stock, face down. There is no waste.", "R23"),
        ),
    ),
    Section(
        "Foundation",
        (
            Point(
                "The ace of hearts starts it. Then it goes up by one whatever the suits: any two, any three and so on to "
                "any king, then any ace, any two and round again, four times in all.",
                "R24",
            ),
            Point("Only the top card of a column goes up, one at a time, and it stays there.", "R5 R26"),
        ),
    ),
    Section(
        "Columns",
        (
            Point(
                "A column builds down by one in the same suit: {9H} on {TH} and nothing else. Nothing goes on an ace, and "
                "a king goes on no card.",
                "R25",
            ),
            Point(
                "Any number of cards from the top of a column can move together, in whatever order they lie; only the "
                "deepest of those that move must fit where they go.",
                "R3 R25",
            ),
            Point("Only a king, alone or with any cards on it, goes to an empty column.", "R25"),
        ),
    ),
    Section(
        "Stock",
        (
            Point(
                "A deal puts one card from the stock face up on each column from left to right, on empty ones too. You "
                "may deal whenever you like.",
                "R23",
            ),
            Point(
                "There are three deals of seven cards, then one of three, to the first three columns. Then the stock is "
                "empty for good.",
                "R23",
            ),
        ),
    ),
)

_WILLOW: Final = (
    Section("Aim", (Point("Bring all 52 cards up to the four foundations.", "R8"),)),
    Section(
        "The deal",
        (
            Point("Seven columns of one, two, three and so on to seven cards, all face up.", "R27"),
            Point(
                "Four fans of six cards, q w e r, all face up. There is no stock: everything can be seen from the start.",
                "R27",
            ),
        ),
    ),
    Section(
        "Columns",
        (
            Point(_ALTERNATING, "R29"),
            Point(
                "Cards at the top of a column that run down by one in alternating colours can move together, all of them "
                "or the last few; the deepest of those that move must fit.",
                "R3 R29",
            ),
            Point("Any card, or any such run, goes to an empty column.", "R29"),
        ),
    ),
    Section(
        "Fans",
        (
            Point(
                "The top card of a fan goes to a foundation, to a column where it fits, or to an empty column.",
                "R28",
            ),
            Point(
                "A fan takes a card of the same rank as its top card, whatever the suit: {JH} on {JC}. It may come from "
                "the top of a column or of another fan, one card at a time.",
                "R28",
            ),
            Point("A fan that is empty stays empty.", "R28"),
        ),
    ),
    Section("Foundations", (_UP_IN_SUIT, _FOR_GOOD)),
)

_EVERYWHERE: Final = (
    Section(
        "Moving",
        (
            Point(
                "Nothing goes up by itself, and a card that could go up may stay. Sending up everything that can go is so "
                "many moves, one after another.",
                "R8",
            ),
            Point("Every move, draw and deal counts as one move; what you take back is counted apart.", "R9"),
            Point(
                "A whole column may be moved to an empty column where its cards may lie there. That counts as a move and "
                "changes nothing.",
                "R6",
            ),
            Point(
                "Undo takes back the last move, then the one before, draws and deals included. The room says whether: "
                "free; not past a move that showed you a card for the first time; or not at all.",
                "R10",
            ),
            Point(
                "You are told that you are stuck when nothing but drawing, moving columns about or (in Steve) taking cards "
                "back is left, and none of it would help. It ends nothing: undo may help. Without undo, no move left means "
                "that your race is over.",
                "R7",
            ),
        ),
    ),
    Section(
        "The race",
        (
            Point(
                "Everybody gets the same cards in the same order, dealt when the countdown ends, and plays a board of "
                "their own. Of the others you see how many cards are up, never their cards.",
                "R1 R2",
            ),
            Point(
                "Who brings the last card up is home. Home stands before not home, and an earlier time before a later "
                "one. The others are ranked by cards up, then by who got there first.",
                "R8 R9",
            ),
            Point(
                "The race ends when everybody is home or out, or when its time is up; in some rooms when the first is "
                "home. Leaving a race that runs gives it up; losing the connection does not, and the clock runs on.",
            ),
        ),
    ),
    Section(
        "Cards",
        (
            Point(
                "Ranks are A 2 3 4 5 6 7 8 9 10 J Q K, from ace to king. Hearts and diamonds are red, clubs and spades "
                "black. Where cards are typed the ten is T and suits are letters, C D H S: TH is {TH}.",
                "R11",
            ),
        ),
    ),
)

_OF_GAME: Final[dict[str, tuple[Section, ...]]] = {
    "athena": _ATHENA,
    "steve": _STEVE,
    "phoenix": _PHOENIX,
    "ace-of-hearts": _ACE_OF_HEARTS,
    "willow": _WILLOW,
}


def rules_of(game: Game) -> tuple[Section, ...]:
    """Everything that there is to know for playing a game: its own rules, then what holds in all of them."""
    return (*_OF_GAME[game.name], *_EVERYWHERE)


def with_cards(text: str, look: Look) -> str:
    """A text with its cards as a look writes them."""
    return _CARD.sub(lambda found: look.card(Card.parse(found[1])), text)


def rules_rows(game: Game, look: Look, width: int) -> tuple[Row, ...]:
    """The rules of a game in rows of at most ``width`` columns, titles in the style ``title``."""
    return tuple(_rows(rules_of(game), look, width))


def _rows(sections: tuple[Section, ...], look: Look, width: int) -> Iterator[Row]:
    dot = look.glyphs.dot
    for number, section in enumerate(sections):
        if number:
            yield ()
        yield (Span(f" {section.title}", "title"),)
        for point in section.points:
            for line, text in enumerate(wrap(with_cards(point.text, look), max(width - 6, 1))):
                yield (Span(f"   {dot} " if not line else "     ", "label"), Span(text))
