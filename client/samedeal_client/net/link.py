"""A client's connection to a server, which heals by itself.

Iterating a link gives every message of the server in order and, between them, how the connection fares: ``Connected``,
``Lost``, ``Unseated``, ``Ended``. After a cut it comes back with the session that it was given, takes its seat again with
the revision that it holds, and sends again, in order, what was not answered. That is safe for every request but ``Create``
(an ``Act`` is known by its revision and id, and the others come to the same when done twice): an unanswered ``Create`` fails
with the code ``unanswered`` and whoever asked decides. An ``Act`` of which the server can't say whether it was done, since
its store is away, counts as not answered: the link comes back with it until there is an answer. What was refused as
``rate_limited`` is sent again, under its id, when the server takes it, unless that is longer than somebody likes to wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from random import Random, SystemRandom
from typing import Final, Self, TypeGuard

from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

import samedeal
from samedeal.errors import MalformedFrame, Refused
from samedeal.names import printable
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,
    Close,
    Create,
    Created,
    Done,
    Hello,
    Join,
    Joined,
    Leave,
    Notice,
    Ping,
    Pong,
    Rooms,
    ToClient,
    ToServer,
    Watch,
    Watching,
    Welcome,
)
from samedeal.protocol.messages import Refused as RefusedMessage
from samedeal_client.net.address import Address
from samedeal_client.net.dial import OPEN_TIMEOUT, CannotConnect, dial
from samedeal_client.net.hearing import hear
from samedeal_client.net.holding import Holding
from samedeal_client.net.sessions import Sessions
from samedeal_client.net.timing import Offset, Patience

QUIET: Final = 10.0
"""Seconds without a word from the server after which it is asked for one; as long again without an answer is a cut."""

_STABLE: Final = 5.0
"""Seconds that a connection must have lasted for the next attempt to start without waiting."""

_STRAYS_ARRIVE: Final = 60.0
"""Seconds within which a server may still hear what was said on a connection that was cut."""

LONGEST_WAIT: Final = 15.0
"""Seconds that a request waits for a server which is asked too much; beyond that whoever asked is told to wait."""

_BACKLOG: Final = 1024
_FIRST_LOOKS: Final = 3

Answer = Welcome | Pong | Rooms | Created | Joined | Watching | Done | Acked
_ANSWERS: Final = (Welcome, Pong, Rooms, Created, Joined, Watching, Done, Acked)


@dataclass(frozen=True, slots=True)
class Connected:
    """The connection stands; ``again`` says that it was lost before."""

    again: bool


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection is gone, or an attempt to have it back failed: why, and in how many seconds the next one comes."""

    reason: str
    retry_in: float


@dataclass(frozen=True, slots=True)
class Unseated:
    """After a cut the server did not give the seat, or the view, back."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The link has ended and won't come back: why, as a sentence, and the close code or the reason's name."""

    code: str
    sentence: str


News = ToClient | Connected | Lost | Unseated | Ended

_FAREWELLS: Final = {
    Close.VERSION: "The server speaks another version of the protocol: update this client, or the server",
    Close.BAD_FRAMES: "The server did not understand this client and has cut it off: update one of the two",
    Close.BANNED: "You are banned from this server",
    Close.TAKEN_OVER: "You are connected from somewhere else now, with the same session: this connection has given way",
}


class _Cut(Exception):
    """The connection can't be used any more, and no other for ``wait`` seconds."""

    def __init__(self, sentence: str, wait: float = 0.0) -> None:
        super().__init__(sentence)
        self.wait = wait


