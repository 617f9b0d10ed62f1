"""The help page of keys, with the player's own bindings."""

from __future__ import annotations

from typing import Final, Literal

from samedeal.cards import Card
from samedeal.games import GAMES
from samedeal_client.input.bindings import DEFAULT, Bindings, KeyCommand
from samedeal_client.input.key_names import QUIT_KEY, key_sign, key_text
from samedeal_client.panels.race import LOBBY_KEY, WATCH_KEY
from samedeal_client.panels.waiting import BOT_LEVELS, KICK_KEY, LEVEL_TEXTS, REMOVE_BOT_KEY
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, wrap

HelpContext = Literal["race", "lobby", "history", "new room", "waiting", "results", "watch"]
"""The screens for which the help has a section of keys."""

_KEY: Final = 14
_KEYS_AS_WORDS: Final = Look(ascii=True)


def key_in_words(key: str) -> str:
    """Return a key in words instead of signs, even if the terminal has signs for it."""
    return key_text(key, _KEYS_AS_WORDS)


def keys_of(bindings: Bindings, command: KeyCommand) -> str:
    """Return the keys of a command, or ``no key`` if it has none."""
    return " or ".join(key_in_words(key) for key in bindings.commands[command]) or "no key"


def _pile(bindings: Bindings, name: str) -> str:
    return key_in_words(bindings.piles[name][0])


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


_MOUSE: Final = (
    ("click, click", "a card, then the pile to move it to; all cards that lie on that card move with it"),
    ("drag", "the same in one movement"),
    ("column's key", "clicking it is the same as typing it: as many cards move as fit"),
    ("double click", "make the best move of these cards: to a foundation if they fit"),
    ("right click", "cancel what you have typed"),
    ("wheel", "scroll, or step through rooms and fields; not used on a board"),
)

_FINISHED_KEYS: Final = (
    (WATCH_KEY, "watch the others, with the delay of the room; o shows your own board again"),
    (LOBBY_KEY, "go to the lobby; after a race against bots from the start screen, to the start screen"),
)

_BOTS: Final = f"add a bot: {', '.join(LEVEL_TEXTS)}"

_SCREEN_KEYS: Final[dict[HelpContext, tuple[str, tuple[tuple[str, str], ...]]]] = {
    "lobby": (
        "In the lobby",
        (
            ("Enter", "join the selected room, return to your seat, or watch a running race"),
            ("1 to 9", "join the room with that number"),
            ("w", "watch the selected room"),
            ("Up Down", "select a room; or click it, and click again to join"),
            ("m", "race now: the race that starts soonest, within a minute"),
            ("t", "tide: the next race at a fixed minute, if the server has such races"),
            ("d", "daily deal: a public deal for practice, the same for everybody today"),
            ("p", "practice: a race against bots on this machine"),
            ("n", "new room, with options of your own"),
            ("g", "choose the game for m, d, p and n"),
            ("h", "your past races and best times"),
            ("Tab", "go to the next list"),
            ("Esc q", "back to the start screen, or quit; a seat in a race is kept"),
        ),
    ),
    "history": (
        "In your history",
        (
            ("Up Down", "select a race; or click it"),
            ("Enter", "the results of the selected race"),
            ("c", "copy the result of the selected race, to share it; it says nothing about the cards"),
            ("Esc", "go back"),
        ),
    ),
    "new room": (
        "In the form for a new room",
        (
            ("Tab Down", "the next field; or click a field"),
            ("Shift+Tab Up", "the previous field"),
            ("Left Right", "the previous or next choice"),
            ("Enter", "all choices of a field, or the next field; or click the field"),
            ("typing", "write into a text field, or find one of all choices of a field"),
            ("Ctrl+O", "open the room and join it; so does the button at the end"),
            ("Esc", "return to the lobby"),
        ),
    ),
    "waiting": (
        "In a room before its race",
        (
            ("Enter", "start the race, if you are the host"),
            ("Space", "ready, or not ready"),
            (" ".join(key for key, _ in BOT_LEVELS), _BOTS),
            (REMOVE_BOT_KEY, "remove your selected bot; if none is selected, the last that you added"),
            (KICK_KEY, "kick the selected player, if you are the host; press it twice"),
            ("Up Down", "select a player; or click the name"),
            ("l", "show the link as a QR code for a phone, or the players again"),
            ("c", "copy the link with which others join"),
            ("r", "the rules of the game"),
            ("Esc", "leave; your bots leave too"),
        ),
    ),
    "results": (
        "After a race",
        (
            ("m", "rematch: a room with seats for everyone in this race, and the next deal"),
            ("v", "replay the race: the boards of all players"),
            ("c", "copy your result, to send it to others: it says nothing about the cards"),
            ("d", "what was checked: all findings about the deal, the record and the clock"),
            ("n", "a new room with the same options and a winnable deal; only your bots come with you"),
            ("a", "the same, but with this deal, if it has a number or a date"),
            ("r", "the rules of the game"),
            ("Space Up Down", "scroll, if the window does not show the whole page"),
            ("Esc", "go to the lobby, or back to where you came from; your bots leave the room"),
        ),
    ),
    "watch": (
        "When watching",
        (
            ("1 to 9, a to g", "show one board; or click it"),
            ("0 Esc", "show all boards"),
            ("Up Down", "show the previous or next board"),
            ("PgUp PgDn", "show more boards, if not all fit"),
            ("s", "sort by place, seat, name or pace"),
            ("o", "return to your own board, if you have one"),
            (f"{LOBBY_KEY} q", "return to the lobby"),
        ),
    ),
}

