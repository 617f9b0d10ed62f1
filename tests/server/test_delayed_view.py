"""Boards for spectators are delayed and masked, in whatever order actions arrive."""

from __future__ import annotations

from itertools import accumulate
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    boards = DelayedBoards(DEALT, Undo.FREE, STARTS, DELAY, dict.fromkeys(logs, STARTS))
    for player, log in logs.items():
        for entry in log:
            boards.add(player, entry.revision, entry.action, entry.committed_at)
    return boards


def replayed(taken: list[str]) -> Play:
    play = Play(DEALT, Undo.FREE)
    for action in taken:
        play = play.act(action)
    return play


def followed(shown: Shown, player: str = "ana") -> tuple[int, Board]:
    """Return the revision of a player's board, and the board, as the client of a spectator shows it after all messages."""
    model = Model(room=room_state("friday", Options(games=("athena",)), ()))
    for message in shown:
        model = model.after(message)
        assert not model.missed_move
    play = model.watched[player].play
    return play.revision, play.board


STEPS = st.lists(st.tuples(st.sampled_from(["ana", "bob"]), st.integers(-300, 900)), max_size=60)
"""Who acts next, and how many milliseconds after the action before. The clock may be set back meanwhile."""

PAUSES = st.lists(st.integers(0, 4000), min_size=1, max_size=20)
"""Milliseconds between the times at which boards are released."""


@given(STEPS, PAUSES, st.integers(0, 9))
def test_spectator_sees_what_was_done_before_the_delay_and_nothing_else(
    steps: list[tuple[str, int]], pauses: list[int], seed: int
) -> None:
    """Whenever boards are released, an early spectator and one who comes then see the same: all that is due.

    If the clock was set back, an action is shown with the actions before it.
    """
    taken = {name: actions(60, seed + at) for at, name in enumerate(("ana", "bob"))}
    boards = delayed_boards(ana=[], bob=[])
    due: list[tuple[int, str]] = []
    time, latest = STARTS, {"ana": STARTS, "bob": STARTS}
    for name, later in steps:
        time = max(STARTS, time + later)
        latest[name] = max(latest[name], time)
        due.append((latest[name] + DELAY, name))
        revision = [each for _, each in due].count(name)
        assert boards.add(name, revision, taken[name][revision - 1], time)
    shown: Shown = []
    for now in accumulate(pauses, initial=STARTS + DELAY - 1):
        released = boards.release_due(now)
        shown += released
        if now < STARTS + DELAY:
            assert (shown, boards.boards(), boards.next_at()) == ([], [], STARTS + DELAY)
            continue
        times = [message.time for message in released if isinstance(message, DelayedMove)]
        assert times == sorted(times)
        assert boards.next_at() == min((at for at, _ in due if at > now), default=None)
        for name in taken:
            count = sum(at <= now and each == name for at, each in due)
            expected = (count, replayed(taken[name][:count]).board.masked())
            assert followed(shown, name) == followed(boards.boards(), name) == expected


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
