"""The choice of a bot's actions. Pure.

If the strategy of a bot finds no move, the bot undoes some moves, which is called a retreat. Then it tries other moves.
A retreat may cost foundation cards. So the bot returns to its best board before the race ends. It resigns only if there
is proof that it can't improve its result.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from samedeal.board_history import UNDO, Past, Play
from samedeal.cards import HIDDEN
from samedeal.moves import Move
from samedeal_client.bots.strategy import BotMemory, choose_move
from samedeal_client.state.bot_levels import Level
from samedeal_client.state.dead_end import is_dead_end, is_stuck_for_good

RESIGN: Final = "resign"
WAIT: Final = "wait"
"""Actions other than a move or an undo: to resign, and to do nothing more."""

UNDO_TIME: Final = 0.25
"""Time that a bot takes for an undo, as a share of the time for a move."""

_RETURN_MARGIN: Final = 3.0
"""Time between the bot's return to its best board and the end of the race, as a multiple of the time for a move."""

_CHECK_INTERVAL: Final = 10
"""Number of moves without a gain between two searches for a dead end."""

_MAX_SEARCHED: Final = 4000
"""Maximum number of moves tried in a search for a dead end. The search takes 30 ms."""

_FIRST_RETREAT: Final = (2.0, 6.0)
"""Minimum and maximum number of moves that are undone in the first retreat after a gain."""

_MAX_DOUBLINGS: Final = 2
"""Number of times that the length of the retreats doubles. Then the length stays the same until the next gain."""


@dataclass
class ActionChooser:
    """The state of a bot in one race, for the choice of its next action.

    A gain is a new maximum of cards on foundations, or a new minimum of hidden cards. ``retreats`` is the number of
    retreats since the last gain. ``undos_left`` is the number of moves that the current retreat still has to undo.
    ``best`` has the moves that led to the best board, with the most cards on foundations. ``is_returning`` is set once
    the bot returns to the best board for good.
    """

    level: Level
    memory: BotMemory
    foundation_cards: int = -1
    hidden: int = 104
    moves_without_gain: int = 0
    retreats: int = 0
    undos_left: int = 0
    best: tuple[Move, ...] = ()
    is_returning: bool = False

    def choose_action(self, play: Play, moves_left: float, *, from_deal: bool) -> Move | str:
        """Return a move, an undo, ``RESIGN`` or ``WAIT``. Call this before every action.

        ``moves_left`` is the number of moves for which the bot has time. ``from_deal`` is as in ``is_stuck_for_good``.
        """
        board = play.board.masked()
        self._note_gain(play)
        if from_deal and (action := self._way_back(play, moves_left)):
            return action
        if self.undos_left and play.why_no_undo is None:
            self.undos_left -= 1
            return UNDO
        self.undos_left = 0
        check_now = self.moves_without_gain % _CHECK_INTERVAL == _CHECK_INTERVAL - 1
        if not (check_now and is_dead_end(board, _MAX_SEARCHED)):
            move = choose_move(self.level, board, self.memory)
            if move is not None:
                return move
        if not (self.retreats and play.why_no_undo is None) and is_stuck_for_good(play, from_deal=from_deal):
            return RESIGN
        self.memory.detours = 0
        if play.why_no_undo is None:
            self._begin_retreat()
            return UNDO
        self.memory.visited.clear()
        legal = board.legal_moves()
        return choose_move(self.level, board, self.memory) or (self.memory.rng.choice(legal) if legal else RESIGN)

    def _note_gain(self, play: Play) -> None:
        cards, hidden = play.board.foundation_cards, sum(pile.count(HIDDEN) for pile in play.board.piles)
        if cards > self.foundation_cards:
            self.best = _path(play.past)
        if cards > self.foundation_cards or hidden < self.hidden:
            self.foundation_cards, self.hidden = max(cards, self.foundation_cards), min(hidden, self.hidden)
            self.moves_without_gain = self.retreats = 0
        else:
            self.moves_without_gain += 1

    def _way_back(self, play: Play, moves_left: float) -> Move | str | None:
        """Return the next action on the way back to the best board.

        Return None if the bot can't return, or has time for something else first. Return ``WAIT`` once the bot has
        returned.
        """
        if play.board.foundation_cards >= self.foundation_cards:
            return WAIT if self.is_returning else None
        path = _path(play.past)
        shared = next(at for at, (now, then) in enumerate(zip_longest(path, self.best)) if now != then)
        undos, moves = len(path) - shared, self.best[shared:]
        can_return = not undos or play.why_no_undo is None
        if not can_return or undos * UNDO_TIME + len(moves) + _RETURN_MARGIN < moves_left:
            return None
        self.is_returning = True
        return UNDO if undos else moves[0]

    def _begin_retreat(self) -> None:
        """Begin a retreat and choose its length. A bot that takes risks undoes more moves."""
        memory = self.memory
        length = memory.rng.uniform(*_FIRST_RETREAT) * memory.temperament.risk * 2 ** min(self.retreats, _MAX_DOUBLINGS)
        self.undos_left = max(round(length), 1) - 1
        self.retreats += 1
        self.moves_without_gain = 0


def _path(past: Past | None) -> tuple[Move, ...]:
    """Return the moves that led to a board, oldest first."""
    moves = []
    while past is not None:
        moves.append(past.step.move)
        past = past.before
    return tuple(reversed(moves))
