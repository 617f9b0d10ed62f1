"""A client's knowledge as one frozen value: the room, the player's own play, the rivals and the spectated boards.

``after`` applies a message of the server, and ``with_action`` applies an action of the player. Both return a new model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from types import MappingProxyType
from typing import Any, Final

from msgspec.structs import replace as with_fields

from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.deal import Deal
from samedeal.deal_proof import DealProof
from samedeal.errors import PlayError, SamedealError
from samedeal.game import Game
from samedeal.games import game_named
from samedeal.moves import Move
from samedeal.protocol.messages import (
    Acked,
    Act,
    Begun,
    BoardState,
    Created,
    DelayedBoard,
    DelayedMove,
    Done,
    Drawn,
    Joined,
    Notice,
    Pong,
    ProgressUpdate,
    RecordPart,
    Records,
    Refused,
    Rooms,
    RoomState,
    Seat,
    SessionCode,
    Standing,
    Tally,
    ToClient,
    Watching,
    Welcome,
)
from samedeal.race.progress import MoveCommitted, Progress
from samedeal.race.room_state import tally_of
from samedeal.record import Record, RecordedPlayer
from samedeal_link.evidence.board_from_piles import masked_board
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.verdict import Verdict
from samedeal_link.model.own_play import OwnPlay
from samedeal_link.model.recent_moves import RecentMoves


@dataclass(frozen=True, slots=True)
class WatchedBoard:
    """A player's board as a spectator sees it.

    ``time`` is the server's time of the newest move, in milliseconds since 1970, and ``last_progress_at`` that of the last
    change of the foundation cards.
    """

    play: Play
    time: int
    last_progress_at: int = 0


@dataclass(frozen=True)
class Model:
    """A client's knowledge of the room that it is in. Times are the server's, in milliseconds since 1970.

    ``me`` is the player's public id, or empty before the welcome. ``own`` is the player's own play. ``tallies`` has the
    newest counts of each player, and ``watched`` the boards that a spectator sees, both by player. ``delay`` is the
    spectator delay in seconds, or None for a player. ``recent`` has each player's newest moves. For a spectator, they have
    the same delay as the boards.

    ``stale`` is true after the client has entered a room, or come back to it, until the room's state arrives.
    ``missed_move`` is true while a spectated board lacks a move. The client then requests all boards again.

    ``muted`` are the players whose names the player does not want to see. ``told`` is ``room`` as the server sent it, and
    ``room`` has what is shown instead of names.

    ``evidence`` is what the client knows of its own race for certain. ``verdict`` is the verdict on the finished race, or
    None until then, and ``checking`` says how far it has come. ``whole_record`` is the server's record of the race, which
    has not been checked, or None until it is read.
    """

    me: str = ""
    name: str = ""
    room: RoomState | None = None
    own: OwnPlay = field(default_factory=OwnPlay)
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    watched: Mapping[str, WatchedBoard] = field(default_factory=dict)
    delay: int | None = None
    recent: Mapping[str, RecentMoves] = field(default_factory=dict)
    evidence: Evidence | None = None
    verdict: Verdict | None = None
    checking: str = ""
    whole_record: Record | None = None
    muted: frozenset[str] = frozenset()
    told: RoomState | None = None
    stale: bool = True
    missed_move: bool = False

    @property
    def board(self) -> Board | None:
        """The player's own board as the screen shows it. It is None until the cards are dealt, and for a spectator."""
        return self.own.shown.board if self.own.shown and self.delay is None else None

    @property
    def out_of_sync(self) -> bool:
        """Whether one of the boards differs from the server's board. The client then has to request the boards again."""
        return self.own.out_of_sync or self.missed_move

    @property
    def is_answered(self) -> bool:
        """Whether the player's board is known and every earlier move is acknowledged."""
        return self.board is not None and not self.own.pending and not self.out_of_sync

    @property
    def phase(self) -> str:
        """The phase of the race, or an empty string outside any room and before the room's state has arrived."""
        return self.room.phase if self.room is not None else ""

    @property
    def standing(self) -> Standing | None:
        """The player's own line of the standings, or None if there is none."""
        lines = self.room.standings if self.room else ()
        return next((line for line in lines if line.player == self.me), None)

    @property
    def racers(self) -> int:
        """Number of players in the standings who have raced. In a race with a window, some may not have begun."""
        return sum(line.place > 0 for line in self.this_room.standings)

    @property
    def seat(self) -> Seat | None:
        """The player's own seat, or None if the player has no seat."""
        return self.seat_of(self.me)

    def seat_of(self, player: str) -> Seat | None:
        """Return a player's seat, or None if the player has no seat."""
        seats = self.room.players if self.room else ()
        return next((seat for seat in seats if seat.player == player), None)

    @property
    def hosting(self) -> bool:
        """Whether the player is the room's host."""
        return self.room is not None and bool(self.me) and self.room.host == self.me

    @property
    def may_open_doors(self) -> bool:
        """Whether the player, as the host, may open the doors of a race with a window again."""
        return self.hosting and self.this_room.waits_for_host

    @property
    def opens_by_itself(self) -> bool:
        """Whether the host can't close the doors, as in a standing series until they were opened again."""
        return bool(self.this_room.opens) and not self.this_room.draw

    @property
    def has_live_seat(self) -> bool:
        """Whether the player has a seat in a race that is not over, and the player has not resigned."""
        seat = self.seat
        return self.phase in ("open", "countdown", "racing") and seat is not None and not seat.resigned

    @property
    def meets_only_house(self) -> bool:
        """Whether all rivals of the player are bots of the house."""
        rivals = [seat for seat in self.room.players if seat.player != self.me] if self.room and self.seat else []
        return bool(rivals) and all(seat.house for seat in rivals)

    @property
    def racing(self) -> bool:
        """Whether the player is still playing a race, or is in its countdown."""
        started = self.delay is None and self.phase != "open" and not self.may_begin
        return started and self.has_live_seat and not (self.board is not None and self.board.won)

    @property
    def has_finished(self) -> bool:
        """Whether the player is done in a race that still goes on.

        A player who has finished or resigned is done. In a room without undo, a player is also done if no move helps
        any more.
        """
        seat, board = self.seat, self.own.play.board if self.own.play is not None else None
        if self.room is None or self.room.phase != "racing" or seat is None:
            return False
        blocked = self.room.options.undo_rule is Undo.OFF and not self.own.pending
        return seat.resigned or (board is not None and (board.won or (blocked and board.stuck)))

    @property
    def may_be_stuck(self) -> bool:
        """Whether no sequence of moves helps the player any more, and the player does not yet count as stuck.

        Undo may still help. Always false if the room's options let the race go on even if all players are stuck.
        """
        room, seat, own = self.room, self.seat, self.own
        if room is None or room.phase != "racing" or self.delay is not None or not room.options.end_when_settled:
            return False
        racing = seat is not None and not (seat.stuck or seat.resigned)
        return racing and not own.pending and not own.out_of_sync and own.play is not None and own.is_stuck

    def is_away(self, player: str) -> bool:
        """Whether a player who has a seat does not look at the room, or is not connected.

        In an open window, nobody knows that of others.
        """
        seat, tally = self.seat_of(player), self.tallies.get(player)
        if seat is None or self.is_hidden:
            return False
        return seat.away or (tally is not None and not tally.connected)

    @property
    def others_away(self) -> list[Seat]:
        """The other players who are away."""
        players = self.room.players if self.room is not None else ()
        return [seat for seat in players if seat.player != self.me and self.is_away(seat.player)]

    @property
    def has_other_people(self) -> bool:
        """Whether another player in the room is not a bot."""
        return self.room is not None and any(not seat.bot and seat.player != self.me for seat in self.room.players)

    @property
    def has_daily_deal(self) -> bool:
        """Whether the race is for the daily deal."""
        return self.room is not None and self.room.deal.startswith("daily")

    @property
    def ends_without_player(self) -> bool:
        """Whether the race ends as soon as the player is done, because only bots would still be playing."""
        room = self.room
        if room is None or not room.options.end_when_settled:
            return False
        others = [seat for seat in room.players if seat.player != self.me]
        finished = {tally.player for tally in self.tallies.values() if tally.finished_at}
        return all(seat.bot or seat.resigned or seat.stuck or seat.player in finished for seat in others)

    @property
    def may_watch_others(self) -> bool:
        """Whether a player who is done can watch other players.

        True if the room has other players and admits spectators, and the race does not end as soon as this player is
        done.
        """
        room = self.room
        may_watch = room is not None and room.options.spectators and not room.window
        return may_watch and len(self.this_room.players) > 1 and not self.ends_without_player

    @property
    def deal_words(self) -> str:
        """The words of the deal, or an empty string while they are not known."""
        return self.evidence.words if self.evidence else ""

    def until_start(self, now: int) -> int:
        """Return the milliseconds until the race starts, or 0 if no countdown is running."""
        return max(0, self.room.starts - now) if self.room and self.room.starts else 0

    @property
    def starts(self) -> int:
        """When the player's clock starts, or started: that of the race, or in a window the player's own. Otherwise 0."""
        if self.room is None or not self.room.window:
            return self.room.starts if self.room else 0
        own = self.tallies.get(self.me)
        return own.began_at if own else 0

    def began_at(self, player: str) -> int:
        """Return when the clock of a player in the room began: that of the race, or in a window the player's own."""
        tally = self.tallies.get(player)
        return (tally.began_at if tally else 0) or self.this_room.starts

    @property
    def is_hidden(self) -> bool:
        """Whether the player sees nothing of others, because the room's window is open."""
        return self.room is not None and self.room.window > 0 and self.room.phase in ("countdown", "racing")

    def has_raced(self, now: int) -> bool:
        """Return whether the player's attempt in an open window is over."""
        return self.is_hidden and (self.has_finished or (self.starts > 0 and self.time_left(now) == 0))

    def is_racing(self, now: int) -> bool:
        """Return whether the player is racing, or in the countdown, with time left in a window."""
        return self.racing and not self.has_raced(now)

    @property
    def may_begin(self) -> bool:
        """Whether the player may begin in an open window."""
        seat, is_open = self.seat, self.is_hidden and self.phase == "racing"
        return is_open and seat is not None and not (seat.resigned or self.starts)

    def time_left(self, now: int) -> int:
        """Return the milliseconds until the player's time is up. Return 0 before the countdown."""
        room = self.room
        if room is None or not room.ends:
            return 0
        own_end = (self.starts or now) + 1000 * room.options.limit if room.window else room.ends
        return max(0, min(room.ends, own_end) - now)

    def is_in(self, room: str) -> bool:
        """Return whether the client is in the room with the code ``room``."""
        return self.room is not None and self.room.room == room

    @property
    def this_room(self) -> RoomState:
        """The room that the client is in. Raise ValueError if it is in none."""
        if self.room is None:
            raise ValueError("the client is in no room")
        return self.room

    @property
    def game(self) -> Game:
        """The room's game. Raise ValueError if the client is in no room."""
        return game_named(self.this_room.game)

    def record(self) -> Record | None:
        """Return the record of this player's part of the race.

        Return None for a spectator, if the server has not revealed the deal yet or has revealed a wrong one, or if an
        action is unknown. After a restart, the actions are those of the evidence.
        """
        room, play, seat, evidence = self.room, self.own.play, self.seat, self.evidence
        if room is None or play is None or seat is None or evidence is None or evidence.terms is None:
            return None
        if not (room.seed or room.proof):
            return None
        own = self.own.actions
        actions = own if self.own.first else tuple((ack.time - self.starts, ack.action) for ack in evidence.acks)
        place, time = self.standing.place if self.standing else 0, actions[-1][0] if play.board.won and actions else 0
        try:
            proof = DealProof.parse(room.proof) if room.proof else None
            result = (place, play.board.foundation_cards, actions, time)
            began = self.starts if room.window else 0
            player = RecordedPlayer(seat.seat, seat.name, *result, seat.bot, seat.resigned, began_at=began)
            end, players = max(room.finished_at, room.starts), len(room.standings) or len(room.players)
            race = evidence.terms, evidence.commitment, room.starts, end
            record = Record(*race, room.seed, players, (player,), proof)
            same = record.replay().board.state_hash() == play.board.state_hash()
        except SamedealError:
            return None
        return record if same else None

    def with_action(self, action: Move | str, number: int, now: int) -> tuple[Model, Act]:
        """Return the model after an action, and the Act with the id ``number`` that the client has to send.

        If the result depends on an unseen card, the board stays as it is until the server answers.
        Raise PlayError if the server is certain to refuse the action.
        """
        if self.room is None or self.own.shown is None:
            raise PlayError("There are no cards yet. They are dealt when the race starts.")
        if self.room.phase != "racing":
            over = self.room.phase in ("finished", "closed")
            raise PlayError("The race is over." if over else "The race has not started.")
        if self.room.window and self.time_left(now) == 0:
            raise PlayError("Your time is up.")
        if (seat := self.seat) is not None and seat.resigned:
            raise PlayError("You have resigned from this race.")
        own, act = self.own.with_action(action, number, now)
        return replace(self, own=own), act

    def after(self, message: ToClient) -> Model:
        """Return the model after a message. Raise SamedealError if a correct server would not send it."""
        own = self.own
        model = self if own.rollback is None else replace(self, own=replace(own, rollback=None))
        return HANDLERS[type(message)](model, message)

    def without_room(self) -> Model:
        """Return the model outside any room."""
        return Model(self.me, self.name, muted=self.muted)

    def with_muted(self, player: str) -> Model:
        """Return the model after a player was muted, or is no longer."""
        muted = replace(self, muted=self.muted ^ {player})
        return replace(muted, room=muted.told and muted.named(muted.told))

    def named(self, room: RoomState) -> RoomState:
        """Return a room with what is shown instead of the names of others: of muted ones, and what the operator wants.

        The own name stays, since hashes cover it. Players who did not race have no place.
        """
        room = with_fields(room, standings=placed(room.standings, room.window))
        others = [seat for seat in room.players if seat.player != self.me and (seat.shown or seat.player in self.muted)]
        shown = {seat.player: f"Player {seat.seat}" if seat.player in self.muted else seat.shown for seat in others}
        if not shown:
            return room
        names = {seat.name: shown[seat.player] for seat in others}
        return with_fields(
            room,
            players=tuple(with_fields(each, name=shown.get(each.player, each.name)) for each in room.players),
            standings=tuple(with_fields(each, name=shown.get(each.player, each.name)) for each in room.standings),
            table=tuple(with_fields(each, name=shown.get(each.player, each.name)) for each in room.table),
            lost=tuple(with_fields(each, name=names.get(each.name, each.name)) for each in room.lost),
        )

    def entering(self, room: str, delay: int | None) -> Model:
        """Return the model after entering a room, as a spectator if ``delay`` is not None.

        If the client is in this room already, keep the knowledge of the room and of the player's own board.
        """
        if not self.is_in(room):
            return replace(self.without_room(), delay=delay)
        own = replace(self.own, out_of_sync=False)
        return replace(self, own=own, tallies={}, watched={}, delay=delay, stale=True, missed_move=False)

    def with_watched(self, player: str, board: WatchedBoard) -> Model:
        """Return the model with a new board of a spectated player."""
        moved = self._with_moves(player, board.time, board.play.moves)
        return replace(moved, watched=MappingProxyType({**self.watched, player: board}))

    def _with_moves(self, player: str, time: int, moves: int) -> Model:
        """Return the model after a player has made ``moves`` moves, the newest of them at ``time``."""
        recent = self.recent.get(player, RecentMoves()).after(time, moves)
        return replace(self, recent=MappingProxyType({**self.recent, player: recent}))


