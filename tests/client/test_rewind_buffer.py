"""The spectator's replay buffer."""

from __future__ import annotations

from samedeal.board_history import Play
from samedeal_client.state.model import WatchedBoard
from samedeal_client.state.rewind_buffer import MAX_BOARDS, RewindBuffer
from tests.client.boards import board

START = Play(board("willow", "1: AS 2S"))


def seen(at: int, revision: int = 0) -> WatchedBoard:
    return WatchedBoard(Play(START.board, revision=revision), at)


def test_boards_at_a_time_are_returned() -> None:
    buffer = RewindBuffer()
    frames = [seen(at, at) for at in (100, 200, 300)]
    for frame in frames:
        buffer.add({"ana": frame})
        buffer.add({"ana": frame})
    assert buffer.start == 100
    assert [buffer.at(time)["ana"] for time in (50, 100, 199, 200, 1_000)] == [
        frames[0],
        frames[0],
        frames[0],
        frames[1],
        frames[2],
    ]


def test_resent_board_replaces_later_ones() -> None:
    buffer = RewindBuffer()
    for at in (100, 200, 300):
        buffer.add({"ana": seen(at, at)})
    anew = seen(250, 9)
    buffer.add({"ana": anew})
    assert buffer.at(1_000)["ana"] is anew
    assert buffer.at(220)["ana"].time == 200


def test_oldest_boards_are_dropped() -> None:
    buffer = RewindBuffer()
    for at in range(1, MAX_BOARDS + 101):
        buffer.add({"ana": seen(at)})
    assert buffer.start == 101


def test_empty_buffer_starts_at_zero() -> None:
    assert RewindBuffer().start == 0
    assert RewindBuffer().at(5) == {}
