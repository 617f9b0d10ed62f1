"""The requests of players: one handler for each type of request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, get_args

import samedeal
from samedeal.errors import RequestRefused, SamedealError
from samedeal.forbidden_words import check_not_reserved
from samedeal.games import offered
from samedeal.names import clean_name, clean_room
from samedeal.protocol.admin import ReportLine
from samedeal.protocol.messages import (
    Act,
    Begin,
    Create,
    Created,
    Done,
    GameDescription,
    Hello,
    Join,
    Leave,
    ListHouseRooms,
    ListRecords,
    ListRooms,
    MoveSession,
    Ping,
    Pong,
    RaceNow,
    ReadRecord,
    RecordPart,
    Records,
    Recover,
    Rematch,
    Report,
    Rooms,
    SessionCode,
    ToClient,
    ToServer,
    Watch,
    Welcome,
)
from samedeal.race.commands import AwayCommand, CommandRequest, LeaveCommand, command_of
from samedeal.sentences import refused
from samedeal.terminal_text import printable
from samedeal_server.errors import StoreUnavailable
from samedeal_server.gateway.rate_limits import CHANGE_COST, PASSPHRASE_COST, RateLimits
from samedeal_server.gateway.room_entry import RoomEntry
from samedeal_server.page.files import qr_rows
from samedeal_server.races.server_bans import Bans, ban_sentence
from samedeal_server.rooms.cached_value import MAX_LISTED, CachedValue
from samedeal_server.rooms.house_rooms import HouseRooms
from samedeal_server.rooms.moves import MoveService
from samedeal_server.rooms.player_connection import PlayerConnection
from samedeal_server.rooms.race_now import find_room_for_now
from samedeal_server.rooms.race_records import read_record
from samedeal_server.rooms.registry import RoomRegistry
from samedeal_server.rooms.room_list import RoomList
from samedeal_server.rooms.tide_rooms import find_tide_room
from samedeal_server.store.news import MOST_REPORTS
from samedeal_server.store.sessions import Session
from samedeal_server.telemetry.logger import get_logger

_MAX_CLIENT_WIDTH: Final = 40
"""Maximum width, in columns, of the name of a client program in the log."""


_log = get_logger()


@dataclass(eq=False, repr=False)
class RequestHandlers:
    """Handles the requests of this node's players.

    Each handler returns the answer, or raises SamedealError to refuse.
    """

    _rooms: RoomRegistry
    _rates: RateLimits
    _bans: Bans
    _on_hello: Callable[[PlayerConnection], None]
    has_page: bool
    house_key: str = ""

    def __post_init__(self) -> None:
        self.entry = RoomEntry(self._rooms, self._rates)
        self.room_list = RoomList(self._rooms.store, self._rooms.timers)
        self._house = HouseRooms(self._rooms.store, self.house_key)
        newest = partial(self._rooms.store.records.before, "", MAX_LISTED, among=MAX_LISTED)
        self.record_list = CachedValue(newest, self._rooms.timers)
        self.moves = MoveService(self._rooms, self._rates.charge_replay)

    def answer(self, connection: PlayerConnection, message: ToServer) -> Awaitable[ToClient]:
        """Return the answer to a request. Raise SamedealError if the request is refused."""
        request = REQUESTS[type(message)]
        if not connection.player and request.needs_hello:
            raise refused("hello_first")
        return request.handle(self, connection, message)

    async def hello(self, connection: PlayerConnection, message: Hello) -> Welcome:
        """Start a session, or resume one."""
        if connection.player:
            raise refused("hello_once")
        name = clean_name(message.name)
        if message.house:
            self._house.check_key(message.house, bot=message.bot)
        else:
            check_not_reserved(name)
        self._check_bans("", connection)
        session = await self._session(connection, message)
        self._check_bans(session.player, connection)
        connection.identify(session, name, bot=message.bot, house=bool(message.house))
        self._on_hello(connection)
        client = printable(message.client, _MAX_CLIENT_WIDTH)
        _log.info("hello", **connection.ids, name=name, client=client)
        return Welcome(
            to=message.id,
            session=session.token,
            player=session.player,
            name=name,
            time=self._rooms.clock.now(),
            server=f"samedeal {samedeal.__version__}",
            engine=samedeal.ENGINE,
            page=self.has_page,
            games=tuple(
                GameDescription(name=file, text=text.encode())
                for file, text in (offered(message.games).items() if message.games else ())
            ),
            tides=self._rooms.tides,
            house=await self._house.is_there(),
        )

    async def _session(self, connection: PlayerConnection, message: Hello) -> Session:
        sessions = self._rooms.store.sessions
        if message.cookie and not message.session and connection.kept_session:
            with suppress(RequestRefused):  # it has expired
                return await sessions.begin(connection.kept_session)
        if not message.session and not message.house:
            self._rates.begin_session(connection.networks)
        return await sessions.begin(message.session)

    async def ping(self, connection: PlayerConnection, message: Ping) -> Pong:
        """Return the time of Redis, as the node estimates it. Before the race, mark the player as away or as back."""
        hub, seat = connection.hub, connection.seat
        racer = hub.race.racer(connection.player) if hub and seat and hub.race.is_waiting else None
        if hub and seat and racer and racer.away != message.away:
            self._rates.charge(connection, CHANGE_COST)
            with suppress(
                SamedealError, StoreUnavailable
            ):  # the time is asked for; the next Ping says again who is away
                away = AwayCommand(seat.player, message.away)
                await self._rooms.command(hub.room, away, seat.player, seat.generation)
        return Pong(to=message.id, time=self._rooms.clock.now())

    async def list_rooms(self, _connection: PlayerConnection, message: ListRooms) -> Rooms:
        """Return the newest rooms that players can join or watch."""
        lines = await self.room_list.lines(message.game, only_open=message.open, bots=message.bots)
        return Rooms(to=message.id, rooms=lines)

    async def list_house_rooms(self, connection: PlayerConnection, message: ListHouseRooms) -> Rooms:
        """Return the rooms to which bots of the house may come now."""
        if not connection.house:
            raise refused("bad_house_key")
        return Rooms(to=message.id, rooms=await self._house.waiting(message.house))

    async def race_now(self, connection: PlayerConnection, message: RaceNow) -> Created:
        """Return the code of the public room whose race starts soonest, or of a room of a tide or a standing series."""
        if self._rooms.draining:
            raise refused("draining")
        if message.series:
            series = clean_room(message.series)
            if (race := await self._rooms.creator.series_race(series)) is None:
                raise refused("no_series", room=series)
            return Created(to=message.id, room=race.room, path=race.path)
        if connection.bot and not message.tide:
            raise refused("race_now_for_people")
        self._rates.open_room(connection.networks)
        player, network = connection.player, connection.networks[-1]
        if message.tide:
            tide = message.game, message.tide
            room = await find_tide_room(self._rooms, *tide, player, network, bot=connection.bot)
        else:
            room = await find_room_for_now(self._rooms, self.room_list, message.game, player, network)
        return await self._created(message, room)

    async def list_records(self, _connection: PlayerConnection, message: ListRecords) -> Records:
        """Return the newest records that everybody may read."""
        return Records(to=message.id, records=await self.record_list.get())

    async def read_record(self, connection: PlayerConnection, message: ReadRecord) -> RecordPart:
        """Return a part of a record."""
        if message.passphrase:
            self._rates.charge(connection, PASSPHRASE_COST)
        asked = message, connection.player, connection.networks[-1]
        return await read_record(self._rooms.store, self._rooms.creator.passphrases, self._rooms.limits, *asked)

    async def create(self, connection: PlayerConnection, message: Create) -> Created:
        """Open a room."""
        if self._rooms.draining:
            raise refused("draining")
        code = clean_room(message.room) if message.room else ""
        self._rates.open_room(connection.networks, scheduled=message.options.start == "at")
        if message.passphrase:
            self._rates.charge(connection, PASSPHRASE_COST)
        network = connection.networks[-1]
        player, before = connection.player, ""
        if message.house:
            before = await self._house.check_free(self._rooms.creator.origin(network), player)
        room = await self._rooms.creator.create(
            *(message.options.granted, code, message.passphrase, network),
            house=message.house,
            window=message.window,
            opens=message.opens,
        )
        if before:
            await self._rooms.command(before, LeaveCommand(player), player)
        _log.info("room_created", **(connection.ids | {"room": room}), private=bool(message.passphrase))
        return await self._created(message, room)

    async def report(self, connection: PlayerConnection, message: Report) -> Done:
        """Tell the operator of a name in the player's room."""
        if connection.hub is None:
            raise refused("no_seat")
        race = connection.hub.race
        racer = race.racer(message.player)
        if message.player and (racer is None or message.player == connection.player):
            raise refused("player_has_no_seat")
        name = racer.name if racer else race.room
        facts = {"room": race.room, "player": message.player, "name": name, "reporter": connection.player}
        origin = self._rooms.creator.origin(connection.networks[-1])
        if not await self._rooms.store.reports.add_from(origin, ReportLine(time=self._rooms.clock.now(), **facts)):
            raise refused("too_many_reports", maximum=MOST_REPORTS)
        _log.info("reported", **facts)
        return Done(to=message.id)

    async def leave(self, connection: PlayerConnection, message: Leave) -> Done:
        """Take the player out of the room. A player who is racing resigns."""
        await self.entry.leave(connection)
        return Done(to=message.id)

    async def move_session(self, connection: PlayerConnection, message: MoveSession) -> SessionCode:
        """Return a code with which another device of the player goes on."""
        _, seat = connection.require_seat()
        code = await self._rooms.store.sessions.move(seat.player)
        qr = await asyncio.to_thread(qr_rows, message.link + code) if message.link else ()
        return SessionCode(to=message.id, code=code, qr=qr)

    async def rematch(self, connection: PlayerConnection, message: Rematch) -> Created:
        """Return the code of the rematch's room. If the room does not exist yet, open it."""
        hub = connection.hub
        if hub is None:
            raise refused("no_seat")
        if hub.race.phase == "finished" and not hub.race.next:
            self._rates.open_room(connection.networks)
        asked = await self._rooms.creator.rematch(hub.room, connection.player, connection.networks[-1])
        return await self._created(message, asked)

    async def _created(self, request: Create | RaceNow | Rematch, room: str) -> Created:
        (race,) = await self._rooms.store.load_races([room])
        return Created(to=request.id, room=room, path=race.path if race else "")

    async def recover(self, connection: PlayerConnection, message: Recover) -> Done:
        """Repeat the commits of acknowledged moves that Redis has lost."""
        await self.moves.recover(connection, message)
        return Done(to=message.id)

    async def command(self, connection: PlayerConnection, message: CommandRequest) -> Done:
        """Carry out a command of the player in the room where the player has a seat."""
        hub, seat = connection.require_seat()
        player = seat.player
        await self._rooms.command(
            hub.room, lambda room: command_of(player, message, room.progress), player, seat.generation
        )
        return Done(to=message.id)

    def _check_bans(self, player: str, connection: PlayerConnection) -> None:
        line = self._bans.of(player, connection.address, self._rooms.clock.now())
        if line is not None:
            raise refused("banned", sentence=ban_sentence(line))


