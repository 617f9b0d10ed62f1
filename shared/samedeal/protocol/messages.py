"""The messages of the protocol: two sealed unions, ``ToServer`` and ``ToClient``.

Every message from a client is a request, with an ``id`` that the client chooses. The server answers each request exactly
once, with a message that repeats the id as ``to``. A message that is not an answer has no ``to``. Times are milliseconds
since 1970 by the server's clock. Piles are bytes as in ``samedeal.cards``, masked for the recipient.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from samedeal.options import Options, WantedOptions

SUBPROTOCOL: Final = "samedeal.v1"

Phase = Literal["open", "countdown", "racing", "finished", "closed"]

MAX_HELD_PER_RECOVER: Final = 200
"""Maximum number of actions in one ``Recover``."""

Id = Annotated[int, Meta(ge=0, le=(1 << 53) - 1)]
Revision = Annotated[int, Meta(ge=0, le=1_000_000)]
Text = Annotated[str, Meta(max_length=128)]
RoomCode = Annotated[str, Meta(max_length=24)]
Hash = Annotated[bytes, Meta(max_length=32)]
RaceId = Annotated[str, Meta(max_length=48)]


class _Message(Struct, frozen=True, tag_field="type", tag=str.lower, kw_only=True):
    """A message: a map whose ``type`` is the name of the class in lower case."""


class Hello(_Message, frozen=True):
    """Introduce the player, as the first request of a connection. An empty ``session`` starts a new session.

    ``bot`` declares that a program plays.
    """

    id: Id
    name: Text
    session: Text = ""
    client: Text = ""
    bot: bool = False


class Ping(_Message, frozen=True):
    """Ask for the server's time."""

    id: Id


class ListRooms(_Message, frozen=True):
    """Ask for the rooms that can be joined or watched."""

    id: Id


class ListRecords(_Message, frozen=True):
    """Ask for the newest records of finished races."""

    id: Id


class ReadRecord(_Message, frozen=True):
    """Ask for a part of a record. ``race`` is the id from a ``RecordLine``, or the code of a room for its newest record.

    The first part has the number 0. The records of private rooms need the passphrase, or a seat in the race.
    """

    id: Id
    race: RaceId
    part: Annotated[int, Meta(ge=0, le=10_000)] = 0
    passphrase: Text = ""


class Create(_Message, frozen=True):
    """Open a room without joining it. ``room`` is the requested code. If it is empty, the server chooses a code."""

    id: Id
    options: WantedOptions
    room: RoomCode = ""
    passphrase: Text = ""


class Join(_Message, frozen=True):
    """Take a seat, or return to it. ``revision`` and ``event`` are the newest that the client has, or -1.

    ``share_commitment`` commits the player to a share of a joint deal, and is needed only for such a deal.
    """

    id: Id
    room: RoomCode
    passphrase: Text = ""
    revision: Annotated[int, Meta(ge=-1)] = -1
    event: Annotated[int, Meta(ge=-1)] = -1
    share_commitment: Hash = b""


class Watch(_Message, frozen=True):
    """Enter a room as a spectator, who sees the boards with a delay."""

    id: Id
    room: RoomCode
    passphrase: Text = ""


class Leave(_Message, frozen=True):
    """Give up the seat, or stop watching. A player who leaves during a race resigns."""

    id: Id


class Ready(_Message, frozen=True):
    """Declare the player ready, or no longer ready."""

    id: Id
    ready: bool = True


class Start(_Message, frozen=True):
    """Start the countdown. Only the host may send it."""

    id: Id


class RevealShare(_Message, frozen=True):
    """Reveal the player's share of a joint deal, once the countdown has begun."""

    id: Id
    share: Hash


class KickPlayer(_Message, frozen=True):
    """Remove a player from the room before the race starts. Only the host may send it."""

    id: Id
    player: Text


class Act(_Message, frozen=True):
    """Make a move, draw or deal on the player's board at ``revision``, or undo one.

    If the same ``Act`` is sent again, it gets the first answer again.
    """

    id: Id
    revision: Revision
    action: Annotated[str, Meta(max_length=16)]


class Held(Struct, frozen=True, kw_only=True):
    """An acknowledged action, with the id of its ``Act`` and the time of its commit."""

    id: Id
    action: Annotated[str, Meta(max_length=16)]
    at: Annotated[int, Meta(ge=0, le=1 << 52)]


