"""The actions of bots whose strategy finds no move."""

from __future__ import annotations

from random import Random

import pytest

from samedeal.board_history import UNDO, Play, Undo
from samedeal.laws.stuck import is_stuck_for_good
from samedeal.moves import Move
from samedeal_bots.action_choice import PAUSE, RESIGN, UNDO_TIME, WAIT, ActionChooser
from samedeal_link.solving.bot_levels import Level
from samedeal_link.solving.strategy import BotMemory
from samedeal_link.solving.temperament import Temperament
from tests.client.boards import board, dealt, with_other_hidden_cards

DISTINCT: tuple[Level, ...] = ("random", "greedy", "careful")
"""The levels that choose differently: patient bots choose like careful ones."""


def actions(
    level: Level, play: Play, most: int, seed: int = 1, time: float = 1e6
) -> tuple[list[Move | str], Play, bool]:
    """Let a bot act or pause up to ``most`` times, or for as long as ``time`` moves take.

    Return its actions, the play, and whether the bot resigned.
    """
    rng = Random(seed)
    bot = ActionChooser(level, BotMemory(rng, 200, Temperament.random(rng)))
    made: list[Move | str] = []
    for _ in range(most):
        if play.board.won:
            break
        action = bot.choose_action(play, time, from_deal=True)
        if action in (RESIGN, WAIT):
            return made, play, action == RESIGN
        time -= UNDO_TIME if action == UNDO else 1
        if action != PAUSE:
            made.append(action)
            play = play.act(action)
    return made, play, False


@pytest.mark.parametrize("level", DISTINCT)
@pytest.mark.parametrize(
    ("game", "position"),
    [
        ("athena", "1: 9H | 2: 9D | 3: 9S | 4: 9C | 5: 7H | 6: 7D | 7: 7S | w: 2C 3C 4D"),
        ("ace-of-hearts", "1: KH 2S | 2: KD 4C | 3: QS KC | 4: 4D JH | 5: KS | 6: 6S | 7: 8S"),
        ("phoenix", "1: KH TC 9H | 2: JD | 3: TS | 4: KD 3S | 5: KC 4S | 6: KS 5C"),
    ],
)
def test_bot_resigns_soon_at_a_proven_dead_end(level: Level, game: str, position: str) -> None:
    made, play, has_resigned = actions(level, Play(board(game, position)), 100)
    assert has_resigned
    assert len(made) <= 60
    assert is_stuck_for_good(play, from_deal=True)


@pytest.mark.parametrize("level", ["greedy", "careful"])
def test_bot_undoes_its_way_out_of_a_dead_end(level: Level) -> None:
    made, _, has_resigned = actions(level, Play(dealt("willow", 4), Undo.FREE), 80)
    assert not has_resigned
    assert UNDO in made


@pytest.mark.parametrize("game", ["athena", "klondike", "spider-two", "yukon"])
@pytest.mark.parametrize("level", DISTINCT)
def test_bot_acts_alike_whatever_the_hidden_cards_are(level: Level, game: str) -> None:
    """Until it turns up one of them, it makes the same moves in the same time."""
    plays = [Play(dealt(game, 1), Undo.FREE), Play(with_other_hidden_cards(dealt(game, 1)), Undo.FREE)]
    bots = [ActionChooser(level, BotMemory(Random(1), 200, Temperament.random(Random(1)))) for _ in plays]
    assert plays[0] != plays[1]
    while True:
        made = [bot.choose_action(play, 100, from_deal=True) for bot, play in zip(bots, plays, strict=True)]
        assert made[0] == made[1]
        times = [bot.time_for(made[0], play.board) for bot, play in zip(bots, plays, strict=True)]
        assert times[0] == times[1]
        if not isinstance(made[0], Move) or plays[0].board.turns_up(made[0]):
            break
        plays = [play.act(made[0]) for play in plays]
