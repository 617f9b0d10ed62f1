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

import re
import tomllib
from types import MappingProxyType
from typing import Final

from samedeal.errors import MalformedText
from samedeal_client.input.bindings import DEFAULT, NAMED_KEYS, PILES, Bindings, KeyCommand, normal_key

_MODIFIERS: Final = ("ctrl", "alt", "shift")
_RESERVED_KEYS: Final = ("ctrl+c", "ctrl+p", "ctrl+q", "ctrl+z")
"""Keys that the app handles before any screen sees them."""

_NAMES: Final = {"commands": tuple(command.value for command in KeyCommand), "piles": PILES}
"""The names that the entries of a key file may have, by table."""


def load_bindings(text: str) -> Bindings:
    """Return the default bindings with the changes of a key file.

    Raise MalformedText if the file has an error. The message names the line if it is known.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MalformedText(f"The key file is not valid TOML: {error}") from None
    commands, piles = dict(DEFAULT.commands), dict(DEFAULT.piles)
    for table, entries in tables.items():
        if table not in _NAMES or not isinstance(entries, dict):
            line = _line_prefix(text, table)
            if not isinstance(entries, dict):
                raise MalformedText(f"{line}{table!r} stands outside a table. Write it below [commands] or [piles].")
            raise MalformedText(f"{line}There is no table {table!r}. A key file has [commands] and [piles].")
        for name, value in entries.items():
            line = _line_prefix(text, name, table)
            if name not in _NAMES[table]:
                names = ", ".join(_NAMES[table])
                raise MalformedText(f"{line}There is no {table.removesuffix('s')} {name!r}. The {table} are {names}.")
            keys = _parse_keys(value, line)
            if table == "commands":
                commands[KeyCommand(name)] = keys
            elif keys:
                piles[name] = keys
            else:
                raise MalformedText(f"{line}Pile {name} has no key. Give it one.")
    bindings = Bindings(MappingProxyType(commands), MappingProxyType(piles))
    _check_unique(bindings, text, tables)
    return bindings


def _parse_keys(value: object, line: str) -> tuple[str, ...]:
    """Return the keys of one entry of a key file, without duplicates."""
    words = value if isinstance(value, list) else [value]
    keys: list[str] = []
    for word in words:
        if not isinstance(word, str):
            example = '["backspace", "z"]'
            raise MalformedText(
                f"{line}{word!r} is not in quotes. Quote each key, and put several in brackets: {example}."
            )
        keys.append(_parse_key(word, line))
    return tuple(dict.fromkeys(keys))


def _parse_key(word: str, line: str) -> str:
    key = normal_key(word if len(word) == 1 else word.lower())
    if key in _RESERVED_KEYS:
        raise MalformedText(f"{line}{word!r} has a fixed meaning. Use another key.")
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    if set(modifiers) <= set(_MODIFIERS) and len(set(modifiers)) == len(modifiers):
        if last in NAMED_KEYS or (len(last) == 1 and last.isprintable() and not modifiers):
            return key
        if len(last) == 1 and last.isascii() and last.isalnum():
            return key
    raise MalformedText(
        f"{line}{word[:20]!r} is not a key. Use one character or one of {', '.join(NAMED_KEYS)}, "
        "with ctrl+, alt+ or shift+ in front if you like."
    )


def _check_unique(bindings: Bindings, text: str, tables: dict[str, dict[str, object]]) -> None:
    """Raise MalformedText if a key has two meanings. One of the meanings may be a default."""
    owners: dict[str, tuple[str, str]] = {}
    entries = [("commands", command.value, keys) for command, keys in bindings.commands.items()]
    entries += [("piles", pile, keys) for pile, keys in bindings.piles.items()]
    for table, name, keys in entries:
        for key in keys:
            if key not in owners:
                owners[key] = (table, name)
                continue
            first, second = owners[key], (table, name)
            changed_table, changed = second if second[1] in tables.get(second[0], {}) else first
            line = _line_prefix(text, changed, changed_table)
            both = " and ".join(_owner_text(owner, tables) for owner in (first, second))
            raise MalformedText(f"{line}{key!r} is a key of both {both}. Use another key for one of them.")


def _owner_text(owner: tuple[str, str], tables: dict[str, dict[str, object]]) -> str:
    table, name = owner
    default = "" if name in tables.get(table, {}) else " (by default)"
    return (f"pile {name}" if table == "piles" else name) + default


def _line_prefix(text: str, name: str, table: str = "") -> str:
    """Return the beginning of an error message about an entry or a table of a key file, such as ``Line 3: ``.

    The error is in the entry ``name`` of ``table``. If ``table`` is empty, the error is in the table ``name``. Return
    an empty string if no line has the entry or table, for example because the file uses another notation of TOML.
    """
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[([^\]]*)\]", line)
        if header:
            current = header[1].strip().strip("\"'")
        entry = re.match(r"\s*[\"']?([^\"'=\s]+)[\"']?\s*=", line)
        if (header and not table and current == name) or (entry and current == table and entry[1] == name):
            return f"Line {number}: "
    return ""
