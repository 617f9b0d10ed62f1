"""Games of books that need policies which no released game has: they are drawn, explained, and played alike everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.cards import DOWN, FACE
from samedeal.deal import Deal, shuffled
from samedeal.game_rules import sections_of
from samedeal.solver.solve import solve
from samedeal_client.board.draw_board import draw_board
from samedeal_client.board.layout import layout, smallest
from samedeal_client.text.appearance import Look
from tests.client.pictures import text_of
from tests.golden.golden_files import assert_golden
from tests.shared.javascript import answer_of_page, needs_node
from tests.shared.playouts import numbered, playout
from tests.shared.unreleased_games import UNRELEASED

pytestmark = pytest.mark.usefixtures("unreleased")


@pytest.mark.parametrize("name", UNRELEASED)
def test_rules_and_smallest_board_match_the_golden_file(name: str) -> None:
    game = UNRELEASED[name]
    lines = [f"{section.title}: {point.text}" for section in sections_of(game) for point in section.points]
    width, height = smallest(game)
    boards = [numbered(game, 4), [board for board, _ in playout(game, 4, 150)][-1]]
    pictures = [text_of(draw_board(board, Look(ascii=True), layout(game, width, height))) for board in boards]
    assert_golden(f"unreleased/{name}.txt", "\n\n".join(["\n".join(lines), f"{width}x{height}", *pictures]) + "\n")


@needs_node
def test_page_deals_plays_and_solves_as_python_does(tmp_path: Path) -> None:
    given, expected = [], []
    seed = Deal("number", number=2).public_seed()
    for game in UNRELEASED.values():
        first = Board.deal(game, shuffled(seed, game.decks))
        answer = solve(first, 4500)
        play = Play(first, Undo.FREE)
        boards, moves = [], []
        for step in range(40):
            boards.append([list(pile) for pile in play.board.masked().piles])
            moves.append(sorted(str(move) for move in play.board.legal_moves() if move.is_transfer))
            if not (legal := list(play.board.legal_moves())):
                break
            play = play.act(legal[step * 7 % len(legal)])
        given.append([game.name, seed.hex(), boards])
        piles = [[card & (DOWN | FACE) for card in pile] for pile in first.piles]
        expected.append([piles, {"outcome": answer.outcome, "states": answer.states}, moves])
    for name, found, wanted in zip(UNRELEASED, answer_of_page("playing.plays", tmp_path, given), expected, strict=True):
        found[1].pop("path", None)  # of a deal that is won
        for part, here, there in zip(("dealt", "solved", "moves"), found, wanted, strict=True):
            assert here == there, (name, part)
