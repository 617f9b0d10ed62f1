"""What spectators see of a race: each player's board as it was some time ago. Pure: time is an argument."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable

from samedeal.board import Board
from samedeal.play import UNDO, Play, Undo
from samedeal.protocol.messages import LateBoard, LateMove
from samedeal_server.store.commits import Entry


class Gallery:
    """The boards of a race, ``delay`` milliseconds late."""

    def __init__(self, deal: Board, undo_rule: Undo, starts: int, delay: int) -> None:
        self.delay = delay
        self._starts = starts
        self._start = Play(deal, undo_rule)
        self._shown: dict[str, Play] = {}
        self._at: dict[str, int] = {}
        self._newest: dict[str, int] = {}
        self._latest: dict[str, int] = {}
        self._waiting: list[tuple[int, str, str]] = []
        self._open = False

    def enter(self, player: str, entries: Iterable[Entry]) -> None:
        """Hang a player's board, with the log so far; to be done for all before the first ``show``."""
        self._shown[player] = self._start
        self._at[player] = self._starts
        self._newest[player] = 0
        self._latest[player] = self._starts
        for entry in entries:
            self.add(player, entry.revision, entry.action, entry.at)

    def newest(self, player: str) -> int:
        """The newest revision noted for a player, -1 where no board hangs for them."""
        return self._newest.get(player, -1)

    def add(self, player: str, revision: int, action: str, at: int) -> bool:
        """Note an action to be shown in time; False when one before it is missing, so that the log must be read."""
        newest = self._newest.get(player)
        if newest is None or revision > newest + 1:
            return False
        if revision == newest + 1:
            self._newest[player] = revision
            # A clock that was put back must not put a player's actions out of order.
            self._latest[player] = at = max(at, self._latest[player])
            insort(self._waiting, (at, player, action), key=lambda waiting: waiting[0])
        return True

    def next_at(self) -> int | None:
        """When ``show`` next has something, on the store's clock."""
        if not self._open:
            return self._starts + self.delay
        return self._waiting[0][0] + self.delay if self._waiting else None

    def show(self, now: int, *, everything: bool = False) -> list[LateBoard | LateMove]:
        """What comes into sight by a time, or all of it at once when the race is over."""
        if not self._open:
            if now < self._starts + self.delay and not everything:
                return []
            self._open = True
            self._play_until(now, everything=everything)
            return self.boards()
        shown: list[LateBoard | LateMove] = []
        while self._waiting and (everything or self._waiting[0][0] + self.delay <= now):
            at, player, action = self._waiting.pop(0)
            play = self._act(at, player, action)
            if action == UNDO:
                shown.append(self._board(player))
            else:
                shown.append(LateMove(player=player, revision=play.revision, action=action, seen=play.seen, at=at))
        return shown

    def boards(self) -> list[LateBoard | LateMove]:
        """All boards as they are in sight now; none before the first is."""
        return [self._board(player) for player in self._shown] if self._open else []

    def _play_until(self, now: int, *, everything: bool) -> None:
        while self._waiting and (everything or self._waiting[0][0] + self.delay <= now):
            self._act(*self._waiting.pop(0))

    def _act(self, at: int, player: str, action: str) -> Play:
        play = self._shown[player].act(action)
        self._shown[player] = play
        self._at[player] = at
        return play

    def _board(self, player: str) -> LateBoard:
        play = self._shown[player]
        return LateBoard(
            player=player,
            revision=play.revision,
            piles=play.board.masked().piles,
            moves=play.moves,
            undos=play.undos,
            at=self._at[player],
        )
