"""The messages of the operator protocol. Requests are ``FromOperator``, and answers are ``ToOperator``.

ADMIN.md describes them. A connection starts with ``Login``. Every request carries an ``id``, and its answer repeats the
id as ``to``. ``Backup`` is answered by several messages, every other request by one. Times are in milliseconds since
1970, by the server's clock. Until a race is finished, its cards and its seed are in no message other than the parts of
a backup.
"""

from __future__ import annotations

from typing import Annotated, Final, get_args

from msgspec import Meta, Struct

from samedeal.forbidden_words import LONGEST_LIST
from samedeal.protocol.messages import (
    AnswerMessage,
    Done,
    RaceId,
    Refused,
    RequestMessage,
    RoomCode,
    RoomLine,
    RoomState,
    Text,
)

SUBPROTOCOL: Final = "samedeal.admin.v1"

MAX_PART_BYTES: Final = 64 * 1024
"""Maximum number of bytes of a backup in one message."""

MAX_LISTED_ROOMS: Final = 1000
"""Maximum number of rooms in one answer to ``ListServerRooms``."""

MAX_BAN_SECONDS: Final = 10 * 366 * 86_400
"""Maximum length of a ban that is not permanent, in seconds."""

MAX_SENTENCE_LENGTH: Final = 300
"""Maximum length of a ``Sentence``, in characters."""

Sentence = Annotated[str, Meta(max_length=MAX_SENTENCE_LENGTH)]
"""A text that an operator writes for people."""


class Login(RequestMessage, frozen=True):
    """The first message of a connection, with the server's token for operators or for moderators."""

    token: Annotated[str, Meta(max_length=1024)]


class Status(RequestMessage, frozen=True):
    """Ask for the state of all nodes and of Redis, and for the number of rooms in each phase."""


class ListServerRooms(RequestMessage, frozen=True):
    """Ask for the ``limit`` newest rooms."""

    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED_ROOMS)] = 100


class ShowRoom(RequestMessage, frozen=True):
    """Ask for the state of a room, and for the node and the address of each player in it."""

    room: RoomCode


class Kick(RequestMessage, frozen=True):
    """Remove a player permanently from a room. ``player`` is the player's id or name."""

    room: RoomCode
    player: Text


class Rename(RequestMessage, frozen=True):
    """Show others another ``name`` of a player in a room. ``player`` is as in ``Kick``."""

    room: RoomCode
    player: Text
    name: Text


class SetWords(RequestMessage, frozen=True):
    """Replace the words that names of players and rooms must not have. ``words`` has one in each line."""

    words: Annotated[str, Meta(max_length=LONGEST_LIST)]


class ListReports(RequestMessage, frozen=True):
    """Ask for the names that players have reported."""


class DeleteRecord(RequestMessage, frozen=True):
    """Delete the record of the race with the id ``race``, and do not deal its deal again."""

    race: RaceId


class Forget(RequestMessage, frozen=True):
    """Remove the name of a player, or of all who connected from an address, and what else is stored about them.

    ``target`` is as in ``Export``, or an address.
    """

    target: Text


class Export(RequestMessage, frozen=True):
    """Ask for everything that is stored about a player, as JSON. ``player`` is an id, or a name that one player has."""

    player: Text


class Ban(RequestMessage, frozen=True):
    """Ban ``target``, which is a player's id, an address or a network.

    ``seconds`` is the length of the ban. 0 makes it permanent.
    """

    target: Text
    seconds: Annotated[int, Meta(ge=0, le=MAX_BAN_SECONDS)] = 0
    reason: Sentence = ""


class Unban(RequestMessage, frozen=True):
    """Lift the ban of ``target``."""

    target: Text


class ListBans(RequestMessage, frozen=True):
    """Ask for all bans that are in force."""


class Say(RequestMessage, frozen=True):
    """Send a message to everybody in a room. If ``room`` is empty, send it to everybody on all nodes."""

    text: Sentence
    room: RoomCode = ""


class CloseRoom(RequestMessage, frozen=True):
    """Close a room, even during a race."""

    room: RoomCode


class Drain(RequestMessage, frozen=True):
    """Drain and stop a node, as SIGTERM does.

    ``node`` is the name of the node, or the end of its name after a dash. ``node`` may be empty if there is only one
    node. If ``force`` is true, the node is drained even if no other node is ready.
    """

    node: Text = ""
    force: bool = False


class Backup(RequestMessage, frozen=True):
    """Ask for a backup of all data of the server."""


FromOperator = (
    Login
    | Status
    | ListServerRooms
    | ShowRoom
    | Kick
    | Rename
    | SetWords
    | ListReports
    | DeleteRecord
    | Forget
    | Export
    | Ban
    | Unban
    | ListBans
    | Say
    | CloseRoom
    | Drain
    | Backup
)


