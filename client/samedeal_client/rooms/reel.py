"""What a spectator has seen of a race, so that it can be looked at again."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Final

from samedeal_client.rooms.model import Watched

MOST_FRAMES: Final = 3000
"""Boards kept of a player; the oldest go first."""


class Reel:
    """Each player's boards by the time at which they were so, in the server's milliseconds."""

    def __init__(self) -> None:
        self._frames: dict[str, list[Watched]] = {}

    def add(self, watched: Mapping[str, Watched]) -> None:
        """Take the boards as they are seen now; those that are known already are passed over."""
        for player, board in watched.items():
            frames = self._frames.setdefault(player, [])
            if frames and frames[-1] is board:
                continue
            if frames and frames[-1].at > board.at:
                frames[:] = [frame for frame in frames if frame.at <= board.at]
            frames.append(board)
            del frames[:-MOST_FRAMES]

    def at(self, time: int) -> dict[str, Watched]:
        """Each player's board as it was at a time; the first that is known where that is later."""
        shown: dict[str, Watched] = {}
        for player, frames in self._frames.items():
            before = bisect_right(frames, time, key=lambda frame: frame.at)
            shown[player] = frames[max(before - 1, 0)]
        return shown

    @property
    def begins(self) -> int:
        """The time of the first board, 0 before there is one."""
        return min((frames[0].at for frames in self._frames.values() if frames), default=0)
