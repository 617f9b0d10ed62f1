"""The messages of the players' protocol. Requests are ``ToServer``, and the server's messages are ``ToClient``.

Every message from a client is a request, with an ``id`` that the client chooses. The server answers each request
exactly once, with a message that repeats the id as ``to``. A message without ``to`` is not an answer. Times are in
milliseconds since 1970, by the server's clock. Piles are bytes as in ``samedeal.cards``, masked for the recipient.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from samedeal.joint_deal import HIGHEST_DRAW, LossReason
from samedeal.options import LONGEST_SERIES, LONGEST_WINDOW, Options, WantedOptions

SUBPROTOCOL: Final = "samedeal.v1"

Phase = Literal["open", "countdown", "racing", "finished", "closed"]

MAX_ACTIONS_PER_RECOVER: Final = 200
"""Maximum number of actions in one ``Recover``."""

Id = Annotated[int, Meta(ge=0, le=(1 << 53) - 1)]
Revision = Annotated[int, Meta(ge=0, le=1_000_000)]
Text = Annotated[str, Meta(max_length=128)]
RoomCode = Annotated[str, Meta(max_length=24)]
Hash = Annotated[bytes, Meta(max_length=32)]
DrawNumber = Annotated[int, Meta(ge=1, le=HIGHEST_DRAW)]
SeatNumber = Annotated[int, Meta(ge=0, le=255)]  # one byte in the hashes that cover it
RaceId = Annotated[str, Meta(max_length=48)]
Time = Annotated[int, Meta(ge=0, le=1 << 46)]


class Message(Struct, frozen=True, tag_field="type", tag=str.lower, kw_only=True):
    """The base of all messages.

    On the wire a message is a map, whose ``type`` is the name of the class in lower case.
    """


class RequestMessage(Message, frozen=True):
    """The base of all requests, each with an id that the client chooses."""

    id: Id


class AnswerMessage(Message, frozen=True):
    """The base of the answers to requests. ``to`` is the id of the request."""

    to: Id


class Hello(RequestMessage, frozen=True):
    """Introduce the player. This is the first request on a connection.

    An empty ``session`` starts a new session. It may also be the code of a ``SessionCode``.
    ``client`` names the program. ``bot`` declares that a program plays.
    ``games`` has the hashes of the rules of all games that the client knows. If it is empty, the client gets no
    descriptions of games. ``house`` is the key that proves a bot to be one of the server's house. With ``cookie``, a page
    without a session goes on with that of its cookie.
    """

    name: Text
    session: Text = ""
    client: Text = ""
    bot: bool = False
    games: Annotated[tuple[Hash, ...], Meta(min_length=0, max_length=128)] = ()
    house: Text = ""
    cookie: bool = False


class Ping(RequestMessage, frozen=True):
    """Ask for the time of the server, and say whether the player looks at the room or is ``away``."""

    away: bool = False


class ListRooms(RequestMessage, frozen=True):
    """Ask for the public rooms that can be joined or watched.

    ``game`` restricts the list to a game, ``open`` to rooms that can be joined, and ``bots`` to rooms that admit bots.
    """

    game: Annotated[str, Meta(max_length=24)] = ""
    open: bool = False
    bots: bool = False


class ListHouseRooms(RequestMessage, frozen=True):
    """Ask for the rooms that wait for bots of the house, which only the house may do.

    ``house`` is a random name of the program that runs the house. Of several, the server answers only one, until that one
    has not asked for ten seconds.
    """

    house: Text


class RaceNow(RequestMessage, frozen=True):
    """Ask for the public room whose race starts soonest. If ``game`` is not empty, the race must be in this game.

    If there is no such room, the server opens one. Bots are refused. ``tide`` asks for a room of the tide that starts at
    this time. ``series`` is the code of a standing series, and asks for the room of its race that is open.
    """

    game: Annotated[str, Meta(max_length=24)] = ""
    tide: Time = 0
    series: RoomCode = ""


class ListRecords(RequestMessage, frozen=True):
    """Ask for the newest records of finished races."""


class ReadRecord(RequestMessage, frozen=True):
    """Ask for a part of a record. The first part has the number 0.

    ``race`` is the id of a race, or the code of a room whose newest record is wanted. The record of a private room can
    be read only with the passphrase, or by a player who had a seat in the race.
    """

    race: RaceId
    part: Annotated[int, Meta(ge=0, le=10_000)] = 0
    passphrase: Text = ""


class Create(RequestMessage, frozen=True):
    """Open a room without joining it. ``room`` is the wanted code. If ``room`` is empty, the server chooses a code.

    ``house`` is how many bots of the house are wanted. A room with such bots is in no list. ``window`` is the length of the
    window in seconds if players begin when they have time, and otherwise 0. ``opens`` are the times at which the windows of
    a standing series open.
    """

    options: WantedOptions
    room: RoomCode = ""
    passphrase: Text = ""
    house: Annotated[int, Meta(ge=0, le=3)] = 0
    window: Annotated[int, Meta(ge=0, le=LONGEST_WINDOW)] = 0
    opens: Annotated[tuple[Time, ...], Meta(min_length=0, max_length=LONGEST_SERIES)] = ()


class Join(RequestMessage, frozen=True):
    """Take a seat, or return to one.

    ``revision`` is the revision of the board that the client has, or -1 if it has none. ``event`` is the number of the
    newest ``RoomState`` that the client has, or -1 if it has none.
    """

    room: RoomCode
    passphrase: Text = ""
    revision: Annotated[int, Meta(ge=-1)] = -1
    event: Annotated[int, Meta(ge=-1)] = -1


class Watch(RequestMessage, frozen=True):
    """Enter a room as a spectator."""

    room: RoomCode
    passphrase: Text = ""


class Leave(RequestMessage, frozen=True):
    """Give up the seat, or stop watching. A player who leaves a race that is under way resigns."""


class Ready(RequestMessage, frozen=True):
    """Declare that the player is ready, or no longer ready."""

    ready: bool = True


class Start(RequestMessage, frozen=True):
    """Start the countdown. Only the host may send this request."""


class CommitShare(RequestMessage, frozen=True):
    """Commit the player to a share for a draw of the joint deal. Clients send it when the countdown has begun.

    ``draw`` is the number of the draw, and ``commitment`` the hash of the share.
    """

    draw: DrawNumber
    commitment: Hash


class RevealShare(RequestMessage, frozen=True):
    """Reveal the player's share for a draw. Clients send it once the room shows the commitments of all players."""

    draw: DrawNumber
    share: Hash


