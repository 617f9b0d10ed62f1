"""The rules of the games as players read them, on the help screen and from ``samedeal rules``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from samedeal.cards import Card
from samedeal.game import Game
from samedeal.game_rules import rules_in_short, rules_of
from samedeal.games import GAMES
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, wrap

_CARD: Final = re.compile(r"\{(\w+)\}")


def with_card_symbols(text: str, look: Look) -> str:
    """Return a text with its ``{9S}`` placeholders replaced by cards."""
    return _CARD.sub(lambda match: look.card(Card.parse(match[1])), text)


def short_rules(game: str) -> tuple[str, ...]:
    """Return the rules of a game in three lines of at most 54 columns. Return no lines for an unknown game."""
    return rules_in_short(GAMES[game]) if game in GAMES else ()


def rules_rows(game: Game, look: Look, width: int) -> tuple[Row, ...]:
    """Return the rules of a game in rows of at most ``width`` columns."""
    return tuple(_rows(game, look, width))


def _rows(game: Game, look: Look, width: int) -> Iterator[Row]:
    for number, section in enumerate(rules_of(game)):
        if number:
            yield ()
        yield (Span(f" {section.title}", "title"),)
        for point in section.points:
            for line, text in enumerate(wrap(with_card_symbols(point.text, look), max(width - 6, 1))):
                yield (Span("     " if line else f"   {look.glyphs.dot} ", "label"), Span(text))
