"""The spectator screen: the grid, one board alone, and the delay."""

from __future__ import annotations

import pytest

from samedeal.protocol.messages import Leave, Watching
from samedeal_client.net.link_events import Lost
from samedeal_client.state.model import Model
from samedeal_client.text.appearance import Look
from samedeal_client.views.live_ranking import delayed_ranking
from tests.client.boards import board, golden_position
from tests.client.referee import START, Referee, RunningApp, running_app
from tests.golden.golden_files import assert_golden, assert_sentences
from tests.shared.playouts import FAMILIES

RIVALS = ("mira", "k0ji", "bert", "caro", "dora", "emil", "fritz")


async def moves(ui: RunningApp, player: str, *actions: str, interval: int = 1_000) -> None:
    """Make a player's moves one after another, and send them to the spectator."""
    for action in actions:
        ui.referee.time += interval
        await ui.referee.deliver(ui.referee.rival_acts(player, action))
    await ui.settle()


def watching(text: str = "1: AS | 2: AH 2S | 3: KC", rivals: tuple[str, ...] = ("mira", "k0ji")) -> Referee:
    return Referee("willow", board=board("willow", text), rivals=rivals)


def test_late_spectator_sees_ties_in_the_players_order() -> None:
    referee = watching()
    for player in ("p3", "p2"):
        referee.time += 1_000
        _ = referee.rival_acts(player, "1 0")
    referee.time += 60_000
    model = Model().after(Watching(to=1, room=referee.room, delay=15))
    for message in (referee.state(), *referee.delayed_boards()):
        model = model.after(message)
    ranking = delayed_ranking(model, model.watched, referee.time)
    assert [(each.rank, each.name) for each in ranking] == [(1, "k0ji"), (2, "mira"), (3, "ana")]


async def test_number_shows_one_board_alone() -> None:
    async with running_app(watching(), watch=True) as ui:
        await moves(ui, "p3", "1 0")
        await ui.press("3")
        assert "[3] k0ji: A♠ 1▸0" in ui.text()
        assert "RACE  3 players" in ui.text()
        await ui.press("down")
        assert "[1] ana" in ui.message
        await ui.press("up", "up")
        assert "[2] mira" in ui.message
        await ui.press("0")
        assert "RACE" not in ui.text()


async def test_news_of_the_watched_race_is_shown() -> None:
    async with running_app(watching("1: AS | 01: AH 2H 3H 4H"), watch=True) as ui:
        await moves(ui, "p3", "1 0")
        assert ui.message.endswith(f"{ui.news('lead', 'p3')}.")
        await ui.press("1")
        assert ui.news("lead", "p3") in ui.text()


async def test_click_on_a_board_shows_it_alone() -> None:
    async with running_app(watching(), watch=True) as ui:
        await ui.pilot.click("#board-grid", offset=(60, 2))
        await ui.settle()
        assert "[2] mira" in ui.message


async def click_key(ui: RunningApp, word: str) -> None:
    """Click on a word of the key hints."""
    await ui.pilot.click("#keys", offset=(ui.line("#keys").index(word) + 1, 0))
    await ui.settle()


async def test_click_on_a_key_hint_presses_it_once() -> None:
    async with running_app(watching(), watch=True) as ui:
        await moves(ui, "p3", "1 0", "2 0", interval=12_000)
        ui.referee.time += 15_000
        await click_key(ui, "show one")
        assert "[3] k0ji" in ui.message
        for shown in ("[1] ana", "[2] mira"):
            await click_key(ui, "other player")
            assert shown in ui.message


async def test_ten_is_written_as_on_a_board_with_room_for_it() -> None:
    async with running_app(watching("1: TS | 2: JH | 3: KC"), (120, 40), watch=True) as ui:
        await moves(ui, "p3", "1 2")
        assert "10♠ 1▸2" in ui.text()
        assert "T♠" not in ui.text()
        await ui.press("3")
        assert "10♠ 1▸2" in ui.message


@pytest.mark.parametrize("key", ["l", "q"])
async def test_leaving_leads_to_the_lobby(key: str) -> None:
    async with running_app(watching(), watch=True) as ui:
        await ui.press(key)
        await ui.wait_until(lambda: ui.screen == "LobbyScreen")
        assert any(isinstance(request, Leave) for request in ui.referee.requests)


@pytest.mark.parametrize("game", ["steve", "willow"])
async def test_boards_fit_after_any_resize(game: str) -> None:
    async with running_app(Referee(game, board=golden_position(game, "middle"), rivals=RIVALS), watch=True) as ui:
        for width, height in [(120, 40), (40, 12), (80, 24), (10, 3), (160, 50)]:
            for key in ("2", "0"):
                await ui.press(key)
                await ui.resize(width, height)
                assert all(len(line) <= width for line in ui.text().splitlines())


@pytest.mark.parametrize("game", FAMILIES)
async def test_screens_match_golden_files(game: str) -> None:
    """Regenerate with REGENERATE=1 pytest tests/client/test_spectate_screen.py, then check every screen by eye."""
    text = ""
    for size, look in (((80, 24), Look()), ((80, 24), Look(ascii=True, colour=False)), ((120, 40), Look())):
        referee = Referee(game, board=golden_position(game, "middle"), rivals=RIVALS[: 3 if size[0] == 80 else 7])
        async with running_app(referee, size, look, watch=True) as ui:
            for player in list(referee.plays)[:2]:
                await moves(ui, player, str(referee.plays[player].board.legal_moves()[0]))
            text += f"== {size[0]}x{size[1]}{' in ASCII' if look.ascii else ''}\n{ui.text()}"
            await ui.press("1")
            text += f"== {size[0]}x{size[1]}{' in ASCII' if look.ascii else ''}, one board\n{ui.text()}"
    assert_golden(f"screens/watch/{game}.txt", text)


async def test_wording_of_messages_to_spectators() -> None:
    countdown = Referee("willow", phase="countdown")
    countdown.time = START - 2_000
    countdown.delayed_boards = list  # type: ignore[method-assign]
    async with running_app(countdown, watch=True) as ui:
        assert "mira" in ui.text()
        lines = [("countdown", ui.text().splitlines()[2].strip())]
        countdown.phase, countdown.time = "racing", START + 5_000
        await countdown.deliver(countdown.state())
        await ui.settle()
        lines += [("before the first board", ui.text().splitlines()[2].strip())]
    async with running_app(watching(), watch=True) as ui:
        lines += [("order of the boards", ui.message)]
        for case, keys in (("unknown key", "x"), ("no such board", "7"), ("order beside one board", "1s")):
            await ui.press(*keys)
            lines += [(case, ui.message)]
        await ui.resize(60, 16)
        assert "1-3 show one" in ui.line("#keys")
        lines += [("window too small for one board", ui.message)]
        await ui.resize(100, 30)
        ui.referee.hold_answers()
        await ui.referee.events.put(Lost("The connection was cut", 3.0))
        await ui.settle()
        await ui.press("l")
        lines += [("no connection", ui.message)]
    assert_sentences("spectator screen", [f"{case}\t{sentence}" for case, sentence in lines])
