"""Key bindings: the keys of each command and of each pile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from samedeal.games import GAMES
from samedeal.moves import FOUNDATION


class KeyCommand(Enum):
    """A command that a key can stand for, with its default keys and its description in the help.

    The command's name in a key file is its name here in small letters.
    """

    BEST = ("enter",), "after a pile's key: make the best move of its cards"
    STOCK = ("space",), "draw or deal from the stock, or turn the waste over"
    COLLECT = ("x",), "move all safe cards to foundations; once more: all that fit"
    UNDO = ("backspace", "z"), "undo the last move, if the room allows it"
    HINT = ("?",), "show a hint, if the room allows it"
    FIND = ("/",), "find a card: then type 7h, or th for the ten of hearts"
    VIEW = ("v",), "view all cards of a pile: then type its key"
    FEWER = ("-",), "after a pile's key: take fewer cards"
    MORE = ("+", "="), "after a pile's key: take more cards"
    CANCEL = ("escape",), "cancel what you have typed"
    RESIGN = ("ctrl+r",), "resign (asks first); your foundation cards still count"
    HELP = ("f1",), "this help"

    def __init__(self, keys: tuple[str, ...], description: str) -> None:
        self.keys = keys
        self.description = description


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

PILES: Final = (FOUNDATION, *dict.fromkeys(key for game in GAMES.values() for key in game.typed_keys))
"""The names of the piles that can be typed in at least one game. ``0`` means any foundation."""


def normal_key(key: str) -> str:
    """Return the standard name of a key. Terminals and toolkits have several names for some keys."""
    return _OTHER_NAMES.get(key, key)


@dataclass(frozen=True)
class Bindings:
    """The keys of each command and of each pile. No key has two meanings."""

    commands: Mapping[KeyCommand, tuple[str, ...]]
    piles: Mapping[str, tuple[str, ...]]

    @cached_property
    def meanings(self) -> Mapping[str, KeyCommand | str]:
        """The meaning of each key: a command, or the name of a pile."""
        tables: tuple[Mapping[Any, tuple[str, ...]], ...] = (self.commands, self.piles)
        return MappingProxyType({key: meaning for table in tables for meaning, keys in table.items() for key in keys})

    def meaning(self, key: str) -> KeyCommand | str | None:
        """Return the command or the name of the pile that ``key`` stands for, or None if it stands for neither.

        Letters may be upper or lower case.
        """
        name = normal_key(key)
        meaning = self.meanings.get(name)
        return self.meanings.get(name.swapcase()) if meaning is None and len(name) == 1 else meaning


DEFAULT: Final = Bindings(
    MappingProxyType({command: command.keys for command in KeyCommand}),
    MappingProxyType({pile: (pile,) for pile in PILES}),
)
