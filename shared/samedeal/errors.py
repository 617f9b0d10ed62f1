"""Errors of the shared core, each with its code.

::

SamedealError
├── MalformedText      malformed        text in the wrong form, for example of a card, a move or a name
│   └── MalformedTerms bad_terms        text that is not the terms of a race
├── UnknownTerms       unknown_terms    terms of a race that only another release understands
├── MalformedGame      bad_game         a description of a game that no game can have
├── MalformedBoard     bad_board        a board that can't exist: cards missing, duplicated or misplaced
├── UnknownGame        unknown_game     a name that no game has
├── BadArgument        bad_argument     a value that is well-formed but makes no sense in this call
├── DealNotProven      not_proven       the proof of a joint or daily deal is wrong
├── DealNotCheckable   not_checkable    only another version of the solver can check the search for a deal
├── BadRecord          bad_record       a record that is damaged, was changed, or contradicts itself
│   └── OtherVersion   other_version    a record or proof that only another release reads
├── PlayError                           an action that was refused
│   ├── IllegalMove    illegal          the rules of the game forbid the move
│   ├── StaleRevision  stale            the action is for another revision than the current one
│   ├── CannotUndo     cannot_undo      there is nothing to undo, or the undo rule of the race forbids it
│   └── UnseenCard     unseen           the move turns up a card that is hidden on this masked board
├── BadOptions         bad_options      options of a room that do not exist, are out of range or contradict one another
├── RequestRefused     (its own code)   a request that the server refused
├── UnknownRequest     unknown_request  a request of a type that this version does not know
└── MalformedFrame     bad_frame        bytes that are not a message of the protocol
"""

from __future__ import annotations

from enum import StrEnum

from samedeal.protocol_codes import RefusalCode
from samedeal.terminal_text import printable


class RuleReason(StrEnum):
    """The reasons why the rules of a game forbid a move. ``move_refusals`` has a sentence for each reason."""

    NO_SUCH_ACTION = "no_such_action"  # a draw or a deal in a game that has none
    STOCK_EMPTY = "stock_empty"
    EMPTY_COLUMN = "empty_column"  # cards are not dealt from the stock while a column is empty
    UNKNOWN_PILE = "unknown_pile"
    SAME_PILE = "same_pile"
    NOT_A_SOURCE = "not_a_source"  # cards are never taken from such a pile
    EMPTY_SOURCE = "empty_source"
    NO_CARDS = "no_cards"  # a group of no cards
    TOO_FEW_CARDS = "too_few_cards"
    FACE_DOWN = "face_down"
    NOT_A_GROUP = "not_a_group"  # the cards may not be moved together
    TOO_MANY_CARDS = "too_many_cards"  # more than the free places allow to move together
    BETWEEN_FOUNDATIONS = "between_foundations"
    NAMED_FOUNDATION = "named_foundation"  # the target of such a move is written 0
    NOT_A_TARGET = "not_a_target"  # cards are never put on such a pile
    ONE_AT_A_TIME = "one_at_a_time"
    NOT_COMPLETE = "not_complete"  # the foundation takes only a complete suit
    NOT_ON_EMPTY = "not_on_empty"
    NOT_ON_CARD = "not_on_card"


class SamedealError(Exception):
    """The base class of the errors in this module. The message of an error is a sentence for the player."""

    code: str = "error"
    """A member of ``RefusalCode`` if the error can be sent to a client."""


class MalformedText(SamedealError):
    """Error of a text in the wrong form, for example of a card, a move, a deal or a name."""

    code: str = RefusalCode.MALFORMED


class MalformedTerms(MalformedText):
    """Error of a text that is not the terms of a race.

    ``line`` is the number of the wrong line, which is 0 for the first one. It is -1 if lines contradict one another.
    """

    code = "bad_terms"

    def __init__(self, sentence: str, line: int) -> None:
        super().__init__(sentence)
        self.line = line


class UnknownTerms(SamedealError):
    """Error of terms that only another release understands. ``line`` is the number of such a line, the first one is 0."""

    code = "unknown_terms"

    def __init__(self, sentence: str, line: int) -> None:
        super().__init__(sentence)
        self.line = line


