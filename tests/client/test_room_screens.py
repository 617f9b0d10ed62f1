"""The screens before and after a race by keys and by mouse: rooms, who is kicked, own bots, and the next race."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from samedeal.options import Options
from samedeal.protocol.messages import Create, Join, KickPlayer, Leave, Standing, Start, ToServer, Watch
from samedeal.race.commands import JoinCommand
from samedeal_client.full_screen.app import SamedealApp
from samedeal_client.local import local_bots
from tests.client.referee import ME, Referee, RunningApp, running_app
from tests.client.room_lines import line

STANDINGS = tuple(
    Standing(place=place, player=player, name=name, foundation_cards=cards, time=0, moves=9, undos=0)
    for place, (player, name, cards) in enumerate([("p2", "mira", 31), (ME, "ana", 12)], 1)
)


@pytest.fixture(autouse=True)
def _bots_without_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    @contextlib.asynccontextmanager
    async def bot(*_: object) -> AsyncIterator[None]:
        yield

    monkeypatch.setattr(local_bots, "local_bot", bot)


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command that would replace the app. It is recorded instead of run."""
    words: list[str] = []

    async def run(_: SamedealApp, command: Sequence[str], _starting: str) -> int:
        words[:] = command
        return 0

    monkeypatch.setattr(SamedealApp, "run_command", run)
    return words


def last(referee: Referee, kind: type[ToServer]) -> Any:
    """The last request of a kind, or None."""
    return next((each for each in reversed(referee.requests) if isinstance(each, kind)), None)


def last_room(referee: Referee, kind: type[ToServer]) -> str:
    """The room of the last request of a kind."""
    return str(getattr(last(referee, kind), "room", ""))


async def click(ui: RunningApp, words: str) -> None:
    """Click at the end of the first occurrence of these words on the screen."""
    y, shown = next((y, line) for y, line in enumerate(ui.text().splitlines()) if words in line)
    await ui.pilot.click(offset=(shown.index(words) + len(words) - 1, y))
    await ui.settle()


async def test_lobby_list_follows_the_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samedeal_client.full_screen.screens.lobby.LIST_INTERVAL", 0.05)
    referee = Referee(phase="open")
    async with running_app(referee) as ui:
        await ui.app.client.rooms.leave()
        await ui.wait_until(lambda: "Nobody is here yet" in ui.text())
        referee.rooms = (line("lunch", "1/6", game="steve"),)
        await ui.wait_until(lambda: "lunch" in ui.text())


async def test_host_kicks_players_by_key_and_mouse() -> None:
    referee = Referee(phase="open")
    async with running_app(referee) as ui:
        await ui.press("k")
        assert "Select the player to kick" in ui.message
        await ui.press("down", "down", "k", "up", "k", "down", "k")
        assert "Press k again to kick k0ji" in ui.message
        assert last(referee, KickPlayer) is None
        await click(ui, "k kick")
        assert last(referee, KickPlayer).player == "p3"
        assert referee.held.race.racer("p3") is None


async def test_own_bots_are_waited_for_and_leave_with_their_player() -> None:
    referee = Referee(phase="open")
    async with running_app(referee) as ui:
        await ui.press("1")
        await ui.wait_until(lambda: "joining" in ui.text() and "- remove bot" in ui.text())
        await ui.press("enter")
        assert "joined. Press Enter again" in ui.message
        assert last(referee, Start) is None
        (bot,) = ui.app.bots.names
        referee.tell(JoinCommand("p9", bot, referee.held.progress_of_all, bot=True))
        await referee.receive(referee.state())
        await ui.wait_until(lambda: last(referee, Start) is not None)
        await ui.press("escape")
        assert "Your bots will leave too" in ui.text()
        await ui.press("y")
        await ui.wait_until(lambda: last(referee, Leave) is not None)
        assert ui.app.bots.names == ()


@contextlib.asynccontextmanager
async def finished_race(*, watch: bool = False, **options: Any) -> AsyncIterator[tuple[Referee, RunningApp]]:
    """The results of a race whose rematch mira wants."""
    referee = Referee(options=Options(deal="#7", **options))
    if watch:  # without a seat
        racing = referee.held.race
        referee.held = dataclasses.replace(referee.held, race=replace(racing, racers=racing.racers[1:]))
    async with running_app(referee, watch=watch) as ui:
        if not watch:
            await ui.press("x")
            await ui.app.client.rooms.resign()
        await referee.finish(standings=STANDINGS, seed=referee.seed, next="friday-2", next_by="p2")
        await ui.wait_until(lambda: "mira wants a rematch" in ui.text())
        yield referee, ui


async def test_rematch_is_joined_and_own_bots_follow() -> None:
    async with finished_race() as (referee, ui):
        bot = await ui.app.bots.add("friday", "random", "", taken=(), warn=ui.app.show_message)
        await click(ui, "mira wants a rematch")
        await ui.wait_until(lambda: last_room(referee, Join) == "friday-2")
        assert ui.app.bots.names_in("friday-2") == (bot,)


async def test_spectator_watches_the_rematch() -> None:
    async with finished_race(watch=True) as (referee, ui):
        await ui.press("m")
        await ui.wait_until(lambda: last_room(referee, Watch) == "friday-2")


@pytest.mark.parametrize(("key", "deal"), [("n", "winnable"), ("a", "#7")])
async def test_similar_race_and_the_same_deal_are_raced_later(
    key: str, deal: str, replayed: list[str], tmp_path: Path
) -> None:
    async with finished_race(games=("steve",), undo="free", limit=77) as (referee, ui):
        await ui.press("d")
        await ui.wait_until(lambda: "Record saved in" in ui.text())
        await ui.press("escape", "v")
        await ui.wait_until(lambda: bool(replayed))
        assert (replayed[0], replayed[2:4]) == ("replay", ["--player", "ana"])
        assert replayed[1].startswith(str(tmp_path))
        await ui.press(key)
        await ui.wait_until(lambda: last(referee, Create) is not None)
        wanted = last(referee, Create).options
        assert (wanted.deal, wanted.undo, wanted.limit, wanted.games) == (deal, "free", 77, ("steve",))
