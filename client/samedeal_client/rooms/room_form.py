"""The form of a new room, pure: a text for each field, which one keys go to, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from samedeal.options import Options
from samedeal_client.rooms.room_fields import DEFAULTS, FIELDS, Field, left_out, read_start
from samedeal_client.text.entry import pasted, typed

_LONGEST: Final = 60
_FIELDS: Final = {each.name: each for each in FIELDS}


class NewRoom(NamedTuple):
    """What the form comes to."""

    options: Options
    room: str
    passphrase: str


@dataclass(frozen=True)
class RoomForm:
    """The form. ``at`` is the name of the field that keys go to; ``fresh`` that what is typed next replaces its text.

    ``sought`` is what was typed to find a choice, and ``missed`` that there is none that begins so. ``refused`` are
    sentences of the server, by field, with an empty name for what is about none of them. ``busy`` says that the room is
    being opened.
    """

    values: Mapping[str, str] = field(default_factory=lambda: DEFAULTS)
    at: str = "game"
    fresh: bool = True
    refused: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    busy: bool = False
    sought: str = ""
    missed: bool = False

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that are shown."""
        out = left_out(self.values)
        return tuple(each for each in FIELDS if each.name not in out)

    @property
    def current(self) -> Field:
        """The field that keys go to."""
        return _FIELDS[self.at]

    def errors(self, now: datetime) -> dict[str, str]:
        """What is wrong, by field; ``now`` has its time zone."""
        errors = dict(self.refused)
        for each in self.fields:
            try:
                self._read(each, now)
            except ValueError as error:
                errors[each.name] = str(error)
        return errors

    def filled(self, now: datetime) -> NewRoom | None:
        """What the form comes to; None while something is wrong."""
        try:
            read = {each.name: self._read(each, now) for each in self.fields}
        except ValueError:
            return None
        games = (read.pop("game"), *read.pop("then"))
        room, passphrase = read.pop("room"), read.pop("passphrase")
        return NewRoom(Options(games=games, **read), room, passphrase)

    def _read(self, which: Field, now: datetime) -> Any:
        text = self.values[which.name]
        return read_start(text, now) if which.name == "start_at" else which.value(text)

    # ---------------------------------------------------------------- changing

    def with_value(self, name: str, text: str) -> RoomForm:
        """The form with another text in a field, to which keys go from now on."""
        refused = {which: why for which, why in self.refused.items() if which not in ("", name)}
        values = MappingProxyType({**self.values, name: text})
        shown = self._went_to(name)
        return replace(shown, values=values, fresh=False, refused=MappingProxyType(refused))

    def _went_to(self, name: str) -> RoomForm:
        """The form with keys going to a field."""
        return replace(self, at=name, fresh=True, sought="", missed=False)

    def for_game(self, game: str) -> RoomForm:
        """The form as it was left, with a game unless that is empty, and keys going to the first field."""
        return (self.with_value("game", game) if game else self).do("to game")

    def emptied(self) -> RoomForm:
        """The form as the next room can begin with it: not under the code and the passphrase of this one."""
        values = MappingProxyType({**self.values, "room": "", "passphrase": ""})
        return RoomForm(values)

    def refusing(self, code: str, sentence: str) -> RoomForm:
        """The form after the server has refused it."""
        name = _REFUSALS.get(code, "")
        form = replace(self, refused=MappingProxyType({name: sentence}), busy=False)
        return replace(form, at=name, fresh=True) if name in {each.name for each in self.fields} else form

    def at_error(self, now: datetime) -> RoomForm:
        """The form with its first wrong field chosen."""
        errors = self.errors(now)
        wrong = next((each.name for each in self.fields if each.name in errors), self.at)
        return replace(self, at=wrong, fresh=True)

    def press(self, key: str) -> RoomForm:
        """The form after a key; the same one where the key does nothing here."""
        if key in _MOVES:
            return self.do(_MOVES[key])
        if not self.current.typed:
            return self._choose(key)
        text = "" if self.fresh and len(key) == 1 else self.values[self.at]
        after = typed(text, key, _LONGEST)
        return self if after is None else self.with_value(self.at, after)

    def _choose(self, key: str) -> RoomForm:
        """The form with the choice that begins with what was typed; a blank that is no part of it goes to the next one."""
        if len(key) != 1 or not key.isprintable():
            return self
        for sought in (self.sought + key, key):
            found = self.current.beginning(sought) if sought.strip() else None
            if found is not None:
                return replace(self.with_value(self.at, found), fresh=True, sought=sought)
        return self.do("step 1") if key == " " else replace(self, sought=key, missed=True)

    def paste(self, text: str) -> RoomForm:
        """The form after a paste."""
        if not self.current.typed:
            return self
        return self.with_value(self.at, pasted("" if self.fresh else self.values[self.at], text, _LONGEST))

    def do(self, what: str) -> RoomForm:
        """The form after what a key or a click stands for: ``next``, ``back``, ``to FIELD``, ``step N [FIELD]``."""
        word, *rest = what.split()
        names = [each.name for each in self.fields]
        match word:
            case "next" | "back":
                step = 1 if word == "next" else -1
                return self._went_to(names[(names.index(self.at) + step) % len(names)])
            case "to":
                return self._went_to(rest[0])
            case "step":
                name = rest[1] if len(rest) > 1 else self.at
                stepped = _FIELDS[name].stepped(self.values[name], int(rest[0]))
                return replace(self.with_value(name, stepped), fresh=True)
            case _:
                raise ValueError(f"the form can't do {what!r}")


_MOVES: Final = {
    "tab": "next",
    "down": "next",
    "shift+tab": "back",
    "up": "back",
    "right": "step 1",
    "left": "step -1",
}
_REFUSALS: Final = {"room_exists": "room", "malformed": "room", "bad_options": "start_at"}