def placed(standings: tuple[Standing, ...], window: int) -> tuple[Standing, ...]:
    """Return standings in which players who did not begin in a race with a window have the place 0."""
    return tuple(line if line.began_at or not window else with_fields(line, place=0) for line in standings)


def _unchanged(model: Model, _: ToClient) -> Model:
    return model


def _welcome(model: Model, message: Welcome) -> Model:
    return replace(model, me=message.player, name=message.name)


def _joined(model: Model, message: Joined) -> Model:
    has_seat = model.is_in(message.room) and model.delay is None
    return replace(model, stale=True) if has_seat else model.entering(message.room, None)


def _watching(model: Model, message: Watching) -> Model:
    return model.entering(message.room, message.delay)


def _room_state(model: Model, state: RoomState) -> Model:
    _ = game_named(state.game), Deal.parse(state.deal)  # raise an error if there is no such game or deal
    if model.room is not None and not model.is_in(state.room):
        model = replace(model.without_room(), delay=model.delay)
    recent = {} if model.stale else model.recent
    shown: dict[str, Any] = {"room": model.named(state), "told": state}
    return reduce(_with_tally, state.tallies, replace(model, **shown, tallies={}, recent=recent, stale=False))


def _progress_update(model: Model, message: ProgressUpdate) -> Model:
    player = next((seat.player for seat in model.room.players if seat.seat == message.seat), "") if model.room else ""
    tally = model.tallies.get(player)
    return _with_tally(model, tally.updated(message)) if tally else model


