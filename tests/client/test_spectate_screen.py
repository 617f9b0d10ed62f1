"""The spectator screen in several games and sizes. ``test_race_screen`` presses its keys."""

from __future__ import annotations

import re

import pytest

from samedeal.options import MAX_SEATS
from samedeal.protocol.messages import Watching
from samedeal_client.panels.live_ranking import delayed_ranking
from samedeal_client.text.appearance import Look
from samedeal_link.model.model import Model
from tests.client.boards import board, golden_position
from tests.client.referee import Referee, running_app
from tests.golden.golden_files import assert_golden
from tests.shared.playouts import FAMILIES

RIVALS = ("mira", "k0ji", "bert", "caro", "dora", "emil", "fritz")


def test_late_spectator_sees_ties_in_the_players_order() -> None:
    referee = Referee("willow", board=board("willow", "1: AS | 2: AH 2S | 3: KC"))
    for player in ("p3", "p2"):
        referee.time += 1_000
        _ = referee.rival_acts(player, "1 0")
    referee.time += 60_000
    model = Model().after(Watching(to=1, room=referee.room, delay=15))
    for message in (referee.state(), *referee.delayed_boards()):
        model = model.after(message)
    ranking = delayed_ranking(model, model.watched, referee.time)
    assert [(each.place, each.name) for each in ranking] == [(1, "k0ji"), (2, "mira"), (3, "ana")]


@pytest.mark.parametrize("game", FAMILIES)
async def test_screens_match_golden_files(game: str) -> None:
    """The boards of all players in each game. A single board and ASCII are the same in all games."""
    text = ""
    whole = game == FAMILIES[0]
    for size, look in (((80, 24), Look()), ((120, 40), Look()), ((80, 24), Look(ascii=True, colour=False)))[
        : 2 + whole
    ]:
        referee = Referee(game, board=golden_position(game, "middle"), rivals=RIVALS[: 3 if size[0] == 80 else 7])
        async with running_app(referee, size, look, watch=True) as ui:
            for player in ("p2", "p3"):
                referee.time += 1_000
                await referee.receive(referee.rival_acts(player, referee.held.play(player).board.legal_moves()[0]))
            await ui.settle()
            text += f"== {size[0]}x{size[1]}{' in ASCII' if look.ascii else ''}\n{ui.text()}"
            if whole:
                await ui.press("1")
                text += f"== {size[0]}x{size[1]}{' in ASCII' if look.ascii else ''}, one board\n{ui.text()}"
    assert_golden(f"screens/watch/{game}.txt", text)


def crowd_of(game: str) -> Referee:
    """A race of 64."""
    rivals = tuple(f"racer-{seat:02}" for seat in range(2, MAX_SEATS + 1))
    return Referee(game, board=golden_position(game, "middle"), rivals=rivals)


async def test_crowd_matches_its_golden_screens() -> None:
    text = ""
    for watch in (True, False):
        for width, height in ((80, 24), (120, 40)):
            referee = crowd_of("willow")
            async with running_app(referee, (width, height), watch=watch) as ui:
                referee.time += 1_000
                for player in [racer.player for racer in referee.held.race.racers][-3:]:
                    act = referee.held.play(player).board.legal_moves()[0]
                    await (
                        referee.receive(referee.rival_acts(player, act)) if watch else referee.rival_moves(player, act)
                    )
                await ui.settle()
                if height == 24:
                    text += f"== {'watched' if watch else 'raced'}\n{ui.text()}"
                assert all(len(line) <= width for line in ui.text().splitlines())
    assert_golden("screens/crowd.txt", text)


async def test_spectator_pages_through_a_crowd_and_shows_a_board_by_its_key() -> None:
    async with running_app(crowd_of("willow"), watch=True) as ui:
        seen: dict[str, str] = {}
        for _ in range(MAX_SEATS):
            seen |= {name: key for key, name in re.findall(r"\[(.)\] (\S+)", ui.text())}
            await ui.press("pagedown")
        assert len(seen) == MAX_SEATS
        name, key = f"racer-{MAX_SEATS}", seen[f"racer-{MAX_SEATS}"]
        await ui.press(key)
        assert f"[{key}] {name}" in ui.text()
        assert "all boards" in ui.text()
