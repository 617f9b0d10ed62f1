"""The choice of a bot's actions. Pure.

In some games, patient and careful bots make long plans (``foresight``), and leave the choice to their strategy if they
find none. If the strategy of a bot finds no move, the bot thinks: it pauses, and tries moves and undos on an imagined
board. Once they lead to a gain, the bot undoes its own moves as far as necessary and makes the imagined ones. This may
cost foundation cards. So the bot returns to its best board before the race ends. It gives up if there is proof that it
can't improve its result, or if it has thought for a long time. An engine then resigns, and a bot says that it is stuck.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.cards import HIDDEN
from samedeal.laws.safe_cards import safe_move
from samedeal.laws.stuck import is_dead_end, is_stuck_for_good
from samedeal.moves import DEAL, Move
from samedeal.solver.line import Line
from samedeal_link.solving.bot_levels import Level
from samedeal_link.solving.foresight import lines_from
from samedeal_link.solving.strategy import BotMemory, choose_move

RESIGN: Final = "resign"
PAUSE: Final = "pause"
WAIT: Final = "wait"
"""Actions other than a move or an undo.

``RESIGN``: resign. ``PAUSE``: do nothing for the time of a move. ``WAIT``: do nothing until the race is over.
"""

UNDO_TIME: Final = 0.25
"""Time that a bot takes for an undo, as a share of the time for a move that needs a thought."""

_QUICK_TIME: Final = 0.2
"""Time that a bot takes for a draw, a deal or a safe card, as a share of the time for a move that needs a thought."""

_PLANNED_TIME: Final = 0.5
"""Time that a bot takes for the next move of a plan, as a share of the time for a move that needs a thought."""


_RETURN_MARGIN: Final = 3.0
"""Time between the bot's return to its best board and the end of the race, as a multiple of the time for a move."""

_CHECK_INTERVAL: Final = 10
"""Number of moves without a gain between two searches for a dead end."""

_MAX_SEARCHED: Final = 4000
"""Maximum number of moves tried in a search for a dead end. The search takes 30 ms."""

_MAX_UNDOS: Final = 20
"""Maximum number of moves that a bot undoes in a row to try other moves."""

_FREE_UNDOS: Final = 5
_MAX_UNDO_SHARE: Final = 0.5
"""Maximum number of undos in a race: ``_FREE_UNDOS``, plus this share of the moves made so far.

The way back to the best board, and to a board from which a long plan starts, is exempt.
"""

_NEEDED_SHARE: Final = 0.5
"""The part of a long plan that a bot must have time for, to go back for it: the plans after it will be shorter."""

_TRIES: Final[dict[Level, int]] = {"random": 0, "greedy": 12, "patient": 25, "careful": 25}
"""Maximum number of actions that a bot tries on the imagined board during a pause."""

_MAX_PAUSES: Final = 60
"""Number of pauses, one after another, after which a bot resigns. At the default pace they take three minutes."""

_FIRST_RETREAT: Final = (2.0, 6.0)
"""Minimum and maximum number of moves that are undone in the first retreat after a gain.

A number from this range is multiplied by the ``risk`` of the bot's temperament.
"""

_MAX_DOUBLINGS: Final = 2
"""Number of times that the length of the retreats doubles. Then the length stays the same until the next gain."""


@dataclass
class _Thoughts:
    """The thoughts of a bot whose strategy finds no move for ``play``.

    ``imagined`` is the play with which the bot tries moves. At first it is ``play`` itself. A retreat undoes the last
    moves of ``imagined``, but never one of its first ``kept_moves`` moves. ``undos_left`` is the number of moves that
    the current retreat still has to undo. ``pauses`` counts the pauses so far.
    """

    play: Play
    imagined: Play
    kept_moves: int
    undos_left: int = 0
    pauses: int = 0