_GLOBAL_KEYS: Final = (
    (
        f"{key_text(QUIT_KEY, _KEYS_AS_WORDS)}, {key_sign(QUIT_KEY, _KEYS_AS_WORDS)}",
        "quit; during a race you are asked first; your bots leave too",
    ),
    ("Ctrl+P", "help, a dark or light theme, and quit"),
    ("Ctrl+Z", "suspend; fg in the shell resumes; the clock keeps running"),
    ("click", "on a key in the last line presses it"),
)


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


_RANKING_SYMBOLS: Final = (
    ("31/52", "cards on the foundations, of all cards in the game"),
    ("finished 05:52", "finished, in that time"),
    ("away", "not connected; the seat is kept"),
    ("resigned", "has resigned; the cards on their foundations still count"),
)
"""The symbols and words in the ranking, with their meanings."""


def _off_foundations() -> str:
    titles = [game.title for game in GAMES.values() if game.piles[game.foundations.start].gives]
    return f"in {' and '.join(titles)}"


def key_rows(bindings: Bindings, look: Look, width: int, over: HelpContext = "race") -> tuple[Row, ...]:
    """Return all keys in rows of at most ``width`` columns. The keys of the screen that the help covers come first."""
    commands = tuple((keys_of(bindings, command), command.description) for command in KeyCommand)
    changed = tuple(
        (key_in_words(keys[0]) if keys else "no key", f"pile {name}")
        for name, keys in bindings.piles.items()
        if keys != DEFAULT.piles[name]
    )
    *moves, (from_foundation, description) = move_lines(bindings)
    sections = [
        (
            "To move cards, type the keys of two piles: from, to",
            (*moves, (from_foundation, f"{_off_foundations()}: {description}")),
        ),
        ("On the board", commands),
        ("By mouse", _MOUSE),
        ("Symbols on a board", _board_symbols(look)),
        ("In the ranking", _RANKING_SYMBOLS),
        ("After you finish or resign", _FINISHED_KEYS),
        ("Everywhere", _GLOBAL_KEYS),
        *(section for where, section in _SCREEN_KEYS.items() if where != over),
    ]
    if changed:
        sections.insert(1, ("Piles with your own keys", changed))
    if over in _SCREEN_KEYS:
        sections.insert(0, _SCREEN_KEYS[over])
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
