"""The law of hints: what a client suggests on a board, judged by the cards that the player sees.

The search is limited by states and not by time, and nothing in it is random. So every client gives the same hint on the
same board, however slow it is.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from samedeal.board import Board
from samedeal.cards import FACE, HIDDEN, IN_SUITS
from samedeal.deal import shuffled
from samedeal.laws.safe_cards import deals_first, safe_move
from samedeal.laws.stuck import way_on
from samedeal.moves import DEAL, Move
from samedeal.solver.line import Line
from samedeal.solver.solve import Outcome, nearest

STATES: Final = 20_000
"""Maximum number of states that are searched for a hint. Python takes half a second, and a phone about two."""

DEAL_FIRST: Final = "It is best to see all the cards before you move any."
"""The reason for dealing first (``deals_first``)."""

GUESS: Final = "A guess: some cards are hidden."
"""The reason for a move that may lose the race, because the hint does not know all cards."""


class Hint(NamedTuple):
    """The moves that a hint suggests, up to the first one that turns up an unseen card.

    There are none if no move is known to help. ``is_lost`` says that the board is proven to be lost. Even then moves are
    suggested, because foundation cards count if nobody wins. ``reason`` is a sentence about the moves, or empty.
    """

    moves: Line
    is_lost: bool = False
    reason: str = ""

    @property
    def move(self) -> Move | None:
        """The suggested move, or None."""
        return self.moves[0] if self.moves else None

    def along(self, board: Board) -> dict[Board, Hint]:
        """Return the hint, and what is left of it on the later boards of its moves. It was given on ``board``."""
        known = {}
        for at, move in enumerate(self.moves):
            known[board] = self._replace(moves=self.moves[at:])
            if not board.turns_up(move):
                board = board.play(move).board
        return known


def hint(board: Board, states: int = STATES) -> Hint:
    """Return the hint for a masked board, after a search of at most ``states``.

    It is, in this order:

    1. the next deal of a stock that is best dealt out first,
    2. the way to a win that the solver finds, if the hidden cards lie as guessed,
    3. a safe move to a foundation,
    4. the way to the state that looks best to the solver,
    5. the shortest way to turn up a card, or to have more cards on the foundations.
    """
    if board.won:
        return Hint(())
    if deals_first(board.game) and board.stock:
        return Hint((DEAL,), reason=DEAL_FIRST)
    hides = any(HIDDEN in pile for pile in board.piles)
    reason = GUESS if hides else ""
    answer = nearest(guessed(board), states)
    is_lost = answer.outcome is Outcome.UNWINNABLE and not hides
    if answer.outcome is not Outcome.WON and (move := safe_move(board)):
        return Hint((move,), is_lost)
    line = answer.line or way_on(board, board.foundation_cards) or ()
    return Hint(_until_card(board, line), is_lost, reason)


def guessed(board: Board) -> Board:
    """Return a board with the cards that are not seen in the place of hidden ones, as they lie in one shuffled deck."""
    game = board.game
    cards = list(shuffled(bytes(32), game.decks).translate(IN_SUITS[game.file.suits]))
    for code in b"".join(board.piles):
        if code != HIDDEN:
            cards.remove(code & FACE)
    piles = (bytes(HIDDEN | cards.pop() if code == HIDDEN else code for code in pile) for pile in board.piles)
    return Board(game, tuple(piles))


def _until_card(board: Board, line: Line) -> Line:
    """Return the moves of a line up to the first one that turns up an unseen card on a masked board."""
    for at, move in enumerate(line, 1):
        if board.turns_up(move):
            return line[:at]
        board = board.play(move).board
    return line