class Recover(_Message, frozen=True):
    """Give acknowledged actions back to a server that has lost them, with the receipt of the last one.

    ``revision`` is the revision of the board just before the first of them.
    """

    id: Id
    revision: Revision
    held: Annotated[tuple[Held, ...], Meta(min_length=1, max_length=MAX_HELD_PER_RECOVER)]
    receipt: Annotated[bytes, Meta(max_length=64)]


class Resign(_Message, frozen=True):
    """Resign from the race. The player's foundation cards still count."""

    id: Id


class DeclareStuck(_Message, frozen=True):
    """Declare that no move and no undo can improve the player's result any more. The player may still act."""

    id: Id


class Rematch(_Message, frozen=True):
    """Ask for the room of the next race. The first such request in a room opens the next room."""

    id: Id


ToServer = (
    Hello
    | Ping
    | ListRooms
    | ListRecords
    | ReadRecord
    | Create
    | Join
    | Watch
    | Leave
    | Ready
    | Start
    | RevealShare
    | KickPlayer
    | Act
    | Recover
    | Resign
    | DeclareStuck
    | Rematch
)


class Welcome(_Message, frozen=True):
    """The answer to ``Hello``.

    ``session`` is the secret token that resumes the session. ``player`` is the player's public id. ``engine`` is the version
    of the server's rules, as in ``samedeal.ENGINE``. ``page`` says whether the server has the page for browsers.
    """

    to: Id
    session: str
    player: str
    name: str
    time: int
    server: str
    engine: int = 0
    page: bool = False


class Pong(_Message, frozen=True):
    """The answer to ``Ping``, with the server's time."""

    to: Id
    time: int


class RoomLine(Struct, frozen=True, kw_only=True):
    """A room in the list."""

    room: str
    game: str
    deal: str
    phase: Phase
    players: int
    seats: int
    private: bool
    spectators: bool
    starts: int = 0
    delay: int = 15
    bots: bool = True


class Rooms(_Message, frozen=True):
    """The answer to ``ListRooms``: the rooms that can be joined or watched, newest first."""

    to: Id
    rooms: tuple[RoomLine, ...]


class RecordLine(Struct, frozen=True, kw_only=True):
    """A recorded race in the list.

    ``race`` is its id. ``started`` and ``ended`` are times. ``players`` is the number of players. ``winner`` is the name of
    a player with place 1. ``time`` is the time from the start to this player's finish, in milliseconds, or 0. ``size`` is
    the length of the record in bytes.
    """

    race: str
    room: str
    game: str
    deal: str
    started: int
    ended: int
    players: int
    size: int
    winner: str
    time: int


class Records(_Message, frozen=True):
    """The answer to ``ListRecords``: the newest records, newest first."""

    to: Id
    records: tuple[RecordLine, ...]


class RecordPart(_Message, frozen=True):
    """The answer to ``ReadRecord``: a part of the record's text in UTF-8. ``parts`` is the number of parts."""

    to: Id
    race: str
    part: int
    parts: int
    text: bytes


class Created(_Message, frozen=True):
    """The answer to ``Create`` and ``Rematch``: the code of the room."""

    to: Id
    room: str


class Joined(_Message, frozen=True):
    """The answer to ``Join``. ``revision`` is that of the server's board, or -1 before the deal.

    ``RoomState`` follows, or only ``ProgressUpdate`` if the client has the newest ``RoomState``. After the deal
    ``BoardState`` follows too, unless the client has that revision or a later one.
    """

    to: Id
    room: str
    seat: int
    generation: int
    revision: int = -1


class Watching(_Message, frozen=True):
    """The answer to ``Watch``, with the delay of the boards in seconds. ``RoomState`` and ``LateBoard`` messages follow."""

    to: Id
    room: str
    delay: int


class Done(_Message, frozen=True):
    """The answer to requests without an answer of their own: the request succeeded."""

    to: Id


class Acked(_Message, frozen=True):
    """The answer to ``Act``: the action was accepted and stored.

    ``revision`` and ``hash`` are those of the new board. ``seen`` holds the cards that the action turned up for the first
    time, in order. ``piles`` is the whole board after an undo, and empty after a move. ``foundation_cards``, ``moves`` and
    ``undos`` are the player's counts. ``stuck`` says whether no helpful move is left. ``at`` is the time of the commit,
    ``receipt`` proves the commit in a ``Recover``, and ``head`` is the head of the chain of the player's actions.
    """

    to: Id
    revision: int
    seen: bytes
    hash: bytes
    foundation_cards: int
    moves: int
    undos: int
    stuck: bool = False
    piles: tuple[bytes, ...] = ()
    at: int = 0
    receipt: bytes = b""
    head: bytes = b""


