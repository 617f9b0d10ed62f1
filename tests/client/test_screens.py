"""The screens before and after a race, as text in several sizes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from samedeal.options import Options
from samedeal.protocol.messages import Standing, Start
from samedeal.race.commands import AwayCommand
from samedeal.record import Record
from samedeal_client.panels.plot import Curve
from samedeal_client.text.appearance import Look
from samedeal_link.connection.address import ServerAddress
from tests.client.qr_reader import scanned
from tests.client.referee import ME, START, Referee, RunningApp, running_app
from tests.client.room_lines import line
from tests.golden.golden_files import assert_golden
from tests.shared.playouts import won_record

SIZES = {"60x20": (60, 20), "80x24": (80, 24)}
LOOKS = {"glyphs": Look(), "ascii": Look(ascii=True, colour=False)}
ROOMS = (
    line("friday", "2/4"),
    line("lunch", "1/6", game="steve"),
    line("cup", "4/4", "racing", game="athena", starts=START),
)
STANDINGS = tuple(
    Standing(place=place, player=player, name=name, foundation_cards=cards, time=time, moves=2 * cards, undos=place)
    for place, (player, name, cards, time) in enumerate(
        [("p2", "mira", 52, 235_000), (ME, "ana", 31, 0), ("p3", "k0ji", 12, 0)], 1
    )
)
CLIMBS = {"ana": 6, "mira": 10, "k0ji": 2}
"""How many cards the players put on the foundations, every 40 seconds."""


@pytest.mark.parametrize(("size", "look"), [("60x20", "glyphs"), ("80x24", "ascii")])
async def test_screens_match_their_goldens(
    size: str, look: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("samedeal_client.full_screen.screens.lobby.LIST_INTERVAL", 1000.0)
    referee = Referee(options=Options(deal="#7"), phase="open")
    referee.rooms = ROOMS
    shown: list[str] = []
    async with running_app(referee, SIZES[size], LOOKS[look]) as ui:

        async def show(name: str, screen: str, *keys: str) -> None:
            shown.append(await _framed(ui, name, screen, *keys))

        await show("waiting", "WaitingScreen")
        await show("QR code", "WaitingScreen", "l")
        await ui.press("l")
        if size == "60x20":
            await show("help in a room", "HelpScreen", "f1")
            await ui.press("escape")
            await ui.wait_until(lambda: ui.screen == "WaitingScreen")
            await show("rules", "HelpScreen", "r")
            await ui.press("escape")
            await ui.wait_until(lambda: ui.screen == "WaitingScreen")
            await show("kick", "WaitingScreen", "down", "k")
        await referee.finish(standings=STANDINGS, seed=referee.seed, next="friday-2")
        await ui.settle()
        await show("results", "ResultsScreen")
        await ui.app.client.rooms.leave()
        await ui.settle()
        await show("lobby", "LobbyScreen")
        await show("new room", "NewRoomScreen", "n")
    text = "\n".join(shown)
    assert text.isascii() or look != "ascii"
    assert_golden(f"screens/around_a_race/{size}_{look}.txt", text)


async def test_host_is_asked_about_who_is_away() -> None:
    """Again if somebody else goes away, or if they were back."""
    referee = Referee(phase="open")
    async with running_app(referee) as ui:

        async def starts_after(*away: str) -> bool:
            for player in ("p2", "p3"):
                referee.tell(AwayCommand(player, player in away))
            await referee.receive(referee.state())
            await ui.settle()
            await ui.press("enter")
            starts = [request for request in referee.requests if isinstance(request, Start)]
            referee.requests.clear()
            return bool(starts)

        asked = [away for away in (("p2",), ("p2", "p3"), (), ("p2",)) if not await starts_after(*away)]
        assert asked == [("p2",), ("p2", "p3"), ("p2",)]
        assert await starts_after("p2")


@pytest.mark.parametrize(("host", "height"), [("a.test", 20), (f"{'a' * 35}.test", 23)])
async def test_camera_reads_the_link(host: str, height: int, tmp_path: Path) -> None:
    """A code that does not fit is not shown in part."""
    referee = Referee(phase="open")
    referee.address = ServerAddress(f"wss://{host}:7777")
    async with running_app(referee, (60, height)) as ui:
        await ui.press("l")
        await ui.wait_until(lambda: "█" in ui.text())
        assert "mira" not in ui.text()
        assert scanned(ui.text(), tmp_path) == f"https://{host}:7777/friday"
        if height > SIZES["60x20"][1]:
            await ui.resize(*SIZES["60x20"])
            await ui.wait_until(lambda: f"needs {height} rows" in ui.text())
            assert "█" not in ui.text()
        await ui.press("l")
        await ui.wait_until(lambda: "mira" in ui.text())


async def test_results_with_a_chart_match_their_golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def curves(record: Record, me: str) -> list[Curve]:
        points = {name: [(40_000 * step, cards * step) for step in range(1, 6)] for name, cards in CLIMBS.items()}
        return [Curve(name, tuple(points[name])) for name in ((me, "mira", "k0ji") if record is whole else (me,))]

    monkeypatch.setattr("samedeal_client.full_screen.screens.results.record_curves", curves)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    whole = won_record("willow")
    referee = Referee(options=Options(deal="#7"))
    async with running_app(referee, SIZES["80x24"]) as ui:
        await ui.app.client.rooms.resign()
        await referee.finish(standings=STANDINGS, seed=referee.seed)
        await ui.wait_until(lambda: "foundations   ana ──     " in ui.text())
        ui.app.client.rooms.model = replace(ui.app.client.model, whole_record=whole)
        ui.app.request_update()
        await ui.wait_until(lambda: "k0ji ××" in ui.text())
        await ui.settle()
        assert_golden("screens/results_with_a_chart.txt", ui.text())
        assert "scroll" not in ui.text()
        await ui.resize(60, 19)
        await ui.wait_until(lambda: "Space scroll  m rematch" in ui.text())
        await ui.press("space")
        await ui.wait_until(lambda: ui.app.screen.query_one("#results").scroll_y > 0)


async def test_dialogs_match_their_golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_app(Referee(options=Options(deal="#7"))) as ui:
        shown = [await _framed(ui, "resign", "ResignScreen", "ctrl+r")]
        await ui.press("escape")
        shown.append(await _framed(ui, "quit", "QuitScreen", "ctrl+q"))
    assert_golden("screens/dialogs.txt", "\n".join(shown))


async def _framed(ui: RunningApp, name: str, screen: str, *keys: str) -> str:
    """The text of a screen that keys open, under its name and between two lines."""
    await ui.press(*keys)
    await ui.wait_until(lambda: ui.screen == screen)
    await ui.pilot.pause()
    await ui.settle()
    edge = "=" * ui.app.size.width
    return f"{name}\n{edge}\n{ui.text().rstrip()}\n{edge}\n"
