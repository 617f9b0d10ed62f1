"""The messages of the operator protocol: two sealed unions, ``FromOperator`` and ``ToOperator``. ADMIN.md describes them.

A connection starts with ``Login``. Every request carries an ``id``, and its answer repeats the id as ``to``. ``Backup`` is
answered by several messages, every other request by one. Times are milliseconds since 1970 by the server's clock.
Apart from the parts of a backup, no message holds a card or the seed of a race that is not finished.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from samedeal.protocol.messages import Done, Id, Refused, RoomCode, RoomLine, RoomState, Text

SUBPROTOCOL: Final = "samedeal.admin.v1"

MAX_PART_BYTES: Final = 64 * 1024
"""Maximum number of bytes of a backup in one message."""

MAX_LISTED_ROOMS: Final = 1000
"""Maximum number of rooms in one answer."""

MAX_CLOSED_ROOMS: Final = 1000
"""Maximum number of rooms that one request closes."""

MAX_BAN_SECONDS: Final = 10 * 366 * 86_400
"""Maximum length of a temporary ban, in seconds."""

MAX_SENTENCE_LENGTH: Final = 300
"""Maximum length of a ``Sentence``, in characters."""

Sentence = Annotated[str, Meta(max_length=MAX_SENTENCE_LENGTH)]
"""A text that an operator writes for people."""


class _Message(Struct, frozen=True, tag_field="type", tag=str.lower, kw_only=True):
    """A message: a map with its ``type``."""


class Login(_Message, frozen=True):
    """The first message of a connection: the operator token of the server."""

    id: Id
    token: Annotated[str, Meta(max_length=1024)]


class Status(_Message, frozen=True):
    """Ask for the state of all nodes and of their Redis."""

    id: Id


class ListServerRooms(_Message, frozen=True):
    """Ask for the newest rooms, at most ``limit`` of them."""

    id: Id
    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED_ROOMS)] = 100


class ShowRoom(_Message, frozen=True):
    """Ask for the state of a room and the whereabouts of its players."""

    id: Id
    room: RoomCode


class Kick(_Message, frozen=True):
    """Remove a player, by id or by name, from a room. The player can't join it again."""

    id: Id
    room: RoomCode
    player: Text


class Ban(_Message, frozen=True):
    """Ban ``target``: a player's id, an address or a network. ``seconds`` is the length of the ban; 0 is permanent."""

    id: Id
    target: Text
    seconds: Annotated[int, Meta(ge=0, le=MAX_BAN_SECONDS)] = 0
    reason: Sentence = ""


class Unban(_Message, frozen=True):
    """Remove the ban of ``target``."""

    id: Id
    target: Text


class ListBans(_Message, frozen=True):
    """Ask for the bans in force."""

    id: Id


class Say(_Message, frozen=True):
    """Send an announcement to everybody in a room, or to everybody on all nodes if ``room`` is empty."""

    id: Id
    text: Sentence
    room: RoomCode = ""


class CloseRoom(_Message, frozen=True):
    """Close a room, even during a race."""

    id: Id
    room: RoomCode


class CloseRooms(_Message, frozen=True):
    """Close the rooms that meet all given conditions, at most ``MAX_CLOSED_ROOMS`` of them.

    A request has at least one condition.

    ``idle``: the room has not changed for this number of seconds. ``empty``: the room is open and nobody has a seat.
    ``target``: a player in the room has this id, or connected from this address or network in the last 24 hours.
    """

    id: Id
    idle: Annotated[int, Meta(ge=0, le=MAX_BAN_SECONDS)] = 0
    empty: bool = False
    target: Text = ""


class Drain(_Message, frozen=True):
    """Drain and stop a node, as SIGTERM does.

    ``node`` is its name, or the end of its name, starting after a dash. It may be empty if there is only one node.
    ``force`` drains the node even if no other node is ready.
    """

    id: Id
    node: Text = ""
    force: bool = False


class Backup(_Message, frozen=True):
    """Ask for a backup of everything that a server needs to continue."""

    id: Id


FromOperator = (
    Login
    | Status
    | ListServerRooms
    | ShowRoom
    | Kick
    | Ban
    | Unban
    | ListBans
    | Say
    | CloseRoom
    | CloseRooms
    | Drain
    | Backup
)


class Granted(_Message, frozen=True):
    """The answer to ``Login``: the token is right. ``server`` has the program and version of ``node``."""

    to: Id
    node: str
    server: str
    time: int


class NodeLine(Struct, frozen=True, kw_only=True):
    """A node, as its newest heartbeat described it at the time ``last_seen``.

    ``players`` is the number of connections with a seat, and ``watching`` the number of connections that watch. ``rooms`` is
    the number of rooms with players or spectators on this node. ``moves`` is the number of moves acknowledged per second.
    ``median`` and ``p99`` are percentiles of their latency, in milliseconds. ``load`` is the share of one core in use;
    ``memory`` is in bytes.
    """

    node: str
    version: str
    started: int
    last_seen: int
    address: str
    draining: bool = False
    connections: int = 0
    players: int = 0
    watching: int = 0
    rooms: int = 0
    moves: float = 0
    median: float = 0
    p99: float = 0
    load: float = 0
    memory: int = 0


class Phases(Struct, frozen=True, kw_only=True):
    """The number of rooms in each phase."""

    open: int = 0
    countdown: int = 0
    racing: int = 0
    finished: int = 0


class RedisLine(Struct, frozen=True, kw_only=True):
    """The Redis of all nodes. ``latency`` is its latest response time in milliseconds, ``memory`` is in bytes.

    ``problem`` says what is wrong with Redis from the point of view of the answering node: which part is unusable or may
    lose moves, and why. It is empty if there is no problem.
    """

    version: str
    latency: float
    memory: int
    clients: int
    commands: int
    problem: str = ""


class Survey(_Message, frozen=True):
    """The answer to ``Status``: the state of all nodes."""

    to: Id
    time: int
    nodes: tuple[NodeLine, ...]
    phases: Phases
    redis: RedisLine


class ServerRooms(_Message, frozen=True):
    """The newest rooms, newest first, and the number of all rooms."""

    to: Id
    rooms: tuple[RoomLine, ...]
    total: int


class Whereabouts(Struct, frozen=True, kw_only=True):
    """A player's last ``Hello``: its time, the address that it came from and the node that received it."""

    player: str
    node: str
    address: str
    time: int


class RoomShown(_Message, frozen=True):
    """The public state of a room, and the whereabouts of its players."""

    to: Id
    state: RoomState
    whereabouts: tuple[Whereabouts, ...]


class BanLine(Struct, frozen=True, kw_only=True):
    """A ban of ``target``: a player's id, an address or a network. ``until`` is 0 for a permanent ban."""

    target: str
    since: int
    until: int = 0
    reason: str = ""


class BanList(_Message, frozen=True):
    """The bans in force, newest first."""

    to: Id
    bans: tuple[BanLine, ...]


class RoomsClosed(_Message, frozen=True):
    """The answer to ``CloseRooms``: the number of closed rooms. If it is ``MAX_CLOSED_ROOMS``, there may be more."""

    to: Id
    rooms: int


class BackupPart(_Message, frozen=True):
    """The next bytes of the backup file."""

    to: Id
    data: bytes


class BackedUp(_Message, frozen=True):
    """The end of a backup: its size in bytes, its SHA-256, and its numbers of rooms and sessions."""

    to: Id
    size: int
    digest: bytes
    rooms: int
    sessions: int


ToOperator = Granted | Survey | ServerRooms | RoomShown | BanList | RoomsClosed | Done | BackupPart | BackedUp | Refused
