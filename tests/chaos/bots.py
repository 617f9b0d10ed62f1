"""The clients of a round: racers that resend on purpose, and racers and spectators on the link of the real client."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from random import Random
from typing import Any, Final

from msgspec import structs
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from samedeal.errors import RequestRefused as RefusedError
from samedeal.joint_deal import SHARE_BYTES
from samedeal.protocol.codec import decode_to_client, encode
from samedeal.protocol.messages import (
    SUBPROTOCOL,
    Acked,
    Act,
    Begin,
    Created,
    DelayedBoard,
    DelayedMove,
    Done,
    Hello,
    Join,
    Joined,
    Leave,
    Notice,
    Ping,
    RaceNow,
    Ready,
    Refused,
    Rematch,
    Resign,
    RoomState,
    Start,
    ToClient,
    ToServer,
    Watch,
    Watching,
    Welcome,
)
from samedeal.protocol_codes import CloseCode
from samedeal_link.connection.address import ServerAddress, home_path
from samedeal_link.connection.dial import CannotConnect
from samedeal_link.connection.link_events import Connected, Ended, Lost, SeatLost
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.model.model import Model
from samedeal_link.session.race_audit import audit_race
from samedeal_link.session.room_client import RoomClient
from samedeal_server.tasks import cancel_and_wait
from tests.chaos.client_journal import Journal
from tests.chaos.plan import Habit
from tests.chaos.player_model import RETRIED_CODES, PlayerModel
from tests.chaos.shares import Shares, shown_seats

_OPEN_TIMEOUT: Final = 2.0
_ANSWER_TIMEOUT: Final = 3.0
"""Timeout, in seconds, for an answer. After it the client reconnects."""

_RETRY_DELAY: Final = 0.25

_EXCLUDING: Final = frozenset(("kicked", "banned", "room_closed", "no_room", "race_started", "no_tide"))
"""Codes with which the server tells a client that it has no place in the room any more."""

_AT_HOME: Final = 0.6
"""The share of connections at the path of the room's home. The others split the room."""

_ACTS_WITHOUT_SEAT: Final = 20
"""Number of moves that a kicked player still tries to make."""

Incoming = ToClient | None
Inbox = asyncio.Queue[tuple[int, Incoming]]


def open_socket(url: str) -> connect:
    """Open a connection that sends nothing by itself."""
    options: Any = {"ping_interval": None, "open_timeout": _OPEN_TIMEOUT, "close_timeout": 1, "proxy": None}
    return connect(url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None, **options)


class RawConnection:
    """One connection of a client. Messages are recorded and put in the inbox, followed by None at the end."""

    def __init__(self, number: int, socket: ClientConnection, journal: Journal, inbox: Inbox) -> None:
        self.number = number
        self._socket = socket
        self._journal = journal
        self._inbox = inbox
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            async for frame in self._socket:
                message = decode_to_client(frame)
                self._journal.record_received(self.number, message)
                self._inbox.put_nowait((self.number, message))
        except (WebSocketException, OSError):
            pass
        finally:
            self._inbox.put_nowait((self.number, None))

    async def send(self, message: ToServer) -> None:
        """Send a message. If that fails, the connection ends, and None is put in the inbox."""
        self._journal.record_sent(self.number, message)
        with suppress(WebSocketException, OSError):
            await self._socket.send(encode(message))

    async def drop(self) -> None:
        """Abort the connection."""
        self._socket.transport.abort()
        await cancel_and_wait([self._reader])


