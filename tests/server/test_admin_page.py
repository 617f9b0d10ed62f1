"""ADMIN.md says what the code does, as PROTOCOL.md does."""

from __future__ import annotations

import re
from typing import Final, get_args

import msgspec
import pytest

from samedeal.protocol import admin as messages
from samedeal.protocol.admin import (
    BanLine,
    Close,
    FromOperator,
    NodeLine,
    Phases,
    RedisLine,
    ToOperator,
    Whereabouts,
)
from samedeal.protocol.codec import LARGEST_FRAME
from samedeal.protocol.messages import Done, Refused
from samedeal_server import admin, backup, gate, roster
from samedeal_server.store import nodes
from samedeal_server.store.copies import Copy
from tests.server.test_protocol_page import ROOT, calls, cells, fields, section, texts, told

PAGE: Final = (ROOT / "shared" / "ADMIN.md").read_text()
FLAT: Final = " ".join(PAGE.split())

REQUESTS: Final = get_args(FromOperator)
ANSWERS: Final = tuple(kind for kind in get_args(ToOperator) if kind not in (Done, Refused))


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)
def test_every_request_is_on_the_page_with_its_fields(kind: type[msgspec.Struct]) -> None:
    text = section(f"### {kind.__name__}", PAGE)
    assert text.strip().startswith(f"`{kind.__struct_config__.tag}` ")
    assert re.search(r"Answer: `(\w+)`", text)
    assert told(text, with_defaults=True) == fields(kind, with_defaults=True)


@pytest.mark.parametrize("kind", ANSWERS, ids=lambda kind: kind.__name__)
def test_every_answer_is_on_the_page_with_its_fields(kind: type[msgspec.Struct]) -> None:
    text = section(f"### {kind.__name__}", PAGE)
    assert text.strip().startswith(f"`{kind.__struct_config__.tag}` ")
    assert told(text, with_defaults=False) == fields(kind, with_defaults=False)


@pytest.mark.parametrize("kind", [NodeLine, Phases, RedisLine, Whereabouts, BanLine], ids=lambda kind: kind.__name__)
def test_every_map_in_a_message_is_on_the_page_with_its_fields(kind: type[msgspec.Struct]) -> None:
    text = PAGE.partition(f"A map `{kind.__name__}`")[2]
    assert told(text, with_defaults=False) == fields(kind, with_defaults=False)


def test_the_page_has_no_message_that_there_is_not() -> None:
    headings = re.findall(r"^### (\w+)$", PAGE, re.MULTILINE)
    assert sorted(headings) == sorted(kind.__name__ for kind in (*REQUESTS, *ANSWERS))
    assert messages.SUBPROTOCOL in section("## Transport", PAGE)


def test_every_code_of_a_refusal_is_on_the_page_and_no_other() -> None:
    codes = [row[0].strip("`") for row in cells(section("## Refusals", PAGE))]
    assert len(codes) == len(set(codes))
    assert set(codes) == {code for call in calls("Denied") for code in texts(*call.args[:1])}


def test_the_close_codes_are_on_the_page() -> None:
    ours = {value for name, value in vars(Close).items() if name.isupper()}
    assert {int(row[0]) for row in cells(section("## Close codes", PAGE))} == ours


def test_the_numbers_on_the_page_are_those_of_the_code() -> None:
    for text in (
        f"within {admin._IN_TIME:g} seconds",
        f"{gate._GUESSES} wrong tokens are compared at once and then one in {1 / gate._GUESSES_A_SECOND:g} seconds",
        f"beyond {gate._LONGEST_WAIT:g} seconds of that",
        f"At most {gate._AT_ONCE} connections",
        f"frames of at most {LARGEST_FRAME} bytes",
        f"heard of within {nodes.NODE_LIFETIME} seconds",
        f"says of itself every {roster.EVERY:g} seconds",
        f"at most {admin.MOST_BANS} are kept",
        f"at most {messages.LARGEST_PART} |",
        f"beyond {admin._WIDEST_REASON} columns",
    ):
        assert text in FLAT, text
    assert gate._WRONG_TAKES == 1.0  # "after a second"
    assert nodes.PLAYER_LIFETIME == 86_400  # "within a day"


def test_the_file_of_a_backup_is_as_the_page_says() -> None:
    assert f"the line `{backup.FIRST_LINE.decode().strip()}`" in FLAT
    for kind in (backup.Head, Copy, backup.Tail):
        listed = re.search(rf"`{kind.__name__}`[^(]*\(([^)]*)\)", FLAT)
        assert listed
        assert re.findall(r"`(\w+)`", listed[1]) == list(kind.__struct_fields__)
        assert kind.__struct_config__.tag == kind.__name__
