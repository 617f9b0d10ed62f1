"""The requests of operators who are logged in: one handler for each type of request (ADMIN.md)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from samedeal.errors import MalformedText, SamedealError
from samedeal.forbidden_words import ForbiddenWords, check_not_reserved
from samedeal.names import clean_name, clean_room
from samedeal.protocol.admin import (
    MAX_PART_BYTES,
    BackedUp,
    Backup,
    BackupPart,
    Ban,
    BanLine,
    BanList,
    CloseRoom,
    DeleteRecord,
    Drain,
    Export,
    Forget,
    Forgotten,
    FromOperator,
    Kick,
    ListBans,
    ListReports,
    ListServerRooms,
    Login,
    Phases,
    Rename,
    Reports,
    RoomShown,
    Say,
    ServerRooms,
    SetWords,
    ShowRoom,
    Status,
    Survey,
    ToOperator,
    Unban,
)
from samedeal.protocol.messages import Done
from samedeal.race.commands import CloseCommand, KickCommand, RaceCommand, RenameCommand
from samedeal.race.values import Race
from samedeal.sentences import refused
from samedeal.terminal_text import printable
from samedeal_server.errors import StoreUnavailable
from samedeal_server.operators.backup import Writer
from samedeal_server.operators.personal_data import PersonalData
from samedeal_server.races.public_facts import room_line
from samedeal_server.races.refusals import to_message
from samedeal_server.races.server_bans import PLAYER, normalize_target
from samedeal_server.rooms.registry import RoomRegistry
from samedeal_server.store.news import NewsId
from samedeal_server.store.node_registry import DrainOrder, Nodes, SayOrder
from samedeal_server.store.store import Snapshot
from samedeal_server.telemetry.logger import get_logger

MAX_BANS: Final = 1000
"""Maximum number of bans that are in force at the same time."""

MAX_REPORTS: Final = 1000
"""Maximum number of reports, or of forgotten players, in one answer."""

MAX_REASON_WIDTH: Final = 150
"""Maximum width, in columns, of the reason for a ban. A list of all bans must fit into one message."""

_MAX_QUOTED: Final = 60
"""Maximum number of columns that a refusal quotes from a request."""

_PHASES_CACHED: Final = 20
"""Time for which the numbers of rooms in each phase are cached, as a multiple of the time that counting took."""

_log = get_logger()

Send = Callable[[ToOperator], Awaitable[None]]


@dataclass(eq=False, repr=False)
class OperatorRequests:
    """Handles the requests of the operators of a node.

    The numbers of rooms in each phase are slow to count, so they are cached.
    """

    _nodes: Nodes
    _rooms: RoomRegistry
    _phases: Phases = field(default_factory=Phases)
    _phases_valid_until: float = 0.0
    _backup_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._data = PersonalData(self._rooms.store)

    async def answer(self, message: FromOperator, send: Send) -> ToOperator:
        """Return the answer to a request. If the request fails, the answer is a refusal.

        ``send`` sends the parts of a file before the answer.
        """
        try:
            if isinstance(message, Backup):
                return await self._back_up(message, send)
            if isinstance(message, Export):
                return await self._export(message, send)
            return await HANDLERS[type(message)](self, message)
        except SamedealError as error:
            return to_message(message.id, error)
        except StoreUnavailable as error:
            _log.warning("redis_error", error=str(error), during="operator_request")
            return to_message(message.id, refused("unavailable"))

    async def log_in(self, _message: Login) -> ToOperator:
        """Refuse a second ``Login``. ``Admin`` handles the first one."""
        raise refused("login_once")

    async def survey(self, message: Status) -> ToOperator:
        """Return the state of all nodes, of Redis, and of all rooms."""
        store, nodes = self._rooms.store, self._nodes
        started = time.perf_counter()
        now, latency = self._rooms.clock.now(), 0.0
        with suppress(StoreUnavailable):  # a part of a cluster may be unavailable, which the survey reports
            now = await store.now()
            latency = 1000 * (time.perf_counter() - started)
            if started >= self._phases_valid_until:
                self._phases = await nodes.phases(await store.index.newest(self._rooms.limits.rooms))
                self._phases_valid_until = started + _PHASES_CACHED * (time.perf_counter() - started)
        lines, redis = await nodes.lines(), await nodes.redis_line(latency)
        return Survey(to=message.id, time=now, nodes=lines, phases=self._phases, redis=redis)

    async def list_rooms(self, message: ListServerRooms) -> ToOperator:
        """Return the newest rooms."""
        store = self._rooms.store
        races = await store.load_races(await store.index.newest(message.limit))
        rooms = tuple(room_line(race) for race in races if race is not None and race.phase != "closed")
        return ServerRooms(to=message.id, rooms=rooms, total=await store.index.count())

    async def show_room(self, message: ShowRoom) -> ToOperator:
        """Return the state of a room, and the node and the address of each player."""
        hub = await self._rooms.acquire(clean_room(message.room))
        try:
            await hub.pull()
            state = hub.state()
        finally:
            await self._rooms.release(hub.room)
        players = [seat.player for seat in state.players]
        return RoomShown(to=message.id, state=state, whereabouts=await self._nodes.whereabouts(players))

    async def kick(self, message: Kick) -> ToOperator:
        """Remove a player from a room."""
        return await self._command(message, lambda room: KickCommand(_player_in(room.race, message.player)))

    async def close_room(self, message: CloseRoom) -> ToOperator:
        """Close a room."""
        return await self._command(message, CloseCommand())

    async def rename(self, message: Rename) -> ToOperator:
        """Give a player another name in a room, or show others another one."""
        name = clean_name(message.name)
        check_not_reserved(name)
        return await self._command(message, lambda room: RenameCommand(_player_in(room.race, message.player), name))

    async def _command(
        self, message: Kick | CloseRoom | Rename, command: RaceCommand | Callable[[Snapshot], RaceCommand]
    ) -> ToOperator:
        await self._rooms.command(clean_room(message.room), command, "")
        return Done(to=message.id)

    async def set_words(self, message: SetWords) -> ToOperator:
        """Replace the words that names must not have."""
        ForbiddenWords(message.words)
        await self._nodes.set_words(message.words)
        return Done(to=message.id)

    async def list_reports(self, message: ListReports) -> ToOperator:
        """Return the newest reports of players, which fit into one message."""
        reports = [report for _, report in await self._rooms.store.reports.after(NewsId(0, 0))]
        return Reports(to=message.id, reports=tuple(reports[: -MAX_REPORTS - 1 : -1]))

    async def delete_record(self, message: DeleteRecord) -> ToOperator:
        """Delete the record of a race."""
        if not await self._rooms.store.records.delete(message.race.strip().lower()):
            raise refused("no_such_record", race=_quotable(message.race))
        return Done(to=message.id)

    async def forget(self, message: Forget) -> ToOperator:
        """Remove the names of players, and what else is stored about them."""
        try:
            target = normalize_target(message.target)
        except MalformedText:
            target = await self._data.find(message.target)
        if PLAYER.fullmatch(target):
            await self._data.export(target)  # refuses an unknown player
            players = [target]
        elif not (players := await self._nodes.players_at(target)):
            raise refused("unknown_player", player=_quotable(message.target))
        return Forgotten(to=message.id, players=tuple(players[:MAX_REPORTS]), records=await self._data.forget(players))

    async def _export(self, message: Export, send: Send) -> ToOperator:
        """Send what is stored about a player in parts."""
        text = await self._data.export(await self._data.find(message.player))
        for first in range(0, len(text), MAX_PART_BYTES):
            await send(BackupPart(to=message.id, data=text[first : first + MAX_PART_BYTES]))
        return Done(to=message.id)

    async def ban(self, message: Ban) -> ToOperator:
        """Ban a player, an address or a network. Return the ban.

        The ban may be wider than requested, because an IPv6 address becomes its /64 network.
        """
        now = await self._rooms.store.now()
        target = normalize_target(message.target)
        others = [ban for ban in await self._nodes.bans(now) if ban.target != target]
        if len(others) >= MAX_BANS:
            raise refused("too_many_bans", maximum=MAX_BANS)
        until = now + 1000 * message.seconds if message.seconds else 0
        reason = printable(message.reason, MAX_REASON_WIDTH)
        ban = BanLine(target=target, since=now, until=until, reason=reason)
        await self._nodes.ban(ban)
        return BanList(to=message.id, bans=(ban,))

    async def unban(self, message: Unban) -> ToOperator:
        """Lift a ban."""
        if not await self._nodes.unban(normalize_target(message.target)):
            raise refused("no_ban", target=_quotable(message.target))
        return Done(to=message.id)

    async def list_bans(self, message: ListBans) -> ToOperator:
        """Return the bans that are in force."""
        return BanList(to=message.id, bans=await self._nodes.bans(self._rooms.clock.now()))

    async def say(self, message: Say) -> ToOperator:
        """Send a message to everybody in a room. If the request names no room, send it to all players."""
        text = printable(message.text).strip()
        if not text:
            raise refused("nothing_said")
        if not message.room:
            await self._nodes.send_order(SayOrder(text))
        elif not await self._rooms.store.broadcast(clean_room(message.room), text):
            raise refused("no_room", room=message.room)
        return Done(to=message.id)

    async def drain(self, message: Drain) -> ToOperator:
        """Order a node to drain. The request must name the node, unless there is only one.

        Raise RequestRefused if the name is missing, unknown or ambiguous. Unless ``force`` is set, also raise
        RequestRefused if no other node is ready.
        """
        lines = await self._nodes.lines()
        names = [line.node for line in lines]
        if not message.node and len(names) > 1:
            raise refused("node_required", nodes=", ".join(names))
        wanted = message.node or self._rooms.node
        matching = [name for name in names if name == wanted or name.endswith(f"-{wanted}")]
        if len(matching) != 1:
            raise refused("no_node", node=_quotable(wanted), nodes=", ".join(names))
        others_ready = any(line.node != matching[0] and not line.draining for line in lines)
        if not others_ready and not message.force:
            raise refused("last_node", node=matching[0])
        await self._nodes.send_order(DrainOrder(matching[0]))
        return Done(to=message.id)

    async def _back_up(self, message: Backup, send: Send) -> ToOperator:
        """Send the parts of a backup. Return the answer with the digest of the backup."""
        if self._backup_lock.locked():
            raise refused("busy")
        async with self._backup_lock:
            writer = Writer(self._rooms.store)
            async with aclosing(writer.parts(MAX_PART_BYTES)) as parts:
                async for data in parts:
                    await send(BackupPart(to=message.id, data=data))
            await self._nodes.record_backup(await self._rooms.store.now())
            return BackedUp(
                to=message.id, size=writer.size, digest=writer.digest, rooms=writer.rooms, sessions=writer.sessions
            )


Handler = Callable[[OperatorRequests, Any], Awaitable[ToOperator]]

HANDLERS: Final[Mapping[type[FromOperator], Handler]] = {
    Login: OperatorRequests.log_in,
    Status: OperatorRequests.survey,
    ListServerRooms: OperatorRequests.list_rooms,
    ShowRoom: OperatorRequests.show_room,
    Kick: OperatorRequests.kick,
    Rename: OperatorRequests.rename,
    SetWords: OperatorRequests.set_words,
    ListReports: OperatorRequests.list_reports,
    DeleteRecord: OperatorRequests.delete_record,
    Forget: OperatorRequests.forget,
    CloseRoom: OperatorRequests.close_room,
    Ban: OperatorRequests.ban,
    Unban: OperatorRequests.unban,
    ListBans: OperatorRequests.list_bans,
    Say: OperatorRequests.say,
    Drain: OperatorRequests.drain,
}
"""The handler of each type of request except ``Backup`` and ``Export``. A test checks that no other type is missing."""


def _player_in(race: Race, player: str) -> str:
    """Return the id of the player in a race who has this id, or this name, or is shown by it."""
    wanted = player.casefold()
    found = [racer for racer in race.racers if wanted in (racer.player, racer.name.casefold())]
    found += [racer for racer in race.racers if wanted == racer.shown.casefold() != ""]
    if found:
        return found[0].player
    raise refused("no_player", room=race.room, player=_quotable(player))


def _quotable(text: str) -> str:
    return printable(text, _MAX_QUOTED)