class Racer:
    """A racer on plain frames that on purpose sends requests twice, and over two connections at once.

    ``habit`` is what it does when a joint deal is drawn. ``tide`` is the game and the start of the tide to which it comes.
    A racer in a ``rematch`` starts it as soon as it is the host.
    """

    def __init__(
        self,
        url: str,
        journal: Journal,
        rng: Random,
        model: PlayerModel,
        pace: float,
        habit: Habit = "steady",
        *,
        tide: tuple[str, int] | None = None,
        rematch: bool = False,
    ) -> None:
        self.journal = journal
        self.rng = rng
        self.inbox: Inbox = asyncio.Queue()
        self.connection: RawConnection | None = None
        self.in_room = False
        self.connected_at = 0.0
        self._url = url
        self._connections: list[RawConnection] = []
        self._last_id = 0
        self._lost_at = time.monotonic()
        self._was_in_room = False
        self._tide = tide
        self._rematch = rematch
        self._habit = habit
        self._leaving = 0
        self._answers_at = 0.0
        self._draw: RoomState | None = None
        self.model = model
        self.rematch_room = ""
        self._pace = pace
        self._unanswered: dict[int, tuple[ToServer, float]] = {}
        self._retry_at: dict[int, float] = {}
        self._next_at = 0.0
        self._start_helped = -1
        self._replaced: RawConnection | None = None
        self._replaced_connections: list[RawConnection] = []
        self._resigns_at = rng.randint(5, 60) if rng.random() < 0.1 else 0
        self._shares = Shares(lambda: rng.randbytes(SHARE_BYTES), journal.revealed, journal.complaints)

    def new_id(self) -> int:
        """Return an unused request id."""
        self._last_id += 1
        return self._last_id

    async def dial(self, after: float = 0.0) -> RawConnection | None:
        """Open a connection after some seconds. Return None if that fails."""
        await asyncio.sleep(after)
        home = home_path(self.journal.room) if self.rng.random() < _AT_HOME else ""
        try:
            socket = await open_socket(self._url + home)
        except (OSError, TimeoutError, WebSocketException, EOFError):
            return None
        connection = RawConnection(len(self._connections) + 1, socket, self.journal, self.inbox)
        self._connections.append(connection)
        token = self.journal.tokens[-1] if self.journal.tokens else ""
        await connection.send(Hello(id=self.new_id(), name=self.journal.name, session=token))
        return connection

    async def reconnect(self) -> None:
        """Retry until connected. The seat must then be requested."""
        self.in_room = False
        while self.connection is None:
            self.connection = await self.dial(after=self.rng.uniform(0.0, 0.2))
        self.connected_at = time.monotonic()

    async def drop(self) -> None:
        """Abort the current connection."""
        if self.in_room:
            self._lost_at = time.monotonic()
        self.in_room = False
        connection, self.connection = self.connection, None
        if connection is not None:
            await connection.drop()

    def on_entered(self) -> None:
        """Record that the client has its seat or its view."""
        if not self.in_room and self._was_in_room:
            self.journal.outages.append(time.monotonic() - self._lost_at)
        self.in_room = self._was_in_room = True

    async def close_all(self) -> None:
        """Close every connection."""
        for connection in self._connections:
            await connection.drop()

    async def next_message(self, seconds: float) -> tuple[int, Incoming] | None:
        """Return the next message of the inbox, or None after a timeout in seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self.inbox.get()
        return None

    async def run(self) -> None:
        """Race until the end of the race and the room of the rematch are known."""
        try:
            while not self.rematch_room:
                if self.connection is None:
                    await self.reconnect()
                    self._unanswered.clear()
                    continue
                wait = max(0.0, min([0.5, self._next_at - time.monotonic()])) if self.in_room else 0.5
                got = await self.next_message(wait)
                if got is not None:
                    await self._on_message(*got)
                else:
                    await self._on_silence()
            self.journal.saw_the_end = True
        finally:
            if self.journal.excluded != "kicked":
                await self.close_all()

    async def act_without_seat(self) -> None:
        """Try to make moves without a seat, over all connections that are still open."""
        for _ in range(_ACTS_WITHOUT_SEAT):
            for connection in self._connections:
                action = self.rng.choice(["draw", "1 2", "2 1", "3 4"])
                await connection.send(Act(id=self.new_id(), revision=max(0, self.model.revision), action=action))
            await asyncio.sleep(_RETRY_DELAY)

    def _exclude(self, code: str) -> None:
        self.journal.exclude(code)
        self.rematch_room = "-"

    async def _ask(self, message: ToServer) -> None:
        self._unanswered[message.id] = (message, time.monotonic())
        if self.connection is not None:
            await self.connection.send(message)

    async def _on_message(self, number: int, message: Incoming) -> None:
        present = self.connection is not None and self.connection.number == number
        if message is None:
            if present:
                await self.drop()
            return
        asked = None
        if (to := getattr(message, "to", None)) is not None:
            asked, _ = self._unanswered.pop(to, (None, 0.0)) if present or isinstance(message, Acked) else (None, 0.0)
        if not present and not isinstance(message, Acked):
            return
        if isinstance(message, Welcome):
            self._draw = None
            await self._join()
        elif isinstance(message, Joined):
            self.on_entered()
            for act in self.model.pending:
                await self._ask(act)
            await self._test_replaced()
        elif isinstance(message, Refused):
            await self._refused(message, asked)
        elif isinstance(message, Created) and isinstance(asked, RaceNow):
            self.journal.room = message.room
            await self._join()
        elif isinstance(message, Created):
            self.rematch_room = message.room
        else:
            self._note_end(message)
        self.model.receive(message)
        if isinstance(message, RoomState):
            await self._help_start(message)
        if self.in_room and self.model.resync():
            await self._join()

    def _note_end(self, message: ToClient) -> None:
        """Record it if a message says that the racer has no place in the room any more."""
        if isinstance(message, Notice) and message.code in _EXCLUDING:
            self._exclude(message.code)
        elif isinstance(message, RoomState) and message.phase == "closed":
            self.rematch_room = "-"
        elif isinstance(message, Done) and message.to == self._leaving:
            self._exclude("left")

    async def _join(self) -> None:
        journal, revision = self.journal, self.model.revision
        if self._tide is not None and not journal.room:
            await self._ask(RaceNow(id=self.new_id(), game=self._tide[0], tide=self._tide[1]))
            return
        join = Join(id=self.new_id(), room=journal.room, passphrase=journal.passphrase, revision=revision)
        await self._ask(join)

    async def _refused(self, refusal: Refused, asked: ToServer | None) -> None:
        if self._tide is not None and isinstance(asked, Join) and refusal.code == "room_full":
            self.journal.room = ""
            await self._join()
            return
        if refusal.code in _EXCLUDING and isinstance(asked, Join | RaceNow | None):
            self._exclude(refusal.code)
        if asked is None:
            return
        if refusal.code in ("fenced", "hello_first", "no_seat"):
            await self.drop()
        elif refusal.code in RETRIED_CODES:
            self._unanswered[asked.id] = (asked, time.monotonic())
            self._retry_at[asked.id] = time.monotonic() + _RETRY_DELAY
        elif isinstance(asked, Hello | Join) and not self.journal.excluded:
            self.journal.complaints.append(f"was refused: {refusal.code}: {refusal.message}")
            self.rematch_room = "-"

    async def _help_start(self, state: RoomState) -> None:
        """Do this player's part to start the race."""
        self._draw = state
        if self._habit == "late" and state.phase == "countdown":
            self._answers_at = time.monotonic() + self.rng.uniform(0, 4)
        else:
            await self._take_part_in_draw()
        is_full = len(state.players) == state.options.players or self._rematch
        if state.phase != "open" or not is_full or state.event == self._start_helped:
            return
        self._start_helped = state.event
        if (kind := _start_request(state, self.journal.player)) is not None:
            await self._ask(kind(id=self.new_id()))

    async def _take_part_in_draw(self) -> None:
        """Commit to a share, or reveal it, if the newest state of the room waits for it. Or fail to, as is the habit."""
        state, self._draw = self._draw, None
        if state is None or (request := self._shares.answer(state, self.journal.player)) is None:
            return
        if self._habit == "leaver" and self.rng.random() < 0.5:
            self._leaving = self._leaving or self.new_id()
            await self._ask(Leave(id=self._leaving))
            return
        if self._habit == "killed" and all(commitment for _, _, commitment in shown_seats(state)):
            self._habit = "steady"
            self.journal.revealed.pop(state.draw, None)
            self._shares.forget()
            await self.drop()
            return
        await self._ask(structs.replace(request, id=self.new_id()))

    async def _on_silence(self) -> None:
        """After a silence, retry unanswered requests or send the next one."""
        now = time.monotonic()
        if self._draw is not None and now >= self._answers_at:
            await self._take_part_in_draw()
        waiting = [at for _, at in self._unanswered.values()] + ([] if self.in_room else [self.connected_at + 1])
        if any(now - at > _ANSWER_TIMEOUT for at in waiting):
            await self.drop()
            return
        for number, at in list(self._retry_at.items()):
            if now >= at:
                del self._retry_at[number]
                if number in self._unanswered:
                    await self._ask(self._unanswered[number][0])
        if self.in_room and now >= self._next_at:
            await self._next_request(now)

    async def _next_request(self, now: float) -> None:
        self._next_at = now + min(1.0, self.rng.expovariate(1 / self._pace))
        if self.model.finished:
            if not any(isinstance(asked, Rematch) for asked, _ in self._unanswered.values()):
                await self._ask(Rematch(id=self.new_id()))
            return
        if self._resigns_at and self.model.revision >= self._resigns_at and not self.model.pending:
            self._resigns_at = 0
            await self._ask(Resign(id=self.new_id()))
            return
        if self.model.playing and self.rng.random() < 0.01:
            await self._ask(Watch(id=self.new_id(), room=self.journal.room))  # racers may not watch
            return
        if self.model.may_begin:
            await self._ask(Begin(id=self.new_id()))
            return
        acts = self.model.next_acts(self.new_id)
        for act in acts:
            await self._ask(act)
        if not acts and not self._unanswered:
            await self._ask(Ping(id=self.new_id()))
        if self._replaced_connections and self.rng.random() < 0.05:
            await self._use_replaced()
        if acts and self.rng.random() < 0.05:
            await self._send_twice(acts)
        elif acts and self.connection is not None and self.rng.random() < 0.1:
            for act in acts:
                await self.connection.send(act)

    async def _send_twice(self, acts: list[Act]) -> None:
        """Open a second connection, send the same actions over both, and continue over the second."""
        second = await self.dial()
        if second is None or self.connection is None:
            return
        old, self.connection = self.connection, second
        self._replaced = old
        for act in acts:
            await old.send(act)
        self._unanswered = {act.id: (act, time.monotonic()) for act in acts}
        self.in_room = False
        self.connected_at = self._lost_at = time.monotonic()

    async def _test_replaced(self) -> None:
        """Send an action over the connection that has just been replaced. It must not count."""
        old, self._replaced = self._replaced, None
        if old is not None:
            self._replaced_connections.append(old)
            await self._send_over(old)

    async def _send_over(self, old: RawConnection) -> None:
        play = self.model.own.play
        if play is not None and (moves := play.board.legal_moves()):
            await old.send(Act(id=self.new_id(), revision=play.revision, action=str(self.rng.choice(moves))))

    async def _use_replaced(self) -> None:
        """Send over an older connection, as a stale browser tab would, or have it claim the seat again."""
        ghost = self.rng.choice(self._replaced_connections)
        if self.rng.random() < 0.3:
            await ghost.send(Join(id=self.new_id(), room=self.journal.room))
        await self._send_over(ghost)


