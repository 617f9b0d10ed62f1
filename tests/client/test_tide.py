"""The next tide, as a client shows it."""

from __future__ import annotations

from samedeal.protocol.messages import RaceNow
from samedeal.tides import tide_times
from samedeal_client.panels.tide import tide_text
from tests.client.referee import Referee, running_app
from tests.golden.golden_files import assert_sentences

START = 1_795_203_000_000


def test_wording_of_the_next_tide() -> None:
    times = tide_times(["19:30 willow", "20:30 spider"])
    assert_sentences("next tide", [f"{left} s\t{tide_text(times, START - 1000 * left)}" for left in (301, 300, 1, 0)])
    assert not tide_text((), START)


async def test_lobby_leads_to_the_next_tide() -> None:
    async with running_app(Referee("willow", phase="open")) as ui:
        referee = ui.referee
        referee.tides = tide_times(["19:30 willow"])
        referee.time = START - 60_000
        await ui.app.client.rooms.leave()
        await ui.wait_until(lambda: "All at once  Willow in 01:00, open now" in ui.text())
        await ui.press("t")
        await ui.wait_until(lambda: RaceNow in map(type, referee.requests))
        (asked,) = [message for message in referee.requests if isinstance(message, RaceNow)]
        assert (asked.game, asked.tide) == ("willow", START)
        await ui.wait_until(lambda: ui.app.client.model.room is not None)
