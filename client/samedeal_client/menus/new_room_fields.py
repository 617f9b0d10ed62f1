"""A table of the options of a new room. The form, and the arguments of ``samedeal new``, are made from this table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from samedeal.data_files import read_data
from samedeal.deal import DIFFICULTIES, Deal
from samedeal.games import GAMES, game_named
from samedeal.options import Options
from samedeal_client.menus.option_parsing import (
    MAX_NEXT_GAMES,
    number_in,
    read_deal,
    read_duration,
    read_games,
    read_room,
)
from samedeal_client.text.option_wording import START_LABELS, UNDO_LABELS, deal_text, title_of
from samedeal_client.text.time_text import duration_text

DEFAULT_DEAL: Final = "winnable"
"""The deal of a new room if the player chooses none. In the protocol, a request without a deal asks for a random deal."""

_DEFAULTS: Final = Options(deal=DEFAULT_DEAL)


class Field(Struct, frozen=True, forbid_unknown_fields=True):
    """A field of the form for a new room, as in ``new_room.toml``. ``name`` is the name of the room option.

    A field without ``choices`` and ``bounds`` accepts every text that can be read, and completes what is typed to a text
    in ``suggested``. ``default`` is the text of the option's default.
    """

    label: str
    name: str = ""
    default: str = ""
    choices: Mapping[str, Any] | None = None
    bounds: tuple[int, int] | None = None
    meaning: str = ""
    meanings: Mapping[str, str] = {}
    shown: Mapping[str, str] = {}
    help: str = ""

    @property
    def suggested(self) -> tuple[str, ...]:
        """Texts that the player may want to write."""
        return _SUGGESTED.get(self.name, ())

    def describe(self, text: str) -> str:
        """Return a description of a valid text."""
        describe = _DESCRIBE.get(self.name)
        return self.meanings.get(text, self.meaning) if describe is None else describe(text)

    def value(self, text: str) -> Any:
        """Return the value of a text. Raise ValueError if the field does not accept the text."""
        if self.choices is not None:
            if text not in self.choices:
                raise ValueError(f"Choose one of {', '.join(self.choices)}.")
            return self.choices[text]
        read = number_in(*self.bounds) if self.bounds is not None else _READ.get(self.name, str)
        return read(text)


def _describe_next_games(text: str) -> str:
    names = read_games(text)
    return (
        ", ".join(title_of(name) for name in names)
        if names
        else f"or several in turn, as in: {' '.join(list(GAMES)[:2])}"
    )


_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "then": read_games,
    "deal": read_deal,
    "limit": read_duration,
    "room": read_room,
}

_DESCRIBE: Final[Mapping[str, Callable[[str], str]]] = {
    "game": lambda name: game_named(name).file.blurb,
    "then": _describe_next_games,
    "deal": lambda text: deal_text(Deal.parse(text)),
    "limit": lambda text: f"the race ends after {duration_text(read_duration(text))}",
    "undo": UNDO_LABELS.__getitem__,
    "start": lambda text: START_LABELS[FIELD_BY_NAME["start"].value(text)],
}

_SUGGESTED: Final[Mapping[str, tuple[str, ...]]] = {
    "then": (*GAMES, ", ".join(list(GAMES)[:MAX_NEXT_GAMES])),
    "deal": ("winnable", *(f"winnable {level}" for level in DIFFICULTIES), "random", "daily"),
}


def _with_default(name: str, field: Field) -> Field:
    """Return a field of the file with its name and its default, and that of the game with all games."""
    usual: Any = getattr(_DEFAULTS, name, "")
    if name == "game":
        return replace(field, name=name, choices=GAMES, default=_DEFAULTS.games[0])
    if field.choices is not None:
        default = next(text for text, value in field.choices.items() if value == usual)
    else:
        default = field.default or (duration_text(usual) if name == "limit" else str(usual))
    return replace(field, name=name, default=default)


_FILE: Final = read_data("samedeal_client.menus", "new_room.toml", dict[str, Field])
FIELDS: Final = tuple(_with_default(name, field) for name, field in _FILE.items())
"""The fields in the order of the form."""

FIELD_BY_NAME: Final[Mapping[str, Field]] = MappingProxyType({field.name: field for field in FIELDS})

DEFAULTS: Final[Mapping[str, str]] = MappingProxyType({field.name: field.default for field in FIELDS})
"""The text of each field's default, by the name of the field."""


def unused_fields(values: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the fields that the form does not show.

    They have no effect because of the texts in other fields. The usual text of ``repeated``, which few people change, is
    not shown either: the form fits a window of 24 rows.
    """
    unused = {
        "start_at": FIELD_BY_NAME["start"].value(values["start"]) != "at",
        "delay": values["spectators"] == "no",
        "repeated": values["repeated"] == DEFAULTS["repeated"],
    }
    return frozenset(name for name, is_unused in unused.items() if is_unused)
