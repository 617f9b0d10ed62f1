"""The form of a new room: every option can be given, and what is wrong is said at the field."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from samedeal.options import Options
from samedeal_client.rooms.room_fields import DEFAULTS, FIELDS
from samedeal_client.rooms.room_form import NewRoom, RoomForm

NOW = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)
MINUTE = 60_000


def at(*, day: int = 21, hour: int, minute: int) -> int:
    return round(datetime(2026, 11, day, hour, minute, tzinfo=UTC).timestamp() * 1000)


def form(**values: str) -> RoomForm:
    made = RoomForm()
    for name, text in values.items():
        made = made.with_value(name, text)
    return made


def options(**values: str) -> Options:
    filled = form(**values).filled(NOW)
    assert filled is not None
    return filled.options


def pressed(made: RoomForm, *keys: str) -> RoomForm:
    for key in keys:
        made = made.press(key)
    return made


def test_an_untouched_form_is_the_default_options() -> None:
    assert RoomForm().filled(NOW) == NewRoom(Options(), "", "")


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
        ({"start": "at a time", "start_at": "20:30"}, {"start": "at", "start_at": at(hour=20, minute=30)}),
        ({"start": "at a time", "start_at": "9:05"}, {"start": "at", "start_at": at(day=22, hour=9, minute=5)}),
        (
            {"start": "at a time", "start_at": "2026-11-25 07:00"},
            {"start": "at", "start_at": at(day=25, hour=7, minute=0)},
        ),
        ({"start": "at a time", "start_at": "+10"}, {"start": "at", "start_at": at(hour=18, minute=10)}),
        ({"start_at": "rubbish that is not asked for"}, {}),
        ({"countdown": "0"}, {"countdown": 0}),
        ({"first_home_ends": "yes"}, {"first_home_ends": True}),
        ({"spectators": "no", "delay": "rubbish"}, {"spectators": False}),
        ({"delay": "600"}, {"delay": 600}),
    ],
)
def test_what_the_texts_come_to(values: dict[str, str], wanted: dict[str, Any]) -> None:
    assert options(**values) == msgspec.structs.replace(Options(), **wanted)


def test_room_and_passphrase_go_along() -> None:
    filled = form(room="Friday", passphrase=" as typed ").filled(NOW)
    assert filled == NewRoom(Options(), "friday", " as typed ")


@pytest.mark.parametrize(
    ("values", "name", "words"),
    [
        ({"then": "bridge"}, "then", "'bridge' is no game"),
        ({"then": "willow " * 16}, "then", "at most 15"),
        ({"deal": "yesterday"}, "deal", "write random, daily, or a number"),
        ({"players": "0"}, "players", "from 1 to 16"),
        ({"players": "seventeen"}, "players", "from 1 to 16"),
        ({"players": ""}, "players", "from 1 to 16"),
        ({"limit": "9 s"}, "limit", "from 10 s to 2 hours"),
        ({"limit": "2:00:01"}, "limit", "from 10 s to 2 hours"),
        ({"limit": "soon"}, "limit", "write minutes"),
        ({"limit": "1:75"}, "limit", "write minutes"),
        ({"limit": "3600"}, "limit", "from 10 s to 2 hours"),
        ({"limit": "36000 s"}, "limit", "from 10 s to 2 hours"),
        ({"start": "at a time", "start_at": "25:00"}, "start_at", "write 20:30"),
        ({"start": "at a time", "start_at": "later"}, "start_at", "write 20:30"),
        ({"start": "at a time", "start_at": "2026-11-20 10:00"}, "start_at", "next seven days"),
        ({"start": "at a time", "start_at": "2026-12-24 10:00"}, "start_at", "next seven days"),
        ({"start": "at a time", "start_at": "2026-02-30 10:00"}, "start_at", "write 20:30"),
        ({"start": "at a time", "start_at": "+99999"}, "start_at", "next seven days"),
        ({"countdown": "61"}, "countdown", "from 0 to 60"),
        ({"delay": "-1"}, "delay", "from 0 to 600"),
        ({"room": "two words"}, "room", "letters, digits, inner dashes"),
        ({"room": "-x"}, "room", "letters, digits, inner dashes"),
    ],
)
def test_what_is_wrong_is_said_at_the_field(values: dict[str, str], name: str, words: str) -> None:
    made = form(**values)
    assert words in made.errors(NOW)[name]
    assert list(made.errors(NOW)) == [name]
    assert made.filled(NOW) is None
    assert made.at_error(NOW).at == name


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_every_text_that_the_arrows_step_to_is_right_and_told(field: Any) -> None:
    made = form(start="at a time")
    for _ in range(max(len(field.steps), 1)):
        made = made.do(f"step 1 {field.name}")
        text = made.values[field.name]
        assert field.name not in made.errors(NOW)
        assert field.tell(text)
        assert len(field.tell(text)) <= 42 or field.name == "then"


# ---------------------------------------------------------------- keys


def test_tab_goes_through_the_fields_and_round() -> None:
    made = RoomForm()
    seen = []
    for _ in made.fields:
        seen.append(made.at)
        made = made.press("tab")
    assert seen == [field.name for field in made.fields]
    assert made.at == "game"
    assert made.press("shift+tab").at == "passphrase"
    assert made.press("down").at == made.press("tab").at
    assert made.press("up").at == made.press("shift+tab").at


def test_arrows_step_and_come_back() -> None:
    made = RoomForm().do("to players")
    assert made.press("right").values["players"] == "9"
    assert made.press("left").values["players"] == "7"
    assert pressed(made, "right", "left").values == made.values


def test_space_steps_a_choice_and_is_text_elsewhere() -> None:
    assert RoomForm().do("to hints").press(" ").values["hints"] == "yes"
    assert pressed(RoomForm().do("to passphrase"), "a", " ", "b").values["passphrase"] == "a b"


def test_a_number_of_a_deal_is_stepped_by_one() -> None:
    assert form(deal="#4821").do("step 1 deal").values["deal"] == "#4822"
    assert form(deal="#4821").do("step -1 deal").values["deal"] == "#4820"
    assert form(deal="#1").do("step -1 deal").values["deal"] == "daily"


def test_what_is_typed_first_replaces_and_then_adds() -> None:
    made = pressed(RoomForm().do("to limit"), *"7:30")
    assert made.values["limit"] == "7:30"
    assert pressed(made, "backspace", "5").values["limit"] == "7:35"


def test_backspace_mends_what_was_there() -> None:
    assert pressed(RoomForm().do("to limit"), "backspace").values["limit"] == "15:0"


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
def test_typing_goes_to_the_choice_that_begins_so(field: str, typed: str, chosen: str) -> None:
    made = pressed(RoomForm().do(f"to {field}"), *typed)
    assert (made.values[field], made.missed) == (chosen, False)


def test_typing_what_no_choice_begins_with_changes_nothing_and_is_known() -> None:
    made = pressed(RoomForm().do("to undo"), "x")
    assert (made.values["undo"], made.missed, made.sought) == ("no-reveal", True, "x")
    assert not made.press("f").missed
    assert not made.press("tab").missed
    assert RoomForm().do("to undo").paste("free").values["undo"] == "no-reveal"


def test_what_was_typed_to_choose_is_forgotten_in_the_next_field() -> None:
    assert pressed(RoomForm().do("to undo"), "f", "tab", "y").values["hints"] == "yes"


@pytest.mark.parametrize("name", ["undo", "limit"])
def test_a_key_that_means_nothing_leaves_the_very_same_form(name: str) -> None:
    made = RoomForm().do(f"to {name}")
    assert made.press("f5") is made


def test_the_next_form_begins_as_the_last_was_but_for_code_and_passphrase() -> None:
    left = form(game="steve", limit="7", undo="free", room="friday", passphrase="sesame").emptied()
    assert left.for_game("") == form(game="steve", limit="7", undo="free").do("to game")
    assert left.for_game("athena").values["game"] == "athena"
    assert left.for_game("athena").fresh


def test_what_is_pasted_is_one_line_without_control_characters() -> None:
    assert RoomForm().do("to room").paste("fri\x1bday\nlunch").values["room"] == "friday"


def test_the_time_is_asked_for_only_where_the_race_starts_at_one() -> None:
    def names(made: RoomForm) -> list[str]:
        return [field.name for field in made.fields]

    assert "start_at" not in names(RoomForm())
    assert "start_at" in names(form(start="at a time"))
    assert "delay" not in names(form(spectators="no"))


def test_a_refusal_of_the_server_is_shown_where_it_belongs_until_that_is_changed() -> None:
    refused = RoomForm(busy=True).refusing("room_exists", "There is a room 'friday' already")
    assert not refused.busy
    assert refused.at == "room"
    assert refused.errors(NOW) == {"room": "There is a room 'friday' already"}
    assert refused.press("x").errors(NOW) == {}


def test_another_refusal_is_shown_until_anything_is_changed() -> None:
    refused = RoomForm().refusing("draining", "This server is stopping")
    assert refused.errors(NOW) == {"": "This server is stopping"}
    assert refused.filled(NOW) is not None
    assert refused.do("step 1 hints").errors(NOW) == {}