class _Farewell(Exception):
    """The server closed with a code that says to stay away."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended.sentence)
        self.ended = ended


class Link:
    """A connection under a name. Use it as an async context manager: entering connects, and raises if that fails."""

    def __init__(
        self,
        address: Address,
        name: str,
        sessions: Sessions,
        *,
        rng: Random | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.address = address
        self.name = name
        self.player = ""
        self._engine = samedeal.ENGINE
        self._sessions = sessions
        self._clock = clock
        self._patience = Patience(rng or SystemRandom())
        self._offset = Offset()
        self._last_id = 0
        self._unanswered: dict[int, ToServer] = {}
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._pings: dict[int, float] = {}
        self._put_off: dict[int, ToServer] = {}
        self._again: asyncio.TimerHandle | None = None
        self._hold_off = 0.0
        self._resuming = -1
        self._strays: list[float] = []
        self._outbox: deque[ToServer] = deque()
        self._wake = asyncio.Event()
        self._place: Join | Watch | None = None
        self._revision = -1
        self._holding = Holding()
        self._recovering: set[int] = set()
        self._seat_first = False
        self._news: asyncio.Queue[News | None] = asyncio.Queue(_BACKLOG)
        self._runner: asyncio.Task[None] | None = None
        self._ended: Ended | None = None

    # ---------------------------------------------------------------- for the app

    async def __aenter__(self) -> Self:
        """Connect for the first time. Raises CannotConnect, or Refused when the server doesn't take the name."""
        socket = await dial(self.address)
        try:
            await self._greet(socket)
        except (_Cut, _Farewell) as cut:
            await socket.close()
            raise CannotConnect(f"{self.address.typed} can't be used: {cut}") from None
        except BaseException:
            await socket.close()
            raise
        self._runner = asyncio.create_task(self._run(socket), name=f"link {self.name}")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Hang up; the seat stays for as long as the server keeps it."""
        await self.end("closed", "The connection was closed here")

    def now(self) -> int:
        """The server's time, in milliseconds since 1970."""
        return self._offset.now(self._clock())

    def new_id(self) -> int:
        """An id for a message, which none had before."""
        self._last_id += 1
        return self._last_id

    def send(self, message: ToServer) -> None:
        """Send a request without waiting: its answer comes with the messages. ``id`` must be from ``new_id``."""
        if self._ended is not None:
            return
        self._unanswered[message.id] = message
        if self._seat_first:
            return
        if isinstance(message, Act) and self._acts_wait:
            self._put_off[message.id] = message
        else:
            self._post(message)

    async def request(self, message: ToServer) -> Answer:
        """Send a request, under an id of its own, and wait for the answer, across cuts if need be.

        Raises Refused with the server's code, or with ``unanswered`` (a Create that was cut off) or ``ended``.
        """
        if self._ended is not None:
            raise Refused("ended", self._ended.sentence)
        numbered = replace(message, id=self.new_id())
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[numbered.id] = future
        self.send(numbered)
        try:
            return await future
        finally:
            self._waiting.pop(numbered.id, None)

    def sit_again(self) -> None:
        """Ask for everything anew, the board included, where this client has lost its way."""
        self._revision = -1
        self._take_place()

    async def end(self, code: str, sentence: str) -> None:
        """Give up for a reason of one's own, which the iteration tells last."""
        if self._runner is not None:
            self._runner.cancel()
            await asyncio.gather(self._runner, return_exceptions=True)
        self._give_up(Ended(code, sentence))

    async def __aiter__(self) -> AsyncIterator[News]:
        """The news, until the link has ended."""
        while (news := await self._news.get()) is not None:
            yield news
            if isinstance(news, Ended):
                return

    # ---------------------------------------------------------------- coming back

    async def _run(self, socket: ClientConnection) -> None:
        try:
            again = False
            while True:
                began = self._clock()
                reason, at_once = await self._live(socket, again=again)
                again = True
                self._send_none_again()
                if self._seating:
                    self._strays.append(self._clock())
                lasted = self._clock() - began >= _STABLE
                if lasted:
                    self._patience.rewarded()
                socket = await self._dial_again(reason, at_once=at_once and lasted)
        except CannotConnect as error:
            self._give_up(Ended("cannot_connect", str(error)))
        except Refused as refused:
            self._give_up(Ended(refused.code, str(refused)))
        except _Farewell as farewell:
            self._give_up(farewell.ended)
        except Exception as error:
            self._give_up(Ended("fault", f"This client has made a mistake: {error!r}"))
            raise

    async def _dial_again(self, reason: str, *, at_once: bool) -> ClientConnection:
        while True:
            if self._hold_off:
                wait = self._patience.wait_as_told(self._hold_off)
            else:
                wait = 0.0 if at_once else self._patience.wait()
            at_once, self._hold_off = False, 0.0
            await self._news.put(Lost(reason, wait))
            await asyncio.sleep(wait)
            try:
                socket = await dial(self.address)
            except CannotConnect as error:
                if error.for_good:
                    raise
                reason = str(error)
                continue
            try:
                await self._greet(socket)
            except _Cut as cut:
                reason = str(cut)
                self._hold_off = cut.wait
                await socket.close()
                continue
            except BaseException:
                await socket.close()
                raise
            return socket

    async def _greet(self, socket: ClientConnection) -> None:
        """Say hello and wait for the welcome, which also tells the time."""
        session = self._sessions.session(self.address.url, self.name)
        sent = self._clock()
        try:
            async with asyncio.timeout(OPEN_TIMEOUT):
                message = await self._hello(socket, session)
                if isinstance(message, RefusedMessage) and message.code == "no_session":
                    session = ""
                    message = await self._hello(socket, session)
                while _is_too_much(message) and message.retry_after < OPEN_TIMEOUT / 2:
                    await asyncio.sleep(message.retry_after)
                    message = await self._hello(socket, session)
                if (
                    isinstance(message, Notice) and message.code == "draining"
                ):  # a server that stops says so to whoever has just come, too
                    raise _Cut(message.message)
        except TimeoutError:
            raise _Cut("The server says nothing") from None
        except ConnectionClosed as closed:
            raise _farewell(closed) or _Cut(_why(closed)) from None
        if isinstance(message, RefusedMessage):
            if message.retry_after:
                raise _Cut(message.message, min(message.retry_after, LONGEST_WAIT))
            raise Refused(message.code, message.message)
        if not isinstance(message, Welcome):
            raise CannotConnect(f"{self.address.typed} is not a Samedeal server: it gave no welcome", for_good=True)
        self._offset.forget()
        self._offset.heard(sent, self._clock(), message.time)
        self.player = message.player
        if message.session != session:
            self._sessions.keep(self.address.url, self.name, message.session)
        await self._news.put(message)
        if message.engine and message.engine != self._engine:
            self._engine = message.engine
            await self._tell_of_other_rules(message.engine)

    async def _tell_of_other_rules(self, engine: int) -> None:
        if engine != samedeal.ENGINE:
            older = "this client" if engine > samedeal.ENGINE else "the server"
            await self._news.put(
                Notice(
                    code="engine",
                    message=f"The server's rules are of version {engine}, this client's of version {samedeal.ENGINE}: "
                    f"where they differ the cards won't agree, so update {older}",
                )
            )

    async def _hello(self, socket: ClientConnection, session: str) -> ToClient:
        client = f"samedeal {samedeal.__version__} (Python)"
        await socket.send(encode(Hello(id=self.new_id(), name=self.name, session=session, client=client)))
        return _decoded(await socket.recv())

    def _resume(self) -> None:
        """Queue what the server must hear on a new connection: the place held, then all that it did not answer.

        With a seat that waits until the server has said which revision it has: it may have to be given back others first.
        """
        self._outbox.clear()
        self._recovering.clear()
        self._seat_first = isinstance(self._place, Join)
        self._pings.clear()
        self._resuming = -1
        for number, message in list(self._unanswered.items()):
            if isinstance(message, Create):
                del self._unanswered[number]
                self._fail(
                    number,
                    Refused(
                        "unanswered",
                        "The connection was cut before the server answered: the room may be open or not, list the rooms",
                    ),
                )
        self._take_place()
        for message in self._unanswered.values():
            if not self._seat_first:
                self._post(message)
        for _ in range(_FIRST_LOOKS):
            self._ping()

    def _take_place(self) -> None:
        if self._place is None:
            return
        self._resuming = self.new_id()
        if isinstance(self._place, Join):
            # Counts told between two states of the room have no number, so the room is always asked for whole.
            self._post(replace(self._place, id=self._resuming, revision=self._revision, event=-1))
        else:
            self._post(replace(self._place, id=self._resuming))

    def _resumed(self, message: Answer | RefusedMessage) -> None:
        """Go on with the place that was asked for again, or without it; not when it is to be asked for once more."""
        self._resuming = -1
        if isinstance(message, Joined):
            self._give_back(message.revision)
        if not (isinstance(message, RefusedMessage) and message.retry_after):
            self._seated()

    def _seated(self) -> None:
        """Send what has waited for the seat."""
        if self._seat_first:
            self._seat_first = False
            for message in self._unanswered.values():
                self._post(message)

    def _give_back(self, revision: int) -> None:
        """Give a server that has come no further than a revision what it has acked and lost since."""
        if self._recovering or not self._holding.behind(revision):
            return
        for message in self._holding.recover(revision):
            numbered = replace(message, id=self.new_id())
            self._recovering.add(numbered.id)
            self._post(numbered)

    async def _given_back(self, message: Answer | RefusedMessage) -> None:
        """Go on once a server has taken what it was given back; where it won't, with the board that it has."""
        self._recovering.discard(message.to)
        if isinstance(message, RefusedMessage):
            if message.code == "unavailable":
                raise _Cut(message.message)
            self._recovering.clear()
            self._holding = Holding()
            sentence = (
                f"The server has lost moves that it had acknowledged, and does not take them again: {message.message}"
            )
            await self._news.put(Notice(code="lost", message=sentence))
        astray = self._revision < self._holding.revision or not self._holding.held
        if astray and not self._recovering:
            self.sit_again()

    # ---------------------------------------------------------------- one connection

    async def _live(self, socket: ClientConnection, *, again: bool) -> tuple[str, bool]:
        """Serve a connection until it is cut: why that was, and whether to come back at once."""
        if again:
            self._resume()
        else:
            for _ in range(_FIRST_LOOKS):
                self._ping()
        await self._news.put(Connected(again))
        writer = asyncio.create_task(self._write(socket))
        try:
            return await self._read(socket)
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2):
                    await socket.close()

    async def _read(self, socket: ClientConnection) -> tuple[str, bool]:
        asked = False
        while True:
            try:
                async with asyncio.timeout(QUIET):
                    frame = await socket.recv()
            except TimeoutError:
                if asked:
                    return "The server has gone silent", False
                asked = True
                self._ping()
                continue
            except ConnectionClosed as closed:
                if _code(closed) == Close.TAKEN_OVER and self._by_a_stray():
                    return _why(closed), False
                if farewell := _farewell(closed):
                    raise farewell from None
                return _why(closed), _code(closed) == Close.RESTART
            asked = False
            message = _decoded(frame)
            try:
                await self._heard(message)
            except _Cut as cut:
                self._hold_off = cut.wait
                return str(cut), False
            if isinstance(message, Notice):
                if message.code == "draining":
                    return message.message, True
                if message.code == "banned":
                    raise _Farewell(Ended(str(Close.BANNED), message.message))

    @property
    def _seating(self) -> bool:
        """Whether a seat has been asked for and the answer is still to come.

        A connection that is cut then is a stray: the server may hear the request when a later connection has the seat, and
        close that one for it.
        """
        resuming = self._resuming >= 0 and isinstance(self._place, Join)
        return resuming or any(isinstance(message, Join) for message in self._unanswered.values())

    def _by_a_stray(self) -> bool:
        """Whether it may be one of this link's own strays that has taken over; each is good for that once."""
        strays = [at for at in self._strays if self._clock() - at < _STRAYS_ARRIVE]
        self._strays = strays[1:]
        return bool(strays)

    async def _write(self, socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                while self._outbox:
                    message = self._outbox.popleft()
                    if isinstance(message, Ping):
                        self._pings[message.id] = self._clock()
                    await socket.send(encode(message))
                self._wake.clear()
                await self._wake.wait()

    def _post(self, message: ToServer) -> None:
        self._outbox.append(message)
        self._wake.set()

    def _ping(self) -> None:
        self._post(Ping(id=self.new_id()))

    async def _heard(self, message: ToClient) -> None:
        if isinstance(message, Pong) and message.to in self._pings:
            self._offset.heard(self._pings.pop(message.to), self._clock(), message.time)
            if message.to not in self._unanswered:
                return
        if isinstance(message, BoardState):
            self._revision = message.revision
            self._give_back(message.revision)
        elif isinstance(message, RefusedMessage) and self._is_to_be_sent_again(message):
            return
        elif isinstance(message, (*_ANSWERS, RefusedMessage)):
            await self._answered(message)
        elif isinstance(message, Notice) and message.code == "kicked":
            self._place = None
            await self._news.put(Unseated(message.code, message.message))
            return
        await self._news.put(message)

    # ---------------------------------------------------------------- asking too much

    @property
    def _acts_wait(self) -> bool:
        return any(isinstance(message, Act) for message in self._put_off.values())

    def _is_to_be_sent_again(self, refusal: RefusedMessage) -> bool:
        """Put off what the server does not take yet, and the actions that were made upon one that was put off."""
        request = self._unanswered.get(refusal.to)
        if request is None:
            return False
        follows = isinstance(request, Act) and self._acts_wait
        patient = isinstance(request, Act) or refusal.retry_after <= LONGEST_WAIT
        if not (follows or (_is_too_much(refusal) and patient)):
            return False
        self._put_off[request.id] = request
        if refusal.retry_after and self._again is None:
            self._again = asyncio.get_running_loop().call_later(refusal.retry_after, self._send_again)
        elif self._again is None:
            self._send_again()
        return True

    def _send_again(self) -> None:
        """Send what was put off, unless an action made upon one of them is still to be refused: they go in their order."""
        self._again = None
        under_way = any(isinstance(each, Act) and each.id not in self._put_off for each in self._unanswered.values())
        if self._acts_wait and under_way:
            return
        put_off, self._put_off = self._put_off, {}
        for _, message in sorted(put_off.items()):
            self._post(message)

    def _send_none_again(self) -> None:
        """Put nothing off any more: the next connection begins with all that was not answered."""
        if self._again is not None:
            self._again.cancel()
        self._again = None
        self._put_off.clear()

    async def _answered(self, message: Answer | RefusedMessage) -> None:
        if message.to in self._recovering:
            await self._given_back(message)
            return
        if self._may_have_been_done(message):
            # As after a cut: come back and send it again, and those after it in their order.
            raise _Cut(message.message)
        request = self._unanswered.pop(message.to, None)
        resuming = message.to == self._resuming
        if resuming:
            self._resumed(message)
        if isinstance(message, Acked):
            self._revision = max(self._revision, message.revision)
            if isinstance(request, Act):
                self._holding = self._holding.acked(request, message)
        elif isinstance(message, RefusedMessage):
            self._fail(message.to, Refused(message.code, message.message, message.retry_after or None))
            if resuming:
                if message.retry_after:
                    raise _Cut(message.message, min(message.retry_after, LONGEST_WAIT))
                self._place = None
                await self._news.put(Unseated(message.code, message.message))
            return
        elif isinstance(request, Join | Watch):
            if not (isinstance(request, Join) and isinstance(self._place, Join) and request.room == self._place.room):
                self._revision = -1
                self._holding = Holding()
            self._place = request
        elif isinstance(request, Leave):
            self._place = None
        future = self._waiting.get(message.to)
        if future is not None and not future.done():
            future.set_result(message)
        if self._put_off and self._again is None:
            self._send_again()

    def _may_have_been_done(self, message: Answer | RefusedMessage) -> TypeGuard[RefusedMessage]:
        """Whether it says that nobody knows what became of an action, since the server can't reach its store."""
        unknown = isinstance(message, RefusedMessage) and message.code == "unavailable"
        return unknown and isinstance(self._unanswered.get(message.to), Act)

    # ---------------------------------------------------------------- the end

    def _fail(self, number: int, refused: Refused) -> None:
        future = self._waiting.get(number)
        if future is not None and not future.done():
            future.set_exception(refused)

    def _give_up(self, ended: Ended) -> None:
        if self._ended is not None:
            return
        self._ended = ended
        self._send_none_again()
        for number in list(self._waiting):
            self._fail(number, Refused("ended", ended.sentence))
        self._unanswered.clear()
        if self._news.full():
            self._news.get_nowait()
        self._news.put_nowait(ended)


def _is_too_much(message: ToClient) -> TypeGuard[RefusedMessage]:
    return isinstance(message, RefusedMessage) and message.code == "rate_limited" and message.retry_after > 0


def _decoded(frame: str | bytes) -> ToClient:
    try:
        return hear(frame)
    except MalformedFrame as error:
        sentence = f"The server sent what this client does not understand ({error}): update one of the two"
        raise _Farewell(Ended("bad_frame", sentence)) from None


def _code(closed: ConnectionClosed) -> int:
    return closed.rcvd.code if closed.rcvd is not None else 0


def _farewell(closed: ConnectionClosed) -> _Farewell | None:
    code = _code(closed)
    return _Farewell(Ended(str(code), _FAREWELLS[code])) if code in Close.STAY_AWAY else None


def _why(closed: ConnectionClosed) -> str:
    if closed.rcvd is None:
        return "The connection was cut"
    said = printable(closed.rcvd.reason)
    return f"The server has closed the connection{f': {said}' if said else ''}"
