"""The keys as a player reads them, from the bindings that are in force."""

from __future__ import annotations

from typing import Final

from samedeal_client.board.bindings import DEFAULT, Bindings, Command
from samedeal_client.board.key_names import QUIT_KEY, key_sign, key_text
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span, wrap
from samedeal_client.views.race import LOBBY_KEY, WATCH_KEY

COMMAND_WORDS: Final[dict[Command, str]] = {
    Command.BEST: "after a pile: to where its cards fit best",
    Command.STOCK: "draw from the stock, turn the waste over, or deal a row",
    Command.ALL_UP: "everything that can go up, one card after another",
    Command.UNDO: "take the last move back, where the room allows it",
    Command.HINT: "a hint, where the room allows it",
    Command.FIND: "find a card: rank and suit follow, as in 7h or th",
    Command.LOOK: "look into a pile: its key follows",
    Command.FEWER: "after a pile: one card fewer goes along",
    Command.MORE: "after a pile: one card more goes along",
    Command.CANCEL: "give up what was begun",
    Command.RESIGN: "give up the race, after a question; cards up count",
    Command.HELP: "this help",
}

_KEY: Final = 14
_WORDS: Final = Look(ascii=True)


def key_word(key: str) -> str:
    """A key in words, also where the terminal has signs for it: what is explained is read."""
    return key_text(key, _WORDS)


def keys_of(bindings: Bindings, command: Command) -> str:
    """The keys of a command; ``no key`` where it has none."""
    return " ".join(key_word(key) for key in bindings.commands[command]) or "no key"


def _pile(bindings: Bindings, name: str) -> str:
    return key_word(bindings.piles[name][0])


def move_lines(bindings: Bindings) -> tuple[tuple[str, str], ...]:
    """How moves are made: each an example and what it does."""
    column, other, up = _pile(bindings, "3"), _pile(bindings, "5"), _pile(bindings, "0")
    best = keys_of(bindings, Command.BEST).split(" ")[0]
    fewer, more = (keys_of(bindings, command).split(" ")[0] for command in (Command.FEWER, Command.MORE))
    return (
        (f"{column} {other}", "from column 3 to column 5; a pile's key is written over it"),
        (f"{column} {column}, {column} {up}", "from column 3 to a foundation"),
        (f"{column} {best}", "from column 3 to where it fits best"),
        (f"{column} {fewer} {other}", f"to an empty column, one card fewer; {more} for one more"),
        (f"{up} {other}", "from a foundation back to column 5 (in Steve)"),
    )


_MOUSE: Final = (
    ("click, click", "the cards to move, then the pile they go to"),
    ("drag", "the same in one go"),
    ("double click", "to where they fit best"),
    ("right click", "give up what was begun"),
)

_THROUGH: Final = (
    (WATCH_KEY, "watch the others, as late as the room says; o comes back to your own board"),
    (LOBBY_KEY, "to the lobby"),
)

_ELSEWHERE: Final = (
    (
        f"{key_text(QUIT_KEY, _WORDS)}, {key_sign(QUIT_KEY, _WORDS)}",
        "quit; during a race it asks once, and the seat is kept for a while",
    ),
    ("Ctrl+Z", "suspend; fg in the shell comes back, and the clock runs on"),
    ("a click", "does what a key does, wherever a key is shown"),
)


def key_rows(bindings: Bindings, look: Look, width: int) -> tuple[Row, ...]:
    """All keys, in rows of at most ``width`` columns."""
    commands = tuple((keys_of(bindings, command), COMMAND_WORDS[command]) for command in Command)
    changed = tuple(
        (key_word(keys[0]) if keys else "no key", f"pile {name}")
        for name, keys in bindings.piles.items()
        if keys != DEFAULT.piles[name]
    )
    sections = [
        ("Moving cards takes two keys, a pile and another", move_lines(bindings)),
        ("On the board", commands),
        ("By mouse", _MOUSE),
        ("Home or out, while others race on", _THROUGH),
        ("Everywhere", _ELSEWHERE),
    ]
    if changed:
        sections.insert(1, ("Piles with keys of your own", changed))
    rows: list[Row] = []
    for title, lines in sections:
        rows += [(), (Span(f" {title}", "title"),)] if rows else [(Span(f" {title}", "title"),)]
        rows += [row for keys, words in lines for row in entry(look.says(keys), words, width)]
    return tuple(rows)


def entry(keys: str, words: str, width: int) -> list[Row]:
    """Keys, and beside them what they do in as many rows as that takes."""
    lines = wrap(words, max(width - _KEY - 4, 10)) or [""]
    first = (Span(f"   {keys:<{_KEY}}", "key"), Span(" "), Span(lines[0]))
    return [first, *((Span(" " * (_KEY + 4)), Span(line)) for line in lines[1:])]