def _with_tally(model: Model, tally: Tally) -> Model:
    tallied = replace(model, tallies=MappingProxyType({**model.tallies, tally.player: tally}))
    if model.delay is not None or not tally.acted_at:
        return tallied  # tallies are not delayed, so a spectator sees the moves of the delayed boards
    return tallied._with_moves(tally.player, tally.acted_at, tally.moves)  # noqa: SLF001 (of the same module)


def _board_state(model: Model, state: BoardState) -> Model:
    room = model.room
    rule = room.options.undo_rule if room else Undo.NO_REVEAL
    return replace(model, own=model.own.with_board(state, rule))


def _acked(model: Model, answer: Acked) -> Model:
    own = model.own.acked(answer, model.starts)
    acknowledged, play, tally = replace(model, own=own), own.play, model.tallies.get(model.me)
    if tally is None or play is None or play is model.own.play:
        return acknowledged
    gained = tally.foundation_cards, tally.last_progress_at
    before = Progress(foundation_cards=gained[0], last_progress_at=gained[1], began_at=tally.began_at)
    after = before.after(MoveCommitted.of(model.me, "", play), answer.time)
    return _with_tally(acknowledged, tally_of(model.me, after, answer.time))


def _refused(model: Model, refusal: Refused) -> Model:
    return replace(model, own=model.own.refused(refusal))


