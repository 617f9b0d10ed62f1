"""The help page of keys, with the player's own bindings."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, Literal

from samedeal.cards import Card
from samedeal.data_files import read_data
from samedeal.games import GAMES
from samedeal_client.input.bindings import DEFAULT, Bindings, KeyCommand
from samedeal_client.input.key_names import QUIT_KEY, key_text
from samedeal_client.panels.race import LOBBY_KEY, WATCH_KEY
from samedeal_client.panels.waiting import BOT_LEVELS, KICK_KEY, LEVEL_TEXTS, REMOVE_BOT_KEY
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, wrap

HelpContext = Literal["race", "lobby", "history", "new room", "waiting", "results", "watch"]
"""The screens for which the help has a section of keys."""

_SCREENS: Final[tuple[HelpContext, ...]] = ("lobby", "history", "new room", "waiting", "results", "watch")
"""The screens other than the race, in the order of their sections."""

_KEY: Final = 14


def keys_of(bindings: Bindings, command: KeyCommand) -> str:
    """Return the keys of a command, or ``no key`` if it has none."""
    return " or ".join(key_text(key) for key in bindings.commands[command]) or "no key"


def _pile(bindings: Bindings, name: str) -> str:
    return key_text(bindings.piles[name][0])


def move_lines(bindings: Bindings) -> tuple[tuple[str, str], ...]:
    """Return examples of how to move cards. An example is a pair: the keys, and their meaning."""
    column, other, foundation = _pile(bindings, "3"), _pile(bindings, "5"), _pile(bindings, "0")
    best = keys_of(bindings, KeyCommand.BEST).split(" ")[0]
    fewer = keys_of(bindings, KeyCommand.FEWER).split(" ")[0]
    return (
        (f"{column} {other}", "from column 3 to column 5; each pile shows its key"),
        (f"{column} {foundation} or {column} {column}", "from column 3 to a foundation; both do the same"),
        (f"{column} {best}", "from column 3 to a foundation if its top card fits, otherwise to another pile"),
        (f"{column} {fewer} {other}", f"like {column} {other}, with fewer cards; type {fewer} again for still fewer"),
        (f"{foundation} {other}", "from a foundation back to column 5; if several fit, you are asked which"),
    )


KeySection = tuple[str, tuple[tuple[str, str], ...]]
"""The title of a section, and its lines: keys or symbols, and what they do or mean."""


@cache
def fixed_sections() -> dict[str, KeySection]:
    """Return the sections that depend neither on the bindings nor on the look, from ``key_help.toml``."""
    words = {
        "watch_key": WATCH_KEY,
        "lobby_key": LOBBY_KEY,
        "bot_keys": " ".join(key for key, _ in BOT_LEVELS),
        "bot_levels": ", ".join(LEVEL_TEXTS),
        "remove_bot_key": REMOVE_BOT_KEY,
        "kick_key": KICK_KEY,
        "quit_key": key_text(QUIT_KEY),
    }
    rows = read_data("samedeal_client.panels", "key_help.toml", dict[str, Any])
    return {
        name: (row["title"], tuple((keys.format(**words), text.format(**words)) for keys, text in row["lines"]))
        for name, row in rows.items()
    }


def _board_symbols(look: Look) -> tuple[tuple[str, str], ...]:
    """Return the symbols that a board shows in addition to cards, with their meanings."""
    low, high = (look.card(Card.parse(text)) for text in ("3H", "QD"))
    last, target, hint, source, found = tuple(look.glyphs.marks)
    return (
        (look.glyphs.back * 4, "a face-down card"),
        (f"{low}{look.glyphs.back * 2}", "a face-down card that you have seen"),
        (f"{source} {target} {last} {hint} {found}", "on a card: selected, possible target, last move, hint, found"),
        (f"2 {source}5  7 {target}3", "next to a pile's key: 5 cards are selected, 3 of them can go there"),
        (f"{low}{high}", "two covered cards in one row of a long column, the left one deeper; T is a ten"),
        ("+5", "5 more cards that there is no room to show; view the pile to see them"),
    )


def _off_foundations() -> str:
    titles = [game.title for game in GAMES.values() if game.piles[game.foundations.start].gives]
    return f"in {' and '.join(titles)}"


def key_rows(bindings: Bindings, look: Look, width: int, over: HelpContext = "race") -> tuple[Row, ...]:
    """Return all keys in rows of at most ``width`` columns. The keys of the screen that the help covers come first."""
    commands = tuple((keys_of(bindings, command), command.description) for command in KeyCommand)
    changed = tuple(
        (key_text(keys[0]) if keys else "no key", f"pile {name}")
        for name, keys in bindings.piles.items()
        if keys != DEFAULT.piles[name]
    )
    *moves, (from_foundation, description) = move_lines(bindings)
    fixed = fixed_sections()
    sections = [
        (
            "To move cards, type the keys of two piles: from, to",
            (*moves, (from_foundation, f"{_off_foundations()}: {description}")),
        ),
        ("On the board", commands),
        fixed["mouse"],
        ("Symbols on a board", _board_symbols(look)),
        *(fixed[name] for name in ("ranking", "finished", "everywhere")),
        *(fixed[screen] for screen in _SCREENS if screen != over),
    ]
    if changed:
        sections.insert(1, ("Piles with your own keys", changed))
    if over in _SCREENS:
        sections.insert(0, fixed[over])
    rows: list[Row] = []
    for title, lines in sections:
        rows += [(), (Span(f" {title}", "title"),)] if rows else [(Span(f" {title}", "title"),)]
        rows += [row for keys, text in lines for row in key_entry(look.displayable(keys), text, width)]
    return tuple(rows)


def key_entry(keys: str, description: str, width: int) -> list[Row]:
    """Return keys with their description next to them, wrapped to as many rows as needed."""
    lines = wrap(description, max(width - _KEY - 4, 10)) or [""]
    first = (Span(f"   {keys:<{_KEY}}", "key"), Span(" "), Span(lines[0]))
    return [first, *((Span(" " * (_KEY + 4)), Span(line)) for line in lines[1:])]
