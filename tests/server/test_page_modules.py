"""Modules of the page for browsers without a browser: msgpack, the progress of players, and the news of a race."""

from __future__ import annotations

import json
import re
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]  # it has no types
import pytest
from msgspec.structs import replace

from samedeal.board import Board
from samedeal.errors import IllegalMove
from samedeal.forbidden_words import check_not_reserved
from samedeal.games import GAMES
from samedeal.names import clean_name
from samedeal.options import Options
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import Joined, Seat, Tally
from tests.client.server_messages import room_state
from tests.golden.golden_files import asked_on, assert_answers, values_on
from tests.shared.javascript import answer_of_page, needs_node

pytestmark = needs_node

INTEGERS = [sign * (2**bits + more) for bits in range(53) for more in (-1, 0, 1) for sign in (1, -1)]
VALUES: list[Any] = [
    None,
    False,
    True,
    *INTEGERS,
    2**53 - 1,
    1 - 2**53,
    0.5,
    -1e300,
    *(size * "ä" for size in (0, 15, 16, 200, 40_000)),
    *("x" * 300, "y" * 70_000),
    *([0] * size for size in (0, 15, 16, 70_000)),
    *({str(key): key for key in range(size)} for size in (0, 15, 16, 300)),
    {"type": "hello", "name": "zoë", "nested": [{"a": [None, [True]]}]},
]


def test_page_reads_and_writes_msgpack_of_python(tmp_path: Path) -> None:
    packed = [msgpack.packb(value).hex() for value in VALUES]
    assert answer_of_page("race_state.read", tmp_path, packed) == VALUES
    whole = [value for value in VALUES if not isinstance(value, float)]
    written = answer_of_page("race_state.written", tmp_path, whole)
    assert [msgpack.unpackb(bytes.fromhex(each)) for each in written] == whole


def test_page_sends_bytes_as_bytes(tmp_path: Path) -> None:
    sizes = [0, 1, 255, 256, 70_000, 300_000]
    encoded = answer_of_page("race_state.writtenBytes", tmp_path, sizes)
    assert [msgpack.unpackb(bytes(each)) for each in encoded] == [bytes(size) for size in sizes]


def test_page_refuses_to_send_other_values(tmp_path: Path) -> None:
    assert answer_of_page("race_state.sent", tmp_path) == ["refused"] * 6


def test_any_name_that_the_page_proposes_can_be_taken(tmp_path: Path) -> None:
    names, drawn = answer_of_page("race_state.names", tmp_path, [0] * 99)
    assert all(re.fullmatch(rf"({'|'.join(names)})-[1-9][0-9]?", name) for name in drawn)
    for name in (f"{each}-{number}" for each in names for number in range(1, 100)):
        assert clean_name(name) == name
        check_not_reserved(name)


def test_page_proposes_the_next_name(tmp_path: Path) -> None:
    names = ["mira-7", "otto", "otto-2", "ann9", "b-99"]
    assert answer_of_page("race_state.nextNames", tmp_path, names) == ["mira-8", "otto-2", "otto-3", "ann-10", "b-100"]


def test_example_of_the_rules_is_allowed_and_its_like_refused(tmp_path: Path) -> None:
    for game, (under, goes, refused) in zip(
        GAMES.values(), answer_of_page("playing.examples", tmp_path, [*GAMES]), strict=True
    ):
        piles = {"1": bytes([under]), "2": bytes([goes]), "3": bytes([refused])}
        board = Board(game, tuple(piles.get(key, b"") for key in game.keys))
        assert board.play("2 1").board.piles
        with pytest.raises(IllegalMove):
            board.play("3 1")


def test_chart_begins_with_the_race(tmp_path: Path) -> None:
    known = [{"revision": 9, "time": 9000, "reached": [2000, 7000]}]
    at_start = [{"revision": 0, "time": 1000, "piles": [[] for _ in range(13)]}]
    found = answer_of_page("race_state.progress", tmp_path, [known, at_start])
    assert found == [[[1000, 0], [3000, 1], [8000, 2]], [[1000, 0]]]


