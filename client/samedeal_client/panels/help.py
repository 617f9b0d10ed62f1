"""The help: a page of keys, and a page of rules for each game."""

from __future__ import annotations

from samedeal.game import Game
from samedeal.games import GAMES
from samedeal.policies import Base, Build
from samedeal_client.input.bindings import Bindings, KeyCommand
from samedeal_client.panels.key_help import HelpContext, key_entry, key_rows, keys_of, move_lines
from samedeal_client.panels.race import special_sources
from samedeal_client.text.appearance import Look
from samedeal_client.text.rules_text import rules_rows, short_rules
from samedeal_client.text.spans import Row, Span, wrap


def pages() -> dict[str, str]:
    """Return the titles of the pages, by the name of the page."""
    return {"keys": "Keys", **{name: game.title for name, game in GAMES.items()}}


def help_rows(name: str, bindings: Bindings, look: Look, width: int, over: HelpContext = "race") -> tuple[Row, ...]:
    """Return a page of the help as rows.

    ``name`` is a name in ``pages()``, and ``over`` is the screen that the help covers.
    """
    return _rules(GAMES[name], bindings, look, width) if name in GAMES else key_rows(bindings, look, width, over)


def _rules(game: Game, bindings: Bindings, look: Look, width: int) -> tuple[Row, ...]:
    to_column, to_foundation, best, _, from_foundation = move_lines(bindings)
    lines = [to_column, to_foundation, best, *_piles(game, bindings)]
    if game.piles[game.foundations.start].gives:
        lines.append(from_foundation)
    if game.stock.action:
        lines.append((keys_of(bindings, KeyCommand.STOCK), game.stock.instruction))
    return (
        (Span(f" {game.title} in short", "title"),),
        *((Span(f"   {part}"),) for line in short_rules(game.name) for part in wrap(line, width - 3)),
        (),
        (Span(f" How to move in {game.title}", "title"),),
        *(row for keys, text in lines for row in key_entry(look.displayable(keys), text, width)),
        (),
        *rules_rows(game, look, width),
    )


def _piles(game: Game, bindings: Bindings) -> list[tuple[str, str]]:
    """Return examples of moves from and to piles other than columns and foundations.

    An example is a pair: the keys, and their meaning. For a kind with several piles, the meaning of the first example
    also lists the keys of all these piles.
    """
    lines = []
    for name, group in special_sources(game):
        keys = [bindings.piles[key][0] for key in group.keys]
        column = bindings.piles["5"][0]
        pile = f"{group.kind} {keys[0]}" if len(keys) > 1 else name
        all_keys = f"; all {group.kind} keys: {' '.join(keys)}" if len(keys) > 1 else ""
        lines.append((f"{keys[0]} {column}", f"from {pile} to column 5{all_keys}"))
        if group.build is not Build.NONE or group.base is not Base.NOTHING:
            lines.append((f"{column} {keys[0]}", f"from column 5 to {pile}"))
    return lines
