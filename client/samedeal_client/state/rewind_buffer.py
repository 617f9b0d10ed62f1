"""The boards that a spectator has seen of a race, for rewinding."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Final

from samedeal_client.state.model import WatchedBoard

MAX_BOARDS: Final = 3000
"""Maximum number of boards kept per player. The oldest are dropped first."""


class RewindBuffer:
    """Each player's boards in order of their times, in milliseconds since 1970."""

    def __init__(self) -> None:
        self._frames: dict[str, list[WatchedBoard]] = {}

    def add(self, watched: Mapping[str, WatchedBoard]) -> None:
        """Add the boards that are new.

        If a player's new board is older than some of the player's boards in the buffer, drop those later boards.
        """
        for player, board in watched.items():
            frames = self._frames.setdefault(player, [])
            if frames and frames[-1] is board:
                continue
            if frames and frames[-1].time > board.time:
                frames[:] = [frame for frame in frames if frame.time <= board.time]
            frames.append(board)
            del frames[:-MAX_BOARDS]

    def at(self, time: int) -> dict[str, WatchedBoard]:
        """Return each player's board at ``time``, or the player's first board if that board is later than ``time``."""
        shown: dict[str, WatchedBoard] = {}
        for player, frames in self._frames.items():
            before = bisect_right(frames, time, key=lambda frame: frame.time)
            shown[player] = frames[max(before - 1, 0)]
        return shown

    @property
    def start(self) -> int:
        """The time of the first board, or 0 if there are no boards."""
        return min((frames[0].time for frames in self._frames.values() if frames), default=0)