def _start_request(state: RoomState, player: str) -> type[Ready | Start] | None:
    """What a player has to send so that a full room starts."""
    mine = next((seat for seat in state.players if seat.player == player), None)
    if state.options.start == "all-ready" and mine is not None and not mine.ready:
        return Ready
    return Start if state.options.start == "host" and state.host == player else None


class _OnLink:
    """The base of clients on the link of the real client, which has to recover by itself.

    One that ``audits`` judges the race once it has ended. No server of a round lies, so none may be accused.
    """

    audits = False

    def __init__(self, url: str, journal: Journal, rng: Random) -> None:
        self.journal = journal
        self._state: RoomState | None = None
        self._link = Link(ServerAddress(url), journal.name, MemorySessions(), rng=rng, clock=time.monotonic)
        self._rooms = RoomClient(self._link)
        self._lost_at = 0.0
        self._views = 0
        journal.has_all_frames = False

    async def run(self) -> None:
        """Take part until the end of the race is known."""
        try:
            while True:
                try:
                    await self._link.__aenter__()
                    break
                except CannotConnect:
                    await asyncio.sleep(_RETRY_DELAY)
            reader = asyncio.create_task(self._read())
            try:
                await self._enter()
                while not (self.is_over or self.journal.excluded or reader.done()):
                    await asyncio.wait((reader,), timeout=self.act())
                if self.audits and self._state is not None and self._state.phase == "finished" and not reader.done():
                    await self._audit(self._state)
            finally:
                await cancel_and_wait([reader])
            if not reader.cancelled() and (error := reader.exception()) is not None:
                raise error
            self.journal.saw_the_end = self.is_over or bool(self.journal.excluded)
        finally:
            await self.close_all()

    async def _audit(self, state: RoomState) -> None:
        self._rooms.model = Model(room=state)
        verdict = (await audit_race(self._rooms, lambda _: None)).verdict
        if verdict is None or verdict.kind == "wrong" or (verdict.kind == "unsure" and not verdict.rows):
            self.journal.complaints.append(f"the verdict is {verdict}")

    @property
    def is_over(self) -> bool:
        """Whether the client has seen the end of the race."""
        raise NotImplementedError

    def act(self) -> float:
        """Do what the client does from time to time. Return after how many seconds it does something again."""
        return 0.5

    def receive(self, message: ToClient) -> None:
        """Know what a message tells."""
        raise NotImplementedError

    async def close_all(self) -> None:
        """Close the link."""
        await self._link.close()

    async def _enter(self) -> None:
        kind, enter = (Watch, self._rooms.watch) if self.journal.is_spectator else (Join, self._rooms.join)
        self.journal.record_sent(0, kind(id=0, room=self.journal.room, passphrase=self.journal.passphrase))
        while True:
            try:
                await enter(self.journal.room, self.journal.passphrase)
            except RefusedError as refused:
                if refused.retry_after:
                    await asyncio.sleep(_RETRY_DELAY)
                    continue
                self._excluded_or_complaint(refused.code, f"was refused: {refused.code}: {refused}")
            return

    def _excluded_or_complaint(self, code: str, complaint: str) -> None:
        if code in _EXCLUDING:
            self.journal.exclude(code)
        else:
            self.journal.complaints.append(complaint)

    async def _read(self) -> None:
        async for news in self._link:
            match news:
                case Connected(resumed=again):
                    if again:
                        self.journal.outages.append(time.monotonic() - self._lost_at)
                    self._lost_at = 0.0
                case Lost():
                    self._lost_at = self._lost_at or time.monotonic()
                case SeatLost(code=code, sentence=sentence):
                    self._excluded_or_complaint(code, f"lost the seat: {code}: {sentence}")
                case Ended(code=code) if code in ("banned", str(int(CloseCode.BANNED))):
                    self.journal.exclude("banned")
                case Ended(code=code, sentence=sentence):
                    self.journal.complaints.append(f"was disconnected permanently: {code}: {sentence}")
                case _:
                    self._views += isinstance(
                        news, Watching
                    )  # after each, boards are sent anew, as on a new connection
                    self.journal.record_received(self._views, news)
                    if isinstance(news, RoomState):
                        self._state = news
                    self.receive(news)