def test_shares_are_those_of_the_draw(tmp_path: Path) -> None:
    """They come before the first state that goes with them. After the next draw has begun, they decide nothing."""
    assert answer_of_page("race_state.shares", tmp_path, [1, 2]) == [[1], []]


def test_ranking_is_shown_as_the_page_says(tmp_path: Path) -> None:
    asked = [(heading.partition(":")[0].lower(), json.loads(question)) for heading, question in asked_on("ranking")]
    found = chain.from_iterable(
        answer_of_page(f"race_state.{what}", tmp_path, [question for _, question in group])
        for what, group in groupby(asked, itemgetter(0))
    )
    assert_answers("ranking", lambda _heading, _question: str(next(found)).strip("[]"))


def test_result_is_told_in_a_sentence(tmp_path: Path) -> None:
    first = {"finishedAt": 188_000, "count": 52}
    told = {
        "You won in 3:07": ["a", first, {"count": 9}],
        "ana won in 3:07": ["b", first, {"count": 9}],
        "ana won by 12 s": ["b", first, {"finishedAt": 200_000}],
        "ana won by 0.4 s": ["b", first, {"finishedAt": 188_400}],
        "ana won by 1:12": ["b", first, {"finishedAt": 260_000}],
        "Nobody finished. You were closest.": ["a", {"count": 9}, {"count": 1}],
        "Nobody finished. ana was closest.": ["", {"count": 9}, {"count": 1}],
        "Nobody finished.": ["a", {"count": 9}, {"count": 9, "place": 1}],
    }
    assert answer_of_page("race_state.results", tmp_path, list(told.values())) == list(told)


def test_rematch_in_a_series_is_its_next_race(tmp_path: Path) -> None:
    told: dict[str, list[Any]] = {
        "Rematch": [1, 4, "", ""],
        "ben wants a rematch: join": [1, 4, "k7-6", 1],
        "Next race": [3, 4, "", ""],
        "ben is ready for the next race: join": [3, 4, "k7-6", 1],
        "The next race is open: join": [3, 4, "k7-6", 0],
        "The rematch is open: join": [3, 5, "k7-6", 0],
    }
    assert answer_of_page("race_state.rematches", tmp_path, list(told.values())) == list(told)


AHEAD, BEHIND = {"count": 9, "place": 1}, {"count": 8}


def test_news_tell_what_changed(tmp_path: Path) -> None:
    """In each line of the page: the time, and what the ranking says of Ana, Ben, who reads the news, and Cid."""
    given = values_on("page_news", {"AHEAD": AHEAD, "BEHIND": BEHIND, "dict": dict})
    found = dict(zip(given, answer_of_page("race_state.news", tmp_path, list(given.values())), strict=True))
    assert_answers("page_news", lambda _, question: ", ".join(found[question]))


@pytest.mark.parametrize(("is_lost", "expected"), [(False, [True, [], True]), (True, [True, ["unfinished"], False])])
def test_page_that_loses_counts_says_so(is_lost: bool, expected: list[Any], tmp_path: Path) -> None:
    """What it keeps of a long race are several texts, each of which a browser may drop."""
    seats = (Seat(player="p1", name="ana", seat=1), Seat(player="p2", name="bob", seat=2))
    state = room_state("k7", Options(), seats, phase="racing", starts=1000, ends=1000 * Options().limit + 1000)
    messages = (
        Joined(to=1, room="k7", seat=1, generation=1),
        state,
        Joined(to=2, room="k7", seat=1, generation=2),
        replace(state, tallies=(Tally(player="p1"), Tally(player="p2", moves=900))),
    )
    given = {"messages": [encode(each).hex() for each in messages], "isLost": is_lost, "moves": 900}
    assert answer_of_page("race_state.keptCounts", tmp_path, given) == expected
