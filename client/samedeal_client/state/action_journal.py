"""A journal of the player's actions on disk, so that a record can be made even after the client was killed.

Each line is an action that was sent: the revision that it applies to, the milliseconds since the start, and the action. If
a revision has several lines, the last one counts, since the server refused the others.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Final

from samedeal.errors import SamedealError
from samedeal.protocol.messages import RoomState
from samedeal.record import Record
from samedeal_client.paths import state_home
from samedeal_client.state.model import Model

_MAX_RACES: Final = 50
"""Maximum number of races kept. The oldest are deleted first."""


class ActionJournal:
    """The journals of the races played on this machine. Errors are ignored, so that no race waits for the disk."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or state_home() / "races"

    def append(self, model: Model) -> None:
        """Append the newest pending action."""
        if model.room is None or not model.own.pending:
            return
        pending = model.own.pending[-1]
        path = self._path(model.room, model.me)
        with suppress(OSError):
            if not path.exists():
                self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
                for old in sorted(self._directory.iterdir())[: -_MAX_RACES + 1]:
                    old.unlink()
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{pending.revision} {max(pending.time - model.room.starts, 0)} {pending.action}\n")

    def record(self, model: Model) -> Record | None:
        """Return the record of the player's own finished race, or None if part of it is unknown.

        If the client did not see the whole race, the record comes from the journal, provided that the journal's actions lead
        to the player's board.
        """
        room, play = model.room, model.own.play
        seen = model.record()
        if seen is not None or room is None or play is None or not room.seed:
            return seen
        try:
            lines = [line.split(" ", 2) for line in self._path(room, model.me).read_text(encoding="utf-8").splitlines()]
            by_revision = {int(revision): (int(time), action) for revision, time, action in lines}
            actions = [by_revision[revision] for revision in range(play.revision)]
            times = accumulate((time for time, _ in actions), max)
            timed = tuple(zip(times, (action for _, action in actions), strict=True))
            record = model.record_of(room, timed)
            same = record.replay().board.state_hash() == play.board.state_hash()
        except (OSError, ValueError, KeyError, SamedealError):
            return None
        return record if same else None

    def _path(self, room: RoomState, player: str) -> Path:
        """Return the file of a player's race. The name contains a digest, so that a server can't choose the name."""
        digest = sha256(f"{room.room} {player} ".encode() + room.commitment).hexdigest()[:16]
        return self._directory / f"{room.starts:020}-{digest}.txt"
