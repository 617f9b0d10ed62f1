from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samedeal.board import Board
from samedeal.cards import pile_text
from samedeal.deal import Deal
from samedeal.game import Game
from samedeal.games import GAMES
from samedeal.laws.safe_cards import safe_cards
from samedeal.moves import Move
from samedeal.solver.estimate import Estimate, weights_of
from samedeal.solver.line import moves_along, wins
from samedeal.solver.search import Search
from samedeal.solver.solve import FIRST_LIMIT, Answer, Outcome, solve
from samedeal.solver.states import TOPS, StateSpace
from tests.golden.golden_files import HERE, assert_answers, assert_golden
from tests.shared.javascript import evaluate, needs_node
from tests.shared.late_boards import exhaustive_search, late_board, late_boards
from tests.shared.playouts import COVERING, boards, numbered
from tests.shared.positions import position
from tests.shared.sixth_game import HAMLET

BUDGET = 1500
SOME_GAMES = [*(GAMES[game] for game in COVERING), HAMLET]
FEW = settings(max_examples=20)


def outcome(board: Board, budget: int, *, settles: bool) -> Outcome:
    space = StateSpace(board.game, board.stock)
    if not settles:
        space.has_safe_cards = space.joins_runs = False
    search = Search(space, Estimate(board.game, weights_of(board.game)[0]), space.state(board))
    found = search.run(budget)
    if found is None:
        return Outcome.UNDECIDED
    if found:
        assert wins(board, moves_along(space, board, found))
        return Outcome.WON
    return Outcome.UNWINNABLE


def assert_agrees_with_engine(board: Board) -> None:
    """Compare the solver with a search by the rules alone, which knows no canonical states and no safe moves."""
    answer = solve(board, BUDGET)
    winnable = exhaustive_search(board, 400)
    assert answer.outcome is not (Outcome.UNWINNABLE if winnable else Outcome.WON) or winnable is None
    assert wins(board, answer.line) == (answer.outcome is Outcome.WON)


def test_late_board_agrees_with_engine() -> None:
    for game in SOME_GAMES:
        FEW(given(late_boards(game, 26))(assert_agrees_with_engine))()


@FEW
@given(st.integers(0, 2**20), st.integers(60, 104))
def test_board_full_of_cards_agrees_with_engine(seed: int, left: int) -> None:
    assert_agrees_with_engine(late_board(GAMES["steve"], left, seed))


DEAD = [
    *(("phoenix", number) for number in (0, 1, 2, 3, 8, 9, 11, 12, 13, 16, 21, 27, 44, 46, 48, 53, 58)),
    *(("athena", number) for number in (7, 41, 50, 51)),
    ("willow", 25),
]


def test_dead_deal_agrees_with_engine() -> None:
    for game, number in DEAD:
        board = numbered(GAMES[game], number)
        assert solve(board, 10_000).outcome is Outcome.UNWINNABLE
        assert exhaustive_search(board, 20_000) is False


def test_safe_cards_are_recognized() -> None:
    def answer(_: str, tops: str) -> str:
        text = " | ".join(
            f"0{at}: A{top[1]}-{top}".replace(f"A{top[1]}-A", "A") for at, top in enumerate(tops.split(), 1)
        )
        board = position("phoenix", text).board
        return pile_text(safe_cards(board.game, StateSpace(board.game, b"").state(board)[TOPS])[0])

    assert_answers("safe_cards", answer)


SETTLED = [game for game in (*GAMES.values(), HAMLET) if StateSpace(game, b"").has_safe_cards]


@given(st.sampled_from(SETTLED), st.data())
def test_settling_does_not_change_the_answer(game: Game, data: st.DataObject) -> None:
    board = data.draw(late_boards(game, 30))
    outcomes = {outcome(board, BUDGET, settles=settles) for settles in (True, False)}
    assert len(outcomes - {Outcome.UNDECIDED}) <= 1


def test_run_goes_to_cells_as_a_whole() -> None:
    """The two hearts on the ace of spades go nowhere else, and there are too few cells to reach the six of hearts."""
    board = position(
        "seahaven-towers",
        "01: AC-KC | 02: AD-KD | 03: AH 2H | q: QH | w: TH | 1: AS 5H 4H | 2: KS JS 9S 7S 5S 3S"
        "| 3: KH JH 9H 8H 7H 6H 3H QS TS 8S 6S 4S 2S",
    ).board
    assert solve(board, BUDGET).outcome is Outcome.WON


def test_runs_are_joined_only_where_cells_are_all_there_is_aside() -> None:
    games = [str(game) for game in GAMES.values() if StateSpace(game, b"").joins_runs]
    assert games == ["bakers-game", "eight-off", "seahaven-towers"]


