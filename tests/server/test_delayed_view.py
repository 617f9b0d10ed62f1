"""Boards for spectators are delayed and masked, in whatever order actions arrive."""

from __future__ import annotations

from random import Random

import pytest

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.deal import shuffled
from samedeal.games import game_named
from samedeal.options import Options
from samedeal.protocol.messages import DelayedBoard, DelayedMove
from samedeal_link.model.model import Model
from samedeal_server.races.delayed_view import ACTIONS_PER_RELEASE, DelayedBoards
from samedeal_server.races.log_entry import LogEntry
from tests.client.server_messages import room_state

SEED = bytes(range(32))
STARTS = 100_000
DELAY = 15_000
ATHENA = game_named("athena")
DEALT = Board.deal(ATHENA, shuffled(SEED, 1))

Shown = list[DelayedBoard | DelayedMove]


def actions(count: int, seed: int = 1, *, undo: bool = True) -> list[str]:
    """Return ``count`` random actions on a deal of Athena. Some are undos, unless ``undo`` is false."""
    rng = Random(seed)
    play = Play(DEALT, Undo.FREE)
    taken: list[str] = []
    while len(taken) < count:
        action = UNDO if undo and play.last and rng.random() < 0.2 else str(rng.choice(play.board.legal_moves()))
        play = play.act(action)
        taken.append(action)
    return taken


def entries(taken: list[str], *, every: int = 1000) -> list[LogEntry]:
    return [
        LogEntry(number, number, action, b"", 0, 0, 0, STARTS + every * number)
        for number, action in enumerate(taken, 1)
    ]


def delayed_boards(**logs: list[LogEntry]) -> DelayedBoards:
    boards = DelayedBoards(DEALT, Undo.FREE, STARTS, DELAY, logs)
    for player, log in logs.items():
        for entry in log:
            boards.add(player, entry.revision, entry.action, entry.committed_at)
    return boards


def replayed(taken: list[str]) -> Play:
    play = Play(DEALT, Undo.FREE)
    for action in taken:
        play = play.act(action)
    return play


def followed(shown: Shown) -> tuple[int, Board]:
    """Return the revision of ana's board, and the board, as the client of a spectator shows it after all messages."""
    model = Model(room=room_state("friday", Options(games=("athena",)), ()))
    for message in shown:
        model = model.after(message)
        assert not model.missed_move
    play = model.watched["ana"].play
    return play.revision, play.board


def test_nothing_is_released_before_the_delay() -> None:
    boards = delayed_boards(ana=[])
    assert boards.boards() == []
    assert boards.next_at() == STARTS + DELAY
    assert boards.release_due(STARTS + DELAY - 1) == []
    assert boards.boards() == []
    (shown,) = boards.release_due(STARTS + DELAY)
    assert shown == DelayedBoard(player="ana", revision=0, piles=DEALT.masked().piles, moves=0, undos=0, time=STARTS)
    assert boards.boards() == [shown]


def test_actions_are_released_in_order_of_time() -> None:
    boards = delayed_boards(ana=[], bob=[])
    boards.release_due(STARTS + DELAY)
    assert boards.next_at() is None
    ana, bob = actions(2, 1, undo=False), actions(1, 2, undo=False)
    assert boards.add("ana", 1, ana[0], STARTS + 10)
    assert boards.add("ana", 2, ana[1], STARTS + 30)
    assert boards.add("bob", 1, bob[0], STARTS + 20)
    assert boards.next_at() == STARTS + 10 + DELAY
    assert boards.release_due(STARTS + 9 + DELAY) == []
    shown = boards.release_due(STARTS + 30 + DELAY)
    assert [(message.player, message.revision, message.time - STARTS) for message in shown] == [
        *(("ana", 1, 10), ("bob", 1, 20), ("ana", 2, 30))
    ]


@pytest.mark.parametrize("late", [0, 1, 7, 20, 40])
def test_late_spectator_gets_boards_and_then_moves(late: int) -> None:
    taken = actions(40)
    boards = delayed_boards(ana=entries(taken))
    boards.release_due(STARTS + DELAY + 1000 * late)
    shown = boards.boards()
    assert followed(shown) == (late, replayed(taken[:late]).board.masked())
    shown += boards.release_due(STARTS + DELAY + 1000 * 40)
    assert followed(shown) == (40, replayed(taken).board.masked())


@pytest.mark.parametrize("late", [0, 60, 120, 199])
def test_late_spectator_gets_the_progress_so_far(late: int) -> None:
    """Even if the boards are built late. A move down from a foundation, and an undo, take progress back."""
    taken = actions(200, seed=7)
    counts = [replayed(taken[:number]).board.foundation_cards for number in range(late + 1)]
    rises = [number for number in range(1, late + 1) if counts[number] > counts[number - 1]]
    expected = tuple(
        1000 * max(number for number in rises if counts[number - 1] < card <= counts[number])
        for card in range(1, counts[late] + 1)
    )
    boards = delayed_boards(ana=entries(taken))
    boards.release_due(STARTS + DELAY + 1000 * late)
    (shown,) = boards.boards()
    assert isinstance(shown, DelayedBoard)
    assert shown.reached == expected


def test_repeated_action_is_ignored_and_a_gap_reported() -> None:
    first, second, third = actions(3, undo=False)
    boards = delayed_boards(ana=[])
    assert boards.add("ana", 1, first, STARTS + 1)
    assert boards.add("ana", 1, first, STARTS + 1)
    assert not boards.add("ana", 3, third, STARTS + 3)
    assert not boards.add("bob", 1, first, STARTS + 3)
    assert boards.newest("ana") == 1
    assert boards.newest("bob") == -1
    assert boards.add("ana", 2, second, STARTS + 2)
    assert boards.add("ana", 3, third, STARTS + 3)
    assert followed(boards.release_due(STARTS + DELAY + 3))[0] == 3


def test_clock_set_back_keeps_moves_in_order() -> None:
    taken = actions(6, undo=False)
    assert len(set(taken)) > 1
    boards = delayed_boards(ana=[])
    boards.release_due(STARTS + DELAY)
    for number, action in enumerate(taken, 1):
        boards.add("ana", number, action, STARTS + 5000 - number)
    shown = boards.release_due(STARTS + 5000 + DELAY)
    assert [message.action for message in shown if isinstance(message, DelayedMove)] == taken


def test_large_backlog_is_released_in_slices() -> None:
    """Invariant: everything is bounded. No client slows another one down."""
    count = 3 * ACTIONS_PER_RELEASE + 1
    taken = actions(count)
    boards = delayed_boards(ana=entries(taken, every=1))
    for _ in range(3):
        assert boards.release_due(STARTS + DELAY + count) == []
        assert boards.behind
        assert boards.boards() == []
    shown = boards.release_due(STARTS + DELAY + count)
    assert not boards.behind
    assert followed(shown) == (count, replayed(taken).board.masked())


def test_moves_that_fall_behind_are_released_as_boards() -> None:
    count = ACTIONS_PER_RELEASE + 1
    taken = actions(count + 1, undo=False)
    boards = delayed_boards(ana=entries(taken, every=1))
    shown = boards.release_due(STARTS + DELAY)
    assert boards.release_due(STARTS + DELAY + count) == []
    assert boards.behind
    shown += boards.release_due(STARTS + DELAY + count)
    assert [type(message) for message in shown] == [DelayedBoard, DelayedBoard]
    shown += boards.release_due(STARTS + DELAY + count + 1)
    assert isinstance(shown[-1], DelayedMove)
    assert followed(shown) == (count + 1, replayed(taken).board.masked())
