"""What a client knows, as one frozen value: the room, its own play, rivals, boards that it watches.

Nothing is drawn, sent or timed here. ``after`` takes a message of the server, ``acting`` an action of the player; both give
a new model. The laws:

- ``play`` holds what the server acknowledged, ``pending`` what it was asked for since, in order. Every action raises the
  revision by one, so that an action names the revision that it will find, and a refused one takes those after it with it.
- ``shown`` is ``play`` with those pending actions on it that turn up no unseen card; an action that does holds up the ones
  after it until its faces are known.
- Whatever doesn't agree with the server (a state hash, a revision) makes ``astray`` true: what is shown can't be trusted
  until the server has sent it whole again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from samedeal.board import Board
from samedeal.cards import DOWN, HIDDEN
from samedeal.deal import Deal
from samedeal.errors import MalformedFrame, PlayError, SamedealError, UnseenCard
from samedeal.games import Game
from samedeal.moves import Move
from samedeal.play import UNDO, Play, Undo
from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,
    Joined,
    LateBoard,
    LateMove,
    Progress,
    Refused,
    RoomState,
    Seat,
    Tally,
    ToClient,
    Watching,
    Welcome,
)
from samedeal.record import Record
from samedeal_client.rooms.prospects import hopeless
from samedeal_client.rooms.series import Point, Series


@dataclass(frozen=True, slots=True)
class Pending:
    """An action on its way: ``id`` of its Act, the revision that it is made on, and when, in the server's milliseconds."""

    id: int
    revision: int
    action: str
    at: int


@dataclass(frozen=True, slots=True)
class Rollback:
    """An action that the server refused, and the sentence that says why."""

    action: str
    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Watched:
    """A player's board as a spectator has it; ``at`` is when it was so, ``missed`` that a move after it was lost."""

    play: Play
    at: int
    missed: bool = False