class KickPlayer(RequestMessage, frozen=True):
    """Remove a player permanently from the room before the race starts. Only the host may send this request."""

    player: Text


class Report(RequestMessage, frozen=True):
    """Report a name to the operator of the server: that of a player in the room, or of the room if ``player`` is empty."""

    player: Text = ""


class Act(RequestMessage, frozen=True):
    """Make a move, a draw or a deal on the player's board, or undo a move.

    The board is at ``revision`` before the action. If an accepted ``Act`` is sent again, it gets the first answer
    again.
    """

    revision: Revision
    action: Annotated[str, Meta(max_length=16)]


class Begin(RequestMessage, frozen=True):
    """Begin the player's attempt in a race with a window. A player who has begun gets the first answer again.

    To a server that has lost the attempt, a client sends ``time`` and ``receipt`` of its first answer.
    """

    time: Time = 0
    receipt: Annotated[bytes, Meta(max_length=64)] = b""


class MoveSession(RequestMessage, frozen=True):
    """Ask for a code with which another device goes on as this player. A QR code with ``link`` before the code is drawn too.

    An empty ``link`` asks for no QR code.
    """

    link: Annotated[str, Meta(max_length=1024)] = ""


class AckedAction(Struct, frozen=True, kw_only=True):
    """An acknowledged action, with the id of its ``Act`` and the time of its commit."""

    id: Id
    action: Annotated[str, Meta(max_length=16)]
    time: Annotated[int, Meta(ge=0, le=1 << 52)]


class Recover(RequestMessage, frozen=True):
    """Send acknowledged actions again to a server that has lost them. ``receipt`` is the receipt of the last action.

    ``revision`` is the revision of the board before the first of these actions.
    """

    revision: Revision
    actions: Annotated[tuple[AckedAction, ...], Meta(min_length=1, max_length=MAX_ACTIONS_PER_RECOVER)]
    receipt: Annotated[bytes, Meta(max_length=64)]


class Resign(RequestMessage, frozen=True):
    """Resign from the race. The player's foundation cards still count."""


class DeclareStuck(RequestMessage, frozen=True):
    """Declare that the player is stuck: no move and no undo can improve the result. The player may still make moves."""


class Rematch(RequestMessage, frozen=True):
    """Ask for the room of the rematch. The first such request opens the room."""


ToServer = (
    Hello
    | Ping
    | ListRooms
    | ListHouseRooms
    | RaceNow
    | ListRecords
    | ReadRecord
    | Create
    | Join
    | Watch
    | Leave
    | MoveSession
    | Ready
    | Start
    | CommitShare
    | RevealShare
    | KickPlayer
    | Report
    | Begin
    | Act
    | Recover
    | Resign
    | DeclareStuck
    | Rematch
)


