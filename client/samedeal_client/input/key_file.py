"""Key files: the changes that a player makes to the key bindings, in TOML.

::

    [commands]
    undo = ["backspace", "z"]
    collect = "m"

    [piles]
    1 = "&"

Bindings that the file does not name keep their defaults. A key is a character or a name in ``NAMED_KEYS``. The
modifiers ``ctrl+``, ``alt+`` and ``shift+`` can stand before a key.
"""

from __future__ import annotations

import tomllib
from types import MappingProxyType
from typing import Final

from samedeal.errors import MalformedText
from samedeal_client.input.bindings import DEFAULT, NAMED_KEYS, Bindings, KeyCommand, normal_key

_MODIFIERS: Final = ("ctrl", "alt", "shift")
_RESERVED_KEYS: Final = ("ctrl+c", "ctrl+l", "ctrl+q", "ctrl+z")
"""Keys that the app handles before any screen sees them."""


def load_bindings(text: str) -> Bindings:
    """Return the default bindings with the changes of a key file.

    Raise MalformedText if the file has an error. The message names the entry.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MalformedText(f"The key file is not valid TOML: {error}") from None
    commands = {command.name.lower(): command.keys for command in KeyCommand}
    bound = {"commands": commands, "piles": dict(DEFAULT.piles)}
    for table, entries in tables.items():
        if not isinstance(entries, dict):
            raise MalformedText(f"{table!r} stands outside a table. Write it below [commands] or [piles].")
        if table not in bound:
            raise MalformedText(f"There is no table {table!r}. A key file has [commands] and [piles].")
        for name, value in entries.items():
            if name not in bound[table]:
                names = ", ".join(bound[table])
                raise MalformedText(f"There is no {table.removesuffix('s')} {name!r}. The {table} are {names}.")
            bound[table][name] = _parse_keys(value, f"{name} in [{table}]: ")
    for name, keys in bound["piles"].items():
        if not keys:
            raise MalformedText(f"Pile {name} has no key. Give it one.")
    owners: dict[str, str] = {}
    for table, entries in bound.items():
        for name, keys in entries.items():
            owner = f"pile {name}" if table == "piles" else name
            owner += "" if name in tables.get(table, {}) else " (by default)"
            for key in keys:
                if key in owners:
                    both = f"{owners[key]} and {owner}"
                    raise MalformedText(f"{key!r} is a key of both {both}. Use another key for one of them.")
                owners[key] = owner
    own = {KeyCommand[name.upper()]: keys for name, keys in commands.items()}
    return Bindings(MappingProxyType(own), MappingProxyType(bound["piles"]))


def _parse_keys(value: object, entry: str) -> tuple[str, ...]:
    """Return the keys of one entry of a key file, without duplicates."""
    keys: list[str] = []
    for word in value if isinstance(value, list) else [value]:
        if not isinstance(word, str):
            example = '["backspace", "z"]'
            raise MalformedText(
                f"{entry}{word!r} is not in quotes. Quote each key, and put several in brackets: {example}."
            )
        keys.append(_parse_key(word, entry))
    return tuple(dict.fromkeys(keys))


def _parse_key(word: str, entry: str) -> str:
    key = normal_key(word if len(word) == 1 else word.lower())
    if key in _RESERVED_KEYS:
        raise MalformedText(f"{entry}{word!r} has a fixed meaning. Use another key.")
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    if set(modifiers) <= set(_MODIFIERS) and len(set(modifiers)) == len(modifiers):
        if last in NAMED_KEYS or (len(last) == 1 and last.isprintable() and not modifiers):
            return key
        if len(last) == 1 and last.isascii() and last.isalnum():
            return key
    raise MalformedText(
        f"{entry}{word[:20]!r} is not a key. Use one character or one of {', '.join(NAMED_KEYS)}, "
        "with ctrl+, alt+ or shift+ in front if you like."
    )
