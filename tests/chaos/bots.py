"""The clients of a round: racers on bare frames who resend on purpose, racers on the real client's link, and spectators."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from random import Random
from typing import Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from samedeal.errors import Refused as RefusedError
from samedeal.protocol.codec import decode_to_client, encode
from samedeal.protocol.messages import (
    SUBPROTOCOL,
    Acked,
    Act,
    Created,
    Hello,
    Join,
    Joined,
    LateBoard,
    LateMove,
    Ping,
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
from samedeal_client.net.address import Address
from samedeal_client.net.dial import CannotConnect
from samedeal_client.net.link import Connected, Ended, Link, Lost, Unseated
from samedeal_client.net.sessions import BriefSessions
from tests.chaos.brain import AGAIN, Brain
from tests.chaos.journal import Journal

_OPEN: Final = 2.0
_ANSWER: Final = 3.0
"""Seconds without an answer after which a connection is given up for another."""

_AGAIN: Final = 0.25

News = ToClient | None
Inbox = asyncio.Queue[tuple[int, News]]


class Line:
    """One connection of a client: what comes in is noted and put in the inbox, at its end a None."""

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
                self._journal.hear(self.number, message)
                self._inbox.put_nowait((self.number, message))
        except (WebSocketException, OSError):
            pass
        finally:
            self._inbox.put_nowait((self.number, None))

    async def say(self, message: ToServer) -> None:
        """Send; what can't be sent any more ends the line, which the inbox tells."""
        self._journal.say(self.number, message)
        with suppress(WebSocketException, OSError):
            await self._socket.send(encode(message))

    async def drop(self) -> None:
        """Give the connection up without a word."""
        self._reader.cancel()
        self._socket.transport.abort()
        await asyncio.gather(self._reader, return_exceptions=True)


