"""The changes of the room that a connection is in: join, watch, leave."""

from __future__ import annotations

from functools import partial

from websockets.protocol import State

from samedeal.errors import RequestRefused
from samedeal.names import clean_room
from samedeal.protocol.messages import Join, Joined, Watch, Watching
from samedeal.protocol_codes import RefusalCode
from samedeal.race.commands import JoinCommand, LeaveCommand
from samedeal.race.seats import check_not_kicked
from samedeal.sentences import refused
from samedeal_server.errors import StoreUnavailable
from samedeal_server.gateway.rate_limits import PASSPHRASE_COST, RateLimits
from samedeal_server.rooms.hub import Hub
from samedeal_server.rooms.player_connection import PlayerConnection
from samedeal_server.rooms.registry import RoomRegistry
from samedeal_server.rooms.seated_player import SeatedPlayer
from samedeal_server.store.store import Snapshot
from samedeal_server.telemetry.logger import get_logger

_log = get_logger()


class RoomEntry:
    """Changes the room that a connection of this node is in. A connection is in at most one room at a time.

    ``rates`` charge a connection for the check of a passphrase.
    """

    def __init__(self, rooms: RoomRegistry, rates: RateLimits) -> None:
        self._rooms = rooms
        self._rates = rates

    async def join(self, connection: PlayerConnection, message: Join) -> Joined:
        """Give the player of a connection a seat in a room. Raise RequestRefused if the player may not have a seat."""
        room = clean_room(message.room)
        player = connection.player
        hub = await self._rooms.acquire(room)
        try:
            if (await self._rooms.load(room)).race.created != hub.race.created:
                await hub.pull()  # the room was closed, and another room has its code now
                await self._rooms.close(hub)
                hub = await self._rooms.acquire(room)
                await self._rooms.release(hub.room)  # of the two that were acquired, one is left
            await self._check_passphrase(hub, connection, message.passphrase)
            await self._extend_session(connection)

            def take_seat(snapshot: Snapshot) -> JoinCommand:
                if snapshot.race.created != hub.race.created:
                    hub.catch_up()  # the room was closed, and another room has its code now
                    raise refused("room_closed")
                if snapshot.race.racer(player) is None and self._rooms.words.forbids(connection.name):
                    raise refused("forbidden_name")
                return JoinCommand(
                    *(player, connection.name, snapshot.progress, connection.bot),
                    origin=self._rooms.creator.origin(connection.networks[-1]),
                    house=connection.house,
                )

            watched = connection in hub.audience.spectators
            race = await self._rooms.command(room, take_seat, player)
            racer = race.racer(player)
            if racer is None:
                raise refused("no_seat_here")
            if watched:  # the state that the player is sent first no longer counts the player as a spectator
                await hub.pull()
                await self._rooms.publish_spectator_count(hub)
            if connection.hub is not None and connection.hub.race.next == room:
                await self.leave(connection)  # a room that waits only for this player can close now
            await self.exit_room(connection)
            if connection.socket.state is not State.OPEN:
                # A request that took long must not take the seat from the player's newer connection.
                raise refused("fenced")
            generation = await self._rooms.store.connect_player(room, player)
            await hub.pull()
            if hub.race.phase == "closed":
                raise refused("room_closed")
            check_not_kicked(hub.race, player)
            if not generation or hub.race.racer(player) is None:
                raise refused("no_seat_here")
            seat = SeatedPlayer(room, player, generation)
            hub.audience.take_seat(seat, connection, hub.model.progress_of(player).generation)
        except BaseException:
            await self._rooms.release(hub.room)
            raise
        connection.hub, connection.seat = hub, seat
        _log.info("joined", **connection.ids, seat=racer.seat)
        dealt = hub.race.phase in ("racing", "finished") and hub.model.began_at(player)
        revision = hub.model.progress_of(player).revision if dealt else -1
        return Joined(
            to=message.id, room=room, seat=racer.seat, generation=generation, revision=revision, path=race.path
        )

    async def watch(self, connection: PlayerConnection, message: Watch) -> Watching:
        """Make the player of a connection a spectator of a room. Raise RequestRefused if the player may not watch."""
        room, most = clean_room(message.room), self._rooms.limits.spectators_per_room
        hub = await self._rooms.acquire(room)
        try:
            if not hub.race.options.spectators:
                raise refused("no_spectators")
            await self._check_passphrase(hub, connection, message.passphrase)
            hub.check_can_watch(connection.player, most)
            await self._extend_session(connection)
            await self.exit_room(connection)
            await hub.pull()  # the state that the spectator is sent first shows that the player's seat is empty now
            hub.check_can_watch(connection.player, most)
        except BaseException:
            await self._rooms.release(hub.room)
            raise
        connection.hub = hub
        hub.audience.spectators.add(connection)
        _log.info("watching", **connection.ids)
        self._rooms.background.spawn(partial(self._rooms.publish_spectator_count, hub))
        return Watching(to=message.id, room=room, delay=hub.race.options.delay)

    async def leave(self, connection: PlayerConnection) -> None:
        """Take a connection out of its room. The player gives up the seat, or resigns if the race is under way.

        Raise RequestRefused if the player has a newer connection in the room.
        """
        hub, seat = connection.hub, connection.seat
        if hub is not None and seat is not None:
            seat.leaving = True
            try:
                await self._rooms.command(hub.room, LeaveCommand(seat.player), seat.player, seat.generation)
            except RequestRefused as refusal:
                if refusal.code != RefusalCode.NO_ROOM:
                    raise
            except StoreUnavailable:
                if hub.race.racer(seat.player) is not None:
                    raise
            finally:
                seat.leaving = False
        await self.exit_room(connection)

    async def exit_room(self, connection: PlayerConnection) -> None:
        """Take a connection out of its room, without giving up the player's seat."""
        hub, seat = connection.hub, connection.seat
        connection.hub = connection.seat = None
        if hub is None:
            return
        try:
            if seat is not None:
                if hub.audience.release_seat(seat):  # the player has no newer connection
                    await self._rooms.store.record_absence(hub.room, seat.player, seat.generation)
            else:
                hub.audience.spectators.discard(connection)
                await self._rooms.publish_spectator_count(hub)
        finally:
            await self._rooms.release(hub.room)

    async def _check_passphrase(self, hub: Hub, connection: PlayerConnection, passphrase: str) -> None:
        if not hub.race.private or connection.house:
            return
        race = (await self._rooms.load(hub.room)).race  # the hub may not know yet that the player lost the seat
        if race.racer(connection.player) or connection.player in race.before.players:
            return
        if passphrase:
            self._rates.charge(connection, PASSPHRASE_COST)
        await self._rooms.creator.check_passphrase(race, passphrase, connection.networks[-1])

    async def _extend_session(self, connection: PlayerConnection) -> None:
        """Give a session its full lifetime, because its player enters a room.

        The session of a player who has never entered a room expires much earlier.
        """
        if connection.session is not None:
            connection.session = await self._rooms.store.sessions.extend(connection.session)
