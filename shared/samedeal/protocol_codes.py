"""The codes in messages: why a request was refused, what a notice announces, why a connection was closed.

A client may connect to a newer server. Messages therefore carry codes as plain strings and numbers, and a client must
expect codes that are not listed in this module.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final


class RefusalCode(StrEnum):
    """The reasons why a server refuses a player's request.

    PROTOCOL.md, *Refusals*, says what a client does in each case.
    """

    BAD_FRAME = "bad_frame"
    UNKNOWN_REQUEST = "unknown_request"
    MALFORMED = "malformed"
    UNKNOWN_GAME = "unknown_game"
    BAD_OPTIONS = "bad_options"
    HELLO_FIRST = "hello_first"
    HELLO_ONCE = "hello_once"
    NO_SESSION = "no_session"
    NO_ROOM = "no_room"
    NO_RECORD = "no_record"
    NO_TIDE = "no_tide"
    ROOM_EXISTS = "room_exists"
    ROOM_FULL = "room_full"
    ROOM_CLOSED = "room_closed"
    SERVER_FULL = "server_full"
    OTHER_VERSION = "other_version"
    BAD_PASSPHRASE = "bad_passphrase"  # noqa: S105  # a code, not a password
    NAME_TAKEN = "name_taken"
    NO_SPECTATORS = "no_spectators"
    NO_BOTS = "no_bots"
    BAD_SHARE = "bad_share"
    RACING = "racing"
    RACE_STARTED = "race_started"
    NO_SEAT = "no_seat"
    NOT_HOST = "not_host"
    NOT_RACING = "not_racing"
    NOT_OVER = "not_over"
    ILLEGAL = "illegal"
    STALE = "stale"
    BAD_RECEIPT = "bad_receipt"
    CANNOT_UNDO = "cannot_undo"
    ALREADY_FINISHED = "already_finished"
    TIME_UP = "time_up"
    TOO_MANY_ACTIONS = "too_many_actions"
    TOO_MANY_WINDOWS = "too_many_windows"
    TOO_MANY_REPORTS = "too_many_reports"
    KICKED = "kicked"
    BANNED = "banned"
    FENCED = "fenced"
    RATE_LIMITED = "rate_limited"
    DRAINING = "draining"
    UNAVAILABLE = "unavailable"
    FAULT = "fault"


class NoticeCode(StrEnum):
    """The codes of a ``Notice``. PROTOCOL.md, *Notice*, explains them."""

    DRAINING = "draining"
    SEATED = "seated"
    SAID = "said"
    KICKED = "kicked"
    CLOSED = "closed"
    ENDING = "ending"
    UNSEATED = "unseated"
    NOT_DRAWN = "not_drawn"
    NOT_FOUND = "not_found"
    WAITING = "waiting"
    BANNED = "banned"
    RENAMED = "renamed"


class CloseCode(IntEnum):
    """The reasons why a server closes a connection. PROTOCOL.md and ADMIN.md, *Close codes*, say when to reconnect."""

    RESTART = 1012
    VERSION = 4000
    BAD_FRAMES = 4001
    TAKEN_OVER = 4002
    SLOW = 4003
    SILENT = 4004
    FLOOD = 4005
    BANNED = 4006
    NOT_LOGGED_IN = 4007


PERMANENT_CLOSE_CODES: Final = frozenset(
    (CloseCode.VERSION, CloseCode.BAD_FRAMES, CloseCode.TAKEN_OVER, CloseCode.BANNED)
)
"""Close codes after which a player's client must not reconnect unless the player asks for it."""
