"""The next tide and the tables of tides, as a client shows them."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from samedeal.protocol.messages import FollowTable, RaceNow, ReadRecord, Refused, TideLine, TideTable
from samedeal.tides import tide_times
from samedeal_client.state.model import Model
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from samedeal_client.views.results import ResultDetails, shared_result
from samedeal_client.views.tide import tide_rows, tide_text
from tests.client.lone_player import OWN, ROOM
from tests.client.referee import ME, Referee, running_app

START = 1_795_203_000_000
ROOM_OF_TIDE = replace(ROOM, phase="finished", standings=(OWN,), tide=START)
TABLE = TideTable(
    game="willow",
    tide=START,
    day=False,
    people=40,
    bots=1,
    shown=("a", "m", "x"),
    lines=(
        TideLine(player="a", name="ada", room="other", foundation_cards=52, time=65_000, place=1, deal_place=1),
        TideLine(player="m", name="mira", room="friday", foundation_cards=31, place=30, deal_place=2),
        TideLine(
            player="x", name="robo", room="bots", foundation_cards=3, place=1, deal_place=3, bot=True, racing=True
        ),
    ),
)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (301, "Willow in 05:01"),
        (300, "Willow in 05:00, open now"),
        (1, "Willow in 00:01, open now"),
        (0, "Spider in 1:00:00"),
    ],
)
def test_next_tide_is_counted_down(seconds: int, expected: str) -> None:
    assert tide_text(tide_times(["19:30 willow", "20:30 spider"]), START - 1000 * seconds) == expected
    assert not tide_text((), START)


@pytest.mark.parametrize(
    ("day", "title"), [(False, "All rooms of the tide of 19:30 UTC: "), (True, "All tides of 2026-11-20 in Willow: ")]
)
def test_results_have_the_table_of_the_tide(day: bool, title: str) -> None:
    model = Model(me="m", room=ROOM_OF_TIDE).after(replace(TABLE, day=day))
    assert [" ".join(row_text(row).split()) for row in tide_rows(model, Look())] == [
        f"{title}40 players",
        "1 ada 01:05",
        "..",
        "30 mira 31 of 52 cards 2nd with the same cards",
        f"{title}1 bot",
        "1 robo (bot) 3 of 52 cards 3rd with the same cards racing",
    ]


def test_results_of_other_races_have_no_table() -> None:
    assert tide_rows(Model(me="m", room=replace(ROOM_OF_TIDE, tide=0)).after(TABLE), Look()) == ()
    assert tide_rows(Model(me="m", room=ROOM_OF_TIDE), Look()) == ()


async def test_results_follow_the_table_of_the_tide_or_the_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    async with running_app(Referee("willow")) as ui:
        referee = ui.referee
        referee.refusals[ReadRecord] = Refused(to=0, code="no_record", message="There is none")
        referee.resigned = {ME}
        await referee.finish(standings=(replace(OWN, player=ME, name="ana"),), tide=START)
        await ui.wait_until(lambda: ui.screen == "ResultsScreen")
        await ui.wait_until(lambda: FollowTable in map(type, referee.requests))
        await referee.receive(TABLE)
        await ui.wait_until(lambda: "All rooms of the tide of 19:30 UTC: 40 players" in ui.text())
        await ui.press("t")
        asked = [message.day for message in referee.requests if isinstance(message, FollowTable)]
        assert asked == [False, True]
        await referee.receive(replace(TABLE, day=True, people=99))
        await ui.wait_until(lambda: "All tides of 2026-11-20 in Willow: 99 players" in ui.text())


async def test_lobby_leads_to_the_next_tide() -> None:
    async with running_app(Referee("willow", phase="open")) as ui:
        referee = ui.referee
        referee.tides = tide_times(["19:30 willow"])
        referee.time = START - 60_000
        await ui.app.client.rooms.leave()
        await ui.wait_until(lambda: "Tide         Willow in 01:00, open now" in ui.text())
        await ui.press("t")
        await ui.wait_until(lambda: RaceNow in map(type, referee.requests))
        (asked,) = [message for message in referee.requests if isinstance(message, RaceNow)]
        assert (asked.game, asked.tide) == ("willow", START)
        await ui.wait_until(lambda: ui.app.client.model.room is not None)


def test_shared_result_has_the_place_in_the_tide() -> None:
    model = Model(me="m", room=ROOM_OF_TIDE).after(TABLE)
    text = shared_result(model, ResultDetails(), None)
    assert text.splitlines()[0] == "Samedeal: Willow, tide of 19:30 UTC"
    assert text.endswith("31 of 52 cards, 30th of 40")
