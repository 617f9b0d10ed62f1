"""The screens before and after a race, by keys and by mouse, with a real server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key
from textual.pilot import Pilot

from samedeal.options import Options
from samedeal.protocol.messages import RoomState
from samedeal.record import Record
from samedeal_client.full_screen.app import SamedealApp
from samedeal_client.input.bindings import DEFAULT
from samedeal_client.text.appearance import Look
from samedeal_link.connection.address import parse_address
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.session.client_session import ClientSession
from tests.client.referee import AppUser
from tests.end_to_end.live_server import friend, until_racing, until_room
from tests.end_to_end.processes import DEADLINE
from tests.textual_internals import make_current


@pytest.fixture(autouse=True)
def _own_records_and_short_intervals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("samedeal_client.full_screen.screens.lobby.LIST_INTERVAL", 0.2)
    # A random deal can be a dead end, and no test here is about a race that ends because of that.
    monkeypatch.setattr("samedeal_link.session.client_session.is_stuck_for_good", lambda *_, **__: False)


@dataclass
class Player(AppUser):
    """A player on a real server."""

    own_pilot: Pilot[int]

    @property
    def pilot(self) -> Pilot[int]:
        """The pilot of the app, which becomes the current one.

        Otherwise a screen that the pilot paints first would take another player's app for its own, and stay as it is.
        """
        make_current(self.app)
        return self.own_pilot

    @property
    def room(self) -> RoomState:
        state = self.app.client.model.room
        assert state is not None
        return state

    async def wait_until(self, condition: Callable[[], object]) -> None:
        """Wait for a condition. If it is not met before the deadline, the error shows the screen."""
        try:
            async with asyncio.timeout(DEADLINE):
                while not condition():  # noqa: ASYNC110 (a changed screen sets no event)
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"The condition was not met. The screen:\n{self.text()}") from None

    async def wait_for_text(self, *words: str) -> None:
        """Wait until these words are on the screen."""
        await self.wait_until(lambda: all(map(self.text().__contains__, words)))

    async def press(self, *keys: str, **shown: str) -> None:
        """Type keys as fast as a terminal sends them, and wait for what they show. The pilot would wait after each one."""
        for key in keys:
            self.post_key(key)
        await self.pilot.pause()
        await self.wait_for(**shown)

    async def wait_for(self, screen: str = "", text: str = "", message: str = "") -> None:
        """Wait for a screen that the app switches to, for words on it, and for words in the message line."""
        if screen:
            await self.wait_until(lambda: self.app.screen_name == screen and self.app.screen.is_mounted)
            await self.pilot.pause()
        await self.wait_until(lambda: text in self.text() and (not message or message in self.line("#sentence")))

    def post_key(self, key: str) -> None:
        """Type a key without waiting."""
        name = {" ": "space", "-": "minus"}.get(key, key)
        self.app.post_message(Key(name, " " if name == "space" else key if len(key) == 1 else None))

    async def type(self, *keys: str) -> None:
        """Type keys. Named keys are waited for: their bindings run later than characters enter an input."""
        for key in keys:
            before = self.app.focused
            self.post_key(key)
            if len(key) > 1:
                await self.pilot.pause()
            while key == "tab" and self.app.focused is before:
                await self.pilot.pause()

    async def click(self, words: str, **shown: str) -> None:
        """Click at the end of the first occurrence of these words on the screen, and wait for what that shows."""
        await self.wait_for_text(words)
        for y, line in enumerate(self.text().splitlines()):
            if words in line:
                await self.pilot.click(offset=(line.index(words) + len(words) - 1, y))
                break
        await self.pilot.pause()
        await self.wait_for(**shown)

    async def until_dealt(self) -> None:
        """Wait until the race has started, and the board is there."""
        await self.wait_for("race")
        await self.wait_until(lambda: self.app.client.model.board is not None)


@contextlib.asynccontextmanager
async def player_in_lobby(
    server: str,
    name: str = "ana",
    *,
    size: tuple[int, int] = (80, 24),
    look: Look | None = None,
    sessions: MemorySessions | None = None,
) -> AsyncIterator[Player]:
    """Run the app for a player, up to the lobby."""
    async with Link(parse_address(server), name, sessions or MemorySessions()) as link:
        app = SamedealApp(ClientSession(link), look or Look(), DEFAULT)
        async with app.run_test(size=size) as pilot:
            player = Player(app, pilot)
            await player.wait_for("lobby", text="Race now")
            yield player


async def test_lobby_list_follows_the_rooms(server: str) -> None:
    async with player_in_lobby(server) as ana, friend(server) as mira:
        await ana.wait_for_text("Nobody is here yet")
        await mira.rooms.create(Options(games=("steve",), players=4, deal="#4821"), "friday")
        await ana.wait_for_text("1  friday", "Steve", "#4821", "0/4", "open")
        await mira.join("friday")
        await ana.wait_for_text("1/4")
        await mira.rooms.create(Options(), "secret", "sesame")
        await mira.rooms.create(Options(), "lunch")
        await ana.wait_for_text("lunch")
        assert "secret" not in ana.text()
        assert ana.line("#header").startswith(f"samedeal ▸ {ana.app.client.link.address.typed} ▸ as ana")
        await ana.press("escape")
        await ana.wait_until(lambda: ana.has_quit)


async def test_host_kicks_players_by_key_and_mouse(server: str) -> None:
    async with player_in_lobby(server) as ana, friend(server) as mira, friend(server, "k0ji") as k0ji:
        await ana.press("n", "ctrl+o", screen="waiting")
        await mira.join(ana.room.room)
        await k0ji.join(ana.room.room)
        await ana.wait_for_text("mira", "k0ji", "k kick")
        await ana.press("k", message="Select the player to kick")
        await ana.press("down", "down", "k", "up", "k", "down", "k", message="Press k again to kick k0ji")
        assert len(ana.room.players) == 3
        await ana.press("k")
        await ana.wait_until(lambda: k0ji.model.room is None)
        await ana.wait_until(lambda: {seat.name for seat in ana.room.players} == {"ana", "mira"})
        await ana.click("[ ]    mira")
        await ana.click("k kick", message="Press k again to kick mira")
        await ana.click("k kick")
        await ana.wait_until(lambda: mira.model.room is None)


async def test_bots_join_and_leave_with_their_player(server: str) -> None:
    async with player_in_lobby(server) as ana, friend(server) as mira:
        await mira.join(await mira.rooms.create(Options(), "friday", "sesame"), "sesame")
        await ana.app.client.join("friday", "sesame")
        await ana.wait_for("waiting")
        await ana.click("2 greedy")
        await ana.wait_for_text("[x]", "(bot)", "your bot")
        await ana.press("escape", text="Your bots will leave too")
        await ana.press("escape")
        await ana.wait_until(lambda: "leave too" not in ana.text())
        await ana.press("escape")
        await ana.click("y    leave", screen="lobby")
        await until_room(mira, lambda room: len(room.players) == 1)


@contextlib.asynccontextmanager
async def host_waiting(server: str, **options: Any) -> AsyncIterator[Player]:
    """Run the app for ana, who has opened the room friday and is its only player."""
    async with player_in_lobby(server) as ana:
        await ana.app.client.join(await ana.app.client.rooms.create(Options(**options), "friday"))
        await ana.wait_for("waiting")
        yield ana


def bots(ana: Player) -> list[str]:
    return [seat.name for seat in ana.room.players if seat.name != "ana"]


@pytest.fixture
def release_bots(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Hold the processes of bots until they are released."""
    held: list[int] = []
    create = asyncio.create_subprocess_exec

    async def create_held(*arguments: Any, **options: Any) -> asyncio.subprocess.Process:
        process = await create(*arguments, **options)
        process.send_signal(signal.SIGSTOP)
        held.append(process.pid)
        return process

    def release() -> None:
        while held:
            os.kill(held.pop(), signal.SIGCONT)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", create_held)
    yield release
    release()


