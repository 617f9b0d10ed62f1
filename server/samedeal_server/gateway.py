"""Where clients come in: each frame is read, judged and answered here, one at a time a connection."""

from __future__ import annotations

import asyncio
import http
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog
from redis.exceptions import RedisError
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.typing import Subprotocol

import samedeal
from samedeal.errors import Refused, SamedealError
from samedeal.names import clean_name, clean_room, printable
from samedeal.play import Play
from samedeal.protocol.codec import decode_to_server, request_id
from samedeal.protocol.messages import (
    SUBPROTOCOL,
    Acked,
    Act,
    Close,
    Create,
    Created,
    Done,
    Hello,
    Join,
    Joined,
    Leave,
    ListRooms,
    Notice,
    Ping,
    Pong,
    Ready,
    Recover,
    Rematch,
    Resign,
    Start,
    ToClient,
    ToServer,
    Watch,
    Watching,
    Welcome,
)
from samedeal.protocol.messages import Refused as RefusedMessage
from samedeal.protocol.messages import (
    Rooms as RoomList,
)
from samedeal_server import bans, sessions
from samedeal_server import race as races
from samedeal_server.actions import UNAVAILABLE, Actions
from samedeal_server.bans import Bans
from samedeal_server.connection import Connection, Seat
from samedeal_server.door import Door, busy, network_of
from samedeal_server.limits import Bucket, Limits, Pace, Quotas
from samedeal_server.metrics import KINDS
from samedeal_server.race import Run
from samedeal_server.rooms import Rooms

_COSTS: Final[dict[type, int]] = {
    ListRooms: 10,
    Create: 20,
    Join: 10,
    Watch: 10,
    Recover: 20,
    Leave: 5,
    Ready: 5,
    Start: 5,
    Resign: 5,
    Rematch: 20,
}
"""What a request takes of a connection's rate, in moves."""

_REPLAYED_FOR_A_MOVE: Final = 20
"""Actions of logs that are read and played again for what one move costs."""

COST_OF_A_DATE: Final = 10
"""Rooms that a room counts as which waits for its time, for days maybe."""

COST_OF_COMING: Final = 5
"""What a connection takes of its address's rate."""

_CLOSED: Final = {
    1000: "normal",
    1001: "normal",
    1006: "lost",
    Close.RESTART: "restart",
    Close.VERSION: "version",
    Close.BAD_FRAMES: "bad_frames",
    Close.TAKEN_OVER: "taken_over",
    Close.SLOW: "slow",
    Close.SILENT: "silent",
    Close.BANNED: "banned",
    Close.FLOOD: "flood",
}
"""What the close codes are called in metrics and logs."""

_LONGEST_SENTENCE: Final = 400
"""Columns; a refusal may quote what was asked."""

_PARTING: Final = 5.0
"""Seconds that clients have to go when a node stops."""

_log: structlog.stdlib.BoundLogger = structlog.get_logger("gateway")


Serve = Callable[[ServerConnection], Awaitable[None]]