class Client:
    """What racers and spectators on bare frames share: coming back, on one connection or on two."""

    def __init__(self, url: str, journal: Journal, rng: Random) -> None:
        self.journal = journal
        self.rng = rng
        self.inbox: Inbox = asyncio.Queue()
        self.line: Line | None = None
        self.seated = False
        self.came_at = 0.0
        self._url = url
        self._lines: list[Line] = []
        self._last_id = 0
        self._lost_at = time.monotonic()
        self._came = False

    def new_id(self) -> int:
        """An id that none had before."""
        self._last_id += 1
        return self._last_id

    async def dial(self, after: float = 0.0) -> Line | None:
        """Open one more connection, after some seconds; None where none is to be had."""
        await asyncio.sleep(after)
        try:
            socket = await connect(
                self._url,
                subprotocols=[Subprotocol(SUBPROTOCOL)],
                compression=None,
                ping_interval=None,
                open_timeout=_OPEN,
                close_timeout=1,
                proxy=None,
            )
        except (OSError, TimeoutError, WebSocketException, EOFError):
            return None
        line = Line(len(self._lines) + 1, socket, self.journal, self.inbox)
        self._lines.append(line)
        token = self.journal.tokens[-1] if self.journal.tokens else ""
        await line.say(Hello(id=self.new_id(), name=self.journal.name, session=token))
        return line

    async def come_back(self) -> None:
        """Be connected, whatever it takes; the place has then still to be asked for."""
        self.seated = False
        while self.line is None:
            self.line = await self.dial(after=self.rng.uniform(0.0, 0.2))
        self.came_at = time.monotonic()

    async def drop(self) -> None:
        """Give the present connection up."""
        if self.seated:
            self._lost_at = time.monotonic()
        self.seated = False
        line, self.line = self.line, None
        if line is not None:
            await line.drop()

    def sat(self) -> None:
        """Note that the place is taken, or taken again."""
        if not self.seated and self._came:
            self.journal.away.append(time.monotonic() - self._lost_at)
        self.seated = self._came = True

    async def end(self) -> None:
        """Close every connection."""
        for line in self._lines:
            await line.drop()

    async def news(self, seconds: float) -> tuple[int, News] | None:
        """The next of the inbox, or None after so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self.inbox.get()
        return None


class Racer(Client):
    """A racer on bare frames; sends things twice, and over two connections at once, on purpose."""

    def __init__(self, url: str, journal: Journal, rng: Random, brain: Brain, pace: float) -> None:
        super().__init__(url, journal, rng)
        self.brain = brain
        self.successor = ""
        self._pace = pace
        self._unanswered: dict[int, tuple[ToServer, float]] = {}
        self._again_at: dict[int, float] = {}
        self._next_at = 0.0
        self._marked = -1
        self._replaced: Line | None = None
        self._ghosts: list[Line] = []
        self._quits_at = rng.randint(5, 60) if rng.random() < 0.1 else 0

    async def run(self) -> None:
        """Race, until the end of the race and the room of the rematch are known."""
        try:
            while not self.successor:
                if self.line is None:
                    await self.come_back()
                    self._unanswered.clear()
                    continue
                wait = max(0.0, min([0.5, self._next_at - time.monotonic()])) if self.seated else 0.5
                got = await self.news(wait)
                if got is not None:
                    await self._take(*got)
                else:
                    await self._on()
            self.journal.ended = True
        finally:
            self.journal.complaints += self.brain.complaints
            await self.end()

    async def _ask(self, message: ToServer) -> None:
        self._unanswered[message.id] = (message, time.monotonic())
        if self.line is not None:
            await self.line.say(message)

    async def _take(self, number: int, message: News) -> None:
        present = self.line is not None and self.line.number == number
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
            await self._sit()
        elif isinstance(message, Joined):
            self.sat()
            for act in self.brain.pending:
                await self._ask(act)
            await self._haunt()
        elif isinstance(message, Refused):
            await self._refused(message, asked)
        elif isinstance(message, Created):
            self.successor = message.room
        self.brain.take(message)
        if isinstance(message, RoomState):
            await self._begin(message)
        if self.brain.lost and self.seated:
            self.brain.lost = False
            self.brain.play = None
            await self._sit()

    async def _sit(self) -> None:
        revision = self.brain.revision
        await self._ask(Join(id=self.new_id(), room=self.journal.room, revision=revision))

    async def _refused(self, refusal: Refused, asked: ToServer | None) -> None:
        if asked is None:
            return
        if refusal.code in ("fenced", "hello_first", "no_seat"):
            await self.drop()
        elif refusal.code in AGAIN:
            self._unanswered[asked.id] = (asked, time.monotonic())
            self._again_at[asked.id] = time.monotonic() + _AGAIN
        elif isinstance(asked, Hello | Join):
            self.journal.complaints.append(f"was not let in: {refusal.code}: {refusal.message}")
            self.successor = "-"

    async def _begin(self, state: RoomState) -> None:
        """Do one's part for the race to begin."""
        if state.phase != "open" or len(state.players) < state.options.players or state.event == self._marked:
            return
        self._marked = state.event
        mine = next((seat for seat in state.players if seat.player == self.journal.player), None)
        if state.options.start == "all-ready" and mine is not None and not mine.ready:
            await self._ask(Ready(id=self.new_id()))
        elif state.options.start == "host" and state.host == self.journal.player:
            await self._ask(Start(id=self.new_id()))

    async def _on(self) -> None:
        """Nothing has come for a while: ask again what was not answered, or do the next thing."""
        now = time.monotonic()
        waiting = [at for _, at in self._unanswered.values()] + ([] if self.seated else [self.came_at + 1])
        if any(now - at > _ANSWER for at in waiting):
            await self.drop()
            return
        for number, at in list(self._again_at.items()):
            if now >= at:
                del self._again_at[number]
                if number in self._unanswered:
                    await self._ask(self._unanswered[number][0])
        if self.seated and now >= self._next_at:
            await self._do(now)

    async def _do(self, now: float) -> None:
        self._next_at = now + min(1.0, self.rng.expovariate(1 / self._pace))
        if self.brain.finished:
            if not any(isinstance(asked, Rematch) for asked, _ in self._unanswered.values()):
                await self._ask(Rematch(id=self.new_id()))
            return
        if self._quits_at and self.brain.revision >= self._quits_at and not self.brain.pending:
            self._quits_at = 0
            await self._ask(Resign(id=self.new_id()))
            return
        if self.brain.playing and self.rng.random() < 0.01:
            await self._ask(Watch(id=self.new_id(), room=self.journal.room))  # who races may not
            return
        acts = self.brain.next(self.new_id)
        for act in acts:
            await self._ask(act)
        if not acts and not self._unanswered:
            await self._ask(Ping(id=self.new_id()))
        if self._ghosts and self.rng.random() < 0.05:
            await self._be_in_two_places()
        if acts and self.rng.random() < 0.05:
            await self._double(acts)
        elif acts and self.line is not None and self.rng.random() < 0.1:
            for act in acts:
                await self.line.say(act)

    async def _double(self, acts: list[Act]) -> None:
        """Come over a second connection too and say the same there, while the first still stands; go on over the second."""
        second = await self.dial()
        if second is None or self.line is None:
            return
        old, self.line = self.line, second
        self._replaced = old
        for act in acts:
            await old.say(act)
        self._unanswered = {act.id: (act, time.monotonic()) for act in acts}
        self.seated = False
        self.came_at = self._lost_at = time.monotonic()

    async def _haunt(self) -> None:
        """Try something over the connection that has just been replaced: it must not count."""
        old, self._replaced = self._replaced, None
        if old is not None:
            self._ghosts.append(old)
            await self._try_over(old)

    async def _try_over(self, old: Line) -> None:
        if self.brain.play is not None and (moves := self.brain.play.board.legal_moves()):
            action = str(self.rng.choice(moves))
            await old.say(Act(id=self.new_id(), revision=self.brain.play.revision, action=action))

    async def _be_in_two_places(self) -> None:
        """Go on over an older connection too, as another tab does that lags behind, or have it take the seat back."""
        ghost = self.rng.choice(self._ghosts)
        if self.rng.random() < 0.3:
            await ghost.say(Join(id=self.new_id(), room=self.journal.room))
        await self._try_over(ghost)