class GameDescription(Struct, frozen=True, kw_only=True):
    """The description of a game and its variants: the name of a file, without ``.toml``, and its text as UTF-8."""

    name: str
    text: bytes


class TideTime(Struct, frozen=True, kw_only=True):
    """A tide of each day: the minute of the day in UTC at which it starts, and its game."""

    minute: Annotated[int, Meta(ge=0, le=1439)]
    game: str


class Welcome(AnswerMessage, frozen=True):
    """The answer to ``Hello``.

    ``session`` is the secret token with which the client resumes the session. ``player`` is the player's public id.
    ``server`` names the program of the server. ``engine`` is the version of the server's rules (``samedeal.ENGINE``).
    ``page`` says whether the server has a page for browsers. ``games`` has descriptions of the games that the client does
    not know. ``tides`` are the tides of each day. ``house`` says whether bots of the house can be asked for.
    """

    session: str
    player: str
    name: str
    time: int
    server: str
    engine: int = 0
    page: bool = False
    games: tuple[GameDescription, ...] = ()
    tides: tuple[TideTime, ...] = ()
    house: bool = False


class Pong(AnswerMessage, frozen=True):
    """The answer to ``Ping``, with the time of the server."""

    time: int


class RoomLine(Struct, frozen=True, kw_only=True):
    """A public room in a list of rooms.

    ``closes`` is when the doors of a race with a window close, or once they are closed, when the window does. Otherwise it
    is 0.
    """

    room: str
    game: str
    deal: str
    phase: Phase
    players: int
    seats: int
    spectators: bool
    starts: int = 0
    delay: int = 15
    bots: bool = True
    path: str = ""
    closes: int = 0


class Rooms(AnswerMessage, frozen=True):
    """The answer to ``ListRooms``: the public rooms that can be joined or watched, newest first."""

    rooms: tuple[RoomLine, ...]


class RecordLine(Struct, frozen=True, kw_only=True):
    """A recorded race in a list of records.

    ``race`` is the id of the race. ``started`` and ``ended`` are times. ``players`` is the number of players.
    ``winner`` is the name of a player with place 1, and ``bot`` says whether that is a bot. ``time`` is the time from the
    start to this player's finish, in milliseconds, or 0 if nobody finished. ``size`` is the length of the record in bytes.
    ``tide`` is when the tide of the race started, or 0.
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
    tide: int = 0
    bot: bool = False


class Records(AnswerMessage, frozen=True):
    """The answer to ``ListRecords``: the newest records, newest first."""

    records: tuple[RecordLine, ...]


class RecordPart(AnswerMessage, frozen=True):
    """The answer to ``ReadRecord``: one part of the record, as UTF-8. ``parts`` is the number of all parts."""

    race: str
    part: int
    parts: int
    text: bytes


class Created(AnswerMessage, frozen=True):
    """The answer to ``Create``, ``RaceNow`` and ``Rematch``: the code of the room, and the path at which its racers meet."""

    room: str
    path: str = ""


class Joined(AnswerMessage, frozen=True):
    """The answer to ``Join``. ``revision`` is the revision of the player's board on the server, or -1 before the deal.

    ``path`` is where the racers of the room connect, so that they meet on one node.
    A ``RoomState`` follows, or only a ``ProgressUpdate`` if the client has the newest ``RoomState``. After the deal, a
    ``BoardState`` follows too, unless the client has this revision or a later one.
    """

    room: str
    seat: SeatNumber
    generation: int
    revision: int = -1
    path: str = ""


class Watching(AnswerMessage, frozen=True):
    """The answer to ``Watch``, with the spectator delay in seconds. ``RoomState`` and ``DelayedBoard`` messages follow."""

    room: str
    delay: int


class Done(AnswerMessage, frozen=True):
    """The answer to a request that has succeeded and has no answer type of its own."""


class Begun(AnswerMessage, frozen=True):
    """The answer to ``Begin``: the player's clock began at ``time``. A ``BoardState`` follows.

    ``receipt`` proves in a later ``Begin`` that the attempt began then.
    """

    time: int
    receipt: bytes


class SessionCode(AnswerMessage, frozen=True):
    """Answer to ``MoveSession``: a code that starts one session of the same player, if it is used in time.

    ``qr`` has the rows of the QR code, with a byte for each module: 1 is dark.
    """

    code: str
    qr: tuple[bytes, ...] = ()


class Acked(AnswerMessage, frozen=True, omit_defaults=True):
    """The answer to ``Act`` after the action was accepted and stored. The client knows everything else about the board.

    ``time`` is the time of the commit. ``hash`` is the hash of the new board. ``receipt`` proves in a ``Recover`` that
    the action was acknowledged. ``seen`` holds the cards that the action turned up for the first time, in order. After an
    undo, ``piles`` is the whole board, and ``may_undo`` says whether the newest move can be undone.
    """

    time: int
    hash: bytes
    receipt: bytes
    seen: bytes = b""
    piles: tuple[bytes, ...] = ()
    may_undo: bool = True


class Refused(Message, frozen=True):
    """The answer to a request that was refused, with the reason as a code and as a sentence.

    ``to`` is -1 if the id of the request could not be read. ``revision`` is the revision of the player's board, or -1
    if it is unknown or there is no board. ``retry_after`` is the time in seconds after which to retry. 0 means that a
    retry will not help.
    """

    to: int
    code: str
    message: str
    revision: int = -1
    retry_after: float = 0


class Seat(Struct, frozen=True, kw_only=True):
    """A player with a seat in a room.

    ``bot`` is true if the client has declared that a program plays. ``stuck`` is true if the player has sent
    ``DeclareStuck`` and the number of foundation cards has not changed since. ``share_commitment`` is the hash of the
    player's share for the present draw of a joint deal, and empty until the player has sent it. ``away`` is true if the
    player waits for the race without looking at the room. ``house`` is true of a bot of the server's house. ``shown`` is the
    name that the operator wants others to see instead of ``name``, or empty. All hashes cover ``name``.
    """

    player: str
    name: str
    seat: SeatNumber
    ready: bool = False
    resigned: bool = False
    bot: bool = False
    stuck: bool = False
    share_commitment: bytes = b""
    away: bool = False
    house: bool = False
    shown: str = ""


class DrawnShare(Struct, frozen=True, kw_only=True):
    """A share that decided a joint deal: the player's seat and name, the hash that the player sent first, and the share."""

    seat: SeatNumber
    name: str
    commitment: bytes
    share: bytes