@dataclass(frozen=True)
class Model:
    """A client's knowledge. Times are the server's milliseconds; ``me`` is the player's public id, empty before a welcome.

    ``first`` is the board that the play began with, where it was seen from the deal on, and ``done`` the actions since, as
    in a record. ``rollback`` is what the last message took back, if it did. ``delay`` is how many seconds late a spectator
    is, None for a player. ``series`` are each player's counts over time, as late as their boards for a spectator.
    ``commitment`` is the first one that the room's race was seen with. ``away`` is true until the room's state comes after
    one was not there, for how long and whyever. ``blocked`` is whether the server says that no move helps any more.
    """

    me: str = ""
    name: str = ""
    room: RoomState | None = None
    play: Play | None = None
    pending: tuple[Pending, ...] = ()
    shown: Play | None = None
    blocked: bool = False
    first: Board | None = None
    done: tuple[tuple[int, str], ...] = ()
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    watched: Mapping[str, Watched] = field(default_factory=dict)
    delay: int | None = None
    series: Mapping[str, Series] = field(default_factory=dict)
    commitment: bytes = b""
    away: bool = True
    rollback: Rollback | None = None
    astray: bool = False

    # ---------------------------------------------------------------- what a player asks

    @property
    def board(self) -> Board | None:
        """One's own board as it is shown, None before the deal and while one watches."""
        return self.shown.board if self.shown and self.delay is None else None

    @property
    def seat(self) -> Seat | None:
        """One's own seat, None without one."""
        return self.seat_of(self.me)

    def seat_of(self, player: str) -> Seat | None:
        """A player's seat, None without one."""
        seats = self.room.players if self.room else ()
        return next((seat for seat in seats if seat.player == player), None)

    @property
    def hosting(self) -> bool:
        """Whether one is the room's host."""
        return self.room is not None and bool(self.me) and self.room.host == self.me

    @property
    def awaited(self) -> bool:
        """Whether one has a seat in a race that is not over, which goes on without one."""
        seat = self.seat
        running = self.room is not None and self.room.phase in ("open", "countdown", "racing")
        return running and seat is not None and not seat.out

    @property
    def through(self) -> bool:
        """Whether one's own race is over while that of others may go on: home, out, or without a move and without undo."""
        seat, play = self.seat, self.play
        if self.room is None or self.room.phase != "racing" or seat is None:
            return False
        over = self.blocked and not self.pending and self.room.options.undo_rule is Undo.OFF
        return seat.out or over or (play is not None and play.board.won)

    @property
    def stuck(self) -> bool:
        """Whether nothing that helps is left: by the server's word, or as is proven here of all that may follow.

        It is so of the board that was acknowledged. Finding out takes some milliseconds at the most, once for each board.
        """
        return self.blocked or (self.play is not None and hopeless(self.play.board))

    @property
    def unsettled(self) -> bool:
        """Whether an action waits for the face of a card, so that those after it can't be shown or judged yet."""
        return self.shown is not None and self.shown.revision < self.next_revision

    @property
    def next_revision(self) -> int:
        """The revision that the next action is made on."""
        known = self.play.revision if self.play else 0
        return max([known, *(pending.revision + 1 for pending in self.pending)])

    def until_start(self, now: int) -> int:
        """Milliseconds to the start of the race, 0 once it has begun or while no countdown runs."""
        return max(0, self.room.starts - now) if self.room and self.room.starts else 0

    def time_left(self, now: int) -> int:
        """Milliseconds to the end of the race's time, 0 when it is over or has no end yet."""
        return max(0, self.room.ends - now) if self.room and self.room.ends else 0

    @property
    def may_undo(self) -> bool:
        """Whether the last move can be taken back, as far as is known here."""
        return self._undo_is_beyond_knowledge() or (self.shown is not None and self.shown.why_no_undo is None)

    # ---------------------------------------------------------------- acting

    def acting(self, action: Move | str, number: int, now: int) -> tuple[Model, Act]:
        """Take an action: the model that shows it, and what to send; ``number`` is the id for it.

        Raises PlayError when it is known to be refused; what depends on a card not known yet is the server's to judge.
        """
        if self.room is None or self.play is None or self.shown is None:
            raise PlayError("There is no board to move on yet: the cards are dealt when the race starts")
        if self.room.phase != "racing":
            raise PlayError(
                "The race is over" if self.room.phase in ("finished", "closed") else "The race has not begun"
            )
        if (seat := self.seat) is not None and seat.out:
            raise PlayError("You are out of this race")
        text = str(action)
        if not self.unsettled and not (text == UNDO and self._undo_is_beyond_knowledge()):
            with suppress(UnseenCard):
                self.shown.act(text)
        act = Act(id=number, revision=self.next_revision, action=text)
        model = replace(self, pending=(*self.pending, Pending(number, act.revision, text, now)), rollback=None)
        return _showing(model), act

    def _undo_is_beyond_knowledge(self) -> bool:
        """Whether the step to take back was made before this client knew the board; then the server has to say."""
        shown = self.shown
        return shown is not None and shown.undo_rule is not Undo.OFF and shown.last is None and self.first is None

    # ---------------------------------------------------------------- the server's messages

    def after(self, message: ToClient) -> Model:
        """The model once a message has come."""
        model = self if self.rollback is None else replace(self, rollback=None)
        take = _TAKE.get(type(message))
        return take(model, message) if take else model

    def leaving(self) -> Model:
        """The model in no room."""
        return Model(self.me, self.name)

    def is_in(self, room: str) -> bool:
        """Whether this is the room it knows of."""
        return self.room is not None and self.room.room == room

    @property
    def game(self) -> Game:
        """The game that the room plays. Raises ValueError outside a room."""
        if self.room is None:
            raise ValueError("there is no room")
        return Game.named(self.room.game)

    # ---------------------------------------------------------------- afterwards

    def record(self) -> Record | None:
        """One's own play as a record once the seed is known; None where its beginning was not seen."""
        room = self.room
        if room is None or self.first is None or not room.seed:
            return None
        return Record(self.game, Deal.parse(room.deal), room.seed, room.options.undo_rule, self.name or "?", self.done)


