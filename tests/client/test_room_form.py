"""The form of a new room: its options, the errors of its fields, and its keys."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from samedeal.options import Options
from samedeal.protocol_codes import RefusalCode
from samedeal_client.state.new_room_fields import DEFAULTS, FIELD_BY_NAME, FIELDS
from samedeal_client.state.room_form import NewRoom, RoomForm
from tests.golden.golden_files import assert_sentences

NOW = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)
MINUTE = 60_000


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


def test_untouched_form_has_the_default_options() -> None:
    assert RoomForm().to_room(NOW) == NewRoom(DEFAULT, "", "")


def test_every_option_has_a_field() -> None:
    names = {field.name for field in FIELDS}
    assert {field.name for field in msgspec.structs.fields(Options)} - {"games", "hosted"} <= names
    assert {"game", "then"} <= names
    assert set(DEFAULTS) == names


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({"game": "steve"}, {"games": ("steve",)}),
        ({"then": "athena, ace of hearts"}, {"games": ("willow", "athena", "ace-of-hearts")}),
        ({"then": "Phoenix steve"}, {"games": ("willow", "phoenix", "steve")}),
        ({"deal": "4821"}, {"deal": "#4821"}),
        ({"deal": "random"}, {"deal": "random"}),
        ({"deal": "Daily 2026-11-20"}, {"deal": "daily 2026-11-20"}),
        ({"players": "1"}, {"players": 1}),
        ({"limit": "7"}, {"limit": 420}),
        ({"limit": "7 min"}, {"limit": 420}),
        ({"limit": "7:30"}, {"limit": 450}),
        ({"limit": "90 s"}, {"limit": 90}),
        ({"limit": "1:30:00"}, {"limit": 5400}),
        ({"limit": "2:00:00"}, {"limit": 7200}),
        ({"undo": "off"}, {"undo": "off"}),
        ({"hints": "yes"}, {"hints": True}),
        ({"start": "when all are ready"}, {"start": "all-ready"}),
        ({"start": "when full"}, {"start": "full"}),
        ({"start": "at a time", "start_at": "20:30"}, {"start": "at", "start_at": time(hour=20, minute=30)}),
        ({"start": "at a time", "start_at": "9:05"}, {"start": "at", "start_at": time(day=22, hour=9, minute=5)}),
        (
            {"start": "at a time", "start_at": "2026-11-25 07:00"},
            {"start": "at", "start_at": time(day=25, hour=7, minute=0)},
        ),
        ({"start": "at a time", "start_at": "+10"}, {"start": "at", "start_at": time(hour=18, minute=10)}),
        ({"start_at": "rubbish that is not asked for"}, {}),
        ({"countdown": "0"}, {"countdown": 0}),
        ({"first_finish_ends": "yes"}, {"first_finish_ends": True}),
        ({"end_when_settled": "no"}, {"end_when_settled": False}),
        ({"spectators": "no", "delay": "rubbish"}, {"spectators": False}),
        ({"delay": "600"}, {"delay": 600}),
    ],
)
def test_texts_become_options(values: dict[str, str], wanted: dict[str, Any]) -> None:
    assert options(**values) == msgspec.structs.replace(DEFAULT, **wanted)


def test_room_code_and_passphrase_are_returned() -> None:
    room = form(room="Friday", passphrase=" as typed ").to_room(NOW)
    assert room == NewRoom(DEFAULT, "friday", " as typed ")


INVALID: tuple[tuple[dict[str, str], str], ...] = (
    ({"then": "bridge"}, "then"),
    ({"then": "willow " * 16}, "then"),
    ({"deal": "yesterday"}, "deal"),
    ({"players": "0"}, "players"),
    ({"players": "seventeen"}, "players"),
    ({"players": ""}, "players"),
    ({"limit": "9 s"}, "limit"),
    ({"limit": "2:00:01"}, "limit"),
    ({"limit": "soon"}, "limit"),
    ({"limit": "1:75"}, "limit"),
    ({"limit": "3600"}, "limit"),
    ({"limit": "36000 s"}, "limit"),
    ({"start": "at a time", "start_at": "25:00"}, "start_at"),
    ({"start": "at a time", "start_at": "later"}, "start_at"),
    ({"start": "at a time", "start_at": "2026-11-20 10:00"}, "start_at"),
    ({"start": "at a time", "start_at": "2026-12-24 10:00"}, "start_at"),
    ({"start": "at a time", "start_at": "2026-02-30 10:00"}, "start_at"),
    ({"start": "at a time", "start_at": "+99999"}, "start_at"),
    ({"countdown": "61"}, "countdown"),
    ({"delay": "-1"}, "delay"),
    ({"room": "two words"}, "room"),
    ({"room": "-x"}, "room"),
)


@pytest.mark.parametrize(("values", "name"), INVALID)
def test_error_is_shown_at_its_field(values: dict[str, str], name: str) -> None:
    made = form(**values)
    assert list(made.errors(NOW)) == [name]
    assert made.to_room(NOW) is None


def test_wording_of_errors() -> None:
    lines = [f"{name}: {values[name]!r}\t{form(**values).errors(NOW)[name]}" for values, name in INVALID]
    assert_sentences("new room", lines)


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_every_preset_is_valid_and_described(field: Any) -> None:
    made = form(start="at a time")
    for _ in range(max(len(field.steps), 1)):
        made = made.with_value(field.name, field.step(made.values[field.name], 1))
        text = made.values[field.name]
        assert field.name not in made.errors(NOW)
        assert field.describe(text)
        assert len(field.describe(text)) <= 42 or field.name == "then"


STEPS = [("players", "8", "9", "7"), ("hints", "no", "yes", "yes"), ("deal", "#4821", "#4822", "#4820")]


@pytest.mark.parametrize(("name", "text", "up", "down"), [*STEPS, ("deal", "#1", "#2", "daily")])
def test_values_step_forth_and_back(name: str, text: str, up: str, down: str) -> None:
    field = FIELD_BY_NAME[name]
    assert (field.step(text, 1), field.step(text, -1)) == (up, down)


@pytest.mark.parametrize(
    ("typed", "found"),
    [("p", ["phoenix"]), ("h", ["ace-of-hearts"]), ("A", ["athena", "ace-of-hearts"]), ("x", [])],
)
def test_typed_letter_finds_choices(typed: str, found: list[str]) -> None:
    field = FIELD_BY_NAME["game"]
    assert [text for text in field.steps if field.starts_with(text, typed)] == found


def test_next_form_keeps_all_but_code_and_passphrase() -> None:
    left = form(game="steve", limit="7", undo="free", room="friday", passphrase="sesame").for_next_room()
    assert left.for_game("") == form(game="steve", limit="7", undo="free")
    assert left.for_game("athena").values["game"] == "athena"


def test_unused_fields_are_hidden() -> None:
    def names(made: RoomForm) -> list[str]:
        return [field.name for field in made.fields]

    assert "start_at" not in names(RoomForm())
    assert "start_at" in names(form(start="at a time"))
    assert "delay" not in names(form(spectators="no"))


def test_refusal_is_shown_at_its_field_until_changed() -> None:
    refused = RoomForm(busy=True).with_refusal(RefusalCode.ROOM_EXISTS, "There is a room 'friday' already")
    assert not refused.busy
    assert refused.errors(NOW) == {"room": "There is a room 'friday' already"}
    assert refused.with_value("room", "x").errors(NOW) == {}


def test_other_refusal_is_shown_until_any_change() -> None:
    for code in (RefusalCode.DRAINING, RefusalCode.BAD_OPTIONS):  # bad options are about a field that is not shown
        refused = RoomForm().with_refusal(code, "This server is stopping")
        assert refused.errors(NOW) == {"": "This server is stopping"}
    refused = RoomForm().with_refusal(RefusalCode.DRAINING, "This server is stopping")
    assert refused.errors(NOW) == {"": "This server is stopping"}
    assert refused.to_room(NOW) is not None
    assert refused.with_value("hints", "yes").errors(NOW) == {}


def test_game_without_difficulties_is_refused() -> None:
    refused = form(game="spider", deal="winnable easy")
    assert list(refused.errors(NOW)) == ["deal"]
    assert refused.to_room(NOW) is None
    assert form(game="willow", then="spider", deal="winnable easy").to_room(NOW) is None
    assert form(game="spider", deal="winnable").to_room(NOW) is not None
