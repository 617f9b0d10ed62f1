"""The state of a room, which a node derives from the room's events."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from samedeal.protocol.messages import RoomState, Tally
from samedeal.race.due_times import due_at
from samedeal.race.endings import is_over, is_racing, opens_at
from samedeal.race.moving import ended_by
from samedeal.race.progress import MoveCommitted, Progress, is_connected
from samedeal.race.room_state import room_state, tally_of
from samedeal.race.values import Race
from samedeal_server.store.clock import StoreClock
from samedeal_server.store.store import Snapshot


def next_due(race: Race, progress: Mapping[str, Progress]) -> int:
    """Return when the next timed change of a race is due, in milliseconds since 1970, or 0 if there is none.

    In an open window, that depends on the ``progress`` of the players.
    """
    return opens_at(race, progress) if race.is_hidden and not race.is_waiting else due_at(race)


class RoomModel:
    """The race, the players' progress and the number of spectators, after the event with the number ``event``."""

    __slots__ = ("_clock", "event", "progress", "race", "spectator_count")

    def __init__(self, snapshot: Snapshot, clock: StoreClock) -> None:
        self._clock = clock
        self.reload(snapshot)

    def reload(self, snapshot: Snapshot) -> None:
        """Replace the whole state with a newer snapshot."""
        self.race = snapshot.race
        self.progress = dict(snapshot.progress)
        self.event = snapshot.last_event
        self.spectator_count = snapshot.spectator_count

    def move(self, moved: MoveCommitted, time: int) -> bool:
        """Count a move that was committed at ``time``, in milliseconds since 1970.

        Return False if the move was counted before.
        """
        self.race = ended_by(self.race, moved, time)
        before = self.progress_of(moved.player)
        if moved.revision <= before.revision:
            return False
        self.progress[moved.player] = before.after(moved, time)
        return True

    def set_presence(self, player: str, generation: int, time: int, *, connected: bool) -> bool:
        """Record whether a player is connected. Return False if the player has a newer connection or no seat."""
        progress = self.progress.get(player)
        if progress is None or generation < progress.generation:
            return False
        self.progress[player] = replace(progress, generation=generation, last_seen=time, connected=connected)
        return True

    def progress_of(self, player: str) -> Progress:
        """Return a player's progress. A player without a seat has the progress of a new player."""
        return self.progress.get(player) or Progress()

    def is_connected(self, player: str) -> bool:
        """Return whether a player is connected to any node."""
        return is_connected(self.progress_of(player), self._clock.now())

    def is_racing(self, player: str) -> bool:
        """Return whether a player has a seat and can still make moves in this race.

        Such a player must not see other boards.
        """
        return is_racing(self.race, player, self.progress_of(player))

    def begin(self, player: str, began_at: int) -> None:
        """Record that a player has begun in a race with a window."""
        if player in self.progress:
            self.progress[player] = replace(self.progress[player], began_at=began_at)

    def began_at(self, player: str) -> int:
        """Return when the clock of a player began, or 0 if it has not."""
        return self.race.began_at(self.progress_of(player))

    @property
    def is_done(self) -> bool:
        """Whether the race is over but its phase is still ``racing``. The next tick changes the phase."""
        return self.race.phase == "racing" and is_over(self.race, self.progress, self._clock.now())

    def state(self, player: str = "") -> RoomState:
        """Return the message with the state of the room, for everybody in it, or in an open window for ``player``."""
        return room_state(self.race, self.progress, self.event, self.spectator_count, self._clock.now(), player)

    def tally(self, player: str) -> Tally:
        """Return the counts of a player's board that everybody may see."""
        return tally_of(player, self.progress_of(player), self._clock.now())