def _showing(model: Model) -> Model:
    """The model with ``shown`` worked out from ``play`` and ``pending``."""
    shown = model.play
    if shown is not None:
        for pending in model.pending:
            if pending.revision < shown.revision:
                continue
            try:
                shown = shown.act(pending.action, pending.revision)
            except PlayError:
                break
    return replace(model, shown=shown)


# ---------------------------------------------------------------- the room


def _welcome(model: Model, message: Welcome) -> Model:
    return replace(model, me=message.player, name=message.name)


def _joined(model: Model, message: Joined) -> Model:
    known = model.is_in(message.room) and model.delay is None
    return replace(model, away=True) if known else _entering(model, message.room, None)


def _entering(model: Model, room: str, delay: int | None) -> Model:
    """The model in a room by another door: of one that it knows it keeps what was seen, one's own play included."""
    afresh = replace(model.leaving(), delay=delay)
    if not model.is_in(room):
        return afresh
    return replace(
        afresh,
        room=model.room,
        commitment=model.commitment,
        series=model.series,
        play=model.play,
        pending=model.pending,
        shown=model.shown,
        blocked=model.blocked,
        first=model.first,
        done=model.done,
    )


def _room_state(model: Model, state: RoomState) -> Model:
    if model.room is not None and not model.is_in(state.room):
        model = replace(model.leaving(), delay=model.delay)
    return replace(
        model,
        room=state,
        tallies=MappingProxyType({tally.player: tally for tally in state.tallies}),
        series=_found(model, state),
        commitment=model.commitment or state.commitment,
        away=False,
    )


def _progress(model: Model, message: Progress) -> Model:
    changed = {tally.player: tally for tally in message.tallies}
    tallies = MappingProxyType({**model.tallies, **changed})
    return replace(model, tallies=tallies, series=_counted(model, message.tallies))


def _counted(model: Model, tallies: tuple[Tally, ...]) -> Mapping[str, Series]:
    """The series with the tallies in them; a spectator's are of the boards that are seen."""
    if model.delay is not None:
        return model.series
    return _longer(model.series, {each.player: _point(each) for each in tallies if each.active})


def _found(model: Model, state: RoomState) -> Mapping[str, Series]:
    """The series with what a room's state tells: after one was away, and to a spectator of a race that is over, more."""
    over = state.phase == "finished"
    if not model.away and (model.delay is None or not over):
        return _counted(model, state.tallies)
    if model.delay is not None and not over:
        return model.series
    found = {
        each.player: model.series.get(each.player, Series()).resume(_point(each), each.risen or each.active)
        for each in state.tallies
        if each.active
    }
    return MappingProxyType({**model.series, **found})


def _point(tally: Tally) -> Point:
    return Point(tally.active, tally.up, tally.moves)


def _longer(series: Mapping[str, Series], points: Mapping[str, Point]) -> Mapping[str, Series]:
    longer = {player: series.get(player, Series()).add(point) for player, point in points.items()}
    return MappingProxyType({**series, **longer})


# ---------------------------------------------------------------- one's own play


def _dealt(model: Model, state: BoardState) -> Model:
    if _will_catch_up(model, state.revision):
        return model
    board = _board(Game.named(state.game), state.piles)
    rule = model.room.options.undo_rule if model.room else Undo.NO_REVEAL
    taken_over = replace(
        model,
        play=Play(board, rule, revision=state.revision, moves=state.moves, undos=state.undos),
        first=board if state.revision == 0 else None,
        done=(),
        blocked=state.stuck,
        astray=board.state_hash() != state.hash,
    )
    return _showing(taken_over)


def _will_catch_up(model: Model, revision: int) -> bool:
    """Whether the answers to come lead to this revision; then the play goes on whole, with its beginning."""
    if model.play is None or model.astray or revision == 0:
        return False
    awaited = {pending.revision for pending in model.pending}
    return awaited.issuperset(range(model.play.revision, revision))


