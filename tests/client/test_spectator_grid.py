from __future__ import annotations

import pytest

from samedeal.board_history import Play
from samedeal_client.panels.race_feed import RankedPlayer
from samedeal_client.panels.spectator_grid import cell_head, last_move_text
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from samedeal_link.model.model import WatchedBoard
from tests.client.boards import golden_position


@pytest.mark.parametrize(("width", "shown"), [(40, True), (21, True), (20, False), (12, False)])
def test_heading_shows_a_whole_move_or_none(width: int, shown: bool) -> None:
    board = golden_position("willow", "middle")
    play = Play(board).act(board.legal_moves()[0])
    assert play.last is not None
    ana = RankedPlayer(1, "ana", 0, 52)
    text = row_text(cell_head(ana, "1", WatchedBoard(play, 0), Look(), width))
    assert (last_move_text(play.board, play.last, Look()) in text, "▸" in text) == (shown, shown)