class MalformedGame(SamedealError):
    """Error of a file that does not describe a game. ``line`` is the number of the wrong line, or 0 if it is unknown."""

    code = "bad_game"

    def __init__(self, name: str, line: int, reason: str) -> None:
        where = f", line {line}" if line else ""
        super().__init__(printable(f"{name[:40]}.toml{where}: {reason}", 400) + ".")
        self.line = line


class MalformedBoard(SamedealError):
    """Error of a board that cannot exist: it lacks cards or has too many, or a card is in a pile that can't hold it."""

    code = "bad_board"


class UnknownGame(SamedealError):
    """Error of a name that no game has."""

    code = RefusalCode.UNKNOWN_GAME


class BadArgument(SamedealError, ValueError):
    """Error of a value that is well-formed but makes no sense in this call, such as a board that can't be solved."""

    code = "bad_argument"


class DealNotProven(SamedealError):
    """Error of a proof of a joint or daily deal that is wrong."""

    code = "not_proven"


class DealNotCheckable(SamedealError):
    """Error of a proof whose search can't be repeated, because this version of the solver does not search like that."""

    code = "not_checkable"


class PlayError(SamedealError):
    """Error of an action that was refused. The board is unchanged."""


class IllegalMove(PlayError):
    """Error of a move that the rules of the game forbid on this board. ``reason`` says why."""

    code = RefusalCode.ILLEGAL

    def __init__(self, sentence: str, reason: RuleReason) -> None:
        super().__init__(sentence)
        self.reason = reason


class StaleRevision(PlayError):
    """Error of an action that was made on another revision than the current one."""

    code = RefusalCode.STALE

    def __init__(self, revision: int, current: int) -> None:
        super().__init__(
            f"The move was made on another board (revision {revision}, now {current}). "
            "Look at the current board and try again."
        )


class CannotUndo(PlayError):
    """Error of an undo: there is no move to undo, or the undo rule of the race forbids it."""

    code = RefusalCode.CANNOT_UNDO


class UnseenCard(PlayError):
    """Error of a move that turns up a card which is hidden on this masked board. Only the server knows the card."""

    code = "unseen"


class BadRecord(SamedealError):
    """Error of a record that is damaged, was changed, or contradicts itself.

    ``lines`` are line numbers in rising order. One number is that of the wrong line. Two numbers are the first and the
    last line of the part that contains the mistake. Three or more numbers are those of single lines, at least one of
    which is wrong. ``first`` and ``last`` are the lowest and the highest number, or 0 if ``lines`` is empty.
    """

    code = "bad_record"

    def __init__(self, sentence: str, *lines: int) -> None:
        self.first, self.last = (lines[0], max(lines)) if lines else (0, 0)
        if len(lines) > 2:
            where = f"Line {', '.join(map(str, lines[:-1]))} or {self.last}: "
        elif self.last > self.first:
            where = f"Lines {self.first} to {self.last}: "
        else:
            where = f"Line {self.first}: " if self.first > 1 else ""
        super().__init__(f"{where}{sentence}")


class OtherVersion(BadRecord):
    """Error of a record or of a proof in it that only another release reads."""

    code = "other_version"


class MalformedFrame(SamedealError):
    """Error of bytes that are not a message of the protocol."""

    code = RefusalCode.BAD_FRAME


class UnknownRequest(SamedealError):
    """Error of a request with a valid id and an unknown type. A newer version may know the type."""

    code = RefusalCode.UNKNOWN_REQUEST


class BadOptions(SamedealError):
    """Error of room options that do not exist, are out of range, or contradict one another."""

    code = RefusalCode.BAD_OPTIONS


class RequestRefused(SamedealError):
    """Error of a request that the server refuses.

    PROTOCOL.md and ADMIN.md list the values of ``code``. A newer server may send other values. ``retry_after`` is the
    time, in seconds, after which the same request may succeed, or None if a retry will not help.
    """

    def __init__(self, code: str, sentence: str, retry_after: float | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.retry_after = retry_after