@dataclass(frozen=True, slots=True)
class Request:
    """The handler of a type of request, and the cost of such a request in moves.

    If ``needs_hello`` is true, the request is refused before Hello.
    """

    handle: Callable[[RequestHandlers, PlayerConnection, Any], Awaitable[ToClient]]
    cost: int = 1
    needs_hello: bool = True


REQUESTS: Final[Mapping[type, Request]] = {
    Hello: Request(RequestHandlers.hello, needs_hello=False),
    Ping: Request(RequestHandlers.ping, needs_hello=False),
    ListRooms: Request(RequestHandlers.list_rooms, cost=10),
    ListHouseRooms: Request(RequestHandlers.list_house_rooms, cost=10),
    RaceNow: Request(RequestHandlers.race_now, cost=20),
    ListRecords: Request(RequestHandlers.list_records, cost=10),
    ReadRecord: Request(RequestHandlers.read_record, cost=5),
    Create: Request(RequestHandlers.create, cost=20),
    Join: Request(lambda handlers, connection, message: handlers.entry.join(connection, message), cost=15),
    Watch: Request(lambda handlers, connection, message: handlers.entry.watch(connection, message), cost=10),
    Leave: Request(RequestHandlers.leave, cost=10),
    Begin: Request(lambda handlers, connection, message: handlers.moves.begin(connection, message), cost=20),
    Act: Request(lambda handlers, connection, message: handlers.moves.act(connection, message)),
    Recover: Request(RequestHandlers.recover, cost=20),
    Report: Request(RequestHandlers.report, cost=10),
    MoveSession: Request(RequestHandlers.move_session, cost=40),
    Rematch: Request(RequestHandlers.rematch, cost=20),
    **dict.fromkeys(get_args(CommandRequest), Request(RequestHandlers.command, cost=10)),
}
"""The handler of each type of request, and its cost. A test checks that no type is missing.

Under full load a move takes about 70 µs of CPU time, a command to a race of 16 players 350 to 800 µs, a ``Join`` 900 µs,
a ``Watch`` 200 µs, and a ``Ping`` or a list 50 µs (measured with ``make load ARGS=floods``).
"""
