"""The terms of a race: their text, and what their hash depends on."""

from __future__ import annotations

import re
from ast import literal_eval
from dataclasses import replace
from hashlib import sha256
from typing import Final

import msgspec
import pytest
from hypothesis import given
from msgspec import structs

from samedeal.errors import MalformedTerms, UnknownTerms
from samedeal.game import Game
from samedeal.game_file import parse_game_file
from samedeal.game_json import games_json
from samedeal.games import game_named
from samedeal.options import MAX_SEATS, Options, WantedOptions
from samedeal.solver.solve import SOLVER
from samedeal.terms import RoomTerms, description_hash
from tests.golden.golden_files import assert_answers
from tests.shared.javascript import CHECKER
from tests.shared.protocol.strategies import room_terms
from tests.shared.raised import error_of
from tests.shared.recorded import terms_of
from tests.shared.sixth_game import HAMLET, HAMLET_FILE

PAGE: Final = (CHECKER.parent / "RECORDS.md").read_text(encoding="utf-8")
PLAIN: Final = terms_of("willow", "winnable")


@given(room_terms())
def test_text_of_terms_is_read_as_it_was_written(terms: RoomTerms) -> None:
    """So no two terms have one text, and therefore one digest."""
    assert RoomTerms.parse(str(terms)) == terms
    assert terms.is_described


def test_default_options_have_no_line() -> None:
    """An option that a later release adds does not change the digest of terms that do not use it."""
    assert [line.partition(":")[0] for line in PLAIN.lines()] == [
        *("room", "round", "game", "rules", "description", "deal", "undo", "limit")
    ]


def test_changed_terms_are_refused_as_the_page_says() -> None:
    options = structs.replace(
        PLAIN.options, games=("willow", "athena"), players=64, spectators=False, start="full", hosted=False
    )
    texts = (str(PLAIN), str(replace(PLAIN, private=True, tide=5, window=3600, options=options)))

    def answer(heading: str, question: str) -> str:
        text = texts[not heading.startswith("Plain")]
        was, now = map(literal_eval, question.split(" to "))
        assert was in text
        error = error_of(RoomTerms.parse, text.replace(was, now))
        assert isinstance(error, MalformedTerms | UnknownTerms)
        return f"{type(error).__name__}, line {error.line}: {error}"

    assert_answers("terms", answer)


def test_only_a_server_opens_rooms_for_many() -> None:
    assert msgspec.convert({"players": MAX_SEATS}, Options).players == MAX_SEATS
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"players": 17}, WantedOptions)


def test_description_is_all_that_decides_the_deals() -> None:
    """A title, a note or a place on the table does not."""

    def described(was: str, now: str) -> bytes:
        assert was in HAMLET_FILE
        return description_hash(Game("hamlet", parse_game_file("hamlet", HAMLET_FILE.replace(was, now, 1))["hamlet"]))

    known = description_hash(HAMLET)
    assert described('title = "Hamlet"', 'title = "Ophelia"') == known
    assert described("[", "# a note\n[") == known
    for was, now in DECISIVE:
        assert described(was, now) != known
    assert description_hash(game_named("willow")) != description_hash(game_named("athena"))


DECISIVE: Final = [
    ("[[piles]]", "[difficulty]\neasy = 500\nmedium = 900\n[[piles]]"),
    ("[[piles]]", "[[search]]\ncard = 7\nside_card = 3\n[[piles]]"),
    ('"draws of three"', '"draws of one"'),
]


def test_page_has_the_hashes_of_terms() -> None:
    """RECORDS.md shows the hash of a description, and terms with their hash."""
    (text, digest), (json, described) = re.findall(r"```terms\n(.*?)\n([0-9a-f]{64})\n```", PAGE, re.DOTALL)
    willow = game_named("willow")
    assert sha256(b"samedeal description 1\n" + willow.rules_hash + json.encode()).hexdigest() == described
    assert description_hash(willow).hex() == described
    solver, _, search = json.partition(",")
    assert solver == f'{{"solver":{SOLVER}'
    assert search.removesuffix("}") in games_json([willow]).decode()
    terms = RoomTerms.parse(f"{text}\n")
    assert terms.digest.hex() == digest


def test_part_of_a_text_is_no_terms() -> None:
    text = str(PLAIN)
    for length in range(len(text)):
        assert isinstance(error_of(RoomTerms.parse, text[:length]), MalformedTerms)