class LostSeat(Struct, frozen=True, kw_only=True):
    """A player who lost the seat while a joint deal was being drawn, and in which draw.

    ``reason`` is ``left``, ``kicked``, or ``silent`` if the player did not commit or did not reveal in time.
    """

    draw: int
    seat: SeatNumber
    name: str
    reason: LossReason


class Tally(Struct, frozen=True, kw_only=True):
    """The part of a player's progress that everybody may see. It has counts, and never cards.

    ``acted_at`` is the time of the player's last action. ``last_progress_at`` is when ``foundation_cards`` last
    changed. ``finished_at`` is when the player finished, and ``began_at`` when the player began in a race with a window.
    Each of these times is 0 until its event has happened.
    """

    player: str
    foundation_cards: int = 0
    moves: int = 0
    undos: int = 0
    acted_at: int = 0
    last_progress_at: int = 0
    finished_at: int = 0
    connected: bool = True
    began_at: int = 0

    def updated(self, update: ProgressUpdate) -> Tally:
        """Return the tally after an update."""
        changes = {name: value for name in _COUNTS if (value := getattr(update, name)) is not UNSET}
        return replace(self, **changes)


class Standing(Struct, frozen=True, kw_only=True):
    """A player's line in the final standings.

    ``time`` is the time from the start of the race to the player's finish, in milliseconds, or 0 if the player did not
    finish. ``began_at`` is when the player began in a race with a window, and otherwise 0.
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
    began_at: int = 0


class TableLine(Struct, frozen=True):
    """A player's line in the table of a series. ``time`` is the sum of the times in its races, in milliseconds."""

    place: int
    player: str
    name: str
    races: int
    points: float
    time: int
    bot: bool = False


class EarlierPlayer(Struct, frozen=True, kw_only=True):
    """A player of the earlier race whose deal is dealt again, or of the first race of another player on a daily deal.

    ``reached`` has the times, in milliseconds since the start, at which the player first had 1, 2 and more foundation
    cards. ``started`` is when that race started, or 0 if it is not known.
    """

    name: str
    foundation_cards: int
    time: int
    reached: tuple[int, ...]
    started: int = 0


