"""A node's copy of one room, kept up to date by applying the room's events in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from samedeal.joint_deal import MAX_DRAWS
from samedeal.names import is_removed
from samedeal.protocol.messages import Notice, ProgressUpdate, RoomState, Tally
from samedeal.protocol_codes import CloseCode
from samedeal.race.draws import is_draw_due
from samedeal.race.endings import waits_for_absent
from samedeal.race.progress import MoveCommitted, Progress
from samedeal.race.room_state import board_state, drawn, own_race
from samedeal.race.seats import check_not_kicked, present_racers
from samedeal.race.values import Race
from samedeal.sentences import notice, refused
from samedeal_server.errors import StoreUnavailable
from samedeal_server.loop_timers import Alarm, Timers
from samedeal_server.rooms.audience import Audience, Spawn
from samedeal_server.rooms.play_from_log import BoardReplay
from samedeal_server.rooms.player_connection import PlayerConnection
from samedeal_server.rooms.progress_updates import ProgressUpdates
from samedeal_server.rooms.room_model import RoomModel, next_due
from samedeal_server.rooms.spectator_boards import SpectatorBoards
from samedeal_server.store.clock import StoreClock
from samedeal_server.store.events import (
    AttemptBegan,
    OperatorMessage,
    PresenceChanged,
    RaceChanged,
    RacePatched,
    SequencedEvent,
    SpectatorCount,
)
from samedeal_server.store.store import Snapshot, Store
from samedeal_server.telemetry.metrics import Metrics

RETRY_INTERVAL: Final = 1.0
"""Time, in seconds, after which a room is refreshed because some work failed, or an overdue tick is retried."""

_HIDDEN_CHANGES: Final = frozenset(("committed", "revealed", "deal_found"))
"""Changes that are not sent to clients, so that clients do not learn how long the search for a deal took."""

ABSENCE_TIMEOUT: Final = 60.0
"""Time, in seconds, after which a race ends if it is over for some players and all others are disconnected or idle."""


@dataclass(eq=False, repr=False)
class Hub:
    """A node's copy of one room that it follows.

    The hub applies events that are announced, and reads events that it has missed from the room's stream in Redis.
    ``drawn`` has the shares of a joint deal once everybody has been told, for those who enter later. It comes before the
    state that no longer shows what the players have promised, which would look like a draw that went back.
    ``spawn`` runs work in the background. ``tick`` sends a TickCommand to the race. ``close`` is called when the room
    has closed. ``release`` is called for each connection that the hub has removed from the room.
    """

    _store: Store
    _clock: StoreClock
    timers: InitVar[Timers]
    _metrics: Metrics
    snapshot: InitVar[Snapshot]
    _spawn: Spawn
    _tick: Callable[..., Coroutine[Any, Any, object]]
    _close: Callable[[Hub], Coroutine[Any, Any, None]]
    _release: Callable[[Hub], Coroutine[Any, Any, None]]
    _told: dict[str, Tally] = field(default_factory=dict)
    _pulling: asyncio.Lock = field(default_factory=asyncio.Lock)
    _state_changed: bool = False
    _announced_ending_at: int = 0
    _announced_waiting: tuple[int, bool, bool] | None = None

    def __post_init__(self, timers: Timers, snapshot: Snapshot) -> None:
        self.room = snapshot.race.room
        self.model = RoomModel(snapshot, self._clock)
        self.drawn = drawn(self.race)
        self.audience = Audience(self._spawn)
        self.replay = BoardReplay(self._store, self.model)
        self.boards = SpectatorBoards(self.model, self._store, self._clock, timers, self.replay, self.audience)
        self.last_broadcast = snapshot.last_event
        self.updates = ProgressUpdates(timers, self._send_updates, lambda: self.race.is_crowd)
        self._deadline = Alarm(timers, self._on_deadline)
        self._retry_alarm = Alarm(timers, partial(self._spawn_with_retry, self.refresh))
        self._absence = Alarm(timers, partial(self._spawn, partial(self._tick, self.room, end_wait=True)))
        self._set_deadline()

    @property
    def race(self) -> Race:
        """The race, as of the newest event that this node has applied."""
        return self.model.race

    @property
    def progress(self) -> dict[str, Progress]:
        """The progress of each player, as of the newest event that this node has applied."""
        return self.model.progress

    def stop(self) -> None:
        """Stop all timers, because no client of this node is in the room any more."""
        for timer in (self.updates, self._deadline, self._absence, self.boards, self._retry_alarm):
            timer.close()

    def state(self, player: str = "") -> RoomState:
        """Return the message with the state of the room, for everybody in it, or in an open window for ``player``."""
        self._told.clear()  # those who get it know more than the others, so the next updates have whole tallies
        return self.model.state(player)

    def is_current(self, event: int) -> bool:
        """Return whether a client has the newest state of the room, apart from the counts.

        ``event`` is the number of the event in the client's newest RoomState.
        """
        return self.last_broadcast <= event <= self.model.event and not self.race.is_hidden

    def progress_of_rivals(self, player: str) -> list[ProgressUpdate]:
        """Return messages with the whole tallies of a player's rivals."""
        self._told.clear()  # as above
        rivals = [racer for racer in self.race.racers if racer.player != player]
        return [ProgressUpdate.of(racer.seat, self.model.tally(racer.player)) for racer in rivals]

    def check_can_watch(self, player: str, max_spectators: int) -> None:
        """Raise RequestRefused if a player may not watch the room now, or if too many spectators already watch it.

        ``max_spectators`` is the maximum number of the room's spectators on this node.
        """
        check_not_kicked(self.race, player)
        if self.race.phase == "closed":
            raise refused("room_closed")
        is_window = self.race.window > 0 and self.race.phase != "finished"
        if is_window and self.race.phase != "open":
            raise refused("has_seat") if self.race.racer(player) else refused("doors_closed")
        if self.model.is_racing(player):
            raise refused("racing")
        if is_window:
            raise refused("window_open")
        if len(self.audience.spectators) >= max_spectators:
            raise refused("too_many_spectators")

    def announced(self, numbered: SequencedEvent) -> None:
        """Apply an event that was announced.

        If events before it are missing, read them from the stream in the background.
        """
        if numbered.previous == self.model.event:
            self._apply(numbered)
        elif numbered.number > self.model.event:
            self.catch_up()

    def committed(self, numbered: SequencedEvent, is_announced: bool) -> None:  # noqa: FBT001  # as in OnCommitted
        """Apply the event of a move that this node has committed.

        ``is_announced`` says whether Redis also announces the event. From version 7.0 on, Redis does so only if another
        node follows the room. Without an announcement, this node saves 20 to 30 µs of CPU time.

        If earlier events are missing, and this event is also announced, do nothing: the announcements bring all of them
        in order. If this event is not announced, read the missing events from the stream in the background.
        """
        if not is_announced or numbered.previous == self.model.event:
            self.announced(numbered)

    def catch_up(self) -> None:
        """Read and apply missed events in the background. Retry if Redis is unavailable."""
        self._spawn_with_retry(self.pull)

    async def pull(self) -> None:
        """Read and apply the events that this node has missed. Raise StoreUnavailable if Redis fails."""
        async with self._pulling:
            if self.race.phase == "closed":
                return
            missed = await self._store.load_events(self.room, self.model.event)
            if missed is None:
                await self._reload()
            for numbered in missed or ():
                if numbered.previous == self.model.event:
                    self._apply(numbered)

    async def refresh(self) -> None:
        """Apply missed events, and read from Redis which players are connected.

        A node that is killed sends no events to say that its players are disconnected.
        """
        await self.pull()
        connected_before = {player: self.model.is_connected(player) for player in self.progress}
        for player, stored in (await self._store.load_progress(self.race)).items():
            known = self.progress.get(player)
            if known is not None and known.generation == stored.generation:
                self.progress[player] = replace(known, last_seen=stored.last_seen, connected=stored.connected)
        for player, connected in connected_before.items():
            if self.model.is_connected(player) != connected:
                self.updates.queue(player)
        if present_racers(self.race, self.progress, self._clock.now()) != self.race.racers:
            self._spawn(partial(self._tick, self.room))
        boards_missing = self.audience.spectators and self.boards.delayed is None
        if boards_missing or any(seat.play is None for seat, _ in self.audience.seats.values()):
            await self.deal_boards()
        self._finish_if_done()
        self._watch_absence()
        self._draw_if_due()

    async def _reload(self) -> None:
        """Load the whole room, because the stream lacks the missed events or Redis has lost its newest data."""
        revisions = [(seat, seat.play.revision if seat.play else 0) for seat, _ in self.audience.seats.values()]
        snapshot = await self._store.load(self.room)
        if snapshot is None or snapshot.race.created != self.race.created:
            self.model.race = replace(self.race, phase="closed")
        else:
            self.model.reload(snapshot)
        self.boards.discard()
        self._after_change()
        for seat, revision in revisions:
            progress = self.model.progress_of(seat.player)
            if progress.generation < seat.generation or progress.revision < revision:
                self.audience.force_resync(seat)
        if self.audience.spectators:
            await self.boards.ensure_built()
            for spectator in self.audience.spectators:
                self.boards.send_boards(spectator)

    def _spawn_with_retry(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        self._spawn(partial(self._retry, work))

    async def _retry(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Run ``work``. If the store is unavailable, refresh the room after ``RETRY_INTERVAL`` and raise the error.

        ``work`` itself is not run again.
        """
        try:
            await work()
        except StoreUnavailable:
            if not self._retry_alarm.is_set:
                self._retry_alarm.set(RETRY_INTERVAL)
            raise

    def _apply(self, numbered: SequencedEvent) -> None:
        self.model.event = numbered.number
        match numbered.event:
            case MoveCommitted() as moved:
                self._apply_move(moved, numbered.time)
            case RaceChanged() as changed:
                self._apply_change(changed, numbered.time)
            case RacePatched() as patched:
                self._apply_change(patched.apply(self.race), numbered.time)
            case PresenceChanged(player, generation, connected):
                if self.model.set_presence(player, generation, numbered.time, connected=connected):
                    self.updates.queue(player)
                    self.audience.fence(player, generation)
                    self._watch_absence()
                    self._draw_if_due()
            case AttemptBegan(player, began_at):
                self.model.begin(player, began_at)
                self._set_deadline()
            case SpectatorCount(count):
                self.model.spectator_count = count
                self._queue_state()
            case OperatorMessage(text):
                self.audience.broadcast(notice("said", text=text))
            case None:  # an event of a newer version
                pass

    def _apply_change(self, changed: RaceChanged, time: int) -> None:
        for told in filter(None, (_notice_of(change, changed.race) for change in changed.changes)):
            self.audience.broadcast(told)
        race, before = changed.race, self.race
        if before.starts == race.starts:
            race = replace(race, ends=min(race.ends, before.ends))
        self.model.race = race
        if "unseated" in changed.changes:
            gone = [racer.shown or racer.name for racer in before.racers if race.racer(racer.player) is None]
            self.audience.broadcast(notice("unseated", names=", ".join(gone)))
        if "renamed" in changed.changes:
            self._tell_names(before)
        step = (race.draw.number, race.lacks_shares, race.is_sealed)
        if "extended" in changed.changes and self._announced_waiting != step:
            self._announced_waiting = step
            names = " and ".join(racer.shown or racer.name for racer in race.awaited)
            self.audience.broadcast(notice("waiting", names=names) if names else notice("searching"))
        if _HIDDEN_CHANGES.issuperset(changed.changes):
            self._set_deadline()
            return
        if before.is_hidden and race.is_hidden and "racing" not in changed.changes:
            self._tell_attempts(before)
            return
        self._after_change(changed.changes)
        self._force_rejoin()
        self._observe_lag(time)

    def _tell_attempts(self, before: Race) -> None:
        """Tell players of an open window what has changed of their own attempts."""
        self._set_deadline()
        self._remove_kicked()
        for player, (_, connection) in self.audience.seats.items():
            if own_race(before, player) != own_race(self.race, player):
                connection.send(self.state(player))

    def _draw_if_due(self) -> None:
        """Draw the deal of a race with a window if somebody is there."""
        if is_draw_due(self.race, self.progress, self._clock.now()):
            self._on_deadline()

    def _tell_names(self, before: Race) -> None:
        """Tell players which names the operator has chosen for them. Those who are forgotten know."""
        for player, (_, connection) in self.audience.seats.items():
            racer, old = self.race.racer(player), before.racer(player)
            is_new = racer is not None and old is not None and (racer.name, racer.shown) != (old.name, old.shown)
            if racer is None or not is_new or is_removed(racer.shown):
                continue
            connection.send(notice("shown", name=racer.shown) if racer.shown else notice("renamed", name=racer.name))

    def _apply_move(self, moved: MoveCommitted, time: int) -> None:
        model = self.model
        if moved.player not in model.progress:
            return
        ends = model.race.ends
        is_new = model.move(moved, time)
        if model.race.ends != ends:
            self._set_deadline()
        if not is_new:
            return
        self.updates.queue(moved.player, time)
        if not self.boards.add(moved, time):
            self._spawn_with_retry(self.boards.ensure_built)
        if moved.no_moves_left or model.progress[moved.player].last_progress_at == time:
            self._finish_if_done()  # no other move can end the race
        if moved.finished or moved.no_moves_left or self._absence.is_set:
            self._watch_absence()

    def _watch_absence(self) -> None:
        """Start a timer if the race is over for some players and goes on only for disconnected or idle ones.

        Otherwise cancel the timer. When the timer fires, the race ends. A node that was restarted begins the timer
        anew, so that players have time to reconnect.
        """
        if not waits_for_absent(self.race, self.progress, self._clock.now()):
            self._absence.cancel()
        elif not self._absence.is_set:
            self._absence.set(ABSENCE_TIMEOUT)
            now = self._clock.now()
            if now - self._announced_ending_at >= 1000 * ABSENCE_TIMEOUT:  # a player may come and go often
                self._announced_ending_at = now
                self.audience.broadcast(notice("ending"))

    def _after_change(self, changes: tuple[str, ...] = ()) -> None:
        self.model.progress = {racer.player: self.model.progress_of(racer.player) for racer in self.race.racers}
        self._set_deadline()
        self._remove_kicked()  # before others are told: to the kicked player it would look as if they had resigned
        if self.race.is_waiting or changes == ("stuck",):
            self._queue_state()
        else:
            self._broadcast_state()
        self._watch_absence()
        for spectator in [each for each in self.audience.spectators if self.model.is_racing(each.player)]:
            self._remove_spectator(spectator, notice("seated"))
        match self.race.phase:
            case "racing":
                self._spawn_with_retry(self.deal_boards)
                self._finish_if_done()
            case "finished":
                self._spawn_with_retry(self.deal_boards)  # a deal without a legal move ends the race as it starts
                self.boards.release()
            case "closed":
                self._spawn(partial(self._close, self))
            case "countdown":
                self._draw_if_due()
            case "open":
                pass

    def _remove_kicked(self) -> None:
        for player in [player for player in self.audience.seats if player in self.race.kicked.players]:
            seat, connection = self.audience.seats.pop(player)
            self._remove(connection, notice("kicked"))
            self._spawn_with_retry(partial(self._store.record_absence, self.room, player, seat.generation))
        for spectator in [each for each in self.audience.spectators if each.player in self.race.kicked.players]:
            self._remove_spectator(spectator, notice("kicked"))

    def _remove_spectator(self, spectator: PlayerConnection, notice: Notice) -> None:
        self.audience.spectators.discard(spectator)
        self._remove(spectator, notice)

    def _remove(self, connection: PlayerConnection, notice: Notice) -> None:
        connection.send(notice)
        connection.on_dismissed()
        self._spawn(partial(self._release, self))

    def _force_rejoin(self) -> None:
        """Disconnect connected players who have lost their seats because they seemed absent.

        Their clients reconnect and rejoin.
        """
        for player, (seat, connection) in list(self.audience.seats.items()):
            if self.race.racer(player) is None and not seat.leaving:
                connection.close(CloseCode.RESTART, "your seat was given up as you seemed absent: join again")

    def _finish_if_done(self) -> None:
        if self.model.is_done:
            self._set_deadline()

    def _set_deadline(self) -> None:
        self._deadline.cancel()
        if due := next_due(self.race, self.progress):
            self._deadline.set(0.0 if self.model.is_done else self._clock.seconds_until(due))

    def _on_deadline(self) -> None:
        """Tick the room because a change is due. Retry at intervals until the change has happened."""
        self._deadline.set(RETRY_INTERVAL)
        self._spawn(partial(self._tick, self.room))

    def _queue_state(self) -> None:
        """Broadcast the state of the room with the next update of counts.

        A player who changes the room often therefore cannot flood the others.
        """
        self._state_changed = True
        self.updates.schedule()

    def _broadcast_state(self) -> None:
        self.last_broadcast = self.model.event
        self._state_changed = False
        before, self.drawn = self.drawn, drawn(self.race)
        if self.drawn is not None and self.drawn != before:
            self.audience.broadcast(self.drawn)
        if self.race.is_hidden:
            for player, (_, connection) in self.audience.seats.items():
                connection.send(self.state(player))
        elif self.audience.seats or self.audience.spectators:
            state = self.state()
            self.audience.broadcast(state)
            self._told = {tally.player: tally for tally in state.tallies}

    def _send_updates(self, players: set[str], moved_at: int) -> None:
        if self._state_changed:
            self._broadcast_state()
        if not self.audience.seats or self.race.is_hidden:
            return
        updates = {}
        for racer in self.race.racers:
            player = racer.player
            if player in players and (tally := self.model.tally(player)) != (before := self._told.get(player)):
                updates[player] = ProgressUpdate.of(racer.seat, tally, before)
                self._told[player] = tally
        self.audience.send_to_rivals(updates)
        if updates and moved_at:
            self._observe_lag(moved_at)

    def _observe_lag(self, time: int) -> None:
        self._metrics.fan_out_lag_seconds.observe(max(0, self._clock.now() - time) / 1000)

    async def deal_boards(self) -> None:
        """Send every player on this node the player's own board, and build the boards for spectators.

        Skip what is already done.
        """
        for seat, connection in list(self.audience.seats.values()):
            if seat.play is None and (play := await self.replay.load_play(seat)) is not None:
                connection.send(board_state(self.room, play, seat.head))
                if play.no_moves_left:
                    self._spawn(partial(self._tick, self.room))  # if this is the deal itself, the race is over
        if self.audience.spectators:
            await self.boards.ensure_built()


def _notice_of(change: str, race: Race) -> Notice | None:
    """Return what everybody in the room is told of a change of its race, or None."""
    match change:
        case "closed_by_operator":
            return notice("closed")
        case "not_drawn" if race.window:
            return notice("series_goes_on") if race.next else notice("window_passed")
        case "not_drawn":
            return notice("not_drawn", draws=MAX_DRAWS)
        case "not_found":
            return notice("not_found")
        case _:
            return None
