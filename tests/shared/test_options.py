from __future__ import annotations

from typing import Any

import msgspec
import pytest

from samedeal.games import Game
from samedeal.options import Options, WantedOptions
from samedeal.play import Undo


def read(**fields: Any) -> Options:
    """Options as they are asked for over the wire."""
    return msgspec.convert(fields, WantedOptions).granted


def test_the_defaults() -> None:
    options = read()
    assert options == Options()
    assert options.undo_rule is Undo.NO_REVEAL
    assert (options.games, options.deal, options.players, options.limit) == (("willow",), "random", 8, 900)
    assert (options.hints, options.spectators, options.delay) == (False, True, 15)
    assert (options.start, options.start_at, options.countdown, options.first_home_ends) == ("host", 0, 3, False)


@pytest.mark.parametrize(
    "fields",
    [
        {"games": ["athena"]},
        {"games": ["athena"] * 16},
        {"games": ["athena", "steve", "phoenix", "ace-of-hearts", "willow"]},
        {"deal": "#4821"},
        {"deal": "daily"},
        {"deal": "daily 2026-11-21"},
        {"players": 1},
        {"players": 16},
        {"limit": 10},
        {"limit": 7200},
        {"undo": "free"},
        {"undo": "off"},
        {"delay": 0},
        {"delay": 600},
        {"countdown": 0},
        {"countdown": 60},
        {"start": "all-ready"},
        {"start": "full"},
        {"start": "at", "start_at": 1},
        {"start": "at", "start_at": 1 << 52},
    ],
)
def test_options_that_go(fields: dict[str, Any]) -> None:
    options = read(**fields)
    assert msgspec.convert(msgspec.to_builtins(options), Options) == options
    for name, value in fields.items():
        found = getattr(options, name)
        assert found == (tuple(value) if isinstance(value, list) else value)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"games": []}, "Expected `array` of length >= 1 - at `$.games`"),
        ({"games": ["athena"] * 17}, "Expected `array` of length <= 16 - at `$.games`"),
        (
            {"games": ["klondike"]},
            "'klondike' is not a game: choose one of athena, steve, phoenix, ace-of-hearts, willow",
        ),
        ({"games": "athena"}, "Expected `array`, got `str` - at `$.games`"),
        (
            {"deal": "tomorrow"},
            (
                "'tomorrow' is not a deal: write 'random', a number from 0 to 999999999 as in '#4821', or "
                "'daily', with a date as in 'daily 2026-11-21' or without"
            ),
        ),
        (
            {"deal": "daily 2026-02-30"},
            (
                "'daily 2026-02-30' is not a deal: write 'random', a number from 0 to 999999999 as in "
                "'#4821', or 'daily', with a date as in 'daily 2026-11-21' or without"
            ),
        ),
        ({"deal": "x" * 33}, "Expected `str` of length <= 32 - at `$.deal`"),
        ({"players": 0}, "Expected `int` >= 1 - at `$.players`"),
        ({"players": 17}, "Expected `int` <= 16 - at `$.players`"),
        ({"limit": 9}, "Expected `int` >= 10 - at `$.limit`"),
        ({"limit": 7201}, "Expected `int` <= 7200 - at `$.limit`"),
        ({"limit": float("nan")}, "Expected `int`, got `float` - at `$.limit`"),
        ({"undo": "always"}, "Invalid enum value 'always' - at `$.undo`"),
        ({"undo": None}, "Expected `str`, got `null` - at `$.undo`"),
        ({"hints": 1}, "Expected `bool`, got `int` - at `$.hints`"),
        ({"delay": -1}, "Expected `int` >= 0 - at `$.delay`"),
        ({"delay": 601}, "Expected `int` <= 600 - at `$.delay`"),
        ({"countdown": 61}, "Expected `int` <= 60 - at `$.countdown`"),
        ({"start": "now"}, "Invalid enum value 'now' - at `$.start`"),
        ({"start": "at"}, "start 'at' goes with start_at, a time in milliseconds since 1970, and no other start does"),
        ({"start_at": 5}, "start 'at' goes with start_at, a time in milliseconds since 1970, and no other start does"),
        ({"start": "at", "start_at": (1 << 52) + 1}, "Expected `int` <= 4503599627370496 - at `$.start_at`"),
        ({"speed": 2}, "Object contains unknown field `speed`"),
    ],
)
def test_options_that_do_not_go(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        read(**fields)
    assert str(caught.value) == sentence


def test_an_option_of_another_version_is_passed_over_in_a_room_and_refused_in_a_wish() -> None:
    assert msgspec.convert({"players": 3, "fog": True}, Options) == Options(players=3)
    with pytest.raises(msgspec.ValidationError, match="unknown field `fog`"):
        msgspec.convert({"players": 3, "fog": True}, WantedOptions)


def test_a_wish_names_what_is_not_the_default_and_a_room_names_all() -> None:
    options = Options(games=("athena",), limit=60)
    assert msgspec.to_builtins(WantedOptions.of(options)) == {"games": ("athena",), "limit": 60}
    assert WantedOptions.of(options).granted == options
    assert set(msgspec.to_builtins(options)) == set(Options.__struct_fields__)


def test_a_cycle_of_games() -> None:
    options = read(games=["athena", "steve", "willow"])
    assert [str(options.game(number)) for number in range(7)] == [
        "athena",
        "steve",
        "willow",
        "athena",
        "steve",
        "willow",
        "athena",
    ]
    assert Options().game(41) == Game.named("willow")


def test_options_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Options().players = 3  # type: ignore[misc]  # that it can't be done is the point