class RoomState(Message, frozen=True):
    """The state of a room that everybody in it may see. A ``RoomState`` always has the whole state.

    ``event`` is the number of the newest change, and rises with each change. ``starts`` is when the race starts, and
    ``ends`` is when its time is up. Both are 0 before the countdown. ``finished_at`` is when the race ended, or 0.
    ``commitment`` is the hash by which the server committed itself to the deal in advance. ``draw`` is the number of the
    newest draw of a joint deal: 1 when the countdown begins, and 0 before. ``lost`` has the players who lost their seats
    in these draws. ``seed``, ``proof`` and
    ``standings`` are empty until the race ends. A joint or daily deal has no seed, but a ``proof`` as text. ``next`` is
    the room of the rematch, or empty, and ``next_by`` is the id of the racer who asked for it, or empty if a spectator
    did. ``round`` is 0 for a first race, and rises by one with each rematch.
    ``table`` is the table of a series, with this race once it has ended. ``rooms_before`` are the rooms of the earlier
    races of the series. ``earlier`` has the players of the earlier race whose deal is dealt again, or others who have had
    the daily deal. ``tide`` is when the tide of the race starts, or 0 if it belongs to none. ``terms`` are the terms of the
    race as text (``samedeal.terms``).

    ``window`` is the length of the race's window in seconds, or 0. ``doors_close_at`` is when nobody can enter it any more,
    ``starts`` when its deal was found, and ``ends`` when it closes. ``drawing`` has the seats of those who draw its deal.
    From then on until the race ends, the state shows each player only their own attempt, and ``event`` is 0. If
    ``waits_for_host`` is true, the draws of its deal were lost, and the host may open the doors again.
    In a standing series, ``opens`` are the times at which the windows of this race and of all later ones open.
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
    spectator_count: int = 0
    seed: bytes = b""
    next: str = ""
    standings: tuple[Standing, ...] = ()
    finished_at: int = 0
    proof: str = ""
    draw: int = 0
    lost: tuple[LostSeat, ...] = ()
    round: int = 0
    table: tuple[TableLine, ...] = ()
    rooms_before: tuple[str, ...] = ()
    earlier: tuple[EarlierPlayer, ...] = ()
    tide: int = 0
    terms: str = ""
    next_by: str = ""
    window: int = 0
    doors_close_at: int = 0
    drawing: tuple[SeatNumber, ...] = ()
    waits_for_host: bool = False
    opens: tuple[int, ...] = ()


class Drawn(Message, frozen=True):
    """The shares that decide a joint deal, once all are known. Those who enter later get it before their ``RoomState``."""

    room: str
    draw: int
    shares: tuple[DrawnShare, ...]


class BoardState(Message, frozen=True):
    """The player's own board, masked. It is sent at the deal, and whenever the client's board is out of date.

    ``head`` is the head of the player's chain. ``may_undo`` says whether the newest move can be undone.
    """

    room: str
    revision: int
    game: str
    piles: tuple[bytes, ...]
    hash: bytes
    moves: int
    undos: int
    head: bytes = b""
    may_undo: bool = True


class ProgressUpdate(Message, frozen=True):
    """What has changed in the ``Tally`` of a rival, who has the seat ``seat``."""

    seat: SeatNumber
    foundation_cards: int | UnsetType = UNSET
    moves: int | UnsetType = UNSET
    undos: int | UnsetType = UNSET
    acted_at: int | UnsetType = UNSET
    last_progress_at: int | UnsetType = UNSET
    finished_at: int | UnsetType = UNSET
    connected: bool | UnsetType = UNSET

    @classmethod
    def of(cls, seat: int, tally: Tally, before: Tally | None = None) -> ProgressUpdate:
        """Return the update that changes the tally ``before`` to ``tally``. If ``before`` is None, it has all counts."""
        changes = {name: value for name in _COUNTS if (value := getattr(tally, name)) != getattr(before, name, None)}
        return cls(seat=seat, **changes)


_COUNTS: Final = ProgressUpdate.__struct_fields__[1:]


class DelayedBoard(Message, frozen=True):
    """A player's board as it was at ``time``, for spectators.

    During a race it is sent after the spectator delay. ``reached`` has an element for each card on the foundations: when
    their number last rose to that many, in milliseconds since the start. It is empty if the board follows an undo.
    """

    player: str
    revision: int
    piles: tuple[bytes, ...]
    moves: int
    undos: int
    time: int
    reached: tuple[int, ...] = ()


class DelayedMove(Message, frozen=True):
    """A player's move for spectators. It changes the player's board from the previous revision to ``revision``."""

    player: str
    revision: int
    action: str
    seen: bytes
    time: int


class Notice(Message, frozen=True):
    """News that is not an answer, such as a text from the operator. PROTOCOL.md, *Notice*, explains the codes."""

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
    | Begun
    | SessionCode
    | Acked
    | Refused
    | RoomState
    | Drawn
    | BoardState
    | ProgressUpdate
    | DelayedBoard
    | DelayedMove
    | Notice
)