class Gateway:
    """The connections of one node. ``others`` serve the subprotocols that are spoken here beside the players' own."""

    def __init__(self, rooms: Rooms, limits: Limits, door: Door) -> None:
        self.rooms = rooms
        self.limits = limits
        self.door = door
        self.draining = False
        self.connections: set[Connection] = set()
        self.others: dict[str, Serve] = {}
        self.bans = Bans()
        self.newcomer: Callable[[Connection], None] = lambda _: None
        self.metrics = rooms.metrics
        self._actions = Actions(rooms, self._charge)
        self._quotas = Quotas(limits)
        self._serving: set[asyncio.Task[None]] = set()
        self._number = 0

    def take_limits(self, limits: Limits) -> None:
        """Go by other limits; what a connection may ask is as it was when it came."""
        self.limits = self.rooms.limits = self.door.limits = limits
        self._quotas = Quotas(limits)

    # ---------------------------------------------------------------- connections

    def check(self, socket: ServerConnection, request: Request) -> Response | None:
        """Turn a connection away before its handshake, where it may not come in or there is no room for it."""
        if self.draining:
            self.metrics.handshakes_refused["draining"].inc()
            return busy(socket, http.HTTPStatus.SERVICE_UNAVAILABLE, "This server is stopping: try another address.")
        offered = request.headers.get_all("Sec-WebSocket-Protocol")
        # Where there is no room for players, there is for an operator, who offers nothing else.
        inside = 0 if any(offered == [name] for name in self.others) else len(self.connections)
        if (answer := self.door.refuse(socket, request, inside)) is not None:
            return answer
        try:
            self._quotas.ask(network_of(self.door.address(socket)), time.monotonic(), COST_OF_COMING)
        except Refused:
            self.metrics.handshakes_refused["address"].inc()
            return busy(socket, http.HTTPStatus.TOO_MANY_REQUESTS, "Too much is asked from your address.")
        return None

    def choose(self, _socket: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
        """The subprotocol to speak, or None: then the connection is closed with a code that says which one is spoken."""
        return next((Subprotocol(name) for name in (SUBPROTOCOL, *self.others) if name in offered), None)

    async def serve(self, socket: ServerConnection) -> None:
        """Serve a connection to its end."""
        self.door.done(socket)
        if other := self.others.get(socket.subprotocol or ""):
            await other(socket)
            return
        if socket.subprotocol != SUBPROTOCOL:
            self.metrics.handshakes_refused["version"].inc()
            await socket.close(Close.VERSION, f"this server speaks {SUBPROTOCOL}: use a client of that version")
            return
        if self.draining:  # it had begun to come before
            await socket.close(Close.RESTART, "this server is stopping: come back and resume")
            return
        self._number += 1
        address = self.door.address(socket)
        limits, pace = self.limits, Pace(self.limits, time.monotonic())
        connection = Connection(socket, address, self._number, limits.backlog, limits.late_backlog, self.metrics, pace)
        self.connections.add(connection)
        self.metrics.opened.inc()
        self.door.enter(connection.network)
        began = time.monotonic()
        _log.info("connected", **connection.ids, address=address)
        serving = asyncio.current_task()
        if serving is not None:
            self._serving.add(serving)
            serving.add_done_callback(self._serving.discard)
        writer = asyncio.create_task(connection.write())
        reader = asyncio.create_task(self._read(connection))
        try:
            await asyncio.wait((writer, reader), return_when=asyncio.FIRST_COMPLETED)
            if reader.done() and connection.shutting:
                await writer
        finally:
            for task in (writer, reader):
                task.cancel()
            await asyncio.gather(writer, reader, return_exceptions=True)
            self.connections.discard(connection)
            self.door.leave(connection.network)
            why = _CLOSED.get(socket.close_code or 1006, "other")
            self.metrics.closed[why].inc()
            ids = connection.ids
            await self._gone(connection)
            _log.info("gone", **ids, why=why, code=socket.close_code, seconds=round(time.monotonic() - began, 1))

    async def _read(self, connection: Connection) -> None:
        try:
            await self._frames(connection)
        except ConnectionClosed:
            pass
        except Exception:  # noqa: BLE001  # a mistake over one connection must not end the node's; it is logged whole
            self.metrics.faults.inc()
            _log.exception("fault", **connection.ids)
            connection.tell(
                RefusedMessage(to=-1, code="fault", message="The server made a mistake: come back and resume")
            )
            connection.shut(Close.RESTART, "a mistake of the server: come back and resume")

    async def _frames(self, connection: Connection) -> None:
        limits = self.limits
        bad = Bucket(limits.bad_frames / 60, limits.bad_frames, time.monotonic())
        hello = asyncio.get_running_loop().call_later(
            self.limits.hello_timeout, connection.shut, Close.SILENT, "say hello first, in time"
        )
        try:
            async for frame in connection.socket:
                try:
                    message = decode_to_server(frame)
                except SamedealError as error:
                    connection.tell(self._refusal(request_id(frame), error))
                    if bad.take(time.monotonic()):
                        connection.shut(Close.BAD_FRAMES, "too many messages that can't be read")
                        return
                    continue
                answer: ToClient
                try:
                    await self._admit(connection, _COSTS.get(type(message), 1))
                except Refused as error:
                    began, answer = 0.0, self._refusal(message.id, error)
                else:
                    began = time.perf_counter()
                    answer = await self._answer(connection, message)
                connection.tell(answer, began if isinstance(answer, Acked) else 0.0)
                self._count(connection, message, answer)
                if isinstance(answer, RefusedMessage) and answer.code == "rate_limited":
                    if connection.pace.refused(time.monotonic()):
                        connection.shut(Close.FLOOD, "too much was asked for: come back later")
                        return
                    continue
                if isinstance(answer, RefusedMessage) and answer.code == "banned":
                    connection.shut(Close.BANNED, "banned from this server")
                    return
                if connection.player:
                    hello.cancel()
                if isinstance(answer, Joined | Watching):
                    await self._follow_up(connection, message)
        finally:
            hello.cancel()

    def _count(self, connection: Connection, message: ToServer, answer: ToClient) -> None:
        self.metrics.requests[str(message.__struct_config__.tag)].inc()
        if isinstance(answer, RefusedMessage):
            _log.debug("refused", **connection.ids, request=message.__struct_config__.tag, code=answer.code)
            if isinstance(message, Act):
                self.metrics.moves[answer.code].inc()

    def take_stock(self) -> None:
        """Set the metrics of what there is now, as opposed to what has happened."""
        kinds = Counter(connection.kind for connection in self.connections)
        for kind in KINDS:
            self.metrics.connections.labels(kind).set(kinds[kind])
        waiting = [connection.waiting for connection in self.connections]
        self.metrics.frames_waiting.set(sum(waiting))
        self.metrics.frames_waiting_most.set(max(waiting, default=0))
        self.metrics.rooms_followed.set(len(self.rooms.hubs))
        self.metrics.draining.set(self.draining)

    async def _admit(self, connection: Connection, cost: int) -> None:
        """Let a request through when its time has come: who asks too much waits, and nobody else. Raises Refused."""
        self._quotas.ask(connection.network, time.monotonic(), cost)
        if wait := connection.pace.ask(time.monotonic(), cost):
            self.metrics.throttled.inc()
            await asyncio.sleep(wait)

    def _charge(self, connection: Connection, replayed: int) -> None:
        """Have who had actions of logs played again pay for it, with their next requests."""
        cost = replayed / _REPLAYED_FOR_A_MOVE
        connection.pace.charge(time.monotonic(), cost)
        self._quotas.charge(connection.network, time.monotonic(), cost)

    async def _gone(self, connection: Connection) -> None:
        try:
            await self._leave_room(connection)
        except (RedisError, TimeoutError, OSError) as error:
            _log.debug("redis", **connection.ids, error=str(error), doing="parting")

    async def drain(self) -> None:
        """Take nobody any more and send those who are here elsewhere; returns when they are gone, or time is up."""
        self.draining = True
        for connection in list(self.connections):
            connection.tell(Notice(code="draining", message="This server is stopping: your client resumes elsewhere"))
            connection.shut(Close.RESTART, "this server is stopping: come back and resume")
        if self._serving:
            await asyncio.wait(self._serving, timeout=_PARTING)

    # ---------------------------------------------------------------- messages

    async def _answer(self, connection: Connection, message: ToServer) -> ToClient:
        try:
            if not connection.player and not isinstance(message, Hello | Ping):
                raise Refused("hello_first", "Say hello first, with a name")
            return await self._do(connection, message)
        except SamedealError as error:
            play = connection.seat.play if connection.seat else None
            return self._refusal(message.id, error, play)
        except (RedisError, TimeoutError, OSError) as error:
            _log.debug("redis", **connection.ids, error=str(error), doing=type(message).__name__)
            if connection.seat is not None and isinstance(message, Act | Recover):
                connection.seat.play = None
            return self._refusal(message.id, UNAVAILABLE)

    def _refusal(self, request: int, error: SamedealError, play: Play | None = None) -> RefusedMessage:
        """The answer to a request that is not done: every refusal of a node is made here."""
        self.metrics.refusals[error.code].inc()
        return RefusedMessage(
            to=request,
            code=error.code,
            message=printable(str(error), _LONGEST_SENTENCE),
            revision=play.revision if play else -1,
            retry_after=(error.retry_after or 0) if isinstance(error, Refused) else 0,
        )

    async def _do(self, connection: Connection, message: ToServer) -> ToClient:
        match message:
            case Act():
                return await self._actions.act(connection, message)
            case Recover():
                await self._actions.recover(connection, message)
            case Ping():
                return Pong(to=message.id, time=self.rooms.clock.now())
            case Hello():
                return await self._hello(connection, message)
            case ListRooms():
                return RoomList(to=message.id, rooms=await self.rooms.list())
            case Create():
                return await self._create(connection, message)
            case Join():
                return await self._join(connection, message)
            case Watch():
                return await self._watch(connection, message)
            case Leave():
                await self._give_up(connection)
            case Ready():
                await self._command(connection, races.SetReady(connection.player, message.ready))
            case Start():
                await self._command(connection, races.Begin(connection.player))
            case Resign():
                await self._command(connection, races.Resign(connection.player))
            case Rematch():
                return await self._rematch(connection, message)
        return Done(to=message.id)

    async def _hello(self, connection: Connection, message: Hello) -> ToClient:
        if connection.player:
            raise Refused("hello_once", "You have said hello already on this connection")
        name = clean_name(message.name)
        self._check_bans("", connection)
        if not message.session:
            self._quotas.begin_session(connection.network, time.monotonic())
        session = await sessions.begin(self.rooms.store, message.session)
        self._check_bans(session.player, connection)
        connection.session, connection.player, connection.name = session, session.player, name
        self.newcomer(connection)
        client = printable(message.client, 40)
        _log.info("hello", **connection.ids, name=name, client=client)
        return Welcome(
            to=message.id,
            session=session.token,
            player=session.player,
            name=name,
            time=self.rooms.clock.now(),
            server=f"samedeal {samedeal.__version__}",
            engine=samedeal.ENGINE,
        )

    def _check_bans(self, player: str, connection: Connection) -> None:
        line = self.bans.of(player, connection.address, self.rooms.clock.now())
        if line is not None:
            raise Refused("banned", bans.sentence(line))

    async def _create(self, connection: Connection, message: Create) -> ToClient:
        if self.draining:
            raise Refused("draining", "This server is stopping: open the room on another one", retry_after=1)
        code = clean_room(message.room) if message.room else ""
        cost = COST_OF_A_DATE if message.options.start == "at" else 1
        self._quotas.open_room(connection.network, time.monotonic(), cost)
        room = await self.rooms.create(message.options.granted, code, message.passphrase)
        _log.info("opened", **(connection.ids | {"room": room}), private=bool(message.passphrase))
        return Created(to=message.id, room=room)

    async def _rematch(self, connection: Connection, message: Rematch) -> ToClient:
        hub = connection.watching or connection.seated.hub
        if hub.race.phase == "finished" and not hub.race.next:
            self._quotas.open_room(connection.network, time.monotonic())
        return Created(to=message.id, room=await self.rooms.rematch(hub.room))

    # ---------------------------------------------------------------- seats

    async def _join(self, connection: Connection, message: Join) -> ToClient:
        room = clean_room(message.room)
        player = connection.player
        hub = await self.rooms.enter(room)
        try:
            if hub.race.racer(player) is None:
                await self.rooms.check_passphrase(hub.race, message.passphrase, connection.network)
            await self._keep(connection)
            race = await self.rooms.command(room, lambda found: races.Sit(player, connection.name, found.runs), player)
            racer = race.racer(player)
            if racer is None:
                raise Refused("no_seat", "There is no seat for you in this room")
            await self._leave_room(connection)
            if connection.socket.state is not State.OPEN:
                # A request that was long under way must not take the seat from the connection that the player has now.
                raise Refused("fenced", "The connection over which the seat was asked for has ended")
            generation = await self.rooms.store.attach(room, player)
            await hub.pull()
            if not generation or hub.race.phase == "closed":
                raise Refused("room_closed", "This room has just closed: list the rooms for another one, or open one")
            seat = Seat(hub, player, generation)
            hub.take_seat(seat, connection)
        except BaseException:
            await self.rooms.let_go(hub)
            raise
        connection.seat = seat
        _log.info("joined", **connection.ids, seat=racer.seat)
        dealt = hub.race.phase in ("racing", "finished")
        revision = hub.runs.get(player, Run()).revision if dealt else -1
        return Joined(to=message.id, room=room, seat=racer.seat, generation=generation, revision=revision)

    async def _keep(self, connection: Connection) -> None:
        """Have a session that takes part in something be kept for long."""
        if connection.session is not None:
            connection.session = await sessions.keep(self.rooms.store, connection.session)

    async def _follow_up(self, connection: Connection, message: ToServer) -> None:
        """After the answer, what the client does not have yet."""
        try:
            if isinstance(message, Join) and (seat := connection.seat) is not None:
                await self._bring_up(connection, seat, message)
            elif (hub := connection.watching) is not None:
                connection.tell(hub.state())
                self._charge(connection, await hub.open_gallery())
                hub.show_boards(connection)
        except (RedisError, TimeoutError, OSError) as error:
            _log.debug("redis", **connection.ids, error=str(error), doing="showing the board")
            connection.shut(Close.RESTART, "the store can't be reached: come back and resume")

    async def _bring_up(self, connection: Connection, seat: Seat, message: Join) -> None:
        hub = seat.hub
        connection.tell(hub.tallies() if message.event == hub.told else hub.state())
        play = seat.play
        if play is None and (play := await hub.set_up(seat)) is not None:
            self._charge(connection, play.revision)
        # Who is ahead of the store has been told so, and gives back what it has lost.
        if play is not None and message.revision < play.revision:
            connection.tell(hub.board_state(play))

    async def _watch(self, connection: Connection, message: Watch) -> ToClient:
        room = clean_room(message.room)
        hub = await self.rooms.enter(room)
        try:
            if not hub.race.options.spectators:
                raise Refused("no_spectators", "This room lets nobody watch")
            await self.rooms.check_passphrase(hub.race, message.passphrase, connection.network)
            hub.check_view(connection.player, self.limits.spectators_per_room)
            await self._keep(connection)
            await self._leave_room(connection)
            hub.check_view(connection.player, self.limits.spectators_per_room)
        except BaseException:
            await self.rooms.let_go(hub)
            raise
        connection.watching = hub
        hub.spectators.add(connection)
        _log.info("watching", **connection.ids)
        self.rooms.spawn(self.rooms.say_watching(hub))
        return Watching(to=message.id, room=room, delay=hub.race.options.delay)

    async def _command(self, connection: Connection, command: races.Command) -> None:
        seat = connection.seated
        await self.rooms.command(seat.hub.room, command, seat.player, seat.generation)

    async def _give_up(self, connection: Connection) -> None:
        """Leave for good, as opposed to being cut off."""
        try:
            if connection.seat is not None:
                await self._command(connection, races.Leave(connection.player))
        except Refused as refusal:
            if refusal.code != "no_room":
                raise
        await self._leave_room(connection)

    async def _leave_room(self, connection: Connection) -> None:
        """Take a connection out of its room; the player's seat stays as it is."""
        seat, watched = connection.seat, connection.watching
        connection.seat = connection.watching = None
        if seat is not None:
            try:
                await self._part(seat)
            finally:
                await self.rooms.let_go(seat.hub)
        if watched is not None:
            watched.spectators.discard(connection)
            try:
                await self.rooms.say_watching(watched)
            finally:
                await self.rooms.let_go(watched)

    async def _part(self, seat: Seat) -> None:
        """Say that a player's connection is gone, unless a newer one has taken its place."""
        held = seat.hub.seats.get(seat.player)
        if held is not None and held[0] is seat:
            del seat.hub.seats[seat.player]
            await self.rooms.store.presence(seat.hub.room, seat.player, seat.generation, here=False, tell=True)