@dataclass
class ActionChooser:
    """The state of a bot in one race, for the choice of its next action.

    A gain is a new maximum of cards on foundations, or a card that is turned up for the first time. ``retreats`` is the
    number of retreats since the last gain. ``best`` has the moves that led to the best board, with the most cards on
    foundations. ``is_returning`` is set once the bot returns to the best board for good. ``unforeseen`` is the number of
    hidden cards when the bot last found no long plan, and ``outlook`` has the play for which it looks for one, with the
    lines that are still to come. ``plan`` has the next actions, each with the masked board that it applies to.
    ``is_planned`` says whether the last action was one of a plan that the bot had made before.
    """

    level: Level
    memory: BotMemory
    foundation_cards: int = -1
    hidden: int = 104
    moves_without_gain: int = 0
    retreats: int = 0
    best: tuple[Move, ...] = ()
    is_returning: bool = False
    unforeseen: int = -1
    outlook: tuple[Play, Iterator[tuple[Play, Line]]] | None = None
    plan: list[tuple[Board, Move | str]] = field(default_factory=list)
    thoughts: _Thoughts | None = None
    is_planned: bool = False

    def choose_action(self, play: Play, moves_left: float, *, from_deal: bool) -> Move | str:
        """Return a move, an undo, ``RESIGN``, ``PAUSE`` or ``WAIT``. Call this before every action.

        ``moves_left`` is the number of moves for which the bot has time. ``from_deal`` says that ``play`` has every
        move since the deal.
        """
        play = play.masked()
        planned = [*self.plan[:1], *self.memory.line[:1]]
        action = self._choose(play, moves_left, from_deal=from_deal)
        self.is_planned = (play.board, action) in planned
        return action

    def time_for(self, action: Move | str, board: Board) -> float:
        """Return the time that the bot takes for the action just chosen, as a share of that for one that needs a thought."""
        if action == UNDO:
            return UNDO_TIME
        if isinstance(action, Move) and (not action.is_transfer or action == safe_move(board)):
            return _QUICK_TIME
        return _PLANNED_TIME if self.is_planned else 1

    def _choose(self, play: Play, moves_left: float, *, from_deal: bool) -> Move | str:
        """Return the next action, as ``choose_action`` does. The cards of ``play`` that the bot has not seen are hidden."""
        self._note_gain(play)
        if self.plan and self.plan[0][0] == play.board:
            return self.plan.pop(0)[1]
        if from_deal and (action := self._way_back(play, moves_left)):
            return action
        if self.level in ("patient", "careful") and (action := self._foreseen(play, moves_left)):
            return action
        if self.thoughts is None or self.thoughts.play.board != play.board:
            if (move := self._useful_move(play.board)) is not None:
                return move
            if is_stuck_for_good(play, from_deal=from_deal):
                return RESIGN
            if play.why_no_undo is not None:
                return self._any_move(play.board) or RESIGN
            made = play.moves - play.undos
            most_undos = min(_FREE_UNDOS + int(_MAX_UNDO_SHARE * play.moves) - play.undos, _MAX_UNDOS)
            self.thoughts = _Thoughts(play, play, made - most_undos)
        return self._think(self.thoughts, moves_left)

    def _note_gain(self, play: Play) -> None:
        cards, hidden = play.board.foundation_cards, sum(pile.count(HIDDEN) for pile in play.board.piles)
        if cards > self.foundation_cards:
            self.best = play.line
        if cards > self.foundation_cards or hidden < self.hidden:
            self.foundation_cards, self.hidden = max(cards, self.foundation_cards), min(hidden, self.hidden)
            self.moves_without_gain = self.retreats = 0

    def _foreseen(self, play: Play, moves_left: float) -> Move | str | None:
        """Return the first action of a plan that wins if the hidden cards lie as guessed.

        First the bot looks at the whole stock, if it may undo that. Return ``PAUSE`` as long as there are earlier boards
        to look at. Return None if there is no plan, and until another card is turned up.
        """
        foresight = play.board.game.file.bots.foresight
        made, hidden = play.line, sum(pile.count(HIDDEN) for pile in play.board.piles)
        if not foresight or hidden == self.unforeseen:
            return None
        if play.undo_rule is Undo.FREE and not play.undos and set(made) <= {DEAL}:
            if play.board.stock_action == DEAL:
                return DEAL
            if made:
                return self._follow(play, ())
        if self.outlook is None or self.outlook[0] != play:
            self.outlook = play, lines_from(play, round(1000 * foresight), self.memory.rng)
        for start, line in self.outlook[1]:
            undos = start.undos - play.undos
            if not line:
                return PAUSE
            if not undos or undos * UNDO_TIME + _NEEDED_SHARE * len(line) < moves_left:
                return self._follow(play, (*start.line, *line))
        self.unforeseen = hidden
        return None

    def _way_back(self, play: Play, moves_left: float) -> Move | str | None:
        """Return the next action on the way back to the best board.

        Return None if the bot can't go back, or has time for something else first. Return ``WAIT`` once it is back.
        """
        if play.board.foundation_cards >= self.foundation_cards:
            return WAIT if self.is_returning else None
        undos, moves = _route(play, self.best)
        can_return = not undos or play.why_no_undo is None
        if not can_return or undos * UNDO_TIME + len(moves) + _RETURN_MARGIN < moves_left:
            return None
        self.is_returning = True
        return UNDO if undos else moves[0]

    def _useful_move(self, board: Board) -> Move | None:
        """Return the move that the strategy chooses. Return None if there is none.

        Also return None if a search proves that no move helps.
        """
        self.moves_without_gain += 1
        check_now = self.moves_without_gain % _CHECK_INTERVAL == 0
        if check_now and is_dead_end(board, _MAX_SEARCHED):
            return None
        return choose_move(self.level, board, self.memory)

    def _any_move(self, board: Board) -> Move | None:
        """Return a move, even one to a board that the bot has visited before. Return None if no move is legal."""
        self.memory.visited.clear()
        legal = board.legal_moves()
        return choose_move(self.level, board, self.memory) or (self.memory.rng.choice(legal) if legal else None)

    def _think(self, thoughts: _Thoughts, moves_left: float) -> Move | str:
        """Try actions on the imagined board, and return the first action on the way to a gain.

        If no gain is found, return ``PAUSE``, or ``RESIGN`` after many pauses.
        """
        for _ in range(_TRIES[self.level]):
            imagined = thoughts.imagined
            action = self._imagined_action(thoughts)
            if action is None:
                break
            if isinstance(action, Move) and imagined.board.turns_up(action):
                return self._begin_plan(thoughts.play, (*imagined.line, action), moves_left)
            thoughts.imagined = imagined.act(action)
            if thoughts.imagined.board.foundation_cards > self.foundation_cards:
                return self._begin_plan(thoughts.play, thoughts.imagined.line, moves_left)
        thoughts.pauses += 1
        is_best = thoughts.play.board.foundation_cards == self.foundation_cards
        return RESIGN if is_best and thoughts.pauses > _MAX_PAUSES else PAUSE

    def _imagined_action(self, thoughts: _Thoughts) -> Move | str | None:
        """Return the next action to try on the imagined board, or None if there is none."""
        imagined = thoughts.imagined
        can_undo = imagined.why_no_undo is None and imagined.moves - imagined.undos > thoughts.kept_moves
        if thoughts.undos_left and can_undo:
            thoughts.undos_left -= 1
            return UNDO
        thoughts.undos_left = 0
        if (move := self._useful_move(imagined.board)) is not None:
            return move
        self.memory.detours = 0
        if can_undo:
            thoughts.undos_left = self._retreat_length() - 1
            return UNDO
        return self._any_move(imagined.board)

    def _begin_plan(self, play: Play, path: tuple[Move, ...], moves_left: float) -> Move | str:
        """Plan to get to the board after the moves of ``path``, and return the first action.

        Return ``PAUSE`` if there is too little time to get there and back.
        """
        self.thoughts = None
        undos, moves = _route(play, path)
        if (undos + len(moves)) * (1 + UNDO_TIME) + _RETURN_MARGIN > moves_left:
            return PAUSE
        return self._follow(play, path)

    def _follow(self, play: Play, path: tuple[Move, ...]) -> Move | str:
        """Plan to follow ``path``, the moves from the deal, until a card turns up. Return the first action."""
        self.thoughts, self.plan = None, []
        undos, moves = _route(play, path)
        for _ in range(undos):
            self.plan.append((play.board, UNDO))
            play = play.act(UNDO)
        for move in moves:
            self.plan.append((play.board, move))
            if play.board.turns_up(move):
                break  # the board after it is unknown
            play = play.act(move)
        return self.plan.pop(0)[1]

    def _retreat_length(self) -> int:
        """Return the number of moves to undo in the next retreat. A bot that takes risks undoes more moves."""
        memory = self.memory
        first = memory.rng.uniform(*_FIRST_RETREAT) * memory.temperament.risk
        length: float = first * 2 ** min(self.retreats, _MAX_DOUBLINGS)
        self.retreats += 1
        self.moves_without_gain = 0
        return max(round(length), 1)


def _route(play: Play, path: tuple[Move, ...]) -> tuple[int, tuple[Move, ...]]:
    """Return how many moves to undo, and which moves to make then, to get to the board after the moves of ``path``."""
    made = play.line
    shared = next((at for at, (now, then) in enumerate(zip_longest(made, path)) if now != then), len(path))
    return len(made) - shared, path[shared:]
