"""A room as one node follows it: its connections here, its events in order, and what each connection is told of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final

from msgspec.structs import replace
from redis.exceptions import RedisError

from samedeal.board import Board
from samedeal.deal import shuffled
from samedeal.errors import PlayError, Refused
from samedeal.play import Play
from samedeal.protocol.messages import (
    BoardState,
    Close,
    LateBoard,
    LateMove,
    Notice,
    Progress,
    RoomState,
    Tally,
    ToClient,
)
from samedeal.protocol.messages import Seat as SeatLine
from samedeal_server.clock import Clock
from samedeal_server.connection import Connection, Seat, framed
from samedeal_server.gallery import Gallery
from samedeal_server.race import ABSENT_AFTER, Race, Run
from samedeal_server.receipts import START, follow, receipt
from samedeal_server.store.events import Changed, Moved, Numbered, Presence, Said, Watched
from samedeal_server.store.redis import Snapshot, Store

_TAKEN_OVER: Final = "you are connected from somewhere else now"
_AT_A_TIME: Final = 500
"""Actions that are replayed before others of this node have their turn."""

PROGRESS_EVERY: Final = 0.1
"""Seconds between two tellings of the rivals' counts."""

SHOW_EVERY: Final = 0.1
"""Seconds between two showings of boards to spectators, at the least."""

_WOKEN_AT_ONCE: Final = 32
"""Spectators that are sent what they see before others of this node have their turn."""

TRY_AGAIN: Final = 1.0
"""Seconds after which what was due and has not happened is tried again."""

Spawn = Callable[[Coroutine[Any, Any, None]], None]


