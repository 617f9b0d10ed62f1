from __future__ import annotations

from typing import Any

import msgspec
import pytest

from samedeal.board_history import Undo
from samedeal.games import game_named
from samedeal.options import Options, WantedOptions
from tests.golden.golden_files import assert_sentences


def read(**fields: Any) -> Options:
    """Options as a client requests them."""
    return msgspec.convert(fields, WantedOptions).granted


def test_default_options() -> None:
    options = read()
    assert options == Options()
    assert options.undo_rule is Undo.NO_REVEAL
    assert (options.games, options.deal, options.players, options.limit) == (("willow",), "random", 8, 900)
    assert (options.hints, options.spectators, options.delay) == (False, True, 15)
    assert (options.start, options.start_at, options.countdown, options.first_finish_ends) == ("host", 0, 3, False)


@pytest.mark.parametrize(
    "fields",
    [
        {"games": ["athena"]},
        {"games": ["athena"] * 16},
        {"games": ["athena", "steve", "phoenix", "ace-of-hearts", "willow"]},
        {"deal": "#4821"},
        {"deal": "daily"},
        {"deal": "daily 2026-11-21"},
        {"deal": "winnable hard", "games": ["athena", "phoenix", "ace-of-hearts", "willow"]},
        {"deal": "winnable", "games": ["steve"]},
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
def test_valid_options_are_accepted(fields: dict[str, Any]) -> None:
    options = read(**fields)
    assert msgspec.convert(msgspec.to_builtins(options), Options) == options
    for name, value in fields.items():
        found = getattr(options, name)
        assert found == (tuple(value) if isinstance(value, list) else value)


BAD_OPTIONS: list[dict[str, Any]] = [
    {"games": []},
    {"games": ["athena"] * 17},
    {"games": ["hamlet"]},
    {"games": "athena"},
    {"deal": "tomorrow"},
    {"deal": "daily 2026-02-30"},
    {"deal": "winnable easy", "games": ["willow", "spider"]},
    {"deal": "x" * 33},
    {"players": 0},
    {"players": 17},
    {"limit": 9},
    {"limit": 7201},
    {"limit": float("nan")},
    {"undo": "always"},
    {"undo": None},
    {"hints": 1},
    {"delay": -1},
    {"delay": 601},
    {"countdown": 61},
    {"start": "now"},
    {"start": "at"},
    {"start_at": 5},
    {"start": "at", "start_at": (1 << 52) + 1},
    {"speed": 2},
]


def test_wording_of_invalid_options() -> None:
    lines = []
    for fields in BAD_OPTIONS:
        with pytest.raises(msgspec.ValidationError) as caught:
            read(**fields)
        lines.append(f"{str(fields)[:40]}\t{caught.value}")
    assert_sentences("engine: options", lines)


def test_unknown_option_is_refused_only_in_a_request() -> None:
    assert msgspec.convert({"players": 3, "fog": True}, Options) == Options(players=3)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"players": 3, "fog": True}, WantedOptions)


def test_request_leaves_out_default_options() -> None:
    options = Options(games=("athena",), limit=60)
    assert msgspec.to_builtins(WantedOptions.of(options)) == {"games": ("athena",), "limit": 60}
    assert WantedOptions.of(options).granted == options
    assert set(msgspec.to_builtins(options)) == set(Options.__struct_fields__)


def test_rematches_cycle_through_games() -> None:
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
    assert Options().game(41) == game_named("willow")
