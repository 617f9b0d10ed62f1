"""The messages of the protocol: two sealed unions, ``ToServer`` and ``ToClient``.

Every message from a client carries an ``id`` of the client's choosing and is answered exactly once, by a message that
repeats it as ``to``; what a server sends unasked has no ``to``. Times are milliseconds since 1970 on the server's one
clock. Piles are bytes as in ``samedeal.cards``, masked as their reader may see them.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from samedeal.options import Options, WantedOptions

SUBPROTOCOL: Final = "samedeal.v1"

Phase = Literal["open", "countdown", "racing", "finished", "closed"]

MOST_HELD: Final = 200
"""Actions of one ``Recover``."""

Id = Annotated[int, Meta(ge=0, le=(1 << 53) - 1)]
Revision = Annotated[int, Meta(ge=0, le=1_000_000)]
Text = Annotated[str, Meta(max_length=128)]
RoomCode = Annotated[str, Meta(max_length=24)]


class _Message(Struct, frozen=True, tag_field="type", tag=str.lower, kw_only=True):
    """A message: a map with its ``type``."""


# ---------------------------------------------------------------- from a client


class Hello(_Message, frozen=True):
    """The first message of a connection: a name, and the session to go on with or an empty text for a new one."""

    id: Id
    name: Text
    session: Text = ""
    client: Text = ""


class Ping(_Message, frozen=True):
    """Asks for the server's time."""

    id: Id


class ListRooms(_Message, frozen=True):
    """Asks for the rooms that can be joined or watched."""

    id: Id


class Create(_Message, frozen=True):
    """Opens a room; ``room`` is the wanted code, or empty for any. It does not join it."""

    id: Id
    options: WantedOptions
    room: RoomCode = ""
    passphrase: Text = ""


class Join(_Message, frozen=True):
    """Takes a seat, or takes it again. ``revision`` and ``event`` are the newest the client holds, -1 for none."""

    id: Id
    room: RoomCode
    passphrase: Text = ""
    revision: Annotated[int, Meta(ge=-1)] = -1
    event: Annotated[int, Meta(ge=-1)] = -1


class Watch(_Message, frozen=True):
    """Watches a room's boards, late."""

    id: Id
    room: RoomCode
    passphrase: Text = ""


class Leave(_Message, frozen=True):
    """Gives up the seat (which resigns a race under way), or stops watching."""

    id: Id


class Ready(_Message, frozen=True):
    """Says that one is ready, or not any more."""

    id: Id
    ready: bool = True


class Start(_Message, frozen=True):
    """The host starts the countdown."""

    id: Id


class Act(_Message, frozen=True):
    """A move, draw, deal or undo made on a revision of one's board; sent again it is answered as at first."""

    id: Id
    revision: Revision
    action: Annotated[str, Meta(max_length=16)]


class Held(Struct, frozen=True, kw_only=True):
    """An action that was acked: the id of its ``Act``, and when it was committed."""

    id: Id
    action: Annotated[str, Meta(max_length=16)]
    at: Annotated[int, Meta(ge=0, le=1 << 52)]


class Recover(_Message, frozen=True):
    """Gives back actions that were acked and that the server has lost, with the receipt for the last of them.

    ``revision`` is that of the board that the first of them was made on.
    """

    id: Id
    revision: Revision
    held: Annotated[tuple[Held, ...], Meta(min_length=1, max_length=MOST_HELD)]
    receipt: Annotated[bytes, Meta(max_length=64)]


class Resign(_Message, frozen=True):
    """Goes out of the race; the board stays as it is and counts by its cards up."""

    id: Id


class Rematch(_Message, frozen=True):
    """Asks for the room of the next race; the first to ask opens it."""

    id: Id


ToServer = Hello | Ping | ListRooms | Create | Join | Watch | Leave | Ready | Start | Act | Recover | Resign | Rematch


# ---------------------------------------------------------------- answers


class Welcome(_Message, frozen=True):
    """A session: ``session`` is secret and resumes it; ``player`` is its public id.

    ``engine`` is the version of the server's rules, as ``samedeal.ENGINE``.
    """

    to: Id
    session: str
    player: str
    name: str
    time: int
    server: str
    engine: int = 0


class Pong(_Message, frozen=True):
    """The server's time."""

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


class Rooms(_Message, frozen=True):
    """The rooms that can be joined or watched, newest first."""

    to: Id
    rooms: tuple[RoomLine, ...]


class Created(_Message, frozen=True):
    """The room that was opened, or that the rematch goes to."""

    to: Id
    room: str


class Joined(_Message, frozen=True):
    """The seat that was taken, and the revision of the board as the server has it, -1 before the deal.

    ``RoomState``, and ``BoardState`` once the deal is out, follow unless the client has them; who has the newest state of
    the room gets a ``Progress`` with everybody's counts.
    """

    to: Id
    room: str
    seat: int
    generation: int
    revision: int = -1