class Spectator(_OnLink):
    """Watches a race until its end, and until every final board has been shown."""

    def __init__(self, url: str, journal: Journal, rng: Random) -> None:
        super().__init__(url, journal, rng)
        self._shown: dict[str, int] = {}

    @property
    def is_over(self) -> bool:
        """Whether all boards have been shown, or the room is closed."""
        state = self._state
        return state is not None and (
            state.phase == "closed"
            or (
                state.phase == "finished"
                and all(self._shown.get(line.player, -1) == line.moves + line.undos for line in state.standings)
            )
        )

    def receive(self, message: ToClient) -> None:
        """Know the newest board of each player."""
        if isinstance(message, DelayedBoard | DelayedMove):
            self._shown[message.player] = message.revision


class LinkRacer(_OnLink):
    """A racer who moves at a pace: the mean time, in seconds, between two actions."""

    def __init__(self, url: str, journal: Journal, rng: Random, model: PlayerModel, pace: float) -> None:
        super().__init__(url, journal, rng)
        self.model = model
        self._rng = rng
        self._pace = pace
        self._begins_at = 0.0

    @property
    def is_over(self) -> bool:
        """Whether the race is over."""
        return self.model.finished

    async def close_all(self) -> None:
        """Close the link, and note what was shown before each share was revealed."""
        self.journal.revealed |= {draw.draw: draw.seats for draw in self._link.witness.evidence.draws}
        await super().close_all()

    def act(self) -> float:
        """Help to start the race, or make the next actions."""
        if self.model.room is not None:
            self._help_start(self.model.room)
        if self.model.resync():
            self._link.resync()
        if self.model.may_begin:
            self._send(Begin(id=self._link.new_id()))
        for act in self.model.next_acts(self._link.new_id):
            self._send(act)
        return min(1.0, self._rng.expovariate(1 / self._pace))

    def receive(self, message: ToClient) -> None:
        """Update the model, and retry an action later if the server asks for it."""
        self.model.receive(message)
        if isinstance(message, Refused) and message.code in RETRIED_CODES:
            for act in self.model.pending:
                if act.id == message.to:
                    asyncio.get_running_loop().call_later(_RETRY_DELAY, self._send, act)

    def _send(self, message: ToServer) -> None:
        self.journal.record_sent(0, message)
        self._link.send(message)

    def _help_start(self, state: RoomState) -> None:
        now = time.monotonic()
        if state.phase != "open" or len(state.players) < state.options.players or now < self._begins_at:
            return
        self._begins_at = now + 2  # the request may have been refused while Redis was unavailable
        if (kind := _start_request(state, self.journal.player)) is not None:
            self._send(kind(id=self._link.new_id()))
