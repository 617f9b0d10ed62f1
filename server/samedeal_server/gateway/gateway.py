"""The players' connections to one node. The requests on a connection are answered one after another."""

from __future__ import annotations

import asyncio
import http
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import Final

from msgspec.structs import replace
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from samedeal.board_history import Play
from samedeal.errors import MalformedFrame, RequestRefused, SamedealError
from samedeal.protocol.codec import decode_to_server, request_id
from samedeal.protocol.messages import (
    SUBPROTOCOL,
    Acked,
    Act,
    Begin,
    Begun,
    Hello,
    Join,
    Joined,
    Recover,
    Refused,
    ToClient,
    ToServer,
    Watching,
)
from samedeal.protocol_codes import CloseCode, RefusalCode
from samedeal.race.room_state import board_state
from samedeal.sentences import notice, refused
from samedeal.terminal_text import printable
from samedeal_server.api.front import Front
from samedeal_server.api.news_listeners import NewsListeners, StreamHead
from samedeal_server.api.read_api import REQUEST_COST, ReadApi, is_for_api, refused_early
from samedeal_server.config.limits import Networks
from samedeal_server.config.token_buckets import Bucket
from samedeal_server.connections.client_socket import ClientSocket
from samedeal_server.connections.handshake_admission import HandshakeAdmission, busy, is_own_page, networks_of
from samedeal_server.errors import StoreRejected, StoreUnavailable
from samedeal_server.gateway.rate_limits import RateLimits
from samedeal_server.gateway.request_handlers import REQUESTS, RequestHandlers
from samedeal_server.gateway.request_queue import RequestQueue
from samedeal_server.loop_timers import Alarm
from samedeal_server.page.files import METHODS, PageFiles, is_handshake, request_cost, room_of, series_of
from samedeal_server.page.session_cookie import kept_token, offered_token, set_cookie
from samedeal_server.races.refusals import to_message
from samedeal_server.races.server_bans import Bans
from samedeal_server.rooms.hub import Hub
from samedeal_server.rooms.player_connection import PlayerConnection
from samedeal_server.rooms.registry import RoomRegistry
from samedeal_server.rooms.room_list import room_lines
from samedeal_server.rooms.seated_player import SeatedPlayer
from samedeal_server.tasks import cancel_and_wait
from samedeal_server.telemetry.logger import get_logger
from samedeal_server.telemetry.metrics import KINDS

_CLOSE_REASONS: Final[Mapping[int, str]] = {
    **dict.fromkeys((1000, 1001), "normal"),
    1006: "lost",
    **{int(code): code.name.lower() for code in CloseCode},
}
"""The reason that metrics and logs give for each WebSocket close code."""

_INVALID_REQUEST_COST: Final = 1
"""Rate limit cost, in moves, of a request of an unknown type or with invalid options."""

_MAX_SENTENCE_WIDTH: Final = 400
"""Maximum width, in columns, of the sentence in a refusal. The sentence may quote what the client has sent."""

_DRAIN_TIMEOUT: Final = 5.0
"""Timeout, in seconds, for clients to disconnect from a node that is stopping."""

_log = get_logger()

Serve = Callable[[ServerConnection], Awaitable[None]]


