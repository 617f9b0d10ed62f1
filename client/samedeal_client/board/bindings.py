"""Which key does what: the keys of commands and of piles.

A file in TOML changes them::

    [commands]
    undo = ["backspace", "z"]
    all-up = "m"

    [piles]
    1 = "&"

What the file doesn't name stays as it is. A key is a character, or one of ``NAMED_KEYS``, with ``ctrl+``, ``alt+`` or
``shift+`` before it where wanted.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import Final

from samedeal.errors import MalformedText
from samedeal.games import GAMES, Kind
from samedeal.moves import FOUNDATION


class Command(Enum):
    """What a key can do beside naming a pile; the value is its name in the file."""

    BEST = "best"
    STOCK = "stock"
    ALL_UP = "all-up"
    UNDO = "undo"
    HINT = "hint"
    FIND = "find"
    LOOK = "look"
    FEWER = "fewer"
    MORE = "more"
    CANCEL = "cancel"
    RESIGN = "resign"
    HELP = "help"


NAMED_KEYS: Final = (
    *("space", "enter", "backspace", "escape", "tab", "delete", "insert", "home", "end", "pageup", "pagedown"),
    *("up", "down", "left", "right", *(f"f{number}" for number in range(1, 13))),
)

_OTHER_NAMES: Final = {
    " ": "space",
    "return": "enter",
    "esc": "escape",
    "question_mark": "?",
    "slash": "/",
    "minus": "-",
    "plus": "+",
    "equals_sign": "=",
    "ctrl+h": "backspace",
}
_MODIFIERS: Final = ("ctrl", "alt", "shift")

PILES: Final = (
    FOUNDATION,
    *dict.fromkeys(
        key
        for game in GAMES.values()
        for group in game.groups
        if group.kind not in (Kind.FOUNDATION, Kind.STOCK)
        for key in group.keys
    ),
)
"""The names of piles that can be typed in any of the games; ``0`` is "a foundation"."""

_COMMAND_KEYS: Final[dict[Command, tuple[str, ...]]] = {
    Command.BEST: ("enter",),
    Command.STOCK: ("space",),
    Command.ALL_UP: ("x",),
    Command.UNDO: ("backspace", "z"),
    Command.HINT: ("?",),
    Command.FIND: ("/",),
    Command.LOOK: ("v",),
    Command.FEWER: ("-",),
    Command.MORE: ("+", "="),
    Command.CANCEL: ("escape",),
    Command.RESIGN: ("ctrl+r",),
    Command.HELP: ("f1",),
}


def normal_key(key: str) -> str:
    """The one name of a key: terminals and toolkits have several for some."""
    return _OTHER_NAMES.get(key, key)


@dataclass(frozen=True)
class Bindings:
    """The keys of each command and of each pile; no key has two meanings."""

    commands: Mapping[Command, tuple[str, ...]]
    piles: Mapping[str, tuple[str, ...]]

    @cached_property
    def meanings(self) -> Mapping[str, Command | str]:
        """The command, or the name of the pile, of each key."""
        meanings: dict[str, Command | str] = {}
        for command, keys in self.commands.items():
            meanings.update(dict.fromkeys(keys, command))
        for pile, keys in self.piles.items():
            meanings.update(dict.fromkeys(keys, pile))
        return MappingProxyType(meanings)

    def meaning(self, key: str) -> Command | str | None:
        """What a key means: a command, the name of a pile, or nothing. A letter may be typed in either case."""
        name = normal_key(key)
        found = self.meanings.get(name)
        return self.meanings.get(name.swapcase()) if found is None and len(name) == 1 else found


DEFAULT: Final = Bindings(MappingProxyType(_COMMAND_KEYS), MappingProxyType({pile: (pile,) for pile in PILES}))


def load_bindings(text: str) -> Bindings:
    """The bindings with the changes that a file makes. Raises MalformedText, which names the line and what is right."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MalformedText(f"The key file is not TOML: {error}") from None
    known = {"commands": tuple(command.value for command in Command), "piles": PILES}
    commands, piles = dict(DEFAULT.commands), dict(DEFAULT.piles)
    for table, entries in tables.items():
        if table not in known or not isinstance(entries, dict):
            where = _where(text, table)
            raise MalformedText(f"{where}{table!r} is no table of a key file: it has [commands] and [piles]")
        for name, value in entries.items():
            where = _where(text, name, table)
            if name not in known[table]:
                kind = table.removesuffix("s")
                raise MalformedText(f"{where}{name!r} is no {kind}: the {table} are {', '.join(known[table])}")
            keys = _keys(value, f"{where}{name}")
            if table == "piles":
                if not keys:
                    raise MalformedText(f"{where}pile {name} needs a key")
                piles[name] = keys
            else:
                commands[Command(name)] = keys
    bindings = Bindings(MappingProxyType(commands), MappingProxyType(piles))
    _check(bindings, text, tables)
    return bindings


def _keys(value: object, where: str) -> tuple[str, ...]:
    words = value if isinstance(value, list) else [value]
    keys: list[str] = []
    for word in words:
        if not isinstance(word, str):
            raise MalformedText(f'{where}: write a key in quotes, or several in brackets, as in ["backspace", "z"]')
        keys.append(_key(word, where))
    return tuple(dict.fromkeys(keys))


def _key(word: str, where: str) -> str:
    key = normal_key(word if len(word) == 1 else word.lower())
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    if set(modifiers) <= set(_MODIFIERS) and len(set(modifiers)) == len(modifiers):
        if last in NAMED_KEYS or (len(last) == 1 and last.isprintable() and not modifiers):
            return key
        if len(last) == 1 and last.isascii() and last.isalnum():
            return key
    raise MalformedText(
        f"{where}: {word[:20]!r} is no key: write one character, or one of {', '.join(NAMED_KEYS)}, "
        "with ctrl+, alt+ or shift+ before it where wanted"
    )


def _check(bindings: Bindings, text: str, tables: dict[str, dict[str, object]]) -> None:
    """Refuse a key that is given two meanings, a default one and one of the file included."""
    owners: dict[str, tuple[str, str]] = {}
    entries = [("commands", command.value, keys) for command, keys in bindings.commands.items()]
    entries += [("piles", pile, keys) for pile, keys in bindings.piles.items()]
    for table, name, keys in entries:
        for key in keys:
            if key in owners:
                pair = [owners[key], (table, name)]
                where = next(_where(text, what, of) for of, what in reversed(pair) if what in tables.get(of, {}))
                told = " and ".join(
                    (f"pile {what}" if of == "piles" else what)
                    + ("" if what in tables.get(of, {}) else " (its default)")
                    for of, what in pair
                )
                raise MalformedText(f"{where}{key!r} can't mean both {told}: give one of them another key")
            owners[key] = (table, name)


def _where(text: str, name: str, table: str = "") -> str:
    """``line 3: `` for an entry of a table, or for the table itself; empty where it is written in another way."""
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[([^\]]*)\]", line)
        if header:
            current = header[1].strip().strip("\"'")
        entry = re.match(r"\s*[\"']?([^\"'=\s]+)[\"']?\s*=", line)
        if (header and not table and current == name) or (entry and current == table and entry[1] == name):
            return f"line {number}: "
    return ""
