"""The delayed boards that spectators of a race see. Pure: time is an argument."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final

from msgspec.structs import replace

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.protocol.messages import DelayedBoard, DelayedMove

ACTIONS_PER_RELEASE: Final = 200
"""Maximum number of actions that one call of ``release_due`` processes, so that other tasks of the node get turns."""


@dataclass(slots=True)
class _Shown:
    """The board of a player as of the last release, and the newest action that was added. Times are in milliseconds."""

    play: Play
    acted_at: int
    newest_at: int
    began: int
    newest: int = 0
    reached: tuple[int, ...] = ()


class DelayedBoards:
    """The boards of a race, as spectators may see them. ``began`` is when the clock of each player began.

    Each action is released ``delay`` milliseconds after its commit. ``behind`` is true if the last call of
    ``release_due`` did not process all actions that were due.
    """

    def __init__(self, deal: Board, undo_rule: Undo, starts: int, delay: int, began: Mapping[str, int]) -> None:
        self.delay = delay
        self.behind = False
        self._starts = starts
        play = Play(deal, undo_rule)
        self._shown = {player: _Shown(play, starts, starts, time) for player, time in began.items()}
        self._added = 0
        self._waiting: list[tuple[int, int, str, str]] = []
        self._open = False

    def newest(self, player: str) -> int:
        """Return the newest revision that was added for a player. Return -1 if the player is unknown."""
        return self._shown[player].newest if player in self._shown else -1

    def add(self, player: str, revision: int, action: str, time: int) -> bool:
        """Add an action that was committed at ``time``, in milliseconds since 1970.

        Return False if earlier actions of this player are missing.
        """
        shown = self._shown.get(player)
        if shown is None or revision > shown.newest + 1:
            return False
        if revision == shown.newest + 1:
            shown.newest = revision
            # If the clock was set back, the player's actions must still be released in order.
            shown.newest_at = time = max(time, shown.newest_at)
            self._added += 1  # keeps actions of the same time in their order
            heappush(self._waiting, (time, self._added, player, action))
        return True

    def next_at(self) -> int | None:
        """Return the time of the next release, in milliseconds since 1970.

        Return None if all actions have been released.
        """
        if not self._open:
            return self._starts + self.delay
        return self._waiting[0][0] + self.delay if self._waiting else None

    def release_due(self, now: int, *, everything: bool = False) -> list[DelayedBoard | DelayedMove]:
        """Release the actions whose delay has passed, or all if ``everything`` is true, and return what spectators see.

        A call releases at most ``ACTIONS_PER_RELEASE`` actions. If more are due after that, it sets ``behind`` and
        returns an empty list, and the next call continues. The first release, and the release that clears ``behind``,
        return whole boards. All others return the released actions, with a whole board in place of each undo.
        """
        if not self._open and now < self._starts + self.delay and not everything:
            return []
        skipping = self.behind or not self._open
        released: list[DelayedBoard | DelayedMove] = []
        for _ in range(ACTIONS_PER_RELEASE):
            if not self._is_due(now, everything=everything):
                break
            time, _, player, action = heappop(self._waiting)
            play = self._act(time, player, action)
            if skipping:
                continue
            if action == UNDO:
                released.append(self._board(player))
            else:
                move = DelayedMove(player=player, revision=play.revision, action=action, seen=play.seen, time=time)
                released.append(move)
        self.behind = self._is_due(now, everything=everything)
        if self.behind:
            return []
        self._open = True
        return self.boards() if skipping else released

    def boards(self) -> list[DelayedBoard | DelayedMove]:
        """Return all boards as of the last release, with their progress so far, or nothing before the first release."""
        if not self._open:
            return []
        return [replace(self._board(player), reached=shown.reached) for player, shown in self._shown.items()]

    def _is_due(self, now: int, *, everything: bool) -> bool:
        return bool(self._waiting) and (everything or self._waiting[0][0] + self.delay <= now)

    def _act(self, time: int, player: str, action: str) -> Play:
        shown = self._shown[player]
        shown.play = play = shown.play.act(action)
        shown.acted_at = time
        reached, count = shown.reached, play.board.foundation_cards
        if count != len(reached):
            shown.reached = (*reached[:count], *(time - shown.began,) * (count - len(reached)))
        return play

    def _board(self, player: str) -> DelayedBoard:
        shown = self._shown[player]
        play = shown.play
        return DelayedBoard(
            player=player,
            revision=play.revision,
            piles=play.board.masked().piles,
            moves=play.moves,
            undos=play.undos,
            time=shown.acted_at,
        )
