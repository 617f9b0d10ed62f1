"""The client's side of a connection to a server. The link reconnects by itself.

After a lost connection the link reconnects with the player's session. It resumes the player's seat by sending the
revision of the client's board. Then it sends all unanswered requests again, in order.

Repeating a request is safe: an ``Act`` is identified by its revision and id, and other requests have the same effect
when done twice. The exception is ``Create``. If the connection is lost before the answer, ``Create`` is not repeated,
but fails with the code ``UNANSWERED``.

If the server's store is unavailable, the outcome of an ``Act`` is unknown. The link then reconnects and repeats the
``Act`` until the server answers it. If the store only rejects it, the link keeps the connection and tells the player.
Such an ``Act`` and rate-limited requests are retried when the server allows it.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from random import Random, SystemRandom
from typing import Final, Never, Self

from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

import samedeal
from samedeal.errors import RequestRefused
from samedeal.games import offer
from samedeal.joint_deal import SHARE_BYTES
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,
    Create,
    Drawn,
    Join,
    Joined,
    Leave,
    Notice,
    Ping,
    Pong,
    Refused,
    RoomState,
    TideTime,
    ToClient,
    ToServer,
)
from samedeal.protocol_codes import CloseCode, NoticeCode, RefusalCode
from samedeal_link.connection.address import ServerAddress
from samedeal_link.connection.backoff import Backoff
from samedeal_link.connection.client_error_codes import ClientCode
from samedeal_link.connection.clock_sync import ClockOffset
from samedeal_link.connection.dial import CannotConnect, dial
from samedeal_link.connection.disconnect import (
    Disconnected,
    LinkEnded,
    close_code,
    close_error,
    decode_or_end,
    disconnected,
)
from samedeal_link.connection.hello import greet
from samedeal_link.connection.link_events import Connected, Ended, LinkEvent, Lost, SeatLost
from samedeal_link.connection.liveness import LinkTimeouts, Liveness
from samedeal_link.connection.resume import NextStep, Resumption, names_other_room
from samedeal_link.connection.saved_sessions import SessionStore
from samedeal_link.connection.unanswered_requests import PendingRequests, ServerAnswer, is_unsaved
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.evidence_files import EvidenceFiles
from samedeal_link.evidence.facts import Role, Wanted
from samedeal_link.evidence.witness import Witness

_CLOSE_TIMEOUT: Final = 2.0
_MAX_EVENTS: Final = 1024
_FIRST_PINGS: Final = 3
_MOVED: Final = "You play on another device now. Start samedeal again to go on here."
_NOBODY_CAME: Final = "Nobody else came. The deal of an earlier race is dealt again."


class Link:
    """A player's connection, under the player's ``name``. Entering the context manager connects.

    If ``bot`` is true, the link declares to the server that the player is a bot. ``house`` is the key of the server's house
    if the bot is one of it. ``has_house`` says whether its bots can be asked for. ``home`` is the path of the room that
    the player is about to enter, if it is known: see ``home_path``. ``evidence_root`` is the directory that keeps what the
    player was shown and did, or None to keep it only in memory. Iterating a link yields each message of the server and each
    change of the connection, in order. ``round_trip`` is the newest one, in seconds.
    """

    def __init__(
        self,
        address: ServerAddress,
        name: str,
        sessions: SessionStore,
        *,
        rng: Random | None = None,
        clock: Callable[[], float] = time.monotonic,
        timeouts: LinkTimeouts | None = None,
        bot: bool = False,
        house: str = "",
        home: str = "",
        evidence_root: Path | None = None,
    ) -> None:
        self.address = address
        self.name = name
        self._bot = bot
        self._house = house
        self._path = home
        self.player = ""
        self.has_page = False
        self.has_given_code = False
        self.has_house = False
        self.tides: tuple[TideTime, ...] = ()
        self.events: asyncio.Queue[LinkEvent] = asyncio.Queue(_MAX_EVENTS)
        self._sessions = sessions
        self._session = ""
        self._clock = clock
        self._timeouts = timeouts or LinkTimeouts()
        self._backoff = Backoff(rng or SystemRandom())
        self._offset = ClockOffset()
        self._warnings: set[str] = set()
        self._last_id = 0
        files = EvidenceFiles(evidence_root, address.url)
        self.witness = Witness(files, partial(secrets.token_bytes, SHARE_BYTES), bot=bot)
        self._pending = PendingRequests()
        self._resumption = Resumption(self.new_id, lambda: self.witness.evidence.acks)
        self._awaited: dict[int, asyncio.Future[ServerAnswer]] = {}
        self._pings: dict[int, float] = {}
        self.round_trip = 0.0
        self._retry_timer: asyncio.TimerHandle | None = None
        self._outbox: asyncio.Queue[ToServer] = asyncio.Queue()
        self._runner: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._moving = False
        self._moved_to = ""
        self._told_unsaved = False
        self._ended: Ended | None = None

    async def __aenter__(self) -> Self:
        """Connect. Raise CannotConnect, or RequestRefused if the server refuses the name or the player."""
        socket = await self._dial()
        try:
            await self._greet(socket)
        except (Disconnected, LinkEnded) as error:
            await socket.close()
            raise CannotConnect(f"{self.address.typed} can't be used. {error}") from None
        except BaseException:
            await socket.close()
            raise
        self._runner = asyncio.create_task(self._run(socket), name=f"link {self.name}")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Disconnect and do not reconnect. The player keeps the seat, as after a lost connection."""
        await self.end(ClientCode.CLOSED, "This client closed the connection.")

    async def end(self, code: str, sentence: str) -> None:
        """Disconnect and do not reconnect. The link's last event has this ``code`` and ``sentence``."""
        if self._runner is not None:
            self._runner.cancel()
            await asyncio.gather(self._runner, return_exceptions=True)
        if self._closing is not None:
            await self._closing
        self._finish(Ended(code, sentence))
        self.witness.close()

    async def __aiter__(self) -> AsyncIterator[LinkEvent]:
        """Yield events until the link has ended."""
        while True:
            event = await self.events.get()
            yield event
            if isinstance(event, Ended):
                return

    def now(self) -> int:
        """Return the server's time, in milliseconds since 1970."""
        return self._offset.now(self._clock())

    @property
    def waiting(self) -> int:
        """The seconds for which the player's oldest unanswered move has waited, or 0 while that is usual."""
        waited = self._clock() - self._pending.moved if self._pending.moved is not None else 0.0
        return int(waited) if waited >= self._timeouts.move else 0

    def new_id(self) -> int:
        """Return an id that no message has yet."""
        self._last_id += 1
        return self._last_id

    def send(self, message: ToServer) -> None:
        """Send a request without waiting for the answer, which arrives as an event.

        The id of ``message`` must come from ``new_id``.
        """
        if self._ended is None and self._pending.add(message, self._clock()) and not self._resumption.awaiting_seat:
            self.post(message)

    async def request(self, message: ToServer) -> ServerAnswer:
        """Send a request under a new id and return its answer, even if the link has to reconnect meanwhile.

        Raise RequestRefused if the server refuses the request. Also raise it, with the code ``UNANSWERED``, if the
        connection was lost and the request can't be repeated, and with the code ``LINK_ENDED`` if the link has ended.
        """
        if self._ended is not None:
            raise RequestRefused(ClientCode.LINK_ENDED, self._ended.sentence)
        numbered = replace(message, id=self.new_id())
        answer = self._awaited[numbered.id] = asyncio.Future[ServerAnswer]()
        self.send(numbered)
        try:
            return await answer
        finally:
            del self._awaited[numbered.id]

    def _settle(self, number: int, outcome: ServerAnswer | RequestRefused) -> None:
        """Give the outcome of a request to its caller, if one is waiting."""
        answer = self._awaited.get(number)
        if answer is None or answer.done():
            return
        if isinstance(outcome, RequestRefused):
            answer.set_exception(outcome)
        else:
            answer.set_result(outcome)

    def resync(self) -> None:
        """Request the room and the whole board, because the client's board differs from the server's."""
        self._post_all(self._resumption.resync().send)

    def post(self, message: ToServer) -> None:
        """Enqueue a message for the current connection. The message is not repeated on the next connection."""
        self._outbox.put_nowait(message)

    def _post_all(self, messages: tuple[ToServer, ...]) -> None:
        for message in messages:
            self.post(message)

    async def _run(self, socket: ClientConnection) -> None:
        try:
            resumed = False
            while True:
                connected_at = self._clock()
                lost = await self._serve(socket, resumed=resumed)
                resumed, self._moving = True, lost.moves
                self._stop_deferring()
                self._resumption.disconnected(self._clock(), join_pending=self._pending.has(Join))
                stable = self._clock() - connected_at >= self._timeouts.stable
                if stable:
                    self._backoff.reset()
                socket = await self._reconnect(lost, immediately=lost.moves or (lost.immediately and stable))
        except CannotConnect as error:
            self._finish(Ended(ClientCode.CANNOT_CONNECT, str(error)))
        except RequestRefused as refused:
            self._finish(Ended(refused.code, str(refused)))
        except LinkEnded as error:
            self._finish(error.ended)
        except Exception as error:
            self._finish(Ended(ClientCode.CLIENT_FAULT, f"This client has a bug: {error!r}. Please report it."))
            raise

    async def _reconnect(self, lost: Disconnected, *, immediately: bool) -> ClientConnection:
        while True:
            if lost.retry_after:
                delay = self._backoff.requested_delay(lost.retry_after)
            else:
                delay = 0.0 if immediately else self._backoff.next_delay()
            immediately = False
            if not lost.moves:
                self._moving = False
                await self.events.put(Lost(str(lost), delay, lost.server_gone))
            await asyncio.sleep(delay)
            self._path = self._resumption.home
            try:
                socket = await self._dial()
            except CannotConnect as error:
                if error.permanent:
                    raise
                gone = lost.server_gone or error.why == "no_server"
                lost = Disconnected(str(error), server_gone=gone)
                continue
            try:
                await self._greet(socket)
            except Disconnected as error:
                lost = error
                await socket.close()
                continue
            except BaseException:
                await socket.close()
                raise
            return socket

    @property
    def _should_move(self) -> bool:
        is_elsewhere = self._resumption.home not in (self._path, "") and self._room != self._moved_to
        return is_elsewhere and not self._pending.has(Create)

    async def _dial(self) -> ClientConnection:
        """Connect at the path of a room's home. If that is refused, connect at the address itself: any node will do."""
        if self._path:
            try:
                return await dial(self.address, path=self._path)
            except CannotConnect as error:
                if error.why != "busy":
                    raise
        return await dial(self.address)

    async def _greet(self, socket: ClientConnection) -> None:
        session = self._session or self._sessions.session(self.address.url, self.name)
        sent = self._clock()
        welcome = await greet(
            socket, self.address.typed, self.name, session, self.new_id, bot=self._bot, house=self._house
        )
        self._offset.reset()
        self._offset.record(sent, self._clock(), welcome.time)
        self.player, self.tides = welcome.player, welcome.tides
        self.has_page, self.has_house = welcome.page, welcome.house
        self.witness.greeted(welcome, self._millis())
        self._session = welcome.session
        if welcome.session != session:
            self._sessions.keep(self.address.url, self.name, welcome.session)
        wrong = offer({game.name: game.text.decode(errors="replace") for game in welcome.games})
        await self.events.put(welcome)
        if welcome.engine not in (0, samedeal.ENGINE):
            older = "this client" if welcome.engine > samedeal.ENGINE else "the server"
            sentence = (
                f"The server uses version {welcome.engine} of the rules and this client version {samedeal.ENGINE}, so "
                f"their boards may differ. Update {older}."
            )
            await self._warn(ClientCode.OTHER_ENGINE, sentence)
        for error in wrong:
            sentence = f"This client can't play a game of the server. {error} Tell the operator of the server."
            await self._warn(ClientCode.BAD_GAME, sentence)

    @property
    def evidence(self) -> Evidence | None:
        """What the player was shown and did in the present race, or None outside a room."""
        return self.witness.evidence if self.witness.evidence.room else None

    def _millis(self) -> int:
        return round(1000 * self._clock())

    @property
    def saved_room(self) -> str:
        """The room of the unfinished race in which this player last had a seat. Empty if there is none."""
        return self._sessions.room(self.address.url, self.name)

    def save_room(self, room: str) -> None:
        """Save the room in which this player has a seat, so that the player finds it again after a restart.

        If ``room`` is empty, forget the saved room.
        """
        self._sessions.keep(self.address.url, self.name, self._session, room)

    async def _take_part_in_draw(self, state: RoomState) -> None:
        """Commit to the player's share of a joint deal, or reveal it, if the room waits for it."""
        request = self.witness.answer(state)
        if request is not None:
            self.post(replace(request, id=self.new_id()))

    async def _tell_contradiction(self, before: Evidence) -> None:
        """Tell the player at once, and only once, that the server has contradicted itself."""
        sentence = self.witness.evidence.contradiction
        if sentence and not before.contradiction:
            await self.events.put(Notice(code=ClientCode.NOT_FAIR, message=sentence))

    async def _leave_other_race(self) -> None:
        """Give up a seat that the server gave to the player in a room that was opened anew."""
        self._resumption.left()
        self.post(Leave(id=self.new_id()))
        sentence = "The race that you had a seat in is gone, and another room has its code. Join again to race there."
        await self.events.put(SeatLost(ClientCode.OTHER_RACE, sentence))

    async def _follow(self, state: RoomState) -> None:
        """Go on to the room in which the deal of an earlier race is dealt again, because nobody else came."""
        step = self._resumption.follow(state)
        if step.send:
            role: Role = "player" if isinstance(self._resumption.place, Join) else "spectator"
            self.witness.asks(role, state.next, self._repeated(state), self.player, self.name)
            await self.events.put(Notice(code=ClientCode.REPEATED, message=_NOBODY_CAME))
        await self._execute(step)

    def _repeated(self, state: RoomState) -> Wanted:
        """Return what the room has to be in which the deal of an earlier race is dealt again."""
        terms = self.evidence.terms if self.evidence is not None else None
        if terms is None:
            return Wanted(game=state.game)
        options = replace(terms.options, players=1, start="full", start_at=0)
        return Wanted(options=options, private=terms.private, again=True)

    async def _warn(self, code: ClientCode, sentence: str) -> None:
        """Tell the player about something wrong with the server, but only once."""
        if sentence not in self._warnings:
            self._warnings.add(sentence)
            await self.events.put(Notice(code=code, message=sentence))

    async def _serve(self, socket: ClientConnection, *, resumed: bool) -> Disconnected:
        """Send and receive messages until the connection is lost or the link moves, and return the reason.

        ``resumed`` is true if the link was connected before. If it has connected again only to move, no event says so.
        """
        if resumed:
            await self._resume()
        for _ in range(_FIRST_PINGS):
            self._ping()
        if not self._moving:
            await self.events.put(Connected(resumed))
        writer = asyncio.create_task(self._write(socket))
        moves = False
        try:
            await self._read(socket)
        except Disconnected as lost:
            moves = lost.moves
            return lost
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
            if (
                moves
            ):  # The server closes it when the new connection takes the seat, so that nobody sees the player leave.
                self._closing = asyncio.create_task(_close(socket, _CLOSE_TIMEOUT))
            else:
                await _close(socket)

    async def _resume(self) -> None:
        """Prepare a new connection: enqueue the request to resume the seat or view, if the client has one.

        Without a seat, also enqueue all unanswered requests. With a seat, they are enqueued once the server has
        answered the request to resume it. An unanswered ``Create`` is not sent again, but fails.
        """
        self._outbox = asyncio.Queue()
        self._pings.clear()
        # A link does not move before such a request is answered, so those of a moving link have not been sent.
        for request in () if self._moving else self._pending.remove_unrepeatable():
            sentence = (
                "The connection was lost before the server answered, so the room may or may not be open. "
                "List the rooms to see."
            )
            self._settle(request.id, RequestRefused(ClientCode.UNANSWERED, sentence))
        await self._execute(self._resumption.begin())

    async def _read(self, socket: ClientConnection) -> Never:
        """Handle messages until the connection is lost. Raise Disconnected, or LinkEnded if the link must not reconnect."""
        liveness = Liveness(self._timeouts, self._clock())
        while True:
            try:
                patience = liveness.patience(self._clock(), self._pending.moved)
                async with asyncio.timeout(max(0.0, patience)):
                    frame = await socket.recv()
            except TimeoutError:
                if liveness.patience(self._clock(), self._pending.moved) > 0:
                    continue
                if liveness.awaits_pong:
                    socket.transport.abort()  # a close would wait for the server once more
                    raise Disconnected("The server stopped answering.") from None
                liveness.ping(self._clock())
                self._ping()
                continue
            except ConnectionClosed as closed:
                if close_code(closed) == CloseCode.TAKEN_OVER and self._resumption.explains_takeover(self._clock()):
                    raise disconnected(closed) from None
                if close_code(closed) == CloseCode.TAKEN_OVER:
                    self.witness.taken_over()
                    if self.has_given_code:
                        raise LinkEnded(Ended(str(CloseCode.TAKEN_OVER), _MOVED)) from None
                raise close_error(closed) from None
            liveness.hear(self._clock())
            message = decode_or_end(frame)
            await self.receive(message)
            if isinstance(message, Joined) and self._should_move:
                self._moved_to = self._room  # once, whatever the server says next
                raise Disconnected("", moves=True)
            if isinstance(message, Notice):
                if message.code == NoticeCode.DRAINING:
                    raise Disconnected(message.message, immediately=True, server_gone=True)
                if message.code == NoticeCode.BANNED:
                    raise LinkEnded(Ended(str(CloseCode.BANNED), message.message))

    async def _write(self, socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                message = await self._outbox.get()
                if isinstance(message, Ping):
                    self._pings[message.id] = self._clock()
                self.witness.sends(message, self._millis())
                await socket.send(encode(message))

    def _ping(self) -> None:
        self.post(Ping(id=self.new_id()))

    async def receive(self, message: ToClient) -> None:
        """Handle a message of the server. Pass it on as an event, unless only the link itself needs it.

        Raise Disconnected if the link has to reconnect.
        """
        if isinstance(message, Pong) and message.to in self._pings:
            sent, now = self._pings.pop(message.to), self._clock()
            self._offset.record(sent, now, message.time)
            self.round_trip = now - sent
            if self._pending.get(message.to) is None:
                self.witness.receives(message, self._millis())
                return
        if isinstance(message, RoomState) and self.witness.is_other_race(message):
            await self._leave_other_race()
            return
        before = self.witness.evidence
        self.witness.receives(message, self._millis())
        if isinstance(message, Joined):  # actions of the program before a restart have ids too
            self._last_id = max(self._last_id, *self.witness.evidence.sent_actions, 0)
        if isinstance(message, RoomState | BoardState | Drawn) and message.room != self._room:
            return  # the evidence has it; nobody is shown another room than the own one
        if isinstance(message, RoomState):
            if names_other_room(message) and not self.witness.evidence.contradiction:
                await self._follow(message)
                return
            await self._take_part_in_draw(message)
        if isinstance(message, BoardState):
            await self._execute(self._resumption.board_received(message.revision))
        elif isinstance(message, Refused) and self._pending.defer(message, self._clock()):
            if is_unsaved(message) and not self._told_unsaved:
                self._told_unsaved = True
                await self.events.put(Notice(code=message.code, message=message.message))
            self._send_due()
            return
        elif isinstance(message, ServerAnswer | Refused):
            if not await self._answered(message):
                return
        elif isinstance(message, Notice) and message.code == NoticeCode.KICKED:
            self._resumption.left()
            await self.events.put(SeatLost(message.code, message.message))
            return
        await self.events.put(message)
        await self._tell_contradiction(before)

    @property
    def _room(self) -> str:
        """The room that the player is in, or an empty text."""
        return self._resumption.place.room if self._resumption.place else ""

    async def _answered(self, answer: ServerAnswer | Refused) -> bool:
        """Handle an answer. Return False if it is the answer to no request, so that nobody believes it."""
        if self._resumption.expects(answer):
            await self._execute(self._resumption.answered(answer), answer)
            return True
        if isinstance(answer, Refused):
            if answer.code == RefusalCode.UNAVAILABLE and isinstance(self._pending.get(answer.to), Act):
                # The outcome of the action is unknown. Repeat it on a new connection, then the actions after it.
                raise Disconnected(answer.message)
            self._pending.remove(answer.to)
            refused = RequestRefused(answer.code, answer.message, answer.retry_after or None)
            self._settle(answer.to, refused)
            return True
        request = self._pending.remove(answer.to)
        if request is None:
            return False
        if isinstance(answer, Acked):
            self._told_unsaved = False
        self._resumption.accepted(request, answer)
        self._settle(answer.to, answer)
        self._send_due()
        return True

    async def _execute(self, step: NextStep, answer: ServerAnswer | Refused | None = None) -> None:
        """Carry out a step of resuming a seat. ``answer`` is the server's answer that led to this step, if any."""
        self._post_all(step.send)
        if step.send_pending:
            self._post_all(self._pending.in_order())
        refusal = answer if isinstance(answer, Refused) else Refused(to=-1, code="", message="")
        if step.moves_lost:
            sentence = f"The server lost moves that it had accepted, and did not restore them. {refusal.message}"
            await self.events.put(Notice(code=ClientCode.MOVES_LOST, message=sentence))
        if step.seat_lost:
            await self.events.put(SeatLost(refusal.code, refusal.message))
        if step.reconnect_after is not None:
            raise Disconnected(refusal.message, step.reconnect_after)

    def _send_due(self) -> None:
        """Send the deferred requests that are due, and set a timer for the others."""
        self._post_all(self._pending.take_due(self._clock()))
        if self._pending.retry_at is not None and self._retry_timer is None:
            delay = self._pending.retry_at - self._clock()
            self._retry_timer = asyncio.get_running_loop().call_later(delay, self._on_retry_timer)

    def _on_retry_timer(self) -> None:
        self._retry_timer = None
        self._send_due()

    def _stop_deferring(self) -> None:
        if self._retry_timer is not None:
            self._retry_timer.cancel()
        self._retry_timer = None
        self._pending.stop_deferring()

    def _finish(self, ended: Ended) -> None:
        if self._ended is not None:
            return
        self._ended = ended
        self._stop_deferring()
        for number in self._awaited:
            self._settle(number, RequestRefused(ClientCode.LINK_ENDED, ended.sentence))
        self._pending.clear()
        if self.events.full():
            self.events.get_nowait()
        self.events.put_nowait(ended)


async def _close(socket: ClientConnection, patience: float = 0.0) -> None:
    """Close a connection. The server gets ``patience`` seconds to close it first, and little time to agree."""
    try:
        for end, timeout in ((socket.wait_closed, patience), (socket.close, _CLOSE_TIMEOUT)):
            # Before Python 3.12, wait_for loses a cancellation that comes just as what it waits for is done.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await end()
    finally:
        socket.transport.abort()
