"""The screens around a race, by keys and by mouse, with a real server: lobby, new room, waiting room, results, help."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key, MouseScrollDown, Paste
from textual.pilot import Pilot

from samedeal.options import Options
from samedeal.protocol.messages import RoomState
from samedeal.record import Record
from samedeal_client.app import SamedealApp
from samedeal_client.board.bindings import DEFAULT
from samedeal_client.net.address import parse_address
from samedeal_client.net.client import Client
from samedeal_client.net.link import Link
from samedeal_client.net.sessions import BriefSessions
from samedeal_client.screens.new_room import NewRoomScreen
from samedeal_client.screens.sheet import SheetScreen
from samedeal_client.text.look import Look
from samedeal_client.text.spans import row_text
from samedeal_client.widgets.rows import Rows
from tests.end_to_end.company import friend, knows, racing, serving
from tests.end_to_end.proxy import Proxy

DEADLINE = 10.0


@pytest.fixture(autouse=True)
def _own_files_and_no_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("samedeal_client.screens.lobby.LIST_EVERY", 0.05)
    monkeypatch.setattr("samedeal_client.screens.results.COUNT_EVERY", 0.05)


@pytest.fixture(scope="module")
def process(redis_server: str) -> Iterator[str]:
    with serving(redis_server) as address:
        yield address


@pytest.fixture
def server(process: str, redis_url: str) -> str:
    """The address of a server that has no rooms."""
    return process


@dataclass
class Player:
    """Somebody at the app."""

    app: SamedealApp
    pilot: Pilot[int]

    def text(self) -> str:
        """The screen as text."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips) + "\n"

    @property
    def room(self) -> RoomState:
        state = self.app.client.model.room
        assert state is not None
        return state

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait for what comes about soon; what was on the screen is told when it doesn't."""
        try:
            async with asyncio.timeout(DEADLINE):
                while not holds():
                    await self.pilot.pause(0.01)
        except TimeoutError:
            raise AssertionError(f"waited in vain before\n{self.text()}") from None

    async def sees(self, *words: str) -> None:
        """Wait until these words are on the screen."""
        await self.until(lambda: all(each in self.text() for each in words))

    async def comes_to(self, place: str) -> None:
        """Wait for a screen that the app goes to by itself."""
        await self.until(lambda: self.app.place == place and self.app.screen.is_mounted)
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        """Type keys as fast as a terminal sends them; the pilot's own way waits for a while after each."""
        for key in keys:
            char = " " if key == "space" else key if len(key) == 1 else None
            self.app.post_message(Key(key, char))
        await self.pilot.pause()

    async def click(self, words: str, times: int = 1) -> None:
        """Click at the end of these words, where they are on the screen first."""
        await self.sees(words)
        for y, line in enumerate(self.text().splitlines()):
            if words in line:
                await self.pilot.click(offset=(line.index(words) + len(words) - 1, y), times=times)
                await self.pilot.pause()
                return

    def line(self, selector: str) -> str:
        """A line of the frame."""
        return row_text(self.app.screen.query_one(selector, Rows).rows[0]).strip()

    async def says(self, words: str) -> None:
        """Wait until the line for sentences says something."""
        await self.until(lambda: words in self.line("#sentence"))


@contextlib.asynccontextmanager
async def arriving(
    server: str,
    name: str = "ana",
    *,
    size: tuple[int, int] = (80, 24),
    look: Look | None = None,
    sessions: BriefSessions | None = None,
) -> AsyncIterator[Player]:
    """Somebody comes to the lobby."""
    async with Link(parse_address(server), name, sessions or BriefSessions()) as link:
        app = SamedealApp(Client(link), look or Look(), DEFAULT)
        async with app.run_test(size=size) as pilot:
            player = Player(app, pilot)
            await player.comes_to("lobby")
            await player.sees("Quick start")
            yield player


# ---------------------------------------------------------------- lobby