class Spectator(Client):
    """Watches a race to its end, and until every board is shown as it stood there."""

    def __init__(self, url: str, journal: Journal, rng: Random) -> None:
        super().__init__(url, journal, rng)
        self._state: RoomState | None = None
        self._shown: dict[str, int] = {}
        self._heard_at = 0.0
        self._asked = False

    @property
    def _all_shown(self) -> bool:
        state = self._state
        return (
            state is not None
            and state.phase == "finished"
            and all(self._shown.get(line.player, -1) == line.moves + line.undos for line in state.standings)
        )

    async def run(self) -> None:
        """Watch."""
        try:
            while not self._all_shown:
                if self.line is None:
                    await self.come_back()
                    self._shown.clear()
                    self._heard_at, self._asked = time.monotonic(), False
                    continue
                got = await self.news(0.5)
                if got is not None:
                    await self._take(*got)
                elif time.monotonic() - self._heard_at > _ANSWER:
                    await self._ask()
            self.journal.ended = True
        finally:
            await self.end()

    async def _ask(self) -> None:
        """Make sure that the server is there, and give the connection up when it was asked before."""
        if self._asked or self.line is None:
            await self.drop()
            return
        self._heard_at, self._asked = time.monotonic(), True
        await self.line.say(Ping(id=self.new_id()))

    async def _take(self, number: int, message: News) -> None:
        if self.line is None or number != self.line.number:
            return
        self._heard_at, self._asked = time.monotonic(), False
        match message:
            case None:
                await self.drop()
            case Welcome():
                await self.line.say(Watch(id=self.new_id(), room=self.journal.room))
            case Watching():
                self.sat()
            case Refused(code=code) if code in AGAIN:
                await asyncio.sleep(_AGAIN)
                await self.drop()
            case Refused():
                self.journal.complaints.append(f"was not let in: {message.code}: {message.message}")
                await self.drop()
            case RoomState():
                self._state = message
            case LateBoard(player=player, revision=revision) | LateMove(player=player, revision=revision):
                self._shown[player] = revision


