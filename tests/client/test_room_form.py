"""The form of a new room: its options, the errors of its fields, and its keys."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from samedeal.options import Options
from samedeal_client.menus.new_room_fields import DEFAULTS, FIELDS
from samedeal_client.menus.room_form import NewRoom, RoomForm
from tests.golden.golden_files import assert_answers

NOW = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)


def time(*, day: int = 21, hour: int, minute: int) -> int:
    return round(datetime(2026, 11, day, hour, minute, tzinfo=UTC).timestamp() * 1000)


def form(**values: str) -> RoomForm:
    made = RoomForm()
    for name, text in values.items():
        made = made.with_value(name, text)
    return made


def options(**values: str) -> Options:
    room = form(**values).to_room(NOW)
    assert room is not None
    return room.options


DEFAULT = Options(deal="winnable")


def test_every_option_has_a_field() -> None:
    names = {field.name for field in FIELDS}
    assert {*Options.__struct_fields__, "game", "then"} - {"games", "hosted"} - names == set()
    assert set(DEFAULTS) == names


def read(_: str, question: str) -> str:
    """The options that differ from the default, or the error of the only wrong field."""
    made = form(**dict(field.split(": ", 1) for field in question.split("; ")))
    errors, room = made.errors(NOW), made.to_room(NOW)
    if room is None:
        [(name, error)] = errors.items()
        return f"{name}: {error}"
    assert errors == {}
    chosen = msgspec.to_builtins(room.options)
    changed = {name: value for name, value in chosen.items() if value != getattr(DEFAULT, name)}
    return f"room {room.room}" if room.room else str(changed or "the default")


def test_texts_are_read_as_the_page_says() -> None:
    assert_answers("room_form", read)


def test_room_code_and_passphrase_are_returned() -> None:
    room = form(room="Friday", passphrase=" as typed ").to_room(NOW)
    assert room == NewRoom(DEFAULT, "friday", " as typed ")


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_every_choice_is_valid_and_described(field: Any) -> None:
    for text in field.choices or (field.default, *field.suggested):
        made = form(start="at a time").with_value(field.name, text)
        assert field.name not in made.errors(NOW)
        if (room := made.to_room(NOW)) is not None:  # all values are those that the option may have
            assert msgspec.convert(msgspec.to_builtins(room.options), Options) == room.options
        assert field.describe(text)
        assert len(field.describe(text)) <= 42 or field.name == "then"


def test_unused_fields_are_hidden() -> None:
    def names(made: RoomForm) -> list[str]:
        return [field.name for field in made.fields]

    assert "start_at" not in names(RoomForm())
    assert "start_at" in names(form(start="at a time"))
    assert "delay" not in names(form(spectators="no"))


def test_game_without_difficulties_is_refused() -> None:
    refused = form(game="spider", deal="winnable easy")
    assert list(refused.errors(NOW)) == ["deal"]
    assert refused.to_room(NOW) is None
    assert form(game="willow", then="spider", deal="winnable easy").to_room(NOW) is None
    assert form(game="spider", deal="winnable").to_room(NOW) is not None