class Watching(_Message, frozen=True):
    """The room that is watched, and how many seconds late its boards come. ``RoomState`` and ``LateBoard`` follow."""

    to: Id
    room: str
    delay: int


class Done(_Message, frozen=True):
    """It was done."""

    to: Id


class Acked(_Message, frozen=True):
    """An action counts, and is kept. ``seen`` are the cards that it turned up for the first time, in order.

    ``hash`` is the state hash of the board after it; ``piles`` is the whole board after an undo and empty otherwise;
    ``up``, ``moves`` and ``undos`` are the player's counts; ``stuck`` says that nothing that helps remains. ``at`` is when
    it was committed, ``receipt`` proves that in a ``Recover``.
    """

    to: Id
    revision: int
    seen: bytes
    hash: bytes
    up: int
    moves: int
    undos: int
    stuck: bool = False
    piles: tuple[bytes, ...] = ()
    at: int = 0
    receipt: bytes = b""


class Refused(_Message, frozen=True):
    """A request that was not done: why, as a code and a sentence.

    ``to`` is -1 where the request's id could not be read. ``revision`` is that of the player's board, -1 where there is
    none or it is not known; ``retry_after`` is in seconds, 0 where trying again won't help.
    """

    to: int
    code: str
    message: str
    revision: int = -1
    retry_after: float = 0


# ---------------------------------------------------------------- unasked


class Seat(Struct, frozen=True, kw_only=True):
    """A player in a room."""

    player: str
    name: str
    seat: int
    ready: bool = False
    out: bool = False


class Tally(Struct, frozen=True, kw_only=True):
    """What everybody may know of a player's board: counts, never cards.

    ``active`` is when the last action was taken and ``risen`` when the last card went up, ``home`` when the last one
    did; 0 for not yet. ``connected`` says whether the player is there.
    """

    player: str
    up: int = 0
    moves: int = 0
    undos: int = 0
    active: int = 0
    risen: int = 0
    home: int = 0
    connected: bool = True


class Standing(Struct, frozen=True, kw_only=True):
    """A line of the final order. ``time`` is milliseconds from the start to coming home, 0 for not home."""

    place: int
    player: str
    name: str
    up: int
    time: int
    moves: int
    undos: int
    out: bool = False


class RoomState(_Message, frozen=True):
    """A room as everybody in it may know it, sent whole at each change.

    ``event`` numbers the changes. ``starts`` and ``ends`` are when the race starts and when its time is up, 0 before
    the countdown. ``commitment`` binds the server to the seed; ``seed`` is empty until the race ends. ``next`` is the
    room of the rematch, where there is one. ``standings`` are there at the end.
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


class BoardState(_Message, frozen=True):
    """One's own board, masked: at the deal, and after a reconnection where something was missed."""

    room: str
    revision: int
    game: str
    piles: tuple[bytes, ...]
    hash: bytes
    moves: int
    undos: int
    stuck: bool = False


class Progress(_Message, frozen=True):
    """The counts of the players that changed."""

    tallies: tuple[Tally, ...]


class LateBoard(_Message, frozen=True):
    """A player's board as spectators see it, ``at`` a time that lies at least the room's delay back."""

    player: str
    revision: int
    piles: tuple[bytes, ...]
    moves: int
    undos: int
    at: int


class LateMove(_Message, frozen=True):
    """A player's move as spectators see it, on the board of the revision before."""

    player: str
    revision: int
    action: str
    seen: bytes
    at: int


class Notice(_Message, frozen=True):
    """Something that a client should know.

    ``draining`` says to reconnect, to this or another address; ``seated`` that this player, who watched, has taken a seat
    in the room and is shown no more boards. The others are the operator's: ``said`` is a word to everybody, ``kicked`` says
    that the seat is gone for good, ``closed`` that the room is, ``banned`` that the server wants to see no more of them.
    """

    code: str
    message: str


ToClient = (
    Welcome
    | Pong
    | Rooms
    | Created
    | Joined
    | Watching
    | Done
    | Acked
    | Refused
    | RoomState
    | BoardState
    | Progress
    | LateBoard
    | LateMove
    | Notice
)


class Close:
    """The close codes, and whether to come back."""

    RESTART: Final = 1012
    VERSION: Final = 4000
    BAD_FRAMES: Final = 4001
    TAKEN_OVER: Final = 4002
    SLOW: Final = 4003
    SILENT: Final = 4004
    FLOOD: Final = 4005
    BANNED: Final = 4006
    STAY_AWAY: Final = frozenset((VERSION, BAD_FRAMES, TAKEN_OVER, BANNED))
