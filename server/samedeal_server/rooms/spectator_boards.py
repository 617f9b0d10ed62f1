"""Boards for spectators. A move is shown to spectators when the spectator delay has passed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

from samedeal.protocol.messages import DelayedBoard, DelayedMove
from samedeal.race.progress import MoveCommitted
from samedeal_server.connections.client_socket import framed
from samedeal_server.loop_timers import Alarm, Timers
from samedeal_server.races.delayed_view import DelayedBoards
from samedeal_server.rooms.audience import Audience
from samedeal_server.rooms.play_from_log import BoardReplay
from samedeal_server.rooms.player_connection import PlayerConnection
from samedeal_server.rooms.room_model import RoomModel
from samedeal_server.store.clock import StoreClock
from samedeal_server.store.store import ENTRIES_PER_READ, Store

RELEASE_INTERVAL: Final = 0.03
"""Minimum time, in seconds, between two messages with moves to spectators."""


@dataclass(eq=False, repr=False)
class SpectatorBoards:
    """The delayed boards of one room. They are built when the first spectator on this node enters the room.

    ``delayed`` is None until then.
    """

    _room: RoomModel
    _store: Store
    _clock: StoreClock
    _timers: Timers
    _replay: BoardReplay
    _audience: Audience
    delayed: DelayedBoards | None = None
    _building: asyncio.Lock = field(default_factory=asyncio.Lock)
    _snapshot_frames: list[bytes] | None = None
    _released_at: float = 0.0

    def __post_init__(self) -> None:
        self._alarm = Alarm(self._timers, self.release)

    def close(self) -> None:
        """Stop sending moves to spectators."""
        self._alarm.close()

    def discard(self) -> None:
        """Discard the delayed boards, because they lack moves."""
        self.delayed = None

    @property
    def build_cost(self) -> int:
        """The number of actions that ``ensure_built`` would replay now.

        It is 0 if the boards exist or are being built.
        """
        if self.delayed is not None or self._building.locked():
            return 0
        return sum(progress.revision for progress in self._room.progress.values())

    async def ensure_built(self) -> None:
        """Build the delayed boards unless they exist. Other tasks of this node get turns in the meantime."""
        async with self._building:
            if self.delayed is not None:
                return
            board = await self._replay.initial_board()
            if board is None:
                return
            race = self._room.race
            began = {racer.player: self._room.began_at(racer.player) for racer in race.racers}
            boards = DelayedBoards(board, race.options.undo_rule, race.starts, 1000 * race.options.delay, began)
            while True:
                await self._read_logs(race.room, boards)
                released = self._release_from(boards)
                if not boards.behind:
                    break
                await asyncio.sleep(0)
            self.delayed = boards
            self._send(released)
            self._schedule_release()

    async def _read_logs(self, room: str, boards: DelayedBoards) -> None:
        """Read the players' logs and add their actions to ``boards``.

        Stop when ``boards`` has every action that this node knows from events.
        """
        while missing := [
            player for player, progress in self._room.progress.items() if 0 <= boards.newest(player) < progress.revision
        ]:
            for player in missing:
                first = boards.newest(player) + 1
                entries = await self._store.load_log(room, player, first, first + ENTRIES_PER_READ - 1)
                if not entries:
                    raise RuntimeError(f"the log of player {player} in room {room} is incomplete")
                for entry in entries:
                    boards.add(player, entry.revision, entry.action, entry.committed_at)

    def add(self, moved: MoveCommitted, time: int) -> bool:
        """Add a move that was committed at ``time``, in milliseconds since 1970.

        If earlier moves are missing, discard the boards and return False.
        """
        if self.delayed is None:
            return True
        if self.delayed.add(moved.player, moved.revision, moved.action, time):
            self._schedule_release()
            return True
        self.delayed = None
        return False

    def send_boards(self, spectator: PlayerConnection) -> None:
        """Send a spectator the newest boards that the spectator delay allows.

        Do nothing if the boards have not been built.
        """
        if self.delayed is not None and spectator in self._audience.spectators:
            if self._snapshot_frames is None:
                self._snapshot_frames = [framed(message) for message in self.delayed.boards()]
            for frame in self._snapshot_frames:
                spectator.send_frame(frame)

    def release(self) -> None:
        """Send spectators the moves whose delay has passed. Once the race is finished, send all moves."""
        self._alarm.cancel()
        if self.delayed is None:
            return
        self._send(self._release_from(self.delayed))
        self._schedule_release()

    def _release_from(self, boards: DelayedBoards) -> list[DelayedBoard | DelayedMove]:
        return boards.release_due(self._clock.now(), everything=self._room.race.phase == "finished")

    def _send(self, released: list[DelayedBoard | DelayedMove]) -> None:
        self._snapshot_frames = None
        if released:
            self._released_at = self._timers.monotonic()
            self._audience.send_delayed([framed(message) for message in released])

    def _schedule_release(self) -> None:
        if self.delayed is not None and not self._alarm.is_set:
            due = self.delayed.next_at()
            if self.delayed.behind:
                self._alarm.set(0.0)
            elif due is not None:
                earliest = self._released_at + RELEASE_INTERVAL
                self._alarm.set(max(self._clock.seconds_until(due), earliest - self._timers.monotonic()))
