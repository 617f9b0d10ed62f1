"""Long plans of careful bots: lines from guessed boards, retreats, and a look at the stock."""

from __future__ import annotations

from random import Random

import pytest
from msgspec import structs

from samedeal.board_history import UNDO, Play, Undo
from samedeal.game import Game
from samedeal.game_file import BotTable
from samedeal.games import GAMES
from samedeal.moves import DEAL, Move
from samedeal.solver.line import wins
from samedeal_bots.action_choice import PAUSE, ActionChooser
from samedeal_link.solving.foresight import lines_from, shortened
from samedeal_link.solving.strategy import BotMemory
from tests.client.boards import board
from tests.shared.playouts import numbered

RUNS = [" ".join(f"{rank}{suit}" for rank in "KQJT98765432A") for suit in "CCDDHHS"]
LAST = "1: [5S] 4S 3S 2S AS | 2: KS QS JS TS 9S 8S 7S 6S"
END = board("spider", " | ".join([LAST, *(f"0{number}: {run}" for number, run in enumerate(RUNS, 1))]))
SPIDER = Game("spider", structs.replace(GAMES["spider"].file, bots=BotTable(foresight=1.0)))


@pytest.mark.parametrize(("rule", "undos"), [(Undo.FREE, [0, 2]), (Undo.NO_REVEAL, [0])])
def test_lines_start_from_boards_that_undos_reach(rule: Undo, undos: list[int]) -> None:
    play = Play(END, rule).act("1 3 x4").act("1 4").masked()
    found = list(lines_from(play, 1000, Random(1)))
    assert [start.undos for start, _ in found] == undos
    assert all(wins(start.board, line) for start, line in found)


@pytest.mark.parametrize("needless", [["1 3 x4", "3 4 x4"], ["2 5 x8", "5 2 x8", "1 4 x4"], ["1 4 x4", "2 3", "3 2"]])
def test_shortened_line_has_no_needless_moves(needless: list[str]) -> None:
    line = tuple(map(Move.parse, [*needless, "1 2", "4 2 x4", "2 0 x13"]))
    short = shortened(END, line)
    assert wins(END, line)
    assert wins(END, short)
    assert len(short) == 4


@pytest.mark.parametrize("rule", [Undo.FREE, Undo.NO_REVEAL])
def test_bot_looks_at_the_stock_first_if_it_may_undo(rule: Undo) -> None:
    play, chooser = Play(numbered(SPIDER, 1), rule), ActionChooser("careful", BotMemory(Random(1), 20))
    made: list[Move | str] = []
    while len(made) < 10:
        action = chooser.choose_action(play, 300, from_deal=True)
        if action != PAUSE:
            made.append(action)
            play = play.act(action)
    assert (made == [DEAL] * 5 + [UNDO] * 5) == (rule is Undo.FREE)
    assert (UNDO in made) == (rule is Undo.FREE)
