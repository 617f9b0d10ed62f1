from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from samedeal.options import Options, WantedOptions
from tests.golden.golden_files import assert_answers


def read(**fields: Any) -> Options:
    """Options as a client requests them."""
    return msgspec.convert(fields, WantedOptions).granted


def granted(_: str, question: str) -> str:
    fields = eval(question, {"nan": math.nan})
    try:
        options = read(**fields)
    except msgspec.ValidationError as error:
        return str(error)
    assert msgspec.convert(msgspec.to_builtins(options), Options) == options
    for name, value in fields.items():
        assert getattr(options, name) == (tuple(value) if isinstance(value, list) else value)
    return "granted"


def test_options_are_granted_as_the_page_says() -> None:
    assert_answers("options", granted)


def test_unknown_option_is_refused_only_in_a_request() -> None:
    assert msgspec.convert({"players": 3, "fog": True}, Options) == Options(players=3)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"players": 3, "fog": True}, WantedOptions)


def test_request_leaves_out_default_options() -> None:
    options = Options(games=("athena",), limit=60)
    assert msgspec.to_builtins(WantedOptions.of(options)) == {"games": ("athena",), "limit": 60}
    assert WantedOptions.of(options).granted == options
    assert set(msgspec.to_builtins(options)) == set(Options.__struct_fields__)
