"""The operator's side of a node: a subprotocol of its own, behind a token (ADMIN.md).

It may see what players may see of each other, and no card, nor the seed of a race that is not finished.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Final

import structlog
from redis.exceptions import RedisError
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

import samedeal
from samedeal.errors import Refused, SamedealError
from samedeal.names import clean_room, printable
from samedeal.protocol.admin import (
    LARGEST_PART,
    BackedUp,
    Backup,
    BackupPart,
    Ban,
    BanLine,
    BanList,
    Close,
    CloseRoom,
    Drain,
    FromOperator,
    Granted,
    Kick,
    ListBans,
    ListRooms,
    Login,
    Phases,
    RoomList,
    RoomShown,
    Say,
    ShowRoom,
    Status,
    Survey,
    ToOperator,
    Unban,
)
from samedeal.protocol.codec import decode_from_operator, encode, request_id
from samedeal.protocol.messages import Close as Closes
from samedeal.protocol.messages import Done
from samedeal.protocol.messages import Refused as RefusedMessage
from samedeal_server.backup import Writer
from samedeal_server.bans import whom
from samedeal_server.door import network_of
from samedeal_server.gate import Denied, Gate
from samedeal_server.race import Expel, Shut
from samedeal_server.rooms import Rooms
from samedeal_server.roster import Roster
from samedeal_server.store.nodes import Stop, Tell
from samedeal_server.store.redis import Snapshot

MOST_BANS: Final = 1000
_WIDEST_REASON: Final = 150
"""Columns; a list of all bans must fit into one message."""

_IN_TIME: Final = 5.0
"""Seconds in which an operator has to show the token."""


_COUNTED_FOR: Final = 20
"""How many times as long as it took to count the rooms of each phase their numbers are told without counting again."""

_SECRETS: Final = frozenset(("type", "id", "token"))

_log: structlog.stdlib.BoundLogger = structlog.get_logger("admin")


class Admin:
    """The operators' connections to one node. ``address_of`` tells where a connection comes from."""

    def __init__(self, roster: Roster, rooms: Rooms, token: str, address_of: Callable[[ServerConnection], str]) -> None:
        self._roster = roster
        self._rooms = rooms
        self._gate = Gate(token)
        self._address_of = address_of
        self._backing_up = asyncio.Lock()
        self._phases = Phases()
        self._counted_until = 0.0

    async def serve(self, socket: ServerConnection) -> None:
        """Serve an operator's connection to its end."""
        address = self._address_of(socket)
        network = network_of(address)
        log = _log.bind(address=address)
        try:
            if not self._gate.come(network):
                log.warning("admin_refused", why="too many at once")
                await socket.close(Close.NOT_LET_IN, "too many connections that have not shown the token")
                return
            try:
                let_in = await self._let_in(socket, network, log)
            finally:
                self._gate.known(network)
            if let_in:
                log.info("admin", what="login", outcome="done")
                await self._requests(socket, log)
        except ConnectionClosed:
            pass
        except Exception:  # a mistake over one connection must not end the node's; it is logged whole
            self._rooms.metrics.faults.inc()
            log.exception("fault")
            await socket.close(Closes.RESTART, "a mistake of the server")

    async def _let_in(self, socket: ServerConnection, network: str, log: structlog.stdlib.BoundLogger) -> bool:
        try:
            async with asyncio.timeout(_IN_TIME):
                frame = await socket.recv()
        except TimeoutError:
            await socket.close(Closes.SILENT, "show the token first, in time")
            return False
        refusal: SamedealError
        try:
            message = decode_from_operator(frame)
            if not isinstance(message, Login):
                raise Denied("login_first", "Show the token first")
            if await self._gate.open(network, message.token):
                rooms = self._rooms
                server = f"samedeal {samedeal.__version__}"
                await socket.send(
                    encode(Granted(to=message.id, node=rooms.node, server=server, time=rooms.clock.now()))
                )
                return True
            refusal = Denied("bad_token", "That is not this server's token")
        except SamedealError as error:
            refusal = error
        log.warning("admin_refused", why=refusal.code)
        await socket.send(encode(_refusal(request_id(frame), refusal)))
        await socket.close(Close.NOT_LET_IN, "not let in")
        return False

    async def _requests(self, socket: ServerConnection, log: structlog.stdlib.BoundLogger) -> None:
        async for frame in socket:
            try:
                message = decode_from_operator(frame)
            except SamedealError as error:
                log.warning("admin", what="?", outcome=error.code)
                await socket.send(encode(_refusal(request_id(frame), error)))
                continue
            asked = {name: value for name, value in _fields(message).items() if value not in ("", 0)}
            answer = await self._answer(socket, message)
            outcome = answer.code if isinstance(answer, RefusedMessage) else "done"
            level = log.debug if isinstance(message, Status) else log.info
            level("admin", what=message.__struct_config__.tag, outcome=outcome, **asked)
            await socket.send(encode(answer))

    # ---------------------------------------------------------------- messages

    async def _answer(self, socket: ServerConnection, message: FromOperator) -> ToOperator:
        try:
            return await self._do(socket, message)
        except SamedealError as error:
            return _refusal(message.id, error)
        except (RedisError, TimeoutError, OSError) as error:
            _log.warning("redis", error=str(error), doing="administering")
            unavailable = Refused("unavailable", "The server can't reach its store: it is not known what was done", 1.0)
            return _refusal(message.id, unavailable)

    async def _do(self, socket: ServerConnection, message: FromOperator) -> ToOperator:
        match message:
            case Login():
                raise Denied("login_once", "You are let in already")
            case Status():
                return await self._survey(message)
            case ListRooms():
                return await self._list(message)
            case ShowRoom():
                return await self._show(message)
            case ListBans():
                return BanList(to=message.id, bans=await self._roster.nodes.bans(self._rooms.clock.now()))
            case Kick():
                room = clean_room(message.room)
                await self._rooms.command(room, lambda found: _expel(found, message.player), "")
            case CloseRoom():
                await self._rooms.command(clean_room(message.room), Shut(), "")
            case Ban():
                await self._ban(message)
            case Unban():
                if not await self._roster.nodes.unban(whom(message.who)):
                    raise Denied("no_ban", f"{message.who[:60]!r} is not banned: samedeal admin bans lists who is")
            case Say():
                await self._say(message)
            case Drain():
                await self._drain(message)
            case Backup():
                return await self._back_up(socket, message)
        return Done(to=message.id)

    async def _survey(self, message: Status) -> Survey:
        store, nodes = self._rooms.store, self._roster.nodes
        asked = time.perf_counter()
        now = await store.now()
        answer = 1000 * (time.perf_counter() - asked)
        if asked >= self._counted_until:
            self._phases = await nodes.phases(await store.newest_rooms(self._rooms.limits.rooms))
            self._counted_until = asked + _COUNTED_FOR * (time.perf_counter() - asked)
        lines, redis = await nodes.lines(), await nodes.redis_line(answer)
        return Survey(to=message.id, time=now, nodes=lines, phases=self._phases, redis=redis)

    async def _list(self, message: ListRooms) -> RoomList:
        return RoomList(
            to=message.id, rooms=await self._rooms.list(message.most), all=await self._rooms.store.count_rooms()
        )

    async def _show(self, message: ShowRoom) -> RoomShown:
        hub = await self._rooms.enter(clean_room(message.room))
        try:
            await hub.pull()
            state = hub.state()
        finally:
            await self._rooms.let_go(hub)
        players = [seat.player for seat in state.players]
        return RoomShown(to=message.id, state=state, whereabouts=await self._roster.nodes.whereabouts(players))

    async def _ban(self, message: Ban) -> None:
        now = await self._rooms.store.now()
        if len(await self._roster.nodes.bans(now)) >= MOST_BANS:
            raise Denied("too_many_bans", f"{MOST_BANS} bans are all that are kept: take some back, or ban a network")
        until = now + 1000 * message.seconds if message.seconds else 0
        line = BanLine(who=whom(message.who), since=now, until=until, reason=printable(message.reason, _WIDEST_REASON))
        await self._roster.nodes.ban(line)

    async def _say(self, message: Say) -> None:
        text = printable(message.text).strip()
        if not text:
            raise Denied("nothing_said", "There is nothing to say: give a text")
        if not message.room:
            await self._roster.nodes.order(Tell(text))
        elif not await self._rooms.store.say(clean_room(message.room), text):
            raise Refused("no_room", f"There is no room {message.room!r}: list the rooms")

    async def _drain(self, message: Drain) -> None:
        wanted = message.node or self._rooms.node
        names = [line.node for line in await self._roster.nodes.lines()]
        meant = [name for name in names if name == wanted or name.endswith(f"-{wanted}")]
        if len(meant) != 1:
            raise Denied("no_node", f"{wanted[:60]!r} is not the name of one node: there are {', '.join(names)}")
        await self._roster.nodes.order(Stop(meant[0]))

    async def _back_up(self, socket: ServerConnection, message: Backup) -> BackedUp:
        if self._backing_up.locked():
            raise Denied("busy", "A backup is being made through this node already: wait for it", 10)
        async with self._backing_up:
            writer = Writer(self._rooms.store)
            async with aclosing(writer.parts(LARGEST_PART)) as parts:
                async for data in parts:
                    await socket.send(encode(BackupPart(to=message.id, data=data)))
            return BackedUp(
                to=message.id, size=writer.size, digest=writer.digest, rooms=writer.rooms, sessions=writer.sessions
            )


def _expel(found: Snapshot, who: str) -> Expel:
    for racer in found.race.racers:
        if who.casefold() in (racer.player, racer.name.casefold()):
            return Expel(racer.player)
    raise Denied("no_player", f"No player in {found.race.room} is called {who[:60]!r}, or has that id")


def _fields(message: FromOperator) -> dict[str, object]:
    """The fields of a request as they are logged."""
    return {name: getattr(message, name) for name in message.__struct_fields__ if name not in _SECRETS}


def _refusal(request: int, error: SamedealError) -> RefusedMessage:
    wait = error.retry_after or 0 if isinstance(error, Refused) else 0
    return RefusedMessage(to=request, code=error.code, message=str(error), retry_after=wait)