@dataclass(eq=False, repr=False)
class Gateway:
    """Serves the players' connections to this node.

    ``on_hello`` is called with each connection after its Hello. ``subprotocols`` maps the name of each further
    subprotocol, such as the operators', to a function that serves its connections. ``page`` answers plain HTTP
    requests. ``listeners`` get the news of public races; without them, the node has no read API. ``serving`` has a task
    for each connection that is open or has not been cleaned up yet.
    """

    rooms: RoomRegistry
    handshakes: HandshakeAdmission
    connections: set[PlayerConnection]
    _bans: Bans
    _on_hello: Callable[[PlayerConnection], None]
    _subprotocols: Mapping[str, Serve]
    _page: PageFiles | None = None
    listeners: InitVar[NewsListeners | None] = None
    house_key: InitVar[str] = ""
    serving: set[asyncio.Task[None]] = field(default_factory=set)
    _number: int = 0

    def __post_init__(self, listeners: NewsListeners | None, house_key: str) -> None:
        self.metrics = self.rooms.metrics
        self._timers = self.rooms.timers
        self._rates = RateLimits(self.rooms.live_limits, self._timers)
        self._queue = RequestQueue(self._timers)
        given = self.rooms, self._rates, self._bans, self._on_hello
        self.handlers = RequestHandlers(*given, has_page=self._page is not None, house_key=house_key)
        lists = self.handlers.room_list, self.handlers.record_list
        front = Front(self.rooms, *lists, house=bool(house_key))
        self._api = ReadApi(self.rooms.store, *lists, listeners, self.rooms.tides, front) if listeners else None

    def process_request(
        self, socket: ServerConnection, request: Request
    ) -> Response | Awaitable[Response | None] | None:
        """Return the response to a plain HTTP request or to a rejected handshake, or wait for what the page shows.

        Return None to continue with the handshake.
        """
        networks = networks_of(self.handshakes.address(socket))
        is_plain = not is_handshake(request)
        api = self._api if is_plain and is_for_api(request) else None
        page = self._page if is_plain else None
        cost = REQUEST_COST if api else request_cost(request) if page else 0
        if (rejection := self._refuse_excess(socket, request, networks, cost)) is not None:
            return refused_early(request, rejection) if api else rejection
        if api is not None:
            return api.respond(request, networks[-1], partial(self._rates.charge_address, networks))
        if page is not None:
            # A page that gets no connection asks in this way whether it may connect: browsers do not tell.
            refusal = None if request.method in METHODS else self.handshakes.refuse_origin(socket, request)
            token = offered_token(request.headers) if request.method == "POST" else ""
            if token and not refusal and is_own_page(request):
                return self._keep_session(socket, request, token)
            return refusal or self._respond(page, socket, request)
        return self.handshakes.refuse_origin(socket, request)

    def _refuse_excess(
        self, socket: ServerConnection, request: Request, networks: Networks, cost: int
    ) -> Response | None:
        """Return the response that rejects a request because there are too many, or because this node is stopping."""
        if self.rooms.draining:
            self.metrics.handshakes_refused["draining"].inc()
            return busy(socket, http.HTTPStatus.SERVICE_UNAVAILABLE, "This server is stopping. Try another address.")
        offered = request.headers.get_all("Sec-WebSocket-Protocol")
        # Operators, who offer their subprotocol alone, are admitted to a node that is full of players.
        count = 0 if any(offered == [name] for name in self._subprotocols) else len(self.connections)
        if (rejection := self.handshakes.refuse_excess(socket, request, count)) is not None:
            return rejection
        try:
            self._rates.connect(networks, cost)
        except RequestRefused:
            self.metrics.handshakes_refused["address"].inc()
            return busy(
                socket, http.HTTPStatus.TOO_MANY_REQUESTS, "Too many requests from your address. Try again later."
            )
        return None

    def _keep_session(self, socket: ServerConnection, request: Request, token: str) -> Response:
        """Return the response that lets the browser keep the token of a session in a cookie."""
        response = socket.respond(http.HTTPStatus.NO_CONTENT, "")
        encrypted, prefix = self.handshakes.is_encrypted(socket, request), self.handshakes.prefix(socket, request)
        response.headers["Set-Cookie"] = set_cookie(token, prefix, encrypted=encrypted)
        response.headers["Cache-Control"] = "no-store"
        return response

    async def _respond(self, page: PageFiles, socket: ServerConnection, request: Request) -> Response | None:
        """Return the response to a plain HTTP request. If Redis fails, the document says nothing about its room."""
        line, race, room = None, None, room_of(request)
        with suppress(StoreUnavailable):
            if series := series_of(request):
                race = await self.rooms.creator.series_race(series)
            elif room:
                line = (await room_lines(self.rooms.store, [room]))[room]
        encrypted = self.handshakes.is_encrypted(socket, request)
        prefix = self.handshakes.prefix(socket, request)
        respond = partial(page.respond, encrypted=encrypted, leads_to=race.room if race else "")
        return await asyncio.to_thread(respond, request, line, prefix)  # it may compress

    def select_subprotocol(
        self, _socket: ServerConnection | None, offered: Sequence[Subprotocol]
    ) -> Subprotocol | None:
        """Return the subprotocol to use, or None if the client offers no known one.

        If the result is None, ``serve`` closes the connection.
        """
        return next((Subprotocol(name) for name in (SUBPROTOCOL, *self._subprotocols) if name in offered), None)

    async def serve(self, socket: ClientSocket) -> None:
        """Serve a connection until it ends."""
        self.handshakes.done(socket)
        if self._api is not None and isinstance(socket.response, StreamHead):
            await self._serve_listener(self._api.listeners, socket, socket.response)
            return
        if serve := self._subprotocols.get(socket.subprotocol or ""):
            await serve(socket)
            return
        if socket.subprotocol != SUBPROTOCOL:
            self.metrics.handshakes_refused["version"].inc()
            await socket.close(CloseCode.VERSION, f"this server speaks {SUBPROTOCOL}: use a client of that version")
            return
        if self.rooms.draining:  # the handshake began before the node was stopped
            await socket.close(CloseCode.RESTART, "this server is stopping: reconnect to resume")
            return
        self._number += 1
        address = self.handshakes.address(socket)
        connection = PlayerConnection(socket, address, self._number, self.rooms.limits, self.metrics, self._timers)
        self.connections.add(connection)
        self.metrics.connections_opened.inc()
        self.handshakes.opened(connection.networks)
        if socket.request is not None and is_own_page(socket.request):
            connection.kept_session = kept_token(socket.request.headers)
        socket.forget_handshake()
        opened_at = self._timers.monotonic()
        _log.info("connected", **connection.ids, address=address)
        serving = asyncio.current_task()
        if serving is not None:
            self.serving.add(serving)
            serving.add_done_callback(self.serving.discard)
        reading = asyncio.create_task(self._read(connection))
        # A connection that this node closes need not finish the request that it is waiting for.
        socket.connection_lost_waiter.add_done_callback(lambda _: reading.cancel() if connection.closing else None)
        try:
            await asyncio.wait((reading,))
            if connection.closing:
                await socket.wait_closed()
        finally:
            await cancel_and_wait((reading,))
            self.connections.discard(connection)
            self.handshakes.closed(connection.networks)
            # A client that does not read is cut off before it has answered the close frame.
            reason = _CLOSE_REASONS.get(connection.closing_code or socket.close_code or 1006, "other")
            self.metrics.connections_closed[reason].inc()
            ids = connection.ids
            await self.rooms.background.guard(self.handlers.entry.exit_room(connection))
            _log.info(
                "disconnected",
                **ids,
                reason=reason,
                code=socket.close_code,
                seconds=round(self._timers.monotonic() - opened_at, 1),
            )

    async def _serve_listener(self, listeners: NewsListeners, socket: ClientSocket, head: StreamHead) -> None:
        """Serve a listener until its connection ends. It counts towards the connections of its address."""
        networks = networks_of(self.handshakes.address(socket))
        self.handshakes.opened(networks)
        try:
            await listeners.serve(socket, head)
        finally:
            self.handshakes.closed(networks)

    def update_gauges(self) -> None:
        """Set all metrics that describe the current state of the node."""
        kinds = Counter(connection.kind for connection in self.connections)
        for kind in KINDS:
            self.metrics.connections.labels(kind).set(kinds[kind])
        waiting = [connection.waiting for connection in self.connections]
        self.metrics.frames_queued.set(sum(waiting))
        self.metrics.frames_queued_max.set(max(waiting, default=0))
        self.metrics.news_listeners.set(len(self._api.listeners.positions) if self._api else 0)

    async def drain(self) -> None:
        """Stop accepting connections and close the open ones.

        Return when all connections have ended, or after a timeout.
        """
        self.rooms.draining = True
        for connection in list(self.connections):
            connection.send(notice("draining"))
            connection.close(CloseCode.RESTART, "this server is stopping: reconnect to resume")
        if self._api is not None:
            self._api.listeners.close()
        await self.wait_closed(_DRAIN_TIMEOUT)

    async def wait_closed(self, timeout: float) -> None:  # noqa: ASYNC109  # a timeout is not an error here
        """Wait until all current connections have ended, or until ``timeout`` seconds have passed."""
        if self.serving:
            await asyncio.wait(self.serving, timeout=timeout)

    async def _read(self, connection: PlayerConnection) -> None:
        try:
            await self._answer_requests(connection)
        except ConnectionClosed:
            pass
        except Exception:  # noqa: BLE001  # a mistake over one connection must not end the others; it is logged in full
            self.metrics.faults.inc()
            _log.exception("fault", **connection.ids)
            connection.send(to_message(-1, refused("fault")))
            connection.close(CloseCode.RESTART, "the server made a mistake: reconnect to resume")

    async def _answer_requests(self, connection: PlayerConnection) -> None:
        limits = self.rooms.limits
        bad_frames = Bucket(limits.bad_frames / 60, limits.bad_frames, self._timers.monotonic())
        hello_alarm = Alarm(
            self._timers, lambda: connection.close(CloseCode.SILENT, "no Hello arrived in time: reconnect and send one")
        )
        hello_alarm.set(limits.hello_timeout)
        try:
            while True:
                self._queue.leave(connection)
                frame = await connection.socket.recv()
                if turn := self._queue.enter(connection):
                    await turn
                try:
                    message = decode_to_server(frame)
                except SamedealError as error:
                    if not await self._refuse_frame(connection, frame, error, bad_frames):
                        return
                    continue
                is_hello = not connection.player and isinstance(message, Hello)
                if is_hello:
                    hello_alarm.cancel()  # a slow store is not the client's fault
                answer, asked = await self._answer(connection, message)
                if is_hello and not connection.player:
                    hello_alarm.set(limits.hello_timeout)
                if isinstance(answer, Acked):
                    connection.send(answer, asked)
                    continue
                connection.send(answer)
                if isinstance(answer, Refused) and not self._handle_refusal(connection, message, answer):
                    return
                if isinstance(answer, Joined | Watching | Begun):
                    await self._send_room(connection, message)
        finally:
            self._queue.leave(connection)
            hello_alarm.close()

    async def _refuse_frame(
        self, connection: PlayerConnection, frame: bytes | str, error: SamedealError, bad_frames: Bucket
    ) -> bool:
        """Refuse a WebSocket frame that is not a valid request.

        Return False if the connection is closed as a consequence. A request of an unknown type or with invalid options
        is charged like any other request. A frame that cannot be decoded counts as a bad frame.
        """
        if isinstance(error, MalformedFrame):
            connection.send(self._refusal(request_id(frame), error))
            if bad_frames.charge(self._timers.monotonic()):
                connection.close(CloseCode.BAD_FRAMES, "too many messages could not be decoded")
                return False
            return True
        try:
            if delay := self._rates.request(connection, _INVALID_REQUEST_COST):
                await self._delay(connection, delay)
        except RequestRefused as limited:
            connection.send(self._refusal(request_id(frame), limited))
            return not self._close_flood(connection)
        connection.send(self._refusal(request_id(frame), error))
        return True

    async def _delay(self, connection: PlayerConnection, delay: float) -> None:
        """Wait because of a rate limit. In the meantime, other requests have their turns."""
        self._queue.leave(connection)
        await self._timers.sleep(delay)
        if turn := self._queue.enter(connection):
            await turn

    def _close_flood(self, connection: PlayerConnection) -> bool:
        """Close the connection if too many of its requests were refused as ``rate_limited``.

        Return whether it was closed.
        """
        if not connection.pace.refused(self._timers.monotonic()):
            return False
        connection.close(CloseCode.FLOOD, "too many requests: reconnect later")
        return True

    async def _answer(self, connection: PlayerConnection, message: ToServer) -> tuple[ToClient, float]:
        """Wait until the rate limit allows a request, and handle the request.

        Return the answer and the time at which the handling began. The time is 0 if the rate limit refuses the request.
        """
        asked = 0.0
        try:
            cost = REQUESTS[type(message)].cost
            if delay := self._rates.request(connection, cost):
                await self._delay(connection, delay)
            self._queue.charge(connection, cost)
            asked = time.perf_counter()
            return await self.handlers.answer(connection, message), asked
        except SamedealError as error:
            play = connection.seat.play if asked and connection.seat else None
            return self._refusal(message.id, error, play), asked
        except StoreUnavailable as error:
            _log.debug("redis_error", **connection.ids, error=str(error), during=message.__struct_config__.tag)
            is_rejected = isinstance(error, StoreRejected)
            if is_rejected and isinstance(message, Act) and connection.seat is not None:
                # The revision tells the client that nothing was saved, so that it need not reconnect to find out.
                return self._refusal(message.id, refused("not_saved"), connection.seat.play), asked
            if connection.seat is not None and isinstance(message, Act | Recover):
                connection.seat.play = None
            if is_rejected:
                return self._refusal(message.id, refused("store_rejects")), asked
            return self._refusal(message.id, refused("unavailable")), asked

    def _refusal(self, request: int, error: SamedealError, play: Play | None = None) -> Refused:
        """Count a refusal in the metrics. Return the message that refuses the request with the id ``request``.

        If ``play`` is given, the message contains the revision of ``play``.
        """
        self.metrics.refusals[error.code].inc()
        answer = to_message(request, error)
        sentence = printable(answer.message, _MAX_SENTENCE_WIDTH)
        return replace(answer, message=sentence, revision=play.revision if play else -1)

    def _handle_refusal(self, connection: PlayerConnection, message: ToServer, answer: Refused) -> bool:
        """Log and count a refusal. Return False if the connection is closed as a consequence."""
        _log.debug("request_refused", **connection.ids, request=message.__struct_config__.tag, code=answer.code)
        if isinstance(message, Act):
            self.metrics.moves[answer.code].inc()
        if answer.code == RefusalCode.RATE_LIMITED:
            return not self._close_flood(connection)
        if answer.code == RefusalCode.BANNED:
            connection.close(CloseCode.BANNED, "banned from this server")
            return False
        return True

    async def _send_room(self, connection: PlayerConnection, message: ToServer) -> None:
        """Send a client that has just entered a room the state of the room, and the boards that the client lacks.

        A spectator gets the newest boards. A racer gets only the racer's own board, if it is newer than the client's. A
        racer whose client has the newest state gets the counts instead of the state.
        """
        hub, seat = connection.hub, connection.seat
        if hub is None:
            return
        try:
            if hub.drawn is not None:
                connection.send(hub.drawn)
            if seat is None:
                connection.send(hub.state())
                self._rates.charge_replay(connection, hub.boards.build_cost)
                await hub.boards.ensure_built()
                hub.boards.send_boards(connection)
            elif isinstance(message, Join | Begin):
                await self._send_catch_up(connection, hub, seat, message)
        except StoreUnavailable as error:
            _log.debug("redis_error", **connection.ids, error=str(error), during="catch_up")
            connection.close(CloseCode.RESTART, "the store can't be reached: reconnect to resume")
        except RequestRefused as error:  # of moves that another version has stored
            connection.send(self._refusal(-1, error))
            connection.close(CloseCode.RESTART, "this server cannot read the moves of the race: reconnect elsewhere")

    async def _send_catch_up(
        self, connection: PlayerConnection, hub: Hub, seat: SeatedPlayer, message: Join | Begin
    ) -> None:
        event, revision = (message.event, message.revision) if isinstance(message, Join) else (-1, -1)
        current = hub.is_current(event)
        for known in hub.progress_of_rivals(seat.player) if current else [hub.state(seat.player)]:
            connection.send(known)
        play = seat.play
        if play is None and (play := await hub.replay.load_play(seat)) is not None:
            self._rates.charge_replay(connection, play.revision)
        # A client that is ahead of the store learned that from Joined, and sends Recover.
        if play is not None and revision < play.revision:
            connection.send(board_state(hub.room, play, seat.head))
