"""Cards in motion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.board import Board
from samedeal_client.board.draw_board import draw_board
from samedeal_client.board.layout import Layout, layout
from samedeal_client.board.motion import board_in_flight, flights, with_sprites
from samedeal_client.full_screen.widgets.board import BoardView
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_width
from tests.client.boards import board, reachable
from tests.client.referee import Referee, running_app
from tests.textual_internals import count_output

LOOK = Look()
SIZES = ((60, 17), (80, 21), (120, 37), (200, 57))


def places(now: Board, size: tuple[int, int] = (80, 21)) -> Layout:
    return layout(now.game, *size, panel=True)


@given(reachable(), st.sampled_from(SIZES))
def test_flying_cards_stay_inside_the_regions(now: Board, size: tuple[int, int]) -> None:
    at = places(now, size)
    for move in now.legal_moves()[:6]:
        after = now.play(move).board
        found = flights(now, after, LOOK, at)
        assert len(found) <= 4
        regions = {region.name: region for region in draw_board(board_in_flight(now, after, found), LOOK, at).regions}
        for progress in (0, 0.3, 0.7, 1):
            for region in with_sprites(regions, [flight.sprite(progress) for flight in found]).values():
                assert len(region.rows) <= region.place.height
                assert all(row_width(row) == region.place.width for row in region.rows)


async def test_motion_ends_in_the_same_picture() -> None:
    now = board("willow", "1: KH 9S | 2: TD | 3: 8H | 4: AS")
    shown = []
    for look in (Look(), Look(motion=True)):
        async with running_app(Referee("willow", board=now), look=look) as ui:
            await ui.press("1", "2", "4", "4")
            assert ui.acts == ["1 2", "4 0"]
            if not look.motion:
                shown.append(ui.text())
            await ui.wait_until(lambda: ui.text() == shown[0])


async def test_what_flies_can_be_clicked() -> None:
    async with running_app(
        Referee("willow", board=board("willow", "1: KH 9S | 2: TD | 3: 8H")), look=Look(motion=True)
    ) as ui:
        await ui.press("1", "2")
        await ui.drag("3", 0, "2")
        assert ui.acts == ["1 2", "3 2"]


async def test_won_board_ends_in_a_cascade() -> None:
    now = board("willow", "01: AS-QS | 02: AH-KH | 03: AD-KD | 04: AC-KC | 1: KS")
    async with running_app(Referee("willow", board=now), look=Look(motion=True)) as ui:
        await ui.press("1", "1")
        await ui.wait_until(lambda: ui.text().count("K♠") > 6)


@pytest.mark.parametrize(("size", "dark"), [((200, 60), False), ((120, 40), True)])
async def test_a_move_writes_at_most_6000_bytes(
    size: tuple[int, int], dark: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("TERM", "xterm-256color"), ("COLORTERM", "truecolor")):
        monkeypatch.setenv(name, value)
    look = Look(dark=dark, motion=True)
    now = board("ace-of-hearts", "1: KH QC JH TC 9H 8S 7D 6C 5D 4S | 2: JS | 3: QD | 4: JC | 5: 8D | 6: KC | 7: 9C")
    async with running_app(Referee("ace-of-hearts", board=now), size, look) as ui:
        count_output(ui.app)
        ui.app.screen.refresh()  # so that the client knows what the terminal shows, as after a real start
        await ui.settle()
        before = ui.app.terminal.written
        await ui.press("1", "6")
        view = ui.app.screen.query_one(BoardView)
        await ui.wait_until(lambda: view._timer is None)
        await ui.settle()
        assert ui.acts == ["1 6 x9"]
        assert 1_500 < ui.app.terminal.written - before < 6_000