class Refused(_Message, frozen=True):
    """The answer to a request that was refused, with the reason as a code and as a sentence.

    ``to`` is -1 if the id of the request could not be read. ``revision`` is the revision of the player's board, or -1 if
    there is no board or its revision is unknown. ``retry_after`` is in seconds; 0 means that a retry will not help.
    """

    to: int
    code: str
    message: str
    revision: int = -1
    retry_after: float = 0


class Seat(Struct, frozen=True, kw_only=True):
    """A player in a room.

    ``bot`` tells whether the player declared that a program plays. ``stuck`` tells whether the player has sent
    ``DeclareStuck``, with as many foundation cards as now. ``share_commitment`` commits the player to a share of a joint
    deal.
    """

    player: str
    name: str
    seat: int
    ready: bool = False
    resigned: bool = False
    bot: bool = False
    stuck: bool = False
    share_commitment: bytes = b""


class Tally(Struct, frozen=True, kw_only=True):
    """The public part of a player's progress: counts, never cards.

    ``last_action_at`` is the time of the last action, ``last_progress_at`` the time at which ``foundation_cards`` last
    changed, and ``finished_at`` the time of the finish. For each of them, 0 means not yet.
    """

    player: str
    foundation_cards: int = 0
    moves: int = 0
    undos: int = 0
    last_action_at: int = 0
    last_progress_at: int = 0
    finished_at: int = 0
    connected: bool = True


class Standing(Struct, frozen=True, kw_only=True):
    """A line of the final standings.

    ``time`` is the time from the start to the finish, in milliseconds, or 0 if the player did not finish.
    """

    place: int
    player: str
    name: str
    foundation_cards: int
    time: int
    moves: int
    undos: int
    resigned: bool = False
    bot: bool = False


class RoomState(_Message, frozen=True):
    """The public state of a room, sent whole at each change.

    ``event`` is the number of the change; a later change has a higher number. ``starts`` is the time at which the race
    starts, and ``ends`` the time at which its time is up; both are 0 before the countdown. ``finished_at`` is the time at
    which the race ended, and 0 before. ``commitment`` binds the server to the seed, or to its secret for a joint deal.
    ``restarts`` counts the countdowns of a joint deal that began again. ``seed`` and ``standings`` are empty until the race
    ends. A joint deal has no seed, and ``proof`` has its proof as text instead. ``next`` is the room of the rematch, and
    empty until there is one. ``round`` is 0 for a first race, and rises by one with each rematch.
    """

    room: str
    event: int
    phase: Phase
    game: str
    deal: str
    options: Options
    private: bool
    host: str
    players: tuple[Seat, ...]
    tallies: tuple[Tally, ...]
    commitment: bytes
    starts: int = 0
    ends: int = 0
    watching: int = 0
    seed: bytes = b""
    next: str = ""
    standings: tuple[Standing, ...] = ()
    finished_at: int = 0
    proof: str = ""
    restarts: int = 0
    round: int = 0


class BoardState(_Message, frozen=True):
    """The player's own board, masked. It is sent at the deal, and later whenever the client's board is out of date.

    ``head`` is the head of the chain of the player's actions so far.
    """

    room: str
    revision: int
    game: str
    piles: tuple[bytes, ...]
    hash: bytes
    moves: int
    undos: int
    stuck: bool = False
    head: bytes = b""


class ProgressUpdate(_Message, frozen=True):
    """The counts of the players whose counts changed."""

    tallies: tuple[Tally, ...]


class LateBoard(_Message, frozen=True):
    """A player's board at the time ``at``, for spectators. During the race it is sent after the room's delay."""

    player: str
    revision: int
    piles: tuple[bytes, ...]
    moves: int
    undos: int
    at: int


class LateMove(_Message, frozen=True):
    """A player's move for spectators. It leads from the board of the previous revision to that of ``revision``."""

    player: str
    revision: int
    action: str
    seen: bytes
    at: int


class Notice(_Message, frozen=True):
    """News for a client, as a ``NoticeCode`` and a sentence. PROTOCOL.md, *Notice*, explains the codes."""

    code: str
    message: str


ToClient = (
    Welcome
    | Pong
    | Rooms
    | Records
    | RecordPart
    | Created
    | Joined
    | Watching
    | Done
    | Acked
    | Refused
    | RoomState
    | BoardState
    | ProgressUpdate
    | LateBoard
    | LateMove
    | Notice
)
