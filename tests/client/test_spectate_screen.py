"""Watching on the screen: boards small and large, late, and as long ago as one likes."""

from __future__ import annotations

import os

import pytest

from samedeal.board import Board
from samedeal.cards import Card
from samedeal.games import GAMES
from samedeal.protocol.messages import Leave
from samedeal_client.text.look import Look
from tests.client.boards import SCREENS, board, kept
from tests.client.referee import START, Referee, Sitting, sitting

RIVALS = ("mira", "k0ji", "bert", "caro", "dora", "emil", "fritz")


async def moves(table: Sitting, player: str, *actions: str, after: int = 1_000) -> None:
    """A player makes moves, one after another, and the spectator is told."""
    for action in actions:
        table.referee.time += after
        await table.referee.tell(table.referee.rival_acts(player, action))
    await table.settle()


def watching(text: str = "1: AS | 2: AH 2S | 3: KC", rivals: tuple[str, ...] = ("mira", "k0ji")) -> Referee:
    return Referee("willow", board=board("willow", text), rivals=rivals)


async def test_all_boards_are_shown_late() -> None:
    async with sitting(watching(), watch=True) as table:
        text = table.text()
        assert "shown 15 s late" in table.line("#header")
        assert "00:45" in table.line("#header")
        for name in ("ana", "mira", "k0ji"):
            assert f"{name} " in text
        assert text.count("K♣") == 3


async def test_moves_are_seen_and_the_order_follows() -> None:
    async with sitting(watching(), watch=True) as table:
        await moves(table, "p3", "1 0", "2 0")
        text = table.text()
        assert " 1 k0ji ▸ 2 0 (2♠)" in text
        assert text.index("k0ji") < text.index("mira")
        assert "2/52" in text


async def test_one_board_large() -> None:
    async with sitting(watching(), watch=True) as table:
        await moves(table, "p3", "1 0")
        await table.press("1")
        assert " 1 k0ji ▸ 1 0 (A♠)" in table.text()
        assert "RACE  3 players" in table.text()
        await table.press("down")
        assert "2 ana" in table.sentence
        await table.press("up", "up")
        assert "3 mira" in table.sentence
        await table.press("0")
        assert "RACE" not in table.text()


async def test_a_click_on_a_board_shows_it_large() -> None:
    async with sitting(watching(), watch=True) as table:
        await table.pilot.click("#gallery", offset=(60, 2))
        await table.settle()
        assert "2 mira" in table.sentence


async def test_the_order_can_be_another() -> None:
    async with sitting(watching(), watch=True) as table:
        await moves(table, "p3", "1 0")

        def order() -> list[str]:
            text = table.text()
            return sorted(("ana", "mira", "k0ji"), key=text.index)

        assert order() == ["k0ji", "ana", "mira"]
        await table.press("s")
        assert (table.sentence, order()) == ("by seat", ["ana", "mira", "k0ji"])
        await table.press("s")
        assert (table.sentence, order()) == ("by name", ["ana", "k0ji", "mira"])
        await table.press("s")
        assert table.sentence == "by pace"
        await table.press("s")
        assert table.sentence == "by place"


async def test_back_in_time_and_live_again() -> None:
    async with sitting(watching(), watch=True) as table:
        await moves(table, "p3", "1 0", "2 0", after=12_000)
        table.referee.time += 15_000
        await table.press("left")
        assert "01:14 played, 25 s ago" in table.line("#header")
        assert "k0ji ▸ 1 0 (A♠)" in table.text()
        await table.press("left")
        assert "k0ji  " in table.text()
        await table.press("right")
        assert "k0ji ▸ 1 0 (A♠)" in table.text()
        await table.press("n")
        assert "01:24 played, shown 15 s late" in table.line("#header")
        assert "k0ji ▸ 2 0 (2♠)" in table.text()


async def test_no_further_back_than_there_is_something_to_see() -> None:
    async with sitting(watching(), watch=True) as table:
        await moves(table, "p3", "1 0")
        await table.press(*["left"] * 20)
        assert "s ago" not in table.line("#header")


async def test_more_boards_than_fit_are_on_pages() -> None:
    async with sitting(Referee("steve", rivals=RIVALS), (80, 20), watch=True) as table:
        first = table.text()
        assert "page 1 of 2" in table.sentence
        assert "ana" in first
        await table.press("pagedown")
        assert "page 2 of 2" in table.sentence
        assert "ana" not in table.text()
        assert "fritz" in table.text()
        await table.press("pageup")
        assert "page 1 of 2" in table.sentence


async def test_before_the_race_who_is_there() -> None:
    referee = Referee("willow", phase="countdown")
    referee.time = START - 2_000
    referee.late_boards = list  # type: ignore[method-assign]
    async with sitting(referee, watch=True) as table:
        assert "The race starts in 2 s." in table.text()
        assert "mira" in table.text()
        referee.phase, referee.time = "racing", START + 5_000
        await referee.tell(referee.state())
        await table.settle()
        assert "The boards are shown 15 s late: the first in 10 s." in table.text()