def _acked(model: Model, ack: Acked) -> Model:
    pending = next((each for each in model.pending if each.id == ack.to), None)
    known = model.play
    if pending is None or known is None:
        return model
    model = replace(model, pending=tuple(each for each in model.pending if each is not pending))
    if ack.revision <= known.revision:
        return _showing(model)
    play = _play_on(known, pending.action, ack) if ack.revision == known.revision + 1 else None
    if play is None or play.board.state_hash() != ack.hash:
        return _showing(replace(model, astray=True))
    done = model.done
    if model.first is not None and model.room is not None:
        at = max([0, pending.at - model.room.starts, *(each[0] for each in done[-1:])])
        done = (*done, (at, pending.action))
    return _showing(replace(model, play=play, blocked=ack.stuck, done=done))


def _play_on(play: Play, action: str, ack: Acked) -> Play | None:
    """The play after an acknowledged action; None when it can't have come about from this one."""
    if action == UNDO and ack.piles and play.last is None:
        board = _board(play.board.game, ack.piles)
        return Play(board, play.undo_rule, revision=ack.revision, moves=ack.moves, undos=ack.undos)
    try:
        return play.act(action, faces=ack.seen or None)
    except (PlayError, ValueError):
        return None


def _refused(model: Model, refusal: Refused) -> Model:
    pending = next((each for each in model.pending if each.id == refusal.to), None)
    if pending is None:
        return model
    before = tuple(each for each in model.pending if each.revision < pending.revision)
    known = model.play.revision + len(before) if model.play else -1
    return _showing(
        replace(
            model,
            pending=before,
            rollback=Rollback(pending.action, refusal.code, refusal.message),
            astray=model.astray or (refusal.revision >= 0 and refusal.revision != known),
        )
    )


# ---------------------------------------------------------------- watching


def _watching(model: Model, message: Watching) -> Model:
    return _entering(model, message.room, message.delay)


def _late_board(model: Model, message: LateBoard) -> Model:
    if model.room is None:
        return replace(model, astray=True)
    board = _board(model.game, message.piles)
    play = Play(board, Undo.FREE, revision=message.revision, moves=message.moves, undos=message.undos)
    known = model.series.get(message.player, Series())
    resumed = known.resume(Point(message.at, board.cards_up, message.moves), message.at)
    found = replace(model, series=MappingProxyType({**model.series, message.player: resumed}))
    return _hang(found, message.player, Watched(play, message.at))


def _board(game: Game, piles: tuple[bytes, ...]) -> Board:
    """A board that a server sent. Raises MalformedFrame where there is none like that."""
    cards = b"".join(piles)
    if len(piles) != len(game.keys) or len(cards) > game.cards or not _CARDS.issuperset(cards):
        raise MalformedFrame(f"A board of {game.name} is not like that")
    return Board(game, piles)


def _late_move(model: Model, message: LateMove) -> Model:
    known = model.watched.get(message.player)
    if known is None:
        return replace(model, astray=True)
    if message.revision <= known.play.revision:
        return model
    try:
        play = known.play.act(message.action, message.revision - 1, message.seen or None)
    except (SamedealError, ValueError):
        return replace(_hang(model, message.player, replace(known, missed=True)), astray=True)
    return _hang(model, message.player, Watched(play, message.at))


def _hang(model: Model, player: str, watched: Watched) -> Model:
    play = watched.play
    points = {} if watched.missed else {player: Point(watched.at, play.board.cards_up, play.moves)}
    boards = MappingProxyType({**model.watched, player: watched})
    return replace(model, watched=boards, series=_longer(model.series, points))


_CARDS: Final = frozenset(
    (HIDDEN, *(down | suit << 4 | rank for down in (0, DOWN) for suit in range(4) for rank in range(1, 14)))
)
"""What stands for a card on a board as its player may see it."""

_TAKE: Final[dict[type, Callable[[Model, Any], Model]]] = {
    Welcome: _welcome,
    Joined: _joined,
    RoomState: _room_state,
    Progress: _progress,
    BoardState: _dealt,
    Acked: _acked,
    Refused: _refused,
    Watching: _watching,
    LateBoard: _late_board,
    LateMove: _late_move,
}
