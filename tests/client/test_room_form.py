"""The form of a new room: its options, the errors of its fields, and its keys."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from samedeal.options import Options
from samedeal.protocol_codes import RefusalCode
from samedeal_client.state.new_room_fields import DEFAULTS, FIELDS
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


def pressed(made: RoomForm, *keys: str) -> RoomForm:
    for key in keys:
        made = made.press(key)
    return made


def test_untouched_form_has_the_default_options() -> None:
    assert RoomForm().to_room(NOW) == NewRoom(Options(), "", "")


def test_every_option_has_a_field() -> None:
    names = {field.name for field in FIELDS}
    assert {field.name for field in msgspec.structs.fields(Options)} - {"games"} <= names
    assert {"game", "then"} <= names
    assert set(DEFAULTS) == names


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({"game": "steve"}, {"games": ("steve",)}),
        ({"then": "athena, ace of hearts"}, {"games": ("willow", "athena", "ace-of-hearts")}),
        ({"then": "Phoenix steve"}, {"games": ("willow", "phoenix", "steve")}),
        ({"deal": "4821"}, {"deal": "#4821"}),
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
    assert options(**values) == msgspec.structs.replace(Options(), **wanted)


def test_room_code_and_passphrase_are_returned() -> None:
    room = form(room="Friday", passphrase=" as typed ").to_room(NOW)
    assert room == NewRoom(Options(), "friday", " as typed ")


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
    assert made.focused_on_error(NOW).focus == name


def test_errors_say_what_to_write() -> None:
    lines = [f"{name}: {values[name]!r}\t{form(**values).errors(NOW)[name]}" for values, name in INVALID]
    assert_sentences("new room", lines)


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_every_preset_is_valid_and_described(field: Any) -> None:
    made = form(start="at a time")
    for _ in range(max(len(field.steps), 1)):
        made = made.do(f"step 1 {field.name}")
        text = made.values[field.name]
        assert field.name not in made.errors(NOW)
        assert field.describe(text)
        assert len(field.describe(text)) <= 42 or field.name == "then"


def test_tab_cycles_through_the_fields() -> None:
    made = RoomForm()
    seen = []
    for _ in made.fields:
        seen.append(made.focus)
        made = made.press("tab")
    assert seen == [field.name for field in made.fields]
    assert made.focus == "game"
    assert made.press("shift+tab").focus == "passphrase"
    assert made.press("down").focus == made.press("tab").focus
    assert made.press("up").focus == made.press("shift+tab").focus


def test_arrows_step_forth_and_back() -> None:
    made = RoomForm().do("to players")
    assert made.press("right").values["players"] == "9"
    assert made.press("left").values["players"] == "7"
    assert pressed(made, "right", "left").values == made.values


def test_space_steps_a_choice_but_is_typed_in_text() -> None:
    assert RoomForm().do("to hints").press(" ").values["hints"] == "yes"
    assert pressed(RoomForm().do("to passphrase"), "a", " ", "b").values["passphrase"] == "a b"


def test_deal_number_steps_by_one() -> None:
    assert form(deal="#4821").do("step 1 deal").values["deal"] == "#4822"
    assert form(deal="#4821").do("step -1 deal").values["deal"] == "#4820"
    assert form(deal="#1").do("step -1 deal").values["deal"] == "daily"


def test_first_key_replaces_the_text() -> None:
    made = pressed(RoomForm().do("to limit"), *"7:30")
    assert made.values["limit"] == "7:30"
    assert pressed(made, "backspace", "5").values["limit"] == "7:35"


def test_backspace_edits_the_text() -> None:
    assert pressed(RoomForm().do("to limit"), "backspace").values["limit"] == "15 mi"


@pytest.mark.parametrize(
    ("field", "typed", "chosen"),
    [
        ("game", "p", "phoenix"),
        ("game", "P", "phoenix"),
        ("game", "a", "athena"),
        ("game", "ac", "ace-of-hearts"),
        ("game", "ace of", "ace-of-hearts"),
        ("game", "ace-of", "ace-of-hearts"),
        ("game", "sw", "willow"),
        ("game", "pp", "phoenix"),
        ("game", "hearts", "ace-of-hearts"),
        ("undo", "f", "free"),
        ("undo", "n", "no-reveal"),
        ("hints", "y", "yes"),
        ("start", "w", "when all are ready"),
        ("start", "when f", "when full"),
        ("start", "full", "when full"),
        ("start", "at", "at a time"),
    ],
)
def test_typing_selects_the_choice_that_starts_so(field: str, typed: str, chosen: str) -> None:
    made = pressed(RoomForm().do(f"to {field}"), *typed)
    assert (made.values[field], made.no_match) == (chosen, False)


def test_typing_without_a_match_changes_nothing() -> None:
    made = pressed(RoomForm().do("to undo"), "x")
    assert (made.values["undo"], made.no_match, made.search) == ("no-reveal", True, "x")
    assert not made.press("f").no_match
    assert not made.press("tab").no_match
    assert RoomForm().do("to undo").paste("free").values["undo"] == "no-reveal"


def test_next_field_starts_a_new_search() -> None:
    assert pressed(RoomForm().do("to undo"), "f", "tab", "y").values["hints"] == "yes"


@pytest.mark.parametrize("name", ["undo", "limit"])
def test_unknown_key_returns_the_same_form(name: str) -> None:
    made = RoomForm().do(f"to {name}")
    assert made.press("f5") is made


def test_next_form_keeps_all_but_code_and_passphrase() -> None:
    left = form(game="steve", limit="7", undo="free", room="friday", passphrase="sesame").for_next_room()
    assert left.for_game("") == form(game="steve", limit="7", undo="free").do("to game")
    assert left.for_game("athena").values["game"] == "athena"
    assert left.for_game("athena").replace_text


def test_paste_is_one_line_without_control_characters() -> None:
    assert RoomForm().do("to room").paste("fri\x1bday\nlunch").values["room"] == "friday"


def test_unused_fields_are_hidden() -> None:
    def names(made: RoomForm) -> list[str]:
        return [field.name for field in made.fields]

    assert "start_at" not in names(RoomForm())
    assert "start_at" in names(form(start="at a time"))
    assert "delay" not in names(form(spectators="no"))


def test_refusal_is_shown_at_its_field_until_changed() -> None:
    refused = RoomForm(busy=True).with_refusal(RefusalCode.ROOM_EXISTS, "There is a room 'friday' already")
    assert not refused.busy
    assert refused.focus == "room"
    assert refused.errors(NOW) == {"room": "There is a room 'friday' already"}
    assert refused.press("x").errors(NOW) == {}


def test_other_refusal_is_shown_until_any_change() -> None:
    for code in (RefusalCode.DRAINING, RefusalCode.BAD_OPTIONS):  # bad options are about a field that is not shown
        refused = RoomForm().with_refusal(code, "This server is stopping")
        assert refused.errors(NOW) == {"": "This server is stopping"}
    refused = RoomForm().with_refusal(RefusalCode.DRAINING, "This server is stopping")
    assert refused.errors(NOW) == {"": "This server is stopping"}
    assert refused.to_room(NOW) is not None
    assert refused.do("step 1 hints").errors(NOW) == {}
