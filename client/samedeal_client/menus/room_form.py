"""The state of the form for a new room: a text for each field, and errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from samedeal.options import Options
from samedeal.protocol_codes import RefusalCode
from samedeal_client.menus.new_room_fields import DEFAULTS, FIELDS, Field, unused_fields
from samedeal_client.menus.option_parsing import read_start

MAX_LENGTH: Final = 60
"""Maximum length of the text in a field."""


class NewRoom(NamedTuple):
    """A valid form: the options, the room code and the passphrase."""

    options: Options
    room: str
    passphrase: str


@dataclass(frozen=True)
class RoomForm:
    """The form for a new room.

    ``values`` has the text in each field. ``refused`` maps names of fields to the server's sentences about them. A
    sentence about no field has an empty name.
    """

    values: Mapping[str, str] = field(default_factory=lambda: DEFAULTS)
    refused: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that are shown."""
        unused = unused_fields(self.values)
        return tuple(field for field in FIELDS if field.name not in unused)

    def errors(self, now: datetime) -> dict[str, str]:
        """Return the sentence for each field with an error, by the name of the field. ``now`` has a time zone."""
        errors = dict(self.refused)
        for each in self.fields:
            try:
                self._value(each, now)
            except ValueError as error:
                errors[each.name] = str(error)
        try:
            self._room(now)
        except ValueError as error:  # a game of the room has no deals of the chosen difficulty
            errors = errors or {"deal": str(error)}
        return errors

    def to_room(self, now: datetime) -> NewRoom | None:
        """Return the room to open, or None if the form has an error."""
        try:
            return self._room(now)
        except ValueError:
            return None

    def _room(self, now: datetime) -> NewRoom:
        """Return the room to open. Raise ValueError if the form has an error."""
        read = {each.name: self._value(each, now) for each in self.fields}
        games = (str(read.pop("game")), *read.pop("then"))
        room, passphrase = read.pop("room"), read.pop("passphrase")
        return NewRoom(Options(games=games, **read), room, passphrase)

    def _value(self, field: Field, now: datetime) -> Any:
        text = self.values[field.name]
        return read_start(text, now) if field.name == "start_at" else field.value(text)

    def with_value(self, name: str, text: str) -> RoomForm:
        """Return the form with another text in the field ``name``."""
        refused = {field: sentence for field, sentence in self.refused.items() if field not in ("", name)}
        values = MappingProxyType({**self.values, name: text})
        return replace(self, values=values, refused=MappingProxyType(refused))

    def for_game(self, game: str) -> RoomForm:
        """Return the form with ``game`` chosen. If ``game`` is empty, return the form unchanged."""
        return self.with_value("game", game) if game else self

    def for_next_room(self) -> RoomForm:
        """Return the form for another room, with the same options but without the code and the passphrase."""
        return RoomForm(MappingProxyType({**self.values, "room": "", "passphrase": ""}))

    def with_refusal(self, code: str, sentence: str) -> RoomForm:
        """Return the form after the server refused to open the room.

        ``code`` is the code of the refusal. It decides at which field ``sentence`` is shown.
        """
        name = _FIELD_OF_REFUSAL.get(code, "")
        shown = {each.name for each in self.fields}
        return replace(self, refused=MappingProxyType({name if name in shown else "": sentence}))


_FIELD_OF_REFUSAL: Final[Mapping[str, str]] = {
    RefusalCode.ROOM_EXISTS: "room",
    RefusalCode.MALFORMED: "room",
    RefusalCode.BAD_OPTIONS: "start_at",
}