async def click_key(table: Sitting, word: str) -> None:
    """Click on a word of the line of keys."""
    await table.pilot.click("#keys", offset=(table.line("#keys").index(word) + 1, 0))
    await table.settle()


async def test_a_click_on_a_key_is_that_key_once() -> None:
    async with sitting(watching(), watch=True) as table:
        await moves(table, "p3", "1 0", "2 0", after=12_000)
        table.referee.time += 15_000
        await click_key(table, "one board")
        assert "1 k0ji" in table.sentence
        for shown in ("2 ana", "3 mira"):
            await click_key(table, "next")
            assert shown in table.sentence
        await click_key(table, "10 s back")
        assert "25 s ago" in table.line("#header")


async def test_which_order_boards_have_is_said_where_it_is_not_seen() -> None:
    async with sitting(watching(), watch=True) as table:
        await table.press("1", "s")
        assert table.sentence == "The boards are sorted by seat now"


async def test_what_means_nothing_is_answered() -> None:
    async with sitting(watching(), watch=True) as table:
        await table.press("x")
        assert table.sentence == "x does nothing here: F1 lists the keys"
        await table.press("7")
        assert table.sentence == "There is no board to be seen at that number"


async def test_the_help_is_there() -> None:
    async with sitting(watching(), watch=True) as table:
        await table.press("f1")
        assert table.screen == "HelpScreen"
        await table.press("escape")
        assert table.screen == "SpectateScreen"


async def test_a_ten_is_called_as_the_board_below_shows_it() -> None:
    async with sitting(watching("1: TS | 2: JH | 3: KC"), watch=True) as table:
        await moves(table, "p3", "1 2")
        assert "1 2 (T♠)" in table.text()
        await table.press("3")
        assert "1 2 (10♠)" in table.sentence


@pytest.mark.parametrize("key", ["l", "q"])
async def test_leaving(key: str) -> None:
    async with sitting(watching(), watch=True) as table:
        await table.press(key)
        assert isinstance(table.referee.asked[-2], Leave) or isinstance(table.referee.asked[-1], Leave)
        assert table.screen == "LobbyScreen"


async def test_quitting_asks_nothing() -> None:
    async with sitting(watching(), watch=True) as table:
        await table.press("ctrl+q")
        assert table.app._exit


async def test_a_board_that_no_longer_fits_alone_is_shown_small_again() -> None:
    async with sitting(watching(), (80, 24), watch=True) as table:
        await table.press("1")
        await table.pilot.resize_terminal(60, 16)
        await table.settle()
        assert "1-3 one board" in table.line("#keys")
        assert table.sentence.startswith("One board alone needs")


@pytest.mark.parametrize("game", GAMES)
async def test_any_size_at_any_moment(game: str) -> None:
    async with sitting(Referee(game, board=kept(game, "middle"), rivals=RIVALS), watch=True) as table:
        for width, height in [(120, 40), (40, 12), (80, 24), (10, 3), (160, 50)]:
            for key in ("2", "0"):
                await table.press(key)
                await table.pilot.resize_terminal(width, height)
                await table.settle()
                assert all(len(line) <= width for line in table.text().splitlines())


@pytest.mark.parametrize("game", GAMES)
async def test_small_boards_hold_every_top_card(game: str) -> None:
    async with sitting(Referee(game, board=kept(game, "deepest"), rivals=()), (80, 24), watch=True) as table:
        text = table.text()
        now: Board = kept(game, "deepest")
        for at in (*now.game.columns, *now.game.fans):
            if now.piles[at]:
                assert Look().short(Card(now.piles[at][-1])) in text


@pytest.mark.parametrize("game", GAMES)
async def test_screens_look_as_kept(game: str) -> None:
    """To keep new ones: REGENERATE=1 pytest tests/client/test_spectate_screen.py, then look at every one of them."""
    text = ""
    for size, look in (((80, 24), Look()), ((80, 24), Look(ascii=True, colour=False)), ((120, 40), Look())):
        referee = Referee(game, board=kept(game, "middle"), rivals=RIVALS[: 3 if size[0] == 80 else 7])
        async with sitting(referee, size, look, watch=True) as table:
            for player in list(referee.plays)[:2]:
                await moves(table, player, str(referee.plays[player].board.legal_moves()[0]))
            text += f"== {size[0]}x{size[1]}{' in ASCII' if look.ascii else ''}\n{table.text()}"
            await table.press("1")
            text += f"== {size[0]}x{size[1]}{' in ASCII' if look.ascii else ''}, one board\n{table.text()}"
    path = SCREENS / "watch" / f"{game}.txt"
    if os.environ.get("REGENERATE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
