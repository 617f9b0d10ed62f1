"""The state of a room, which a node derives from the room's events."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from samedeal.protocol.messages import Drawn, DrawnShare, LostSeat, RoomState, Seat, Tally
from samedeal_server.races.race import ABSENT_AFTER, Progress
from samedeal_server.store.clock import StoreClock
from samedeal_server.store.events import MoveCommitted
from samedeal_server.store.store import Snapshot

_SHOWN: Final = (
    *("room", "phase", "deal", "options", "private", "host", "commitment", "starts", "ends", "seed", "next"),
    *("standings", "finished_at", "proof", "draw", "round", "table", "rooms_before", "earlier", "tide"),
)
"""The fields of a race that the state of its room shows as they are."""


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
        if moved.finished and self.race.options.first_finish_ends:
            self.race = replace(self.race, ends=min(time, self.race.ends))
        before = self.progress_of(moved.player)
        if moved.revision <= before.revision:
            return False
        self.progress[moved.player] = replace(
            before,
            revision=moved.revision,
            foundation_cards=moved.foundation_cards,
            moves=moved.moves,
            undos=moved.undos,
            last_action_at=time,
            last_seen=time,
            connected=True,
            last_progress_at=before.last_progress_at if before.foundation_cards == moved.foundation_cards else time,
            finished_at=time if moved.finished else before.finished_at,
            no_moves_left_at=time if moved.no_moves_left else before.no_moves_left_at,
        )
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
        progress = self.progress_of(player)
        return progress.connected and self._clock.now() - progress.last_seen < ABSENT_AFTER

    def is_racing(self, player: str) -> bool:
        """Return whether a player has a seat and can still make moves in this race.

        Such a player must not see other boards.
        """
        return self.race.is_racing(player, self.progress_of(player))

    @property
    def is_done(self) -> bool:
        """Whether the race is over but its phase is still ``racing``. The next tick changes the phase."""
        return self.race.phase == "racing" and self.race.is_over(self.progress)

    def state(self) -> RoomState:
        """Return the message with the state of the room, for everybody in it."""
        race = self.race
        return RoomState(
            **{name: getattr(race, name) for name in _SHOWN},
            event=self.event,
            game=race.game.name,
            players=tuple(
                Seat(
                    player=racer.player,
                    name=racer.name,
                    seat=racer.seat,
                    ready=racer.ready,
                    resigned=racer.resigned and not self.progress_of(racer.player).finished_at,
                    bot=racer.bot,
                    stuck=racer.is_stuck(self.progress_of(racer.player)),
                    share_commitment=racer.commitment,
                )
                for racer in race.racers
            ),
            tallies=tuple(self.tally(racer.player) for racer in race.racers),
            spectator_count=self.spectator_count,
            lost=tuple(LostSeat(**lost._asdict()) for lost in race.lost),
            terms=str(race.terms),
        )

    @property
    def drawn(self) -> Drawn | None:
        """The message with the shares of a joint deal, or None if they are not all known."""
        race = self.race
        shares = tuple(DrawnShare(**share._asdict()) for share in race.shares)
        return Drawn(room=race.room, draw=race.draw, shares=shares) if shares else None

    def tally(self, player: str) -> Tally:
        """Return the counts of a player's board that everybody may see."""
        progress = self.progress_of(player)
        return Tally(
            player=player,
            foundation_cards=progress.foundation_cards,
            moves=progress.moves,
            undos=progress.undos,
            acted_at=progress.last_action_at,
            last_progress_at=progress.last_progress_at,
            finished_at=progress.finished_at,
            connected=self.is_connected(player),
        )