async def test_the_lobby_lists_rooms_as_they_come_and_go(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        await ana.sees("No rooms yet")
        await mira.create(Options(games=("steve",), players=4, deal="#4821"), "friday")
        await ana.sees("1 friday", "Steve", "#4821", "0/4", "open")
        await mira.join("friday")
        await ana.sees("1/4")
        await mira.create(Options(), "lunch", "sesame")
        await ana.sees("lunch", "open, private")
        assert ana.line("#header").startswith(f"samedeal ▸ {ana.app.client.link.address.typed} ▸ as ana")


async def test_enter_joins_the_chosen_room(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        for room in ("one", "two"):
            await mira.join(await mira.create(Options(), room))
        await ana.sees("one", "two")
        second = "two" if ana.text().index("one") < ana.text().index("two") else "one"
        await ana.press("down", "enter")
        await ana.comes_to("waiting")
        assert ana.room.room == second


async def test_a_digit_joins_at_once(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        await mira.create(Options(), "friday")
        await ana.sees("1 friday")
        await ana.press("1")
        await ana.comes_to("waiting")


async def test_a_room_is_joined_by_mouse_alone(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        for room in ("one", "two"):
            await mira.create(Options(), room)
        await ana.sees("one", "two")
        await ana.click("one  ")
        await ana.click("⏎ join")
        await ana.comes_to("waiting")
        await ana.click("leave")
        await ana.comes_to("lobby")
        await ana.click("two")
        await ana.click("two")
        await ana.comes_to("waiting")
        assert ana.room.room == "two"


async def test_what_the_server_refuses_is_said(server: str) -> None:
    async with arriving(server, "mira") as player, friend(server) as mira:
        await mira.join(await mira.create(Options(), "friday"))
        await player.sees("friday")
        await player.press("1")
        await player.says("Somebody in this room is called mira already")
        assert player.app.place == "lobby"


async def test_w_watches(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        await mira.join(await mira.create(Options(countdown=0), "friday"))
        await mira.start()
        await ana.sees("racing")
        await ana.press("w")
        await ana.comes_to("watch")


async def test_enter_on_a_race_that_runs_without_one_watches_it(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        await mira.join(await mira.create(Options(countdown=0), "friday"))
        await mira.start()
        await ana.sees("racing")
        await ana.press("enter")
        await ana.comes_to("watch")


async def test_enter_on_a_race_in_which_one_has_a_seat_goes_back_to_it(server: str) -> None:
    sessions = BriefSessions()
    async with friend(server) as mira:
        async with arriving(server, sessions=sessions) as ana:
            await mira.join(await mira.create(Options(countdown=0), "friday"))
            await ana.sees("friday")
            await ana.press("1")
            await ana.comes_to("waiting")
            await mira.start()
            await ana.comes_to("race")
        async with arriving(server, sessions=sessions) as ana:
            await ana.sees("racing")
            await ana.press("enter")
            await ana.comes_to("race")


async def test_the_passphrase_of_a_private_room_is_asked_for(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        await mira.create(Options(), "secret", "sesame")
        await ana.sees("secret")
        await ana.press("1")
        await ana.sees("Passphrase of secret: _")
        await ana.press(*"wrong")
        await ana.sees("•••••_")
        await ana.press("enter")
        await ana.says("That is not the passphrase")
        await ana.press(*"sesame", "enter")
        await ana.comes_to("waiting")
        assert ana.app.client.passphrase == "sesame"


async def test_the_passphrase_can_be_pasted(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        await mira.create(Options(), "secret", "open sesame")
        await ana.sees("secret")
        await ana.press("1")
        await ana.sees("Passphrase of secret")
        ana.app.post_message(Paste("open sesame\n"))
        await ana.sees("•••••••••••_")
        await ana.press("enter")
        await ana.comes_to("waiting")


async def test_asking_for_the_passphrase_can_be_cancelled_by_mouse(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        await mira.create(Options(), "secret", "sesame")
        await ana.sees("secret")
        await ana.press("1")
        await ana.sees("Passphrase of secret")
        await ana.click("cancel")
        await ana.until(lambda: "Passphrase" not in ana.text())
        assert ana.app.place == "lobby"


async def test_quick_match_opens_a_room_and_the_next_one_finds_it(server: str) -> None:
    async with arriving(server) as ana, arriving(server, "mira") as mira:
        await ana.press("q")
        await ana.comes_to("waiting")
        assert ana.room.options.start == "all-ready"
        await ana.says("one more player is needed")
        await mira.sees(f"join {ana.room.room}")
        await mira.click("quick match")
        await mira.comes_to("waiting")
        assert mira.room.room == ana.room.room
        await ana.says("0 of 2 are")
        await ana.press("space")
        await mira.says("1 of 2 is")
        await mira.click("␣ ready")
        await asyncio.gather(ana.comes_to("race"), mira.comes_to("race"))


async def test_quick_match_goes_on_when_the_first_room_has_filled_by_now(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira, friend(server, "k0ji") as k0ji:
        await mira.join(await mira.create(Options(players=2), "nearly"))
        await ana.sees("join nearly")
        await k0ji.join("nearly")
        await ana.press("q")
        await ana.comes_to("waiting")
        assert ana.room.room != "nearly"


async def test_the_daily_deal_is_todays_for_both(server: str) -> None:
    async with arriving(server) as ana, arriving(server, "mira") as mira:
        await ana.press("g", "d")
        await ana.comes_to("waiting")
        assert ana.room.game == "athena"
        assert ana.room.deal.startswith("daily 20")
        await mira.sees(ana.room.room)
        await mira.press("g")
        await mira.click("daily deal")
        await mira.comes_to("waiting")
        assert mira.room.room == ana.room.room


async def test_practice_says_what_to_type_where_the_terminal_cant_be_given_away(server: str) -> None:
    async with arriving(server) as ana:
        await ana.press("g", "p")
        await ana.says("type samedeal play athena")


async def test_the_lobby_outlives_a_cut(server: str) -> None:
    async with Proxy(server) as network, arriving(network.url) as ana, friend(server) as mira:
        await network.cut()
        await ana.sees("cut off", "trying again")
        network.mend()
        await mira.create(Options(), "friday")
        await ana.sees("1 friday")
        assert ana.app.client.connection.state == "up"


# ---------------------------------------------------------------- new room


async def test_a_room_is_opened_with_every_option_by_keyboard(server: str) -> None:
    async with arriving(server) as ana:
        await ana.press("n")
        await ana.sees("New room")
        await ana.press("p")  # from Willow to Phoenix
        await ana.press("tab", *"steve, athena")
        await ana.press("tab", *"4821")
        await ana.press("tab", *"3")
        await ana.press("tab", *"7:30")
        await ana.press("tab", "right")
        await ana.press("tab", "space")
        await ana.press("tab", "right")
        await ana.press("tab", *"7")
        await ana.press("tab", "right")
        await ana.press("tab")
        await ana.press("tab", *"42")
        await ana.press("tab", *"friday")
        await ana.press("tab", *"open sesame")
        await ana.press("enter")
        await ana.comes_to("waiting")
        assert (ana.room.room, ana.room.private) == ("friday", True)
        assert ana.room.options == Options(
            games=("phoenix", "steve", "athena"),
            deal="#4821",
            players=3,
            limit=450,
            undo="free",
            hints=True,
            start="all-ready",
            countdown=7,
            first_home_ends=True,
            delay=42,
        )


async def test_a_room_is_opened_by_mouse_alone(server: str) -> None:
    async with arriving(server) as ana:
        await ana.click("new room")
        await ana.sees("New room")
        lines = ana.text().splitlines()
        row = next(y for y, line in enumerate(lines) if " Undo " in line)
        await ana.pilot.click(offset=(lines[row].index("›"), row))
        await ana.sees("free, any number")
        row = next(y for y, line in enumerate(lines) if " Seats " in line)
        await ana.pilot.click(offset=(lines[row].index("‹"), row))
        await ana.click("open the room")
        await ana.comes_to("waiting")
        assert ana.room.options == Options(undo="free", players=7)


async def test_what_is_wrong_is_said_at_the_field_and_nothing_is_opened(server: str) -> None:
    async with arriving(server) as ana:
        await ana.press("n")
        await ana.press("tab", "tab", "tab", *"99", "tab", "enter")
        await ana.sees("! write a number from 1 to 16")
        screen = ana.app.screen
        assert isinstance(screen, NewRoomScreen)
        assert screen.form.at == "players"
        await ana.press("4", "enter")
        await ana.comes_to("waiting")


async def test_a_code_that_is_taken_is_said_at_its_field(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        await mira.create(Options(), "friday")
        await ana.press("n", "shift+tab", "shift+tab")
        await ana.press("tab", "up", *"friday", "enter")
        await ana.says("There is a room 'friday' already")
        await ana.press(*"monday", "enter")
        await ana.comes_to("waiting")
        assert ana.room.room == "monday"


async def test_text_is_pasted_into_the_field(server: str) -> None:
    async with arriving(server) as ana:
        await ana.press("n", "shift+tab", "up")
        ana.app.post_message(Paste("fri\x1bday"))
        await ana.sees("friday_")


async def test_the_form_is_left_with_escape(server: str) -> None:
    async with arriving(server) as ana:
        await ana.press("n")
        await ana.sees("New room   ")
        await ana.press("escape")
        await ana.sees("Quick start")


# ---------------------------------------------------------------- waiting room


async def test_the_host_starts_the_race(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        await mira.create(Options(players=4, countdown=0), "friday")
        await ana.sees("friday")
        await ana.press("1")
        await ana.comes_to("waiting")
        await mira.join("friday")
        await ana.sees("mira", "host, you")
        await mira.ready(ready=True)
        await ana.sees("[x] mira")
        await ana.says("You are the host: you start the race; 1 of 2 is ready")
        await ana.press("enter")
        await ana.comes_to("race")


async def test_the_invitation_is_copied(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        await mira.create(Options(), "friday")
        await ana.sees("friday")
        await ana.press("1")
        await ana.comes_to("waiting")
        wanted = f"samedeal join {ana.app.client.link.address.typed} friday"
        await ana.sees(wanted)
        await ana.click("copy it")
        assert ana.app.clipboard == wanted
        await ana.says("Copied")


async def test_ready_goes_on_and_off_by_keyboard_and_mouse(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        await mira.join(await mira.create(Options(), "friday"))
        await ana.sees("friday")
        await ana.press("1")
        await ana.comes_to("waiting")
        await ana.press("space")
        await ana.sees("[x] ana")
        await ana.click("[x] ")
        await ana.sees("[ ] ana")
        await ana.press("enter")
        await ana.says("Only the host can start the race")


async def test_a_bot_comes_when_it_is_called_and_goes_with_who_called_it(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        await mira.join(await mira.create(Options(), "friday", "sesame"), "sesame")
        await ana.sees("friday")
        await ana.press("1")
        await ana.sees("Passphrase")
        await ana.press(*"sesame", "enter")
        await ana.comes_to("waiting")
        await ana.click("2 greedy")
        await ana.sees("[x]", "(greedy)", "your bot")
        await ana.press("escape")
        await ana.sees("The bots that you added go too")
        await ana.press("escape")
        await ana.until(lambda: "go too" not in ana.text())
        await ana.press("escape")
        await ana.click("y    leave")
        await ana.comes_to("lobby")
        await knows(mira, lambda room: len(room.players) == 1)


@contextlib.asynccontextmanager
async def hosting(server: str, **options: Any) -> AsyncIterator[Player]:
    """Ana, who has opened the room friday and is in it alone."""
    async with arriving(server) as ana:
        await ana.app.client.join(await ana.app.client.create(Options(**options), "friday"))
        await ana.comes_to("waiting")
        yield ana


def bots(ana: Player) -> list[str]:
    return [seat.name for seat in ana.room.players if seat.name != "ana"]


async def test_a_bot_is_seen_to_be_on_the_way_until_it_is_there(server: str) -> None:
    async with hosting(server) as ana:
        await ana.press("3")
        await ana.sees("[ ]", "(careful)", "on the way - out")
        await ana.sees("[x]", "your bot   - out")
        assert "on the way" not in ana.text()
        await ana.says("You are the host")


async def test_bots_are_taken_out_by_key_and_by_mouse(server: str) -> None:
    async with hosting(server) as ana:
        await ana.press("-")
        await ana.says("No bot here is yours")
        row = next(y for y, line in enumerate(ana.text().splitlines()) if "add a bot" in line)
        await ana.press("1", "2", "3")
        await ana.until(lambda: len(bots(ana)) == 3)
        await ana.sees("- out")
        assert "add a bot" in ana.text().splitlines()[row]
        first, second, last = ana.app.crew.names
        await ana.press("-")
        await ana.until(lambda: bots(ana) == [first, second] or set(bots(ana)) == {first, second})
        line = next(line for line in ana.text().splitlines() if first in line)
        await ana.click(line[: line.index("out") + 3])
        await ana.until(lambda: bots(ana) == [second])
        assert last not in ana.text()


async def test_no_more_bots_are_sent_than_there_are_seats(server: str) -> None:
    async with hosting(server, players=2) as ana:
        assert "1-3 add a bot" in ana.line("#keys")
        await ana.press("1")
        await ana.sees("(random)")
        assert "add a bot" not in ana.text()
        await ana.press("1")
        await ana.says("Every seat is taken")


async def test_the_start_waits_for_bots_on_their_way_unless_it_is_asked_for_again(server: str) -> None:
    async with hosting(server, countdown=0) as ana:
        await ana.press("1")
        await ana.sees("on the way")
        await ana.press("enter")
        await ana.says("still on the way: wait, or Enter again starts without")
        assert ana.room.phase == "open"
        await ana.sees("your bot")
        await ana.press("enter")
        await ana.comes_to("race")
        assert len(ana.room.players) == 2


async def test_who_doesnt_wait_for_a_bot_races_without_it_and_isnt_told_what_the_bot_was(server: str) -> None:
    async with hosting(server, countdown=0) as ana:
        await ana.press("1")
        await ana.sees("on the way")
        await ana.press("enter", "enter")
        await ana.comes_to("race")
        await ana.until(lambda: not ana.app.crew.names)
        assert [seat.name for seat in ana.room.players] == ["ana"]
        assert "without you" not in ana.text()


@pytest.mark.parametrize(
    ("way", "place"),
    [((), "In the lobby"), (("n",), "In the form of a new room")],
)
async def test_a_key_that_means_nothing_says_so_and_the_help_begins_with_those_that_do(
    server: str, way: tuple[str, ...], place: str
) -> None:
    async with arriving(server) as ana:
        await ana.press(*way, "f5")
        await ana.says("F5 does nothing here: F1 lists the keys")
        await ana.press("f1")
        await ana.until(lambda: place in ana.text().splitlines()[3])


async def test_a_key_that_means_nothing_in_a_room_says_so(server: str) -> None:
    async with hosting(server) as ana:
        await ana.press("k")
        await ana.says("k does nothing here: F1 lists the keys")
        await ana.press("f1")
        await ana.until(lambda: "In a room before its race" in ana.text().splitlines()[3])


async def test_typing_chooses_a_game_and_says_so_when_there_is_none(server: str) -> None:
    async with arriving(server) as ana:
        await ana.press("n", "x")
        await ana.says("Nothing begins with 'x': Athena, Steve, Phoenix")
        await ana.press(*"ace")
        await ana.sees("‹ Ace of Hearts")


async def test_the_form_begins_as_it_was_left_with_the_game_that_is_chosen_in_the_lobby(server: str) -> None:
    async with arriving(server) as ana:
        await ana.press("n", "p", "tab", "tab", "tab", "tab", *"7:30", "tab", "f", "tab", "y")
        await ana.press(*["tab"] * 6, *"friday", "enter")
        await ana.comes_to("waiting")
        assert (ana.room.game, ana.room.options.limit, ana.room.options.hints) == ("phoenix", 450, True)
        await ana.press("escape")
        await ana.comes_to("lobby")
        await ana.press("n")
        await ana.sees("Phoenix", "7:30", "free")
        assert "friday" not in ana.text()
        await ana.press("escape", "g", "n")
        await ana.sees("Athena", "7:30")


# ---------------------------------------------------------------- leaving


async def test_who_quits_while_ones_bots_race_on_is_asked_once(server: str) -> None:
    async with hosting(server, countdown=0) as ana:
        await ana.press("1")
        await ana.sees("your bot")
        await ana.press("enter")
        await ana.comes_to("race")
        await ana.until(lambda: ana.app.client.model.board is not None)
        await ana.press("ctrl+q")
        await ana.sees("Your bots go with you", "Esc  stay")
        await ana.press("r")
        await ana.says("You are out")
        await ana.press("l")
        await ana.comes_to("lobby")
        await ana.press("ctrl+q")
        await ana.sees("The bots that you added are still in a room.")
        await ana.press("x")
        await ana.sees("Press one of these keys, or click its line.")
        await ana.press("escape")
        await ana.sees("Quick start")
        await ana.press("ctrl+q", "ctrl+q")
        assert ana.app._exit


async def test_what_is_typed_ahead_of_an_answer_is_no_second_answer(server: str) -> None:
    """Alone in a race, who resigns ends it: the screen below the question is another one by the next key."""
    async with hosting(server, countdown=0) as ana:
        await ana.press("enter")
        await ana.comes_to("race")
        await ana.until(lambda: ana.app.client.model.board is not None)
        await ana.press("ctrl+q")
        await ana.sees("Esc  stay")
        question = ana.app.screen
        for key in "clearrr":
            question.post_message(Key(key, key))
        await ana.comes_to("results")
        for key in "qr":
            question.post_message(Key(key, key))
        await ana.pilot.pause()
        assert not ana.app._exit


async def test_a_click_beside_a_question_says_how_it_is_answered(server: str) -> None:
    async with hosting(server, countdown=0) as ana:
        await ana.press("enter")
        await ana.comes_to("race")
        await ana.until(lambda: ana.app.client.model.board is not None)
        await ana.press("ctrl+q")
        await ana.sees("Esc  stay")
        await ana.pilot.click(offset=(1, 1))
        await ana.sees("Press one of these keys, or click its line.")
        await ana.click("Esc  stay")
        await ana.until(lambda: "Esc  stay" not in ana.text())


async def test_practice_ends_where_it_was_begun(server: str) -> None:
    async with hosting(server, countdown=0) as ana:
        ana.app.back_to = "cards.example.org"
        await ana.press("enter")
        await ana.comes_to("race")
        await ana.until(lambda: ana.app.client.model.board is not None)
        assert "^Q back to cards.example.org" in ana.line("#keys")
        await ana.press("ctrl+q")
        await ana.sees("q    end the practice, back to cards.example.org")
        await ana.press("r")
        await ana.comes_to("results")
        await ana.press("escape")
        await ana.until(lambda: ana.app._exit)
        assert ana.app.place == "results"


async def test_the_rules_of_the_game_are_a_key_away(server: str) -> None:
    async with arriving(server) as ana, friend(server) as mira:
        await mira.create(Options(games=("phoenix",)), "friday")
        await ana.sees("friday")
        await ana.press("1")
        await ana.comes_to("waiting")
        await ana.press("r")
        await ana.sees("How to move in Phoenix")
        await ana.press("escape")
        await ana.sees("Invite")


# ---------------------------------------------------------------- out, while others race on


@contextlib.asynccontextmanager
async def resigned(server: str) -> AsyncIterator[tuple[Player, Client]]:
    """A race under way, which ana has made a move in and resigned from."""
    async with arriving(server) as ana, friend(server) as mira:
        await mira.join(await mira.create(Options(deal="#7", countdown=0, delay=0), "friday"))
        await ana.sees("friday")
        await ana.press("1")
        await ana.comes_to("waiting")
        await mira.start()
        await ana.until(lambda: ana.app.client.model.board is not None)
        await ana.comes_to("race")
        await ana.press("x", "ctrl+r")
        await ana.sees("y    resign")
        await ana.press("y")
        await ana.says("You are out")
        yield ana, mira


async def test_who_is_out_watches_goes_back_to_the_board_and_has_a_record_in_the_end(server: str) -> None:
    async with resigned(server) as (ana, mira):
        await ana.press("w")
        await ana.comes_to("watch")
        await ana.sees("mira", "ana (out)")
        await ana.press("o")
        await ana.comes_to("race")
        await ana.says("You are out")
        await ana.press("w")
        await ana.comes_to("watch")
        await mira.resign()
        await ana.comes_to("results")
        await ana.sees("Your race:", "m rematch")


async def test_who_is_out_goes_to_the_lobby_and_finds_the_race_there(server: str) -> None:
    async with resigned(server) as (ana, _):
        await ana.press("l")
        await ana.comes_to("lobby")
        await ana.sees("friday")


# ---------------------------------------------------------------- results


@contextlib.asynccontextmanager
async def raced(
    server: str, *, options: Options | None = None, watching: bool = False
) -> AsyncIterator[tuple[Player, Client]]:
    """A race of two that is over, with ana at its results."""
    async with arriving(server) as ana, friend(server) as mira:
        await mira.join(await mira.create(options or Options(deal="#7", countdown=0), "friday"))
        await ana.sees("friday")
        await ana.press("w" if watching else "1")
        await ana.comes_to("watch" if watching else "waiting")
        if not watching:
            await mira.start()
            await racing(mira)
            await ana.comes_to("race")
            await ana.until(lambda: ana.app.client.model.board is not None)
            await ana.press("x")
            await ana.app.client.resign()
        else:
            await mira.start()
            await racing(mira)
        await mira.resign()
        await ana.comes_to("results")
        await ana.sees("cards up over time")
        yield ana, mira


async def test_the_results_say_who_stands_where_and_that_the_deal_was_as_promised(server: str) -> None:
    async with raced(server) as (ana, _):
        await ana.sees("1 ", "ana (you)", "mira", "out", "Checked: the seed is the one committed to beforehand")
        assert ana.line("#header").startswith("samedeal ▸ Willow #7 ▸ room friday ▸ results")


async def test_the_record_is_kept_and_can_be_replayed(server: str, tmp_path: Path) -> None:
    async with raced(server) as (ana, _):
        (path,) = (tmp_path / "data").rglob("*.txt")
        await ana.sees("Your race:", path.name)
        record = Record.parse(path.read_text(encoding="utf-8"))
        board = ana.app.client.model.board
        assert board is not None
        assert record.replay().board.masked() == board.masked()


async def test_the_rematch_is_joined_and_who_is_there_already_is_said(server: str) -> None:
    async with raced(server) as (ana, mira):
        await mira.join(await mira.rematch())
        await ana.sees("The rematch is in room friday-2 with 1 player so far")
        await ana.press("m")
        await ana.comes_to("waiting")
        assert ana.room.room == "friday-2"
        assert ana.room.deal == "#8"


async def test_ones_bots_are_seen_to_be_on_the_way_to_the_rematch(server: str) -> None:
    async with raced(server) as (ana, mira):
        await mira.create(Options(), "elsewhere")
        crew = ana.app.crew
        bot = await crew.send("elsewhere", "random", "", taken=(), warn=ana.app.say)
        crew.follow("elsewhere", "friday")  # as if it had raced there
        await ana.press("m")
        await ana.comes_to("waiting")
        await ana.sees(bot, "on the way - out")
        await ana.press("-")
        await ana.until(lambda: bot not in ana.text())


async def test_the_rematch_is_a_click_away(server: str) -> None:
    async with raced(server) as (ana, mira):
        await mira.join(await mira.rematch())
        await ana.click("The rematch is in room")
        await ana.comes_to("waiting")


async def test_the_same_game_again_is_a_room_of_its_own_on_a_new_deal(server: str) -> None:
    options = Options(games=("steve",), deal="#7", countdown=0, undo="free", limit=77)
    async with raced(server, options=options) as (ana, _):
        await ana.press("n")
        await ana.comes_to("waiting")
        assert ana.room.room != "friday"
        assert ana.room.deal == "random"
        assert (ana.room.options.undo, ana.room.options.limit, ana.room.game) == ("free", 77, "steve")


async def test_the_same_deal_again_is_a_room_of_its_own(server: str) -> None:
    async with raced(server, options=Options(games=("steve",), deal="#7", countdown=0)) as (ana, _):
        await ana.press("a")
        await ana.comes_to("waiting")
        assert (ana.room.room != "friday", ana.room.deal, ana.room.game) == (True, "#7", "steve")


async def test_a_random_deal_is_none_that_can_be_had_again(server: str) -> None:
    async with raced(server, options=Options(deal="random", countdown=0)) as (ana, _):
        assert ana.line("#header").startswith("samedeal ▸ Willow, random deal ▸ room friday")
        await ana.press("a")
        await ana.sees("A random deal can't be dealt again: n opens a room on another one")


async def test_results_that_one_comes_to_later_draw_only_what_is_known(server: str) -> None:
    async with raced(server) as (ana, _), arriving(server, "caro") as caro:
        await caro.app.client.watch("friday")
        await caro.comes_to("results")
        await caro.sees("ana", "mira", "cards up over time")
        await ana.press("escape")
        await ana.comes_to("lobby")
        await ana.app.client.join("friday")
        await ana.comes_to("results")
        await ana.sees("ana (you)", "cards up over time")


async def test_escape_goes_to_the_lobby_which_has_the_results_still(server: str) -> None:
    async with raced(server) as (ana, mira):
        await mira.create(Options(), "lunch")
        await mira.join("lunch")
        await ana.press("escape")
        await ana.comes_to("lobby")
        await ana.sees("lunch", "finished", "⏎ results")
        await ana.press("enter")
        await ana.comes_to("results")


async def test_who_has_watched_sees_the_results_and_goes_on_watching(server: str) -> None:
    async with raced(server, options=Options(deal="#7", countdown=0, delay=0), watching=True) as (ana, mira):
        assert "Your race:" not in ana.text()
        await mira.join(await mira.rematch())
        await ana.press("m")
        await ana.comes_to("watch")
        assert ana.room.room == "friday-2"


# ---------------------------------------------------------------- help


async def test_the_help_is_turned_by_keys_and_by_mouse(server: str) -> None:
    async with arriving(server) as ana:
        await ana.press("f1")
        await ana.sees("In the lobby", "Moving cards takes two keys")
        await ana.press("right")
        await ana.sees("How to move in Athena")
        await ana.click("Hearts   Willow")
        await ana.sees("How to move in Willow")
        await ana.press("left")
        await ana.sees("How to move in Ace of Hearts")
        await ana.press("escape")
        await ana.sees("Quick start")


@pytest.mark.parametrize("way", ["keys", "wheel"])
async def test_the_help_is_scrolled_to_its_end_and_back(server: str, way: str) -> None:
    async with arriving(server) as ana:
        await ana.press("f1", "right")
        await ana.sees("How to move in Athena")
        screen = ana.app.screen
        assert isinstance(screen, SheetScreen)
        for _ in range(40):
            if "the end" in ana.text():
                break
            if way == "keys":
                await ana.press("pagedown")
            else:
                await ana.pilot._post_mouse_events([MouseScrollDown], offset=(10, 10))
        await ana.sees("TH is 10♥", "the end")
        await ana.press("home")
        await ana.sees("How to move in Athena")


async def test_help_over_any_screen_comes_back_to_it(server: str) -> None:
    async with raced(server) as (ana, _):
        await ana.press("f1")
        await ana.sees("When a race is over")
        await ana.press("escape")
        await ana.sees("cards up over time")


# ---------------------------------------------------------------- sizes and looks


async def test_the_help_can_be_left_in_a_window_that_is_just_large_enough_for_a_board(server: str) -> None:
    async with hosting(server, countdown=0) as ana:
        await ana.press("enter")
        await ana.comes_to("race")
        await ana.pilot.resize_terminal(57, 19)
        await ana.until(lambda: ana.app.client.model.board is not None)
        await ana.press("f1")
        await ana.sees("How to move in Willow")
        await ana.press("escape")
        await ana.until(lambda: "How to move" not in ana.text())


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 60)])
async def test_every_size_is_filled(server: str, size: tuple[int, int]) -> None:
    async with arriving(server, size=size) as ana:
        lines = ana.text().splitlines()
        assert len(lines) == size[1]
        assert "help" in lines[-1] or size[0] < 80
        assert "^Q quit" in lines[-1]
        assert max(map(len, lines)) <= size[0]


async def test_a_window_that_is_too_small_says_so_and_comes_back(server: str) -> None:
    async with arriving(server) as ana:
        await ana.pilot.resize_terminal(50, 10)
        await ana.sees("60 columns and")
        await ana.pilot.resize_terminal(100, 30)
        await ana.sees("Quick start")
        assert len(ana.text().splitlines()) == 30


async def test_a_resize_keeps_what_was_typed(server: str) -> None:
    async with arriving(server) as ana:
        await ana.press("n", "shift+tab", *"sesame")
        await ana.pilot.resize_terminal(120, 40)
        await ana.sees("sesame_")


async def test_ascii_is_ascii_on_every_screen(server: str) -> None:
    async with arriving(server, look=Look(ascii=True)) as ana:
        assert ana.text().isascii()
        await ana.press("n")
        await ana.sees("New room")
        assert ana.text().isascii()
        await ana.press("enter")
        await ana.comes_to("waiting")
        assert ana.text().isascii()
        await ana.press("f1")
        await ana.sees("In a room before its race")
        assert ana.text().isascii()


async def test_without_colour_there_is_none(server: str) -> None:
    async with arriving(server, look=Look(colour=False)) as ana, friend(server) as mira:
        await mira.create(Options(), "friday")
        await ana.sees("▸ 1 friday")
        for strip in ana.app.screen._compositor.render_strips():
            for segment in strip:
                style = segment.style
                assert style is None or style.color is None or style.color.is_default, segment