class Hub:
    """One room on this node. The stream of events is the truth; what is announced only saves a look at it."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        snapshot: Snapshot,
        spawn: Spawn,
        tick: Callable[[str], Coroutine[Any, Any, None]],
        close: Callable[[Hub], Coroutine[Any, Any, None]],
    ) -> None:
        self.store = store
        self.clock = clock
        self.room = snapshot.race.room
        self.race: Race = snapshot.race
        self.runs: dict[str, Run] = dict(snapshot.runs)
        self.event = snapshot.event
        self.told = snapshot.event
        self.watching = snapshot.watching
        self.seats: dict[str, tuple[Seat, Connection]] = {}
        self.spectators: set[Connection] = set()
        self._spawn = spawn
        self._tick = tick
        self._close = close
        self._pulling = asyncio.Lock()
        self._hanging = asyncio.Lock()
        self._board: Board | None = None
        self._gallery: Gallery | None = None
        self._changed: set[str] = set()
        self._changed_at = 0
        self._recounted = False
        self._shut = False
        self._flush: asyncio.TimerHandle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._show: asyncio.TimerHandle | None = None
        self._shown = 0.0
        self._hung: list[bytes] | None = None
        self._again: asyncio.TimerHandle | None = None
        self._set_timer()

    def shut(self) -> None:
        """Stop all timers, for good; nobody is here any more."""
        self._shut = True
        for timer in (self._flush, self._timer, self._show, self._again):
            if timer is not None:
                timer.cancel()

    @property
    def empty(self) -> bool:
        """Whether no connection of this node is in the room."""
        return not self.seats and not self.spectators

    def check_view(self, player: str, most: int) -> None:
        """Raises Refused when a player can't watch now: who races here, where many do already, and where all is over."""
        self.race.check_welcome(player)
        if self.race.phase == "closed":
            raise Refused("room_closed", "This room is closed: list the rooms for another one, or open one")
        if self.plays(player):
            raise Refused("racing", "You have a seat in this room, and who races sees nobody's board: leave it first")
        if len(self.spectators) >= most:
            raise Refused("room_full", "As many watch this room as this server lets: try again later", retry_after=30)

    def take_seat(self, seat: Seat, connection: Connection) -> None:
        """Have a player's connection here, unless a newer one has come anywhere. Raises Refused, and closes it, then."""
        held = self.seats.get(seat.player)
        newest = max(self.runs.get(seat.player, Run()).generation, held[0].generation if held else 0)
        if newest > seat.generation:
            connection.shut(Close.TAKEN_OVER, _TAKEN_OVER)
            raise Refused("fenced", "You are connected from somewhere else now")
        self.fence(seat.player, seat.generation)
        self.seats[seat.player] = (seat, connection)

    def dismiss(self) -> int:
        """Send everybody out; returns how many were in."""
        connections = [*(connection for _, connection in self.seats.values()), *self.spectators]
        for connection in connections:
            connection.seat = connection.watching = None
        self.seats.clear()
        self.spectators.clear()
        return len(connections)

    # ---------------------------------------------------------------- following the room

    def announced(self, numbered: Numbered) -> None:
        """Take an event that was announced: the next one at once, a later one by reading those between."""
        if numbered.after == self.event:
            self._apply(numbered)
        elif numbered.number > self.event:
            self.catch_up()

    def catch_up(self) -> None:
        """Take what this node has not seen, soon, or as soon as the store answers."""
        self._aside(self.pull())

    def _aside(self, work: Coroutine[Any, Any, object]) -> None:
        self._spawn(self._or_again(work))

    async def _or_again(self, work: Coroutine[Any, Any, object]) -> None:
        """Do something that the room is in need of; where the store is away, look at all of the room again in a while."""
        try:
            await work
        except (RedisError, TimeoutError, OSError):
            if self._again is None and not self._shut:
                self._again = asyncio.get_running_loop().call_later(TRY_AGAIN, self._look_again)
            raise

    def _look_again(self) -> None:
        self._again = None
        self._aside(self.refresh())

    async def pull(self) -> None:
        """Read and take the events that this node has not seen."""
        async with self._pulling:
            if self.race.phase == "closed":
                return
            missed = await self.store.events(self.room, self.event)
            if missed is None:
                await self._reload()
            for numbered in missed or ():
                if numbered.after == self.event:
                    self._apply(numbered)

    async def _reload(self) -> None:
        """Take the room whole: more was missed than is kept, or the store has gone back."""
        seats = [(seat, seat.play.revision if seat.play else 0) for seat, _ in self.seats.values()]
        snapshot = await self.store.load(self.room)
        if snapshot is None or snapshot.race.created != self.race.created:
            self.race = replace(self.race, phase="closed")
        else:
            self.race, self.event, self.watching = snapshot.race, snapshot.event, snapshot.watching
            self.runs = dict(snapshot.runs)
        self._gallery = None
        self._after_change()
        for seat, revision in seats:
            run = self.runs.get(seat.player, Run())
            if run.generation < seat.generation or run.revision < revision:
                self.send_back(seat)
        if self.spectators:
            await self.open_gallery()
            for spectator in self.spectators:
                self.show_boards(spectator)

    async def refresh(self) -> None:
        """Look whether anything was missed, and who has gone without a word."""
        await self.pull()
        before = {player: self._connected(player) for player in self.runs}
        for player, run in (await self.store.runs(self.race)).items():
            known = self.runs.get(player)
            if known is not None and known.generation == run.generation:
                self.runs[player] = replace(known, here=run.here)
        for player, connected in before.items():
            if self._connected(player) != connected:
                self._mark(player)
        if self.race.here(self.runs, self.clock.now()) != self.race.racers:
            self._spawn(self._tick(self.room))
        unseen = self.spectators and self._gallery is None
        if unseen or any(seat.play is None for seat, _ in self.seats.values()):
            await self.deal()
        self._finish_if_done()

    def _apply(self, numbered: Numbered) -> None:
        self.event = numbered.number
        match numbered.event:
            case Changed(race=race, what=what, by=by):
                if "shut" in what:
                    self._tell_all(Notice(code="closed", message="The operator of this server has closed this room"))
                if self.race.starts == race.starts:
                    race = replace(race, ends=min(race.ends, self.race.ends))
                self.race = race
                self._after_change()
                self._ask_again(by)
                self._told(numbered.at)
            case Moved() as moved:
                self._moved(moved, numbered.at)
            case Presence(player, generation, here):
                self._presence(player, generation, numbered.at if here else -numbered.at)
            case Watched(count):
                self.watching = count
                self._recounted = True
                self._flush_soon()
            case Said(text):
                self._tell_all(Notice(code="said", message=text))

    def _after_change(self) -> None:
        self.runs = {racer.player: self.runs.get(racer.player, Run()) for racer in self.race.racers}
        self._set_timer()
        self._tell_state()
        for player in [each for each in self.seats if each in self.race.expelled]:
            self._send_off(*self.seats.pop(player))
        for spectator in [each for each in self.spectators if self.plays(each.player)]:
            self.spectators.discard(spectator)
            spectator.tell(Notice(code="seated", message="You have a seat in this room now: racers see no boards"))
        match self.race.phase:
            case "racing":
                self._aside(self.deal())
                self._finish_if_done()
            case "finished":
                self._show_late()
            case "closed":
                self._spawn(self._close(self))

    def _send_off(self, seat: Seat, connection: Connection) -> None:
        connection.tell(
            Notice(code="kicked", message="The operator of this server has taken you out of this room, for good")
        )
        self._aside(self.store.presence(self.room, seat.player, seat.generation, here=False, tell=True))

    def _ask_again(self, by: str) -> None:
        """Have who lost a seat and is here, though nobody was heard to be, come and take it again."""
        for player, (_, connection) in list(self.seats.items()):
            if player != by and self.race.racer(player) is None:
                connection.shut(Close.RESTART, "your seat was given up while nothing was heard of you: take it again")

    def _finish_if_done(self) -> None:
        if self.race.phase == "racing" and self.race.done(self.runs):
            self._set_timer()

    def _moved(self, moved: Moved, at: int) -> None:
        if moved.home and self.race.options.first_home_ends:
            self.race = replace(self.race, ends=min(at, self.race.ends))
            self._set_timer()
        run = self.runs.get(moved.player, Run())
        if moved.revision <= run.revision:
            return
        self.runs[moved.player] = replace(
            run,
            revision=moved.revision,
            up=moved.up,
            moves=moved.moves,
            undos=moved.undos,
            active=at,
            here=at,
            risen=run.risen if run.up == moved.up else at,
            home=at if moved.home else run.home,
            over=at if moved.over else run.over,
        )
        self._mark(moved.player)
        self._changed_at = self._changed_at or at
        if self._gallery is not None:
            if self._gallery.add(moved.player, moved.revision, moved.action, at):
                self._set_show()
            else:
                self._gallery = None
                self._aside(self._hang_again())
        self._finish_if_done()

    def _presence(self, player: str, generation: int, here: int) -> None:
        run = self.runs.get(player)
        if run is None or generation < run.generation:
            return
        self.runs[player] = replace(run, generation=generation, here=here)
        self._mark(player)
        self.fence(player, generation)

    def fence(self, player: str, generation: int) -> None:
        """Close this node's connection of a player when a newer one has come anywhere."""
        held = self.seats.get(player)
        if held is not None and held[0].generation < generation:
            del self.seats[player]
            held[1].shut(Close.TAKEN_OVER, _TAKEN_OVER)

    def send_back(self, seat: Seat) -> None:
        """Have a player come again, of whom this node knows more than the store does: it has lost what was newest."""
        held = self.seats.get(seat.player)
        if held is not None and held[0] is seat:
            held[1].shut(Close.RESTART, "the store has lost its newest: come back and resume")

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        done = self.race.phase == "racing" and self.race.done(self.runs)
        due = self.race.due()
        if due and not self._shut:
            wait = 0.0 if done else self.clock.seconds_until(due)
            self._timer = asyncio.get_running_loop().call_later(wait, self._time)

    def _time(self) -> None:
        """Have time pass, and again after a while unless the change that was due has come: the store may be away."""
        self._timer = asyncio.get_running_loop().call_later(TRY_AGAIN, self._time)
        self._spawn(self._tick(self.room))

    # ---------------------------------------------------------------- what everybody is told

    def state(self) -> RoomState:
        """The room as everybody in it may know it."""
        race = self.race
        return RoomState(
            room=race.room,
            event=self.event,
            phase=race.phase,
            game=race.game.name,
            deal=race.deal,
            options=race.options,
            private=race.private,
            host=race.host,
            players=tuple(
                SeatLine(
                    player=racer.player,
                    name=racer.name,
                    seat=racer.seat,
                    ready=racer.ready,
                    out=racer.out and not self.runs.get(racer.player, Run()).home,
                )
                for racer in race.racers
            ),
            tallies=tuple(self.tally(racer.player) for racer in race.racers),
            commitment=race.commitment,
            starts=race.starts,
            ends=race.ends,
            watching=self.watching,
            seed=race.seed,
            next=race.next,
            standings=race.standings,
        )

    def tally(self, player: str) -> Tally:
        """What everybody may know of a player's board."""
        run = self.runs.get(player, Run())
        return Tally(
            player=player,
            up=run.up,
            moves=run.moves,
            undos=run.undos,
            active=run.active,
            risen=run.risen,
            home=run.home,
            connected=self._connected(player),
        )

    def tallies(self) -> Progress:
        """The counts of all players."""
        return Progress(tallies=tuple(self.tally(racer.player) for racer in self.race.racers))

    def plays(self, player: str) -> bool:
        """Whether a player has a seat in a race that is not over for them: who does must see nobody's board."""
        racer = self.race.racer(player)
        run = self.runs.get(player, Run())
        ahead = self.race.phase in ("open", "countdown", "racing")
        return ahead and racer is not None and not (racer.out or run.home or run.over)

    def _connected(self, player: str) -> bool:
        here = self.runs.get(player, Run()).here
        return here > 0 and self.clock.now() - here < ABSENT_AFTER

    def _tell_state(self) -> None:
        self.told = self.event
        self._recounted = False
        if not self.empty:
            self._tell_all(self.state())

    def _tell_all(self, message: ToClient) -> None:
        frame = self._tell_racers(message)
        for spectator in self.spectators:
            spectator.hold(frame)
        self._wake_spectators()

    def _tell_racers(self, message: ToClient) -> bytes:
        frame = framed(message)
        for _, connection in self.seats.values():
            connection.tell_frame(frame)
        return frame

    def _mark(self, player: str) -> None:
        self._changed.add(player)
        self._flush_soon()

    def _flush_soon(self) -> None:
        if self._flush is None and not self._shut:
            self._flush = asyncio.get_running_loop().call_later(PROGRESS_EVERY, self._tell_counts)

    def _tell_counts(self) -> None:
        self._flush = None
        if self._recounted:
            self._tell_state()
        changed, self._changed = self._changed, set()
        tallies = tuple(self.tally(racer.player) for racer in self.race.racers if racer.player in changed)
        if tallies and self.seats:
            self._tell_racers(Progress(tallies=tallies))
            if self._changed_at:
                self._told(self._changed_at)
        self._changed_at = 0

    def _told(self, at: int) -> None:
        self.store.metrics.fan_out.observe(max(0, self.clock.now() - at) / 1000)

    # ---------------------------------------------------------------- boards

    async def dealt(self) -> Board | None:
        """The deal, once it is out."""
        if self._board is None and self.race.phase in ("racing", "finished"):
            secret = await self.store.secret(self.room)
            if secret is not None:
                game = self.race.game
                self._board = Board.deal(game, shuffled(secret.seed, game.decks))
        return self._board

    async def deal(self) -> None:
        """Give every player here the board, and have it shown to spectators in time."""
        for seat, connection in list(self.seats.values()):
            if seat.play is None and (play := await self.set_up(seat)) is not None:
                connection.tell(self.board_state(play))
        if self.spectators:
            await self.open_gallery()

    async def set_up(self, seat: Seat) -> Play | None:
        """Bring a seat's board to what the log says, unless it is there; None before the deal."""
        async with seat.loading:
            if seat.play is None:
                found = await self.replay(seat.player)
                await self.store.confirm(self.room)
                if found is not None:
                    seat.play, seat.chain = found
            return seat.play

    async def replay(self, player: str, last: int | None = None) -> tuple[Play, bytes] | None:
        """A player's play up to a revision, from the log, and its chain for receipts; None before the deal."""
        board = await self.dealt()
        if board is None:
            return None
        play, chain = Play(board, self.race.options.undo_rule), START
        for entry in await self.store.log(self.room, player, 1, last):
            try:
                play, chain = play.act(entry.action), follow(chain, entry.action, entry.at)
            except PlayError:
                raise RuntimeError(
                    f"action {entry.revision} of {player} in {self.room} can't be played again"
                ) from None
            if play.revision % _AT_A_TIME == 0:
                await asyncio.sleep(0)
        return play, chain

    def receipt(self, player: str, revision: int, chain: bytes) -> bytes:
        """The receipt for a player's actions up to a revision."""
        return receipt(self.store.receipt_key, (self.room, self.race.created), player, revision, chain)

    def board_state(self, play: Play) -> BoardState:
        """A player's board as they may see it."""
        return BoardState(
            room=self.room,
            revision=play.revision,
            game=play.board.game.name,
            piles=play.board.masked().piles,
            hash=play.board.state_hash(),
            moves=play.moves,
            undos=play.undos,
            stuck=play.board.stuck,
        )

    # ---------------------------------------------------------------- spectators

    async def open_gallery(self) -> int:
        """Hang the boards for spectators, unless they hang already; returns how many actions had to be played for that."""
        async with self._hanging:
            if self._gallery is None and (board := await self.dealt()) is not None:
                return await self._hang(board)
            return 0

    async def _hang_again(self) -> None:
        await self.open_gallery()

    async def _hang(self, board: Board) -> int:
        race = self.race
        gallery = Gallery(board, race.options.undo_rule, race.starts, 1000 * race.options.delay)
        for racer in race.racers:
            gallery.enter(racer.player, await self.store.log(self.room, racer.player))
        # What was announced while a log was being read is read now, until nothing new has come meanwhile.
        while behind := [player for player in self.runs if 0 <= gallery.newest(player) < self.runs[player].revision]:
            for player in behind:
                entries = await self.store.log(self.room, player, gallery.newest(player) + 1)
                if not entries:
                    raise RuntimeError(f"the log of {player} in {self.room} is not whole")
                for entry in entries:
                    gallery.add(player, entry.revision, entry.action, entry.at)
        self._gallery, self._hung = gallery, None
        self._show_late()
        return sum(max(0, gallery.newest(player)) for player in self.runs)

    def show_boards(self, spectator: Connection) -> None:
        """Show one spectator all boards that are in sight."""
        if self._gallery is not None and spectator in self.spectators:
            if self._hung is None:
                self._hung = [framed(message) for message in self._gallery.boards()]
            for frame in self._hung:
                spectator.tell_frame(frame)

    def _set_show(self) -> None:
        if self._show is None and self._gallery is not None and not self._shut:
            at = self._gallery.next_at()
            if at is not None:
                wait = max(self.clock.seconds_until(at), self._shown + SHOW_EVERY - time.monotonic())
                self._show = asyncio.get_running_loop().call_later(wait, self._show_late)

    def _show_late(self) -> None:
        if self._show is not None:
            self._show.cancel()
            self._show = None
        if self._gallery is None:
            return
        shown: list[LateBoard | LateMove] = self._gallery.show(
            self.clock.now(), everything=self.race.phase == "finished"
        )
        if shown:
            self._shown = time.monotonic()
            self._hung = None
            frames = [framed(message) for message in shown]
            for spectator in self.spectators:
                spectator.tell_late(frames)
            self._wake_spectators()
        self._set_show()

    def _wake_spectators(self) -> None:
        """Have what waits for spectators sent, to some at a time: a racer's ack must not wait for a thousand of them."""
        if len(self.spectators) > _WOKEN_AT_ONCE:
            self._spawn(_wake_in_turn(list(self.spectators)))
        else:
            for spectator in self.spectators:
                spectator.wake()


async def _wake_in_turn(connections: list[Connection]) -> None:
    for woken, connection in enumerate(connections):
        if woken % _WOKEN_AT_ONCE == 0:
            await asyncio.sleep(0)
        connection.wake()
