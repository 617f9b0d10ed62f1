"""Reviews: until when a deal could still be won."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from samedeal.moves import Move
from samedeal.solver.solve import Answer, Outcome
from samedeal_link.records.replay import LINE_STEP, RecordedRace
from samedeal_link.solving.losing_move import Review, actions_kept
from samedeal_link.solving.solver_process import SolverProcess, review
from tests.client.boards import dealt
from tests.golden.golden_files import assert_sentences
from tests.shared.playouts import won_record

WON, LOST, UNKNOWN = Outcome.WON, Outcome.UNWINNABLE, Outcome.UNDECIDED
LINE = (Move("1", "0"),)


def reviewed(outcomes: list[Outcome]) -> Review:
    """Review a play whose boards have these outcomes."""
    known = Review(tuple(range(len(outcomes))))
    while (index := known.next_index()) is not None:
        assert index not in known.answers
        known = known.with_answer(index, Answer(outcomes[index], LINE if outcomes[index] is WON else (), 1))
    return known


@given(st.integers(0, 300), st.integers(0, 300))
def test_review_finds_the_losing_move(won: int, lost: int) -> None:
    found = reviewed([WON] * won + [LOST] * lost + [LOST])
    assert (found.last_won, found.first_lost) == (won - 1, won)
    assert len(found.answers) <= 11
    assert found.line == (LINE if won else ())


@given(st.lists(st.sampled_from([WON, UNKNOWN]), max_size=40), st.lists(st.sampled_from([UNKNOWN, LOST]), max_size=40))
def test_review_makes_no_false_statement(before: list[Outcome], after: list[Outcome]) -> None:
    """The solver may be unable to decide any of the boards, but whatever the review says is true."""
    found = reviewed([*before, *after, LOST])
    assert found.last_won < len(before) <= found.first_lost
    assert found.last_won < 0 or before[found.last_won] is WON


def test_undone_actions_are_left_out() -> None:
    assert actions_kept(["1 2", "undo", "3 4", "5 6", "undo", "undo", "draw"]) == (0, 7)
    assert actions_kept([]) == (0,)


OUTCOMES = (
    [WON, WON, WON],
    [WON, WON, LOST, LOST],
    [LOST, LOST],
    [WON, UNKNOWN, UNKNOWN, LOST],
    [WON, UNKNOWN, UNKNOWN],
    [UNKNOWN, UNKNOWN],
    [UNKNOWN, LOST],
)


def test_wording_of_reviews() -> None:
    lines = [f"{', '.join(outcomes)}\t{reviewed(outcomes).sentence(['b', 'c', 'd', 'e'])}" for outcomes in OUTCOMES]
    assert_sentences("reviews of lost races", lines)


async def test_review_of_a_won_play_finds_its_end() -> None:
    """The solver runs in a process of its own. The line that it finds goes on from the player's board."""
    record = won_record("ace-of-hearts")
    race = RecordedRace(record)
    (track,) = race.tracks
    searches: list[int] = []
    plays, actions = track.plays[:-1], [action for _, action in record.actions[:-1]]
    found = await review(plays, actions, searches.append)
    assert found.last_won == len(actions)
    assert searches == list(range(1, len(searches) + 1))
    race.add_line(track, len(actions), found.line)
    (line,) = race.lines
    assert line.plays[-1].board.won
    assert line.times[-1] - track.times[-2] == LINE_STEP * len(found.line)


async def test_killed_worker_decides_nothing() -> None:
    async with SolverProcess() as solver:
        known = await solver.solve(dealt("willow", 3), 1)
        assert solver.process is not None
        solver.process.kill()
        assert (await solver.solve(dealt("willow", 3), 1)).outcome is UNKNOWN
    assert known.outcome in (WON, LOST, UNKNOWN)
