"""The clients of this node that are in one room."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from samedeal.protocol.messages import ToClient
from samedeal.protocol_codes import CloseCode
from samedeal.sentences import refused
from samedeal_server.connections.client_socket import framed
from samedeal_server.rooms.player_connection import PlayerConnection
from samedeal_server.rooms.seated_player import SeatedPlayer

FLUSH_BATCH: Final = 32
"""Number of spectators who are sent their queued frames before other tasks of the node get a turn."""

_TAKEN_OVER: Final = "you are connected from somewhere else now"

Spawn = Callable[[Callable[[], Coroutine[Any, Any, object]]], None]
"""Calls an async function in the background.

Its argument is a function because a coroutine that never starts causes a warning.
"""


class Audience:
    """The players and spectators of a room who are connected through this node."""

    __slots__ = ("_has_new_frames", "_is_flushing", "_spawn", "seats", "spectators")

    def __init__(self, spawn: Spawn) -> None:
        self.seats: dict[str, tuple[SeatedPlayer, PlayerConnection]] = {}
        self.spectators: set[PlayerConnection] = set()
        self._spawn = spawn
        self._is_flushing = False
        self._has_new_frames = False

    def take_seat(self, seat: SeatedPlayer, connection: PlayerConnection, newest: int) -> None:
        """Connect ``connection`` to a player's seat, and close the player's older connection to this node.

        ``newest`` is the player's newest known generation. If it is newer than the generation of ``seat``, close
        ``connection`` and raise RequestRefused ``fenced``.
        """
        seated = self.seats.get(seat.player)
        if max(newest, seated[0].generation if seated else 0) > seat.generation:
            connection.close(CloseCode.TAKEN_OVER, _TAKEN_OVER)
            raise refused("fenced")
        self.fence(seat.player, seat.generation)
        self.seats[seat.player] = (seat, connection)

    def release_seat(self, seat: SeatedPlayer) -> bool:
        """Forget a player's connection. Return False if a newer one has replaced it, or if it was forgotten before."""
        seated = self.seats.get(seat.player)
        if seated is None or seated[0] is not seat:
            return False
        del self.seats[seat.player]
        return True

    def fence(self, player: str, generation: int) -> None:
        """Close a player's connection to this node if the connection is older than ``generation``."""
        seated = self.seats.get(player)
        if seated is not None and seated[0].generation < generation:
            del self.seats[player]
            seated[1].close(CloseCode.TAKEN_OVER, _TAKEN_OVER)

    def force_resync(self, seat: SeatedPlayer) -> None:
        """Disconnect a player, because Redis has lost moves that this node has seen. The client then reconnects."""
        seated = self.seats.get(seat.player)
        if seated is not None and seated[0] is seat:
            seated[1].close(CloseCode.RESTART, "the store lost its newest data: reconnect to resume")

    def dismiss(self) -> int:
        """Remove all clients of this node from the room, which has closed. Return the number of removed connections."""
        connections = [*(connection for _, connection in self.seats.values()), *self.spectators]
        for connection in connections:
            connection.on_dismissed()
        self.seats.clear()
        self.spectators.clear()
        return len(connections)

    def broadcast(self, message: ToClient) -> None:
        """Send a message to all players and spectators on this node."""
        frame = framed(message)
        for _, connection in self.seats.values():
            connection.send_frame(frame)
        for spectator in self.spectators:
            spectator.enqueue(frame)
        self.flush_spectators()

    def send_to_rivals(self, updates: Mapping[str, ToClient]) -> None:
        """Send messages about players, by their ids, to all other players on this node who have a seat."""
        frames = [(about, framed(update)) for about, update in updates.items()]
        for player, (_, connection) in self.seats.items():
            if rivals := b"".join([frame for about, frame in frames if about != player]):
                connection.send_frame(rivals)

    def send_delayed(self, frames: list[bytes]) -> None:
        """Send delayed boards and moves to all spectators on this node.

        A spectator who reads too slowly gets the newest boards later instead.
        """
        for spectator in self.spectators:
            spectator.enqueue_delayed(frames)
        self.flush_spectators()

    def flush_spectators(self) -> None:
        """Send queued frames to all spectators.

        If there are many spectators, send the frames in the background, so that no ack has to wait until all of them
        are sent. Frames that are queued in the meantime are sent as well.
        """
        if len(self.spectators) <= FLUSH_BATCH:
            for spectator in self.spectators:
                spectator.wake()
            return
        self._has_new_frames = True
        if not self._is_flushing:
            self._is_flushing = True
            self._spawn(self._flush_in_passes)

    async def _flush_in_passes(self) -> None:
        try:
            while self._has_new_frames:
                self._has_new_frames = False
                for flushed, spectator in enumerate(list(self.spectators)):
                    if flushed % FLUSH_BATCH == 0:
                        await asyncio.sleep(0)
                    spectator.flush()
        finally:
            self._is_flushing = False