REQUESTS: Final[dict[str, type[FromOperator]]] = {kind.__name__.lower(): kind for kind in get_args(FromOperator)}
"""The requests by their tags."""

FOR_MODERATORS: Final = REQUESTS.keys() - {"login", "drain", "backup"}
"""The tags of the requests that moderators can be allowed to send: they show no seeds and stop no nodes."""


class Granted(AnswerMessage, frozen=True):
    """The answer of ``node`` to ``Login`` with the right token. ``server`` is the node's program and version."""

    node: str
    server: str
    time: int


class NodeLine(Struct, frozen=True, kw_only=True):
    """The state of a node, as of its newest heartbeat at the time ``last_seen``.

    ``players`` is the number of connections with a seat, and ``spectator_count`` is the number of connections of
    spectators. ``rooms`` is the number of rooms that the node follows. ``moves`` is the number of moves acknowledged
    per second. ``median`` and ``p99`` are percentiles of the time to acknowledge a move, in milliseconds. ``load`` is
    the CPU time used, as a fraction of one core. ``memory`` is in bytes.
    """

    node: str
    version: str
    started: int
    last_seen: int
    address: str
    draining: bool = False
    connections: int = 0
    players: int = 0
    spectator_count: int = 0
    rooms: int = 0
    moves: float = 0
    median: float = 0
    p99: float = 0
    load: float = 0
    memory: int = 0


class Phases(Struct, frozen=True, kw_only=True):
    """The numbers of rooms in each phase, and of those that the answering node cannot serve, as ``other_version``.

    ``windows`` is the number of races with a window that are not over, of which the last one closes at ``last_closes``.
    """

    open: int = 0
    countdown: int = 0
    racing: int = 0
    finished: int = 0
    other_version: int = 0
    windows: int = 0
    last_closes: int = 0


class RedisLine(Struct, frozen=True, kw_only=True):
    """The state of the Redis that all nodes share.

    ``latency`` is the latest response time in milliseconds, and ``memory`` is in bytes. ``problem`` says which part of
    Redis the answering node cannot use, or which part may lose moves, and why. ``problem`` is empty if there is none.
    """

    version: str
    latency: float
    memory: int
    clients: int
    commands: int
    problem: str = ""


class Survey(AnswerMessage, frozen=True):
    """The answer to ``Status``: the states of all nodes and of Redis, and the numbers of rooms."""

    time: int
    nodes: tuple[NodeLine, ...]
    phases: Phases
    redis: RedisLine


class ServerRooms(AnswerMessage, frozen=True):
    """The answer to ``ListServerRooms``: the newest rooms, newest first, and the approximate number of all rooms."""

    rooms: tuple[RoomLine, ...]
    total: int


class Whereabouts(Struct, frozen=True, kw_only=True):
    """The last ``Hello`` of a player: its time, the client's address, and the node that received it."""

    player: str
    node: str
    address: str
    time: int


class RoomShown(AnswerMessage, frozen=True):
    """The answer to ``ShowRoom``: the state that players see, and each player's node and address."""

    state: RoomState
    whereabouts: tuple[Whereabouts, ...]


class BanLine(Struct, frozen=True, kw_only=True):
    """A ban of ``target``, which is a player's id, an address or a network. ``until`` is 0 for a permanent ban."""

    target: str
    since: int
    until: int = 0
    reason: str = ""


class BanList(AnswerMessage, frozen=True):
    """The answer to ``ListBans``: the bans in force, newest first. Also the answer to ``Ban``, with the new ban."""

    bans: tuple[BanLine, ...]


class ReportLine(Struct, frozen=True, kw_only=True):
    """A report of ``name``: that of a ``player``, or of the ``room`` if ``player`` is empty. ``reporter`` is an id."""

    time: int
    room: str
    player: str
    name: str
    reporter: str


class Reports(AnswerMessage, frozen=True):
    """The answer to ``ListReports``: the reports, newest first."""

    reports: tuple[ReportLine, ...]


class Forgotten(AnswerMessage, frozen=True):
    """The answer to ``Forget``: the ids of the players, and the number of records from which names were removed."""

    players: tuple[str, ...]
    records: int


class BackupPart(AnswerMessage, frozen=True):
    """A part of the answer to ``Backup`` or ``Export``: the next bytes of the file. ``Done`` follows an export."""

    data: bytes


class BackedUp(AnswerMessage, frozen=True):
    """The end of the answer to ``Backup``: the file's size in bytes, SHA-256, and numbers of rooms and sessions."""

    size: int
    digest: bytes
    rooms: int
    sessions: int


ToOperator = (
    Granted | Survey | ServerRooms | RoomShown | BanList | Reports | Forgotten | Done | BackupPart | BackedUp | Refused
)
