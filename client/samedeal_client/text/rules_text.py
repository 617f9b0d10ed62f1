"""The rules of the games as players read them, on the help screen and from ``samedeal rules``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from samedeal.cards import Card
from samedeal.game import Game
from samedeal.game_rules import RulePoint, Section, rules_in_short, sections_of
from samedeal.games import GAMES
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, wrap

_CARD: Final = re.compile(r"\{(\w+)\}")

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
                "column or take a card off a foundation. You may play on, and undo may help. In a room "
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
                "as soon as one player finishes."
            ),
            RulePoint(
                "Resigning is final. If you quit or lose the connection, the server keeps your seat, but the clock "
                "keeps running."
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


def rules_of(game: Game) -> tuple[Section, ...]:
    """Return the complete rules of a game: the game's own rules, then the rules common to all games."""
    return (*sections_of(game), *_ALL_GAMES)


def with_card_symbols(text: str, look: Look) -> str:
    """Return a text with its ``{9S}`` placeholders replaced by cards."""
    return _CARD.sub(lambda match: look.card(Card.parse(match[1])), text)


def short_rules(game: str) -> tuple[str, ...]:
    """Return the rules of a game in three lines of at most 54 columns. Return no lines for an unknown game."""
    return rules_in_short(GAMES[game]) if game in GAMES else ()


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
