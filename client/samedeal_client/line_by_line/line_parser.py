"""Parser of the lines that a player types in the line client. A line is parsed for the board that the player sees.

::

    3 5   35          column 3 to column 5, as many cards as fit
    3 5 x2   3 5 2    two of its cards
    3 0   3 3         to a foundation
    3                 to the most useful target
    w 4   q 0         the waste, a fan or the reserve, by its letter
    0 5   02 5        from a foundation back to column 5; 02 is the second foundation, if cards of several fit
    draw deal d       the game's draw or deal, whichever it has

    undo u   collect   hint   find TH   board   rivals   ready   start   resign   again   leave   help   quit
    device   report NAME   mute NAME

A letter that names a pile of the game always means that pile, even ``d`` or ``u``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from samedeal.board import Board
from samedeal.cards import Card
from samedeal.errors import MalformedText
from samedeal_client.input.intended_move import Intent, Rejected, best_move, move_between, stock_move


class Word(Enum):
    """A command that is not a move. The value is the word that the player types."""

    UNDO = "undo"
    COLLECT = "collect"
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
    DEVICE = "device"
    REPORT = "report"
    MUTE = "mute"
    QUIT = "quit"


@dataclass(frozen=True)
class TypedCommand:
    """A command that a player has typed. ``card`` is the card to find, and ``name`` the player to report or mute."""

    word: Word
    card: Card | None = None
    name: str = ""


ParsedLine: TypeAlias = Intent | TypedCommand
"""The meaning of a line: a legal move, a choice of moves, a command, or the reason why the line makes no move."""

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

_SPACED: Final = re.compile(r"(0[1-8]|[0-9a-z]) ([0-9a-z])(?:(?: ?x| )([1-9][0-9]?))?")
_COMPACT: Final = re.compile(r"(0[1-8](?=[0-9a-z])|[0-9a-z])([0-9a-z])(?: ?x?([1-9][0-9]?))?")
"""The two ways to type a move: with blanks between its words, or without."""


def parse_command(text: str) -> TypedCommand | Rejected | None:
    """Parse a line as a command, without knowing the board. Return None if the line is not a command.

    A letter such as ``u`` counts as a command here, even if it names a pile of the game.
    """
    words = text.lower().split()
    if not words:
        return Rejected("Nothing was typed. Type a move, as in 3 5, or help.")
    if words[0].startswith("/") and words != ["/"]:
        words = ["find", words[0][1:], *words[1:]]
    if words[0] in ("find", "/"):
        return _parse_find(words[1:])
    if words[0] in ("report", "mute"):
        return TypedCommand(Word(words[0]), name=" ".join(words[1:]))
    if len(words) == 1 and words[0] in _WORDS:
        return TypedCommand(_WORDS[words[0]])
    return None


def parse_line(board: Board, text: str) -> ParsedLine:
    """Return the meaning of a line that the player typed for ``board``."""
    words = text.lower().split()
    if len(words) == 1 and words[0] in board.game.index and len(words[0]) == 1:
        return best_move(board, words[0])
    command = parse_command(text)
    if command is not None:
        return command
    if len(words) == 1 and words[0] in _STOCK_WORDS:
        return stock_move(board)
    joined = " ".join(words)
    if (match := _SPACED.fullmatch(joined) or _COMPACT.fullmatch(joined)) is None:
        sentence = f"{text.strip()[:40]!r} is not a move. Type two piles, as in 3 5 or 3 0, or help."
        return Rejected(sentence)
    source, target, count = match.groups()
    return move_between(board, source, target, int(count) if count else None)


def _parse_find(words: list[str]) -> TypedCommand | Rejected:
    try:
        return TypedCommand(Word.FIND, Card.parse("".join(words)))
    except MalformedText:
        sentence = (
            "That is not a card. Type 'find' followed by a rank (A 2-9 T J Q K) and a suit (C D H S), as in 'find th'."
        )
        return Rejected(sentence)
