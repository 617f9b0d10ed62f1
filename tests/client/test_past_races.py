"""The history of races: the file, bests, the daily streak, and what is told about them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from samedeal_client.panels.history import (
    history_rows,
    result_line,
    streak_text,
    unreadable_text,
)
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text, row_width
from samedeal_link.records.history_file import HistoryFile
from samedeal_link.records.past_races import (
    History,
    Opponent,
    PastRace,
    best_time,
    daily_streak,
    race_result,
)
from tests.client.race_server import START, RaceServer
from tests.client.server_messages import standing
from tests.golden.golden_files import assert_answers, assert_golden, assert_sentences

TODAY = date(2026, 11, 22)


def at(day: int, hour: int = 12, *, month: int = 11) -> int:
    return round(datetime(2026, month, day, hour, tzinfo=UTC).timestamp() * 1000)


def race(**changes: Any) -> PastRace:
    given: dict[str, Any] = {
        "game": "willow",
        "deal": "#7",
        "room": "friday",
        "starts": at(22),
        "name": "mira",
        "place": 2,
        "players": 4,
        "foundation_cards": 52,
        "time": 352_000,
        "opponents": (Opponent("ada", bot=True), Opponent("ivo"), Opponent("june")),
    }
    return PastRace(**{**given, **changes})


def daily(*days: int, month: int = 11) -> list[PastRace]:
    return [race(starts=at(day, month=month), deal=f"daily 2026-{month}-{day:02}") for day in days]


@pytest.fixture
def file(tmp_path: Path) -> HistoryFile:
    return HistoryFile(tmp_path / "state" / "history.jsonl")


def test_last_line_of_each_race_counts(file: HistoryFile) -> None:
    for each in (race(), race(starts=2), race(name="ivo", place=1), race(starts=1), race(name="ivo"), race(), race()):
        file.append(each)
    assert file.read() == History((race(starts=1), race(starts=2), race(), race(name="ivo")))
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert len(file.path.read_bytes().splitlines()) == 5


def test_clients_can_append_concurrently(file: HistoryFile) -> None:
    races = [race(starts=number, name="ö" * 20) for number in range(200)]
    with ThreadPoolExecutor(8) as clients:
        list(clients.map(HistoryFile(file.path).append, races))
    assert file.read() == History(tuple(races))


DAMAGED = [
    b"nonsense",
    b'{"version":1,"game":"wil',
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b'{"version":1}',
    msgspec.json.encode(race(time=-1)),
    msgspec.json.encode(race(starts=10**17)),
    b'{"version":1e400}',
]


@pytest.mark.parametrize("line", DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_line_is_skipped_and_kept(file: HistoryFile, line: bytes) -> None:
    file.append(race(starts=1))
    before = file.path.read_bytes() + line
    file.path.write_bytes(before)
    file.append(race(starts=2))
    history = file.read()
    assert ([each.starts for each in history.races], history.damaged) == ([1, 2], 1)
    assert file.path.read_bytes().startswith(before)


def test_best_time_is_that_of_the_game() -> None:
    races = [race(starts=1, time=300), race(starts=2, time=200), race(game="steve", time=100), race(time=0)]
    assert [best_time(races, "willow"), best_time(races, "athena")] == [200, None]
    assert [best_time(races, "willow", before=2), best_time(races, "willow", before=1)] == [300, None]


def test_daily_streaks_are_those_of_the_page() -> None:
    def answer(_: str, question: str) -> str:
        """The current and the longest streak on 22 November.

        A day may have another month or another deal, or the number of cards with which the player did not finish.
        """
        races: list[PastRace] = []
        for day in question.split():
            date, _, deal = day.partition("/")[0].partition(":")
            number, _, month = date.partition(".")
            (each,) = daily(int(number), month=int(month or 11))
            cards = int(day.partition("/")[2] or 52)
            changes = {"foundation_cards": cards, "time": each.time if cards == 52 else 0}
            races.append(msgspec.structs.replace(each, deal=deal.replace("_", " ") or each.deal, **changes))
        return "{}, longest {}".format(*daily_streak(races, TODAY))

    assert_answers("streaks", answer)


def test_result_of_a_finished_race_has_place_and_opponents() -> None:
    server = RaceServer()
    standings = (
        standing(1, "bo", player="you", bot=True),
        standing(2, "ana", 52, "me", time=352_000),
    )
    model = server.model.after(server.state("finished", standings=standings))
    assert race_result(model) == race(
        room="k7", starts=START, name="ana", players=2, opponents=(Opponent("bo", bot=True),)
    )
    assert race_result(replace(model, delay=15)) is None  # a spectator has none


SHOWN = {
    "daily": race(deal="daily 2026-11-22"),
    "first": race(place=1, time=3_767_000),
    "random": race(deal="random", place=11, players=12),
    "alone": race(place=1, players=1, opponents=(), time=59_999),
    "not finished": race(time=0, foundation_cards=31),
    "resigned": race(time=0, foundation_cards=0, resigned=True, place=4),
    "left": race(game="steve", time=0, foundation_cards=31, place=0),
    "unknown game": race(game="tomorrow\x1b[31m", time=0, deal="\x1b[2J"),
}


def test_results_are_worded() -> None:
    assert_sentences(
        "history",
        [
            *(f"{case}\t{result_line(each)}" for case, each in SHOWN.items()),
            f"newer\t{unreadable_text(History(newer=1), 'history.jsonl')}",
            f"damaged\t{unreadable_text(History(newer=2, damaged=3), 'history.jsonl')}",
        ],
    )
    assert unreadable_text(History(), "history.jsonl") == ""


@pytest.mark.parametrize("look", [Look(), Look(ascii=True)], ids=["glyphs", "ascii"])
def test_history_is_printed(look: Look) -> None:
    races = [*daily(20, 21), *SHOWN.values(), race(name="漢字", opponents=(Opponent("漢字の名前", bot=True),))]
    history = History(tuple(races))
    rows = history_rows(history, look, 100, streak_text(history, TODAY), 9, UTC)
    text = "\n".join(row_text(row) for row in rows) + "\n"
    if look.ascii:
        assert text.isascii()
    else:
        assert_golden("screens/history_glyphs.txt", text)
    assert max(map(row_width, rows)) <= 100
