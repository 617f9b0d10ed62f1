"""What a player types in a line, understood on the board that it was typed for.

::

    3 5   35          column 3 to column 5; into an empty column the longest group
    3 5 x2   3 5 2    two cards of it
    3 0   3 3         to a foundation
    3                 to where it fits best
    w 4   q 0         the waste, a fan or the reserve, by its letter
    0 5   02 5        a foundation's top card back to column 5 (Steve); which one, where several fit
    draw deal d       Athena's draw or redeal, Steve's and Ace of Hearts' deal: whichever the game has
    undo u   up   hint   find TH   board   rivals   ready   start   resign   again   leave   help   quit

A letter that names a pile of the game is that pile: in Phoenix ``d`` and ``u`` are cards of the reserve.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from samedeal.board import Board
from samedeal.cards import Card
from samedeal.errors import IllegalMove, MalformedText, UnseenCard
from samedeal.games import Kind, Stock
from samedeal.moves import DEAL, DRAW, FOUNDATION, Move


class Word(Enum):
    """A command that is no move; the value is how it is typed."""

    UNDO = "undo"
    UP = "up"
    HINT = "hint"
    FIND = "find"
    BOARD = "board"
    RIVALS = "rivals"
    READY = "ready"
    START = "start"
    RESIGN = "resign"
    AGAIN = "again"
    LEAVE = "leave"
    HELP = "help"
    QUIT = "quit"


@dataclass(frozen=True)
class Command:
    """A command; ``card`` is the card to find."""

    word: Word
    card: Card | None = None


@dataclass(frozen=True)
class Choice:
    """Several moves that are meant as likely as each other: the player has to say which."""

    moves: tuple[Move, ...]


@dataclass(frozen=True)
class Mistake:
    """Not understood, or not legal: the sentence says why and what to type."""

    sentence: str


Understood = Move | Command | Choice | Mistake

_SHORT: Final = {
    "u": Word.UNDO,
    "?": Word.HINT,
    "b": Word.BOARD,
    "h": Word.HELP,
    "rematch": Word.AGAIN,
    "exit": Word.QUIT,
}
_WORDS: Final = {word.value: word for word in Word} | _SHORT
_STOCK_WORDS: Final = ("draw", "deal", "redeal", "d")

_COMPACT: Final = re.compile(r"(0[1-8](?=[0-9a-z])|[0-9a-z])([0-9a-z])(?:x?([1-9][0-9]?))?")
_SOURCE: Final = re.compile(r"0[1-8]|[0-9a-z]")
_TARGET: Final = re.compile(r"([0-9a-z])(?:x([1-9][0-9]?))?")
_COUNT: Final = re.compile(r"x?([1-9][0-9]?)")


def understand_command(text: str) -> Command | Mistake | None:
    """A command that needs no board; None when the text may be a move."""
    words = text.lower().split()
    if not words:
        return Mistake("Type a move, as in 3 5, or help")
    if words[0].startswith("/") and words != ["/"]:
        words = ["find", words[0][1:], *words[1:]]
    if words[0] in ("find", "/"):
        return _find(words[1:])
    if len(words) == 1 and words[0] in _WORDS:
        return Command(_WORDS[words[0]])
    return None


def understand(board: Board, text: str) -> Understood:
    """What a line means on this board: a legal move, a choice of them, a command, or the mistake in it."""
    words = text.lower().split()
    if len(words) == 1 and words[0] in board.game.index and len(words[0]) == 1:
        return _best(board, words[0])
    command = understand_command(text)
    if command is not None:
        return command
    if len(words) == 1 and words[0] in _STOCK_WORDS:
        return _checked(board, _stock_move(board, words[0]))
    parts = _parts(words)
    if parts is None:
        return Mistake(f"{text.strip()[:40]!r} is not understood: type two piles, as in 3 5 or 3 0, or help")
    source, target, count = parts
    if source == FOUNDATION:
        return _from_foundation(board, target)
    if target == source:
        target = FOUNDATION
    if count:
        return _checked(board, Move(source, target, count))
    return _longest(board, source, target)


def best_destination(board: Board, source: str) -> Move | None:
    """The move of a pile's cards that a player most likely means, None when they can't go anywhere that helps.

    A foundation before a column with cards, such a column before a fan, a fan before an empty column; and the longest
    group of those that fit.
    """
    moves = [move for move in board.legal_moves() if move.source == source and not board.is_null(move)]

    def rank(move: Move) -> tuple[int, int]:
        if move.target == FOUNDATION:
            return 3, 0
        at = board.game.index[move.target]
        if board.game.piles[at].kind is Kind.FAN:
            return 1, 0
        return (2 if board.piles[at] else 0), move.size

    return max(moves, key=rank, default=None)


def _best(board: Board, source: str) -> Move | Mistake:
    move = best_destination(board, source)
    if move is not None:
        return move
    kind = board.game.piles[board.game.index[source]].kind.value
    if not board.piles[board.game.index[source]]:
        return Mistake(f"There is nothing to move: the {kind} {source} is empty")
    return Mistake(f"No card of {kind} {source} can go anywhere that helps")


def _find(words: list[str]) -> Command | Mistake:
    try:
        return Command(Word.FIND, Card.parse("".join(words)))
    except MalformedText:
        return Mistake("Type find and a card: a rank (A 2-9 T J Q K) and a suit (C D H S), as in find TH")


def _stock_move(board: Board, word: str) -> Move:
    """What the game's stock does, by whichever word; where there is none the refusal names the word that was typed."""
    if board.game.stock is Stock.NONE:
        return DEAL if word == "deal" else DRAW
    return DRAW if board.game.stock is Stock.DRAW_THREE else DEAL


def _parts(words: list[str]) -> tuple[str, str, int] | None:
    """Source, target and count (0 where it is not given) of a move typed as one, two or three words."""
    if len(words) > 1 and _SOURCE.fullmatch(words[0]):
        target = _TARGET.fullmatch(words[1])
        if target is None or len(words) > 3 or (len(words) == 3 and target[2]):
            return None
        count = _count(words[2:]) if not target[2] else int(target[2])
        return None if count is None else (words[0], target[1], count)
    compact = _COMPACT.fullmatch(words[0])
    if compact is None or len(words) > 2 or (len(words) == 2 and compact[3]):
        return None
    count = int(compact[3]) if compact[3] else _count(words[1:])
    return None if count is None else (compact[1], compact[2], count)


def _count(words: list[str]) -> int | None:
    if not words:
        return 0
    match = _COUNT.fullmatch(words[0])
    return int(match[1]) if match else None


def _longest(board: Board, source: str, target: str) -> Move | Mistake:
    legal = [move for move in board.legal_moves() if move.source == source and move.target == target]
    if legal:
        return max(legal, key=lambda move: move.size)
    return _checked(board, Move(source, target))


def _from_foundation(board: Board, target: str) -> Understood:
    game = board.game
    if target == FOUNDATION:
        return Mistake("A card can't go from a foundation to a foundation")
    keys = [game.keys[at] for at in game.foundations]
    moves: dict[int, Move] = {}
    for key in keys:
        if board.is_legal(Move(key, target)):
            moves.setdefault(board.piles[game.index[key]][-1], Move(key, target))
    if len(moves) == 1:
        return next(iter(moves.values()))
    if moves:
        return Choice(tuple(moves.values()))
    filled = [key for key in keys if board.piles[game.index[key]]]
    return _checked(board, Move((filled or keys)[0], target))


def _checked(board: Board, move: Move) -> Move | Mistake:
    try:
        board.play(move)
    except UnseenCard:
        return move
    except IllegalMove as error:
        return Mistake(str(error))
    return move