def test_card_on_a_fan_may_have_to_stay() -> None:
    """Only on the fan can the 3 of diamonds be put. If the 3 of clubs leaves first, the board is dead."""
    board = position(
        "willow",
        "01: AC 2C | 02: AD | 03: AH-KH | 04: AS-KS | q: 4D 3C | 1: 2D 3D"
        "| 2: 4C 5C KD | 3: 5D 6C QD | 4: 6D 7C JD | 5: 7D 8C TD | 6: TC 9C 9D | 7: ... JC QC KC 8D",
    ).board
    assert solve(board, BUDGET).outcome is Outcome.WON
    assert solve(board.play(Move("q", "0")).board, BUDGET) == Answer(Outcome.UNWINNABLE, (), 1)


def test_verdicts_about_freecell_are_the_known_ones() -> None:
    """Of the 32,000 deals of Microsoft's FreeCell, only #11982 can't be won."""

    def answer(_: str, dealt: str) -> str:
        columns = "\n".join(f"{key}: {cards}" for key, cards in enumerate(dealt.split(" | "), 1))
        return solve(Board.parse(f"freecell\n{columns}"), 100_000).outcome

    assert_answers("freecell", answer)


def test_postponed_moves_are_tried_in_the_end() -> None:
    """These boards can only be won with a card taken off a foundation, or with a run divided."""
    for left, seed in [(28, 636800), (37, 363392), (60, 319316)]:
        assert solve(late_board(GAMES["steve"], left, seed), BUDGET).outcome is Outcome.WON


@FEW
@given(boards())
def test_line_of_any_board_is_played_by_the_engine(board: Board) -> None:
    answer = solve(board, 300)
    assert wins(board, answer.line) == (answer.outcome is Outcome.WON)
    assert not answer.line or answer.outcome is Outcome.WON


def test_larger_budget_only_adds_answers() -> None:
    board = numbered(GAMES["athena"], 5)
    answer = solve(board, 5000)
    assert answer.outcome is Outcome.WON
    assert answer.states > 3 * FIRST_LIMIT
    assert solve(board, answer.states) == answer
    assert solve(board, answer.states - 1).outcome is Outcome.UNDECIDED


def test_won_board_needs_no_moves() -> None:
    board = late_board(GAMES["willow"], 1, 1)
    line = solve(board, 10).line
    assert len(line) == 1
    assert solve(board.play(line[0]).board, 10) == Answer(Outcome.WON, (), 1)


def test_board_with_hidden_cards_is_refused() -> None:
    with pytest.raises(ValueError, match="hidden cards"):
        solve(numbered(GAMES["athena"], 1).masked(), 10)


def answers() -> str:
    lines = []
    for game in GAMES.values():
        for number in range(1, 5):
            answer = solve(numbered(game, number), BUDGET)
            moves = ", ".join(map(str, answer.line))
            lines.append(f"{game} #{number}: {answer.outcome}, {answer.states} states{moves and ': '}{moves}")
    return "\n".join(lines) + "\n"


def test_answers_match_golden_file() -> None:
    """Deals depend on these answers. If one changes, raise ``SOLVER``."""
    assert_golden("solver.txt", answers())


HARD = [
    *(("athena", 22, 5000), ("steve", 37, 5000), ("phoenix", 38, 5000), ("willow", 25, 5000), ("klondike", 4, 5000)),
    *(("freecell", 3, 5000), ("spider", 2, 5000), ("yukon", 9, 5000)),
]
"""Deals of games with a budget that finds more than that of the golden file."""


@needs_node
def test_javascript_gives_the_same_answers() -> None:
    known = re.findall(r"^(\S+) #(\d): (\w+), (\d+) states", (HERE / "solver.txt").read_text(), re.MULTILINE)
    expected = {(game, int(number), BUDGET): (outcome, int(states)) for game, number, outcome, states in known}
    assert {game for game, _, _ in expected} == set(GAMES)
    for game, number, budget in HARD:
        answer = solve(numbered(GAMES[game], number), budget)
        expected[game, number, budget] = (answer.outcome, answer.states)
    given = [(game, Deal("number", number=number).public_seed().hex(), budget) for game, number, budget in expected]
    board = "deal(GAMES[game], seedCards(unhex(seed), GAMES[game].decks))"
    found = evaluate(f"given.map(([game, seed, budget]) => solve(game, {board}, budget))", given)
    answers = ((answer["outcome"], answer["states"]) for answer in found)
    assert dict(zip(expected, answers, strict=True)) == expected


def test_answers_do_not_depend_on_hashes() -> None:
    program = (
        "from samedeal.solver.solve import solve; from samedeal.board import Board; from samedeal.games import GAMES\n"
        "from samedeal.deal import Deal, shuffled\n"
        f"for game in map(GAMES.get, {COVERING}):\n"
        "    seed = Deal('number', number=3).public_seed()\n"
        f"    print(repr(solve(Board.deal(game, shuffled(seed, game.decks)), {BUDGET})))\n"
    )
    environment = os.environ | {"PYTHONHASHSEED": "1"}
    told = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    here = [repr(solve(numbered(GAMES[game], 3), BUDGET)) for game in COVERING]
    assert told.stdout.splitlines() == here
    assert Deal("number", number=3).public