def _delayed_board(model: Model, message: DelayedBoard) -> Model:
    room = model.room
    if room is None:
        return replace(model, missed_move=True)
    board = masked_board(model.game, message.piles)
    play = Play(board, Undo.FREE, revision=message.revision, moves=message.moves, undos=message.undos)
    before = model.watched.get(message.player)
    if before is not None and message.revision > before.play.revision + 1:  # the times of skipped moves are unknown
        model = replace(model, recent=MappingProxyType({**model.recent, message.player: RecentMoves()}))
    reached = message.reached[: board.foundation_cards][-1:]
    last_progress_at = model.began_at(message.player) + reached[0] if reached else _progress_at(model, message, board)
    return model.with_watched(message.player, WatchedBoard(play, message.time, last_progress_at))


def _progress_at(model: Model, message: DelayedBoard | DelayedMove, board: Board) -> int:
    """Return when the foundation cards of a watched player last changed, if the message leads to ``board``."""
    tally, before = model.tallies.get(message.player), model.watched.get(message.player)
    cards, known = (tally.foundation_cards, tally.last_progress_at) if tally else (0, 0)
    if before is not None:
        cards, known = before.play.board.foundation_cards, before.last_progress_at
    return known if board.foundation_cards == cards else message.time


def _delayed_move(model: Model, message: DelayedMove) -> Model:
    watched = model.watched.get(message.player)
    if watched is None:
        return replace(model, missed_move=True)
    if message.revision <= watched.play.revision:
        return model
    try:
        play = watched.play.act(message.action, message.revision - 1, message.seen or None)
    except (SamedealError, ValueError):
        return replace(model, missed_move=True)
    last_progress_at = _progress_at(model, message, play.board)
    return model.with_watched(message.player, WatchedBoard(play, message.time, last_progress_at))


HANDLERS: Final[Mapping[type, Callable[[Model, Any], Model]]] = {
    Welcome: _welcome,
    Joined: _joined,
    Watching: _watching,
    RoomState: _room_state,
    ProgressUpdate: _progress_update,
    BoardState: _board_state,
    Acked: _acked,
    Refused: _refused,
    DelayedBoard: _delayed_board,
    DelayedMove: _delayed_move,
    **dict.fromkeys((Begun, Created, Done, Drawn, Notice, Pong, Records, RecordPart, Rooms, SessionCode), _unchanged),
}
"""The handler for each type of message from the server."""
