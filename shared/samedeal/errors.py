"""What can be wrong, each with the code that goes over the wire.

::

SamedealError
├── MalformedText      malformed        a card, move, position or record that can't be read
├── MalformedPosition  bad_position     a position that can't be: cards missing, doubled or where none may lie
├── UnknownGame        unknown_game
├── PlayError                           an action that leaves a board as it was
│   ├── IllegalMove    illegal          the rules of the game forbid it
│   ├── StaleRevision  stale            made on an older (or newer) revision of the board than the present one
│   ├── CannotUndo     cannot_undo      nothing to take back, or the race's undo rule forbids it
│   └── UnseenCard     unseen           it turns up a card that this copy of the board doesn't know
├── BadOptions         bad_options      options of a room that contradict each other
├── Refused            (its own code)   a room, seat or session refuses a request
└── MalformedFrame     bad_frame        a frame that is no message of the protocol
"""

from __future__ import annotations


class SamedealError(Exception):
    """Anything that Samedeal's core refuses; ``str()`` of it is a sentence that may be shown to a player."""

    code: str = "error"


class MalformedText(SamedealError):
    """A text that is not a card, move, position, deal or record."""

    code = "malformed"


class MalformedPosition(SamedealError):
    """A position whose cards are not exactly the game's decks, or lie where the game has no place for them."""

    code = "bad_position"


class UnknownGame(SamedealError):
    """No game of that name."""

    code = "unknown_game"


class PlayError(SamedealError):
    """An action that was not taken; the board is as it was."""


class IllegalMove(PlayError):
    """The rules of the game forbid this move on this board."""

    code = "illegal"


class StaleRevision(PlayError):
    """The action was made on another revision of the board than the present one."""

    code = "stale"


class CannotUndo(PlayError):
    """There is nothing to take back, or the undo rule forbids taking it back."""

    code = "cannot_undo"


class UnseenCard(PlayError):
    """The move turns up a card that this (masked) board doesn't know; only the server can play it."""

    code = "unseen"


class MalformedFrame(SamedealError):
    """Bytes or fields that are no message of the protocol."""

    code = "bad_frame"


class BadOptions(SamedealError):
    """Options of a room that can't go together."""

    code = "bad_options"


class Refused(SamedealError):
    """A request that a room, a seat or a session refuses.

    ``code`` is one of the codes listed in PROTOCOL.md; ``retry_after`` is in seconds, where trying again may help.
    """

    def __init__(self, code: str, sentence: str, retry_after: float | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.retry_after = retry_after