async def test_start_waits_for_joining_bots(server: str, release_bots: Callable[[], None]) -> None:
    async with host_waiting(server, countdown=0) as ana:
        await ana.press("1")
        await ana.wait_for_text("[ ]", "(bot)", "joining", "- remove bot")
        await ana.press("enter", message="joined. Press Enter again")
        assert ana.room.phase == "open"
        release_bots()
        await ana.wait_for("race")
        assert len(ana.room.players) == 2


@contextlib.asynccontextmanager
async def finished_race(
    server: str, *, options: Options | None = None, watching: bool = False
) -> AsyncIterator[tuple[Player, ClientSession]]:
    """A finished race of two players, of which ana sees the results."""
    async with player_in_lobby(server) as ana, friend(server) as mira:
        await mira.join(await mira.rooms.create(options or Options(deal="#7", countdown=0), "friday"))
        await ana.wait_for_text("friday  ")  # not friday-2, a rematch that the list of an earlier test may still have
        await (ana.press("w", screen="watch") if watching else ana.press("1", screen="waiting"))
        await mira.rooms.start()
        await until_racing(mira)
        if not watching:
            await ana.until_dealt()
            await ana.press("x")
            await ana.app.client.rooms.resign()
        await mira.rooms.resign()
        await ana.wait_for("results", text="foundations   ")
        yield ana, mira


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command that would replace the app. It is recorded instead of run."""
    words: list[str] = []

    async def run(_: SamedealApp, command: Sequence[str], _starting: str) -> int:
        words[:] = command
        return 0

    monkeypatch.setattr(SamedealApp, "run_command", run)
    return words


async def test_spectator_replays_the_race_and_watches_the_rematch(
    server: str, tmp_path: Path, replayed: list[str]
) -> None:
    async with finished_race(server, options=Options(deal="#7", countdown=0, delay=0), watching=True) as (ana, mira):
        assert not list((tmp_path / "data").rglob("*.txt"))
        await ana.press("v")
        await ana.wait_until(lambda: replayed)
        (path,) = (tmp_path / "data").rglob("*.txt")
        assert replayed[:2] == ["replay", str(path)]
        assert "--player" not in replayed
        assert Record.parse(path.read_text(encoding="utf-8")).is_whole
        await mira.join(await mira.rooms.rematch())
        await ana.press("m", screen="watch")
        assert ana.room.room == "friday-2"


async def test_rematch_is_joined_and_own_bots_follow(server: str) -> None:
    """Its players are counted before, and bots that have not come yet are listed as joining."""
    async with finished_race(server) as (ana, mira):
        await mira.rooms.create(Options(), "elsewhere")
        bots = ana.app.bots
        bot = await bots.add("elsewhere", "random", "", taken=(), warn=ana.app.show_message)
        bots.move_to_rematch("elsewhere", "friday")  # as if it had raced there
        await mira.join(await mira.rooms.rematch())
        await ana.click("mira wants a rematch", screen="waiting")
        assert (ana.room.room, ana.room.deal) == ("friday-2", "#8")
        await ana.wait_for_text(f"{bot} (bot)", "joining", "- remove bot")
        await ana.press("-")
        await ana.wait_until(lambda: f"{bot} (bot)" not in ana.text())


async def test_similar_race_and_the_same_deal_are_raced_later(server: str, tmp_path: Path, replayed: list[str]) -> None:
    """The results are found from the lobby, and have the record of the race."""
    options = Options(games=("steve",), deal="#7", countdown=0, undo="free", limit=77)
    async with finished_race(server, options=options) as (ana, mira):
        await ana.wait_for_text("v replay")
        await ana.press("d")
        await ana.wait_for_text("Record saved in")
        await ana.press("escape")
        (path,) = (tmp_path / "data").rglob("*.txt")
        await ana.press("v")
        await ana.wait_until(lambda: replayed and Record.parse(path.read_text(encoding="utf-8")).is_whole)
        assert replayed[:4] == ["replay", str(path), "--player", "ana"]
        await ana.press("n", screen="waiting")
        assert ana.room.room != "friday"
        shown = ana.room
        assert (shown.deal, shown.options.undo, shown.options.limit, shown.game) == ("winnable", "free", 77, "steve")
        await mira.rooms.create(Options(), "lunch")
        await mira.join("lunch")
        await ana.press("escape", screen="lobby")
        await ana.wait_for_text("lunch", "friday", "finished")
        await ana.click("finished")
        await ana.press("enter", screen="results")
        await ana.wait_for_text("ana (you)", "mira", "foundations   ")
        await ana.press("a", screen="waiting")
        assert (ana.room.room != "friday", ana.room.deal, ana.room.game) == (True, "#7", "steve")
