"""The messages of the operator's subprotocol: two sealed unions, ``FromOperator`` and ``ToOperator``; ADMIN.md is the page.

A connection begins with ``Login``. Every request carries an ``id`` and is answered by messages that repeat it as ``to``:
by one, or, for ``Backup``, by parts and an end. Nothing here holds a card, or the seed of a race that is not finished.
Times are milliseconds since 1970 on the server's one clock.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from samedeal.protocol.messages import Done, Id, Refused, RoomCode, RoomLine, RoomState, Text

SUBPROTOCOL: Final = "samedeal.admin.v1"

LARGEST_PART: Final = 64 * 1024
"""Bytes of a backup that one message holds."""

MOST_ROOMS: Final = 1000
LONGEST_BAN: Final = 10 * 366 * 86_400
"""Seconds; a ban that is to last longer is one for good."""

LONGEST_SENTENCE: Final = 300

Sentence = Annotated[str, Meta(max_length=LONGEST_SENTENCE)]
"""Text that people are to read."""


class _Message(Struct, frozen=True, tag_field="type", tag=str.lower, kw_only=True):
    """A message: a map with its ``type``."""


# ---------------------------------------------------------------- from an operator


class Login(_Message, frozen=True):
    """The first message of a connection: the token that the server was given."""

    id: Id
    token: Annotated[str, Meta(max_length=1024)]


class Status(_Message, frozen=True):
    """Asks how all nodes and their Redis fare."""

    id: Id


class ListRooms(_Message, frozen=True):
    """Asks for the newest rooms, so many at the most."""

    id: Id
    most: Annotated[int, Meta(ge=1, le=MOST_ROOMS)] = 100


class ShowRoom(_Message, frozen=True):
    """Asks for all that may be known of a room."""

    id: Id
    room: RoomCode


class Kick(_Message, frozen=True):
    """Takes a player, by id or by name, out of a room; they can't come back to it."""

    id: Id
    room: RoomCode
    player: Text


class Ban(_Message, frozen=True):
    """Keeps a player (by id), an address or a network of addresses away, for so many seconds, or 0 for good."""

    id: Id
    who: Text
    seconds: Annotated[int, Meta(ge=0, le=LONGEST_BAN)] = 0
    reason: Sentence = ""


class Unban(_Message, frozen=True):
    """Takes a ban back."""

    id: Id
    who: Text


class ListBans(_Message, frozen=True):
    """Asks for the bans in force."""

    id: Id


class Say(_Message, frozen=True):
    """Tells something to everybody in a room, or, without one, to everybody on all nodes."""

    id: Id
    text: Sentence
    room: RoomCode = ""


class CloseRoom(_Message, frozen=True):
    """Closes a room, whatever goes on in it."""

    id: Id
    room: RoomCode


class Drain(_Message, frozen=True):
    """Has a node stop as by SIGTERM: by its name or the end of it, after a dash; without one the node that was asked."""

    id: Id
    node: Text = ""


class Backup(_Message, frozen=True):
    """Asks for everything that a server needs to go on from here."""

    id: Id


FromOperator = Login | Status | ListRooms | ShowRoom | Kick | Ban | Unban | ListBans | Say | CloseRoom | Drain | Backup


# ---------------------------------------------------------------- answers


class Granted(_Message, frozen=True):
    """The token was right: the node that answers, and its version."""

    to: Id
    node: str
    server: str
    time: int


class NodeLine(Struct, frozen=True, kw_only=True):
    """A node, as it said of itself when last ``heard`` of.

    ``players`` are its connections with a seat, ``watching`` those that watch, ``rooms`` the rooms that it follows.
    ``moves`` are those that it acknowledged a second, ``typical`` and ``slow`` the milliseconds that half of them, and all
    but one in a hundred, took at the most. ``load`` is the share of one core that it uses, ``memory`` in bytes.
    """

    node: str
    version: str
    started: int
    heard: int
    address: str
    draining: bool = False
    connections: int = 0
    players: int = 0
    watching: int = 0
    rooms: int = 0
    moves: float = 0
    typical: float = 0
    slow: float = 0
    load: float = 0
    memory: int = 0


class Phases(Struct, frozen=True, kw_only=True):
    """How many rooms there are in each phase."""

    open: int = 0
    countdown: int = 0
    racing: int = 0
    finished: int = 0


class RedisLine(Struct, frozen=True, kw_only=True):
    """The Redis of all nodes: how long it took to answer just now, in milliseconds; its memory in bytes."""

    version: str
    answer: float
    memory: int
    clients: int
    commands: int


class Survey(_Message, frozen=True):
    """How all nodes fare; answers ``Status``."""

    to: Id
    time: int
    nodes: tuple[NodeLine, ...]
    phases: Phases
    redis: RedisLine


class RoomList(_Message, frozen=True):
    """The newest rooms, newest first, and how many there are."""

    to: Id
    rooms: tuple[RoomLine, ...]
    all: int


class Whereabouts(Struct, frozen=True, kw_only=True):
    """Where a player was when they last said hello: the node, the address they came from, and when."""

    player: str
    node: str
    address: str
    at: int


class RoomShown(_Message, frozen=True):
    """A room as everybody in it may know it, and where its players are."""

    to: Id
    state: RoomState
    whereabouts: tuple[Whereabouts, ...]


class BanLine(Struct, frozen=True, kw_only=True):
    """A ban: of a player's id, an address or a network; ``until`` is 0 for one for good."""

    who: str
    since: int
    until: int = 0
    reason: str = ""


class BanList(_Message, frozen=True):
    """The bans in force, newest first."""

    to: Id
    bans: tuple[BanLine, ...]


class BackupPart(_Message, frozen=True):
    """The next bytes of a backup's file."""

    to: Id
    data: bytes


class BackedUp(_Message, frozen=True):
    """The backup is whole: its size in bytes, its SHA-256, and how many rooms and sessions are in it."""

    to: Id
    size: int
    digest: bytes
    rooms: int
    sessions: int


ToOperator = Granted | Survey | RoomList | RoomShown | BanList | Done | BackupPart | BackedUp | Refused


class Close:
    """The close codes that are this subprotocol's own; the others are those of ``messages.Close``."""

    NOT_LET_IN: Final = 4007
    """The token was wrong, or there were too many attempts."""