class LinkRacer:
    """A racer on the link that players use, which has to heal by itself."""

    def __init__(self, url: str, journal: Journal, rng: Random, brain: Brain, pace: float) -> None:
        self.journal = journal
        self.brain = brain
        self._link = Link(Address(url), journal.name, BriefSessions(), rng=rng)
        self._rng = rng
        self._pace = pace
        self._begins_at = 0.0
        self._lost_at = 0.0
        self._retries: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Race, until the end of the race is known."""
        journal = self.journal
        journal.by_lines = False
        try:
            while True:
                try:
                    await self._link.__aenter__()
                    break
                except CannotConnect:
                    await asyncio.sleep(_AGAIN)
            reader = asyncio.create_task(self._read())
            try:
                await self._sit()
                await self._act_until_over(reader)
            finally:
                reader.cancel()
                await asyncio.gather(reader, *self._retries, return_exceptions=True)
        finally:
            self.journal.complaints += self.brain.complaints
            await self._link.close()

    async def _sit(self) -> None:
        while True:
            join = Join(id=0, room=self.journal.room)
            self.journal.say(0, join)
            try:
                await self._link.request(join)
            except RefusedError as refused:
                if refused.retry_after:
                    await asyncio.sleep(_AGAIN)
                    continue
                self.journal.complaints.append(f"was not let in: {refused.code}: {refused}")
            return

    async def _act_until_over(self, reader: asyncio.Task[None]) -> None:
        while not self.brain.finished and not reader.done():
            await asyncio.wait((reader,), timeout=min(1.0, self._rng.expovariate(1 / self._pace)))
            if self.brain.room is not None:
                self._begin(self.brain.room)
            if self.brain.lost:
                self.brain.lost = False
                self.brain.play = None
                self._link.sit_again()
            for act in self.brain.next(self._link.new_id):
                self._send(act)
        if reader.done() and not reader.cancelled() and (error := reader.exception()) is not None:
            raise error
        self.journal.ended = self.brain.finished

    def _send(self, message: ToServer) -> None:
        self.journal.say(0, message)
        self._link.send(message)

    async def _read(self) -> None:
        async for news in self._link:
            match news:
                case Connected(again=again):
                    if again:
                        self.journal.away.append(time.monotonic() - self._lost_at)
                    self._lost_at = 0.0
                case Lost():
                    self._lost_at = self._lost_at or time.monotonic()
                case Unseated(code=code, sentence=sentence):
                    self.journal.complaints.append(f"lost the seat: {code}: {sentence}")
                case Ended(code=code, sentence=sentence):
                    self.journal.complaints.append(f"was sent away for good: {code}: {sentence}")
                case _:
                    self.journal.hear(0, news)
                    self.brain.take(news)
                    if isinstance(news, Refused) and news.code in AGAIN:
                        self._retry(news)

    def _retry(self, refusal: Refused) -> None:
        for act in self.brain.pending:
            if act.id == refusal.to:
                task = asyncio.create_task(self._later(act))
                self._retries.add(task)
                task.add_done_callback(self._retries.discard)

    async def _later(self, act: Act) -> None:
        await asyncio.sleep(_AGAIN)
        self._send(act)

    def _begin(self, state: RoomState) -> None:
        now = time.monotonic()
        if state.phase != "open" or len(state.players) < state.options.players or now < self._begins_at:
            return
        self._begins_at = now + 2  # what was asked may have been refused, as anybody's would be while Redis is away
        mine = next((seat for seat in state.players if seat.player == self.journal.player), None)
        if state.options.start == "all-ready" and mine is not None and not mine.ready:
            self._send(Ready(id=self._link.new_id()))
        elif state.options.start == "host" and state.host == self.journal.player:
            self._send(Start(id=self._link.new_id()))
