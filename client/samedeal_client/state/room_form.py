"""The state of the form for a new room: a text for each field, the focused field, and errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from samedeal.options import Options
from samedeal.protocol_codes import RefusalCode
from samedeal_client.state.new_room_fields import DEFAULTS, FIELD_BY_NAME, FIELDS, Field, unused_fields
from samedeal_client.state.option_parsing import read_start
from samedeal_client.text.text_input import after_key, after_paste

_MAX_LENGTH: Final = 60


class NewRoom(NamedTuple):
    """A valid form: the options, the room code and the passphrase."""

    options: Options
    room: str
    passphrase: str


@dataclass(frozen=True)
class RoomForm:
    """The form. ``focus`` is the name of the field that receives keys.

    With ``replace_text`` the next key replaces the field's text. ``search`` is the text typed to find a choice, and
    ``no_match`` says that no choice starts with that text. ``refused`` maps the name of a field to the server's sentence
    about the field, or an empty name to a sentence that concerns no field. ``busy`` says that the room is being opened.
    """

    values: Mapping[str, str] = field(default_factory=lambda: DEFAULTS)
    focus: str = "game"
    replace_text: bool = True
    refused: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    busy: bool = False
    search: str = ""
    no_match: bool = False

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that are shown."""
        unused = unused_fields(self.values)
        return tuple(field for field in FIELDS if field.name not in unused)

    @property
    def current(self) -> Field:
        """The focused field."""
        return FIELD_BY_NAME[self.focus]

    def errors(self, now: datetime) -> dict[str, str]:
        """Return the errors by the names of their fields. ``now`` has a time zone."""
        errors = dict(self.refused)
        for each in self.fields:
            try:
                self._value(each, now)
            except ValueError as error:
                errors[each.name] = str(error)
        return errors

    def to_room(self, now: datetime) -> NewRoom | None:
        """Return the room to open, or None if the form has an error."""
        try:
            read = {each.name: self._value(each, now) for each in self.fields}
        except ValueError:
            return None
        games = (read.pop("game"), *read.pop("then"))
        room, passphrase = read.pop("room"), read.pop("passphrase")
        return NewRoom(Options(games=games, **read), room, passphrase)

    def _value(self, field: Field, now: datetime) -> Any:
        text = self.values[field.name]
        return read_start(text, now) if field.name == "start_at" else field.value(text)

    def with_value(self, name: str, text: str) -> RoomForm:
        """Return the form with another text in the field ``name`` and the focus on that field."""
        refused = {field: sentence for field, sentence in self.refused.items() if field not in ("", name)}
        values = MappingProxyType({**self.values, name: text})
        shown = self._focused(name)
        return replace(shown, values=values, replace_text=False, refused=MappingProxyType(refused))

    def _focused(self, name: str) -> RoomForm:
        """Return the form with the focus on the field ``name``."""
        return replace(self, focus=name, replace_text=True, search="", no_match=False)

    def for_game(self, game: str) -> RoomForm:
        """Return the form with the focus on the first field, and with ``game`` chosen unless that is empty."""
        return (self.with_value("game", game) if game else self).do("to game")

    def for_next_room(self) -> RoomForm:
        """Return the form for another room: the same options without the code and the passphrase."""
        values = MappingProxyType({**self.values, "room": "", "passphrase": ""})
        return RoomForm(values)

    def with_refusal(self, code: str, sentence: str) -> RoomForm:
        """Return the form after the server refused to open the room."""
        name = _FIELD_OF_REFUSAL.get(code, "")
        if name not in {each.name for each in self.fields}:
            return replace(self, refused=MappingProxyType({"": sentence}), busy=False)
        return replace(self, refused=MappingProxyType({name: sentence}), busy=False, focus=name, replace_text=True)

    def focused_on_error(self, now: datetime) -> RoomForm:
        """Return the form with the focus on the first field with an error."""
        errors = self.errors(now)
        wrong = next((each.name for each in self.fields if each.name in errors), self.focus)
        return replace(self, focus=wrong, replace_text=True)

    def press(self, key: str) -> RoomForm:
        """Return the form after a key. A key without a meaning returns the same object."""
        if key in _KEY_COMMANDS:
            return self.do(_KEY_COMMANDS[key])
        if not self.current.typed:
            return self._choose(key)
        text = "" if self.replace_text and len(key) == 1 else self.values[self.focus]
        after = after_key(text, key, _MAX_LENGTH)
        return self if after is None else self.with_value(self.focus, after)

    def _choose(self, key: str) -> RoomForm:
        """Return the form with the choice that starts with the typed text. A space that matches nothing steps on."""
        if len(key) != 1 or not key.isprintable():
            return self
        for search in (self.search + key, key):
            choice = self.current.match_choice(search) if search.strip() else None
            if choice is not None:
                return replace(self.with_value(self.focus, choice), replace_text=True, search=search)
        return self.do("step 1") if key == " " else replace(self, search=key, no_match=True)

    def paste(self, text: str) -> RoomForm:
        """Return the form after a paste."""
        if not self.current.typed:
            return self
        return self.with_value(
            self.focus, after_paste("" if self.replace_text else self.values[self.focus], text, _MAX_LENGTH)
        )

    def do(self, command: str) -> RoomForm:
        """Return the form after a command: ``next``, ``back``, ``to FIELD``, or ``step N [FIELD]``."""
        word, *rest = command.split()
        names = [each.name for each in self.fields]
        match word:
            case "next" | "back":
                step = 1 if word == "next" else -1
                return self._focused(names[(names.index(self.focus) + step) % len(names)])
            case "to":
                return self._focused(rest[0])
            case "step":
                name = rest[1] if len(rest) > 1 else self.focus
                stepped = FIELD_BY_NAME[name].step(self.values[name], int(rest[0]))
                return replace(self.with_value(name, stepped), replace_text=True)
            case _:
                raise ValueError(f"the form has no command {command!r}")


_KEY_COMMANDS: Final = {
    "tab": "next",
    "down": "next",
    "shift+tab": "back",
    "up": "back",
    "right": "step 1",
    "left": "step -1",
}
_FIELD_OF_REFUSAL: Final[Mapping[str, str]] = {
    RefusalCode.ROOM_EXISTS: "room",
    RefusalCode.MALFORMED: "room",
    RefusalCode.BAD_OPTIONS: "start_at",
}
