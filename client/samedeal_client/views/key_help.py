"""The keys as a player reads them, from the bindings that are in force."""

from __future__ import annotations

from typing import Final, Literal

from samedeal.cards import Card
from samedeal_client.board.bindings import DEFAULT, Bindings, Command
from samedeal_client.board.key_names import QUIT_KEY, key_sign, key_text
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span, wrap
from samedeal_client.views.race import LOBBY_KEY, WATCH_KEY
from samedeal_client.views.waiting import BOT_LEVELS, OUT_KEY

Where = Literal["race", "lobby", "new room", "waiting", "results", "watch"]
"""The screens that have keys of their own."""

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
        (f"{column} {other}", "from column 3 to column 5; a pile's key stands by it"),
        (f"{column} {column}, {column} {up}", "from column 3 to a foundation"),
        (f"{column} {best}", "from column 3 to where it fits best"),
        (f"{column} {fewer} {other}", f"with fewer cards, the next number that can go; {more} for more"),
        (f"{up} {other}", "from a foundation back to column 5; where several fit, you are asked which"),
    )


_MOUSE: Final = (
    ("click, click", "the lowest card to move, then the pile it goes to with those on it"),
    ("drag", "the same in one go"),
    ("column's name", "a click on it is its key: as many cards as fit"),
    ("double click", "to where the cards fit best"),
    ("right click", "give up what was begun"),
    ("wheel", "around a race: scroll, or go through rooms and fields; on a board nothing"),
)

_THROUGH: Final = (
    (WATCH_KEY, "watch the others, as late as the room says; o comes back to your own board"),
    (LOBBY_KEY, "to the lobby"),
)

_BOTS: Final = f"add a bot at once, which plays {', '.join(level for _, level in BOT_LEVELS)}"

_AROUND: Final[dict[Where, tuple[str, tuple[tuple[str, str], ...]]]] = {
    "lobby": (
        "In the lobby",
        (
            ("Enter", "join the chosen room, or come back to a seat; a race under way is watched"),
            ("1 to 9", "join that room of the list at once"),
            ("w", "watch the chosen room"),
            ("Up Down", "choose a room; a click does too, and a second click joins it"),
            ("q", "quick match: join somebody who waits, or open a room and wait"),
            ("d", "daily deal: the same cards for everybody today"),
            ("p", "practice: a race against bots on this machine, and back here"),
            ("n", "new room, with options of your own"),
            ("g Left Right", "the game that q, d, p and n are for"),
        ),
    ),
    "new room": (
        "In the form of a new room",
        (
            ("Tab Down", "the next field; a click goes to any"),
            ("Shift+Tab Up", "the field before"),
            ("Left Right", "change the field; clicks on the arrows beside it do too"),
            ("typing", "writes into a field, or chooses what begins so"),
            ("Backspace", "takes a character back, Ctrl+U all of them"),
            ("Enter", "open the room, and go in"),
            ("Esc", "back to the lobby"),
        ),
    ),
    "waiting": (
        "In a room before its race",
        (
            ("Enter", "start the race, where you are the host"),
            ("Space", "ready, or not ready after all"),
            (" ".join(key for key, _ in BOT_LEVELS), _BOTS),
            (OUT_KEY, "take out the bot that you added last; a click on one takes out that one"),
            ("c", "copy the line that others type to come in"),
            ("r", "the rules of the game"),
            ("Esc", "leave; your bots go with you"),
        ),
    ),
    "results": (
        "When a race is over",
        (
            ("m", "rematch: in a room to which all of this race can come, on the next number or a random deal"),
            ("n", "a room of your own like this one, on a random deal"),
            ("a", "such a room on the same deal, if it has a number or a date: samedeal new takes it as --deal too"),
            ("r", "the rules of the game"),
            ("Esc", "to the lobby; your bots go with you"),
        ),
    ),
    "watch": (
        "When you watch",
        (
            ("1 to 9, a to g", "one board alone; a click on it does the same"),
            ("0 Esc", "all boards again"),
            ("Up Down", "the board before, the next one"),
            ("PgUp PgDn", "more boards, where not all fit"),
            ("Left Right", "10 seconds back in time, and forth again"),
            ("n End", "no longer back: as live as the room allows"),
            ("s", "sort by place, seat, name or pace"),
            ("o", "to your own board, where you have one"),
            (f"{LOBBY_KEY} q", "to the lobby"),
            ("T", "on a small board, is a ten"),
        ),
    ),
}

_ELSEWHERE: Final = (
    (
        f"{key_text(QUIT_KEY, _WORDS)}, {key_sign(QUIT_KEY, _WORDS)}",
        "quit; during a race it asks once, and the seat is kept for a while; bots that you added go with you",
    ),
    ("Ctrl+Z", "suspend; fg in the shell comes back, and the clock runs on"),
    ("a click", "on a key in the last line presses it"),
)


def _signs(look: Look) -> tuple[tuple[str, str], ...]:
    """What is written on a board beside cards."""
    low, high = (look.card(Card.parse(text)) for text in ("3H", "QD"))
    return (
        (look.glyphs.hidden * 2, "a card face down"),
        (f"({low})", "a card face down that you have seen"),
        (f"{low}{high}", "two covered cards in one row, where a column is deep"),
        (f"{look.glyphs.more}+5", "so many cards more, for which there is no room: look into the pile"),
    )


def _racers(look: Look) -> tuple[tuple[str, str], ...]:
    """What stands beside a racer's name."""
    bars = "".join(look.glyphs.spark[level] for level in (0, 2, 5, 1))
    return (
        (bars, "moves made lately: a bar for every 5 seconds, the newest last; taller is more"),
        ("away", "the connection is cut; the seat is kept"),
        ("out", "has resigned; the cards up count"),
    )


def key_rows(bindings: Bindings, look: Look, width: int, over: Where = "race") -> tuple[Row, ...]:
    """All keys, in rows of at most ``width`` columns; first those of the screen that the help lies over."""
    commands = tuple((keys_of(bindings, command), COMMAND_WORDS[command]) for command in Command)
    changed = tuple(
        (key_word(keys[0]) if keys else "no key", f"pile {name}")
        for name, keys in bindings.piles.items()
        if keys != DEFAULT.piles[name]
    )
    *moves, (back, words) = move_lines(bindings)
    sections = [
        ("Moving cards takes two keys, a pile and another", (*moves, (back, f"in Steve: {words}"))),
        ("On the board", commands),
        ("By mouse", _MOUSE),
        ("Signs on a board", _signs(look)),
        ("In the list of racers", _racers(look)),
        ("Home or out, while others race on", _THROUGH),
        ("Everywhere", _ELSEWHERE),
        *(section for where, section in _AROUND.items() if where != over),
    ]
    if changed:
        sections.insert(1, ("Piles with keys of your own", changed))
    if over in _AROUND:
        sections.insert(0, _AROUND[over])
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
