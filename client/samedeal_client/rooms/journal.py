"""What one does in a race, written down as it is done, so that there is a record of it even where the client was killed.

A line is an action on its way: the revision that it is made on, milliseconds since the start, and the action. Of several for
one revision the last one counts, since the others were refused.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Final

from samedeal.deal import Deal
from samedeal.errors import SamedealError
from samedeal.protocol.messages import RoomState
from samedeal.record import Record
from samedeal_client.places import state_home
from samedeal_client.rooms.model import Model

_MOST: Final = 50
"""Races written down; the oldest go first."""


class Journal:
    """The races of this machine's players. What can't be written or read is passed over: no race waits for it."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or state_home() / "races"

    def note(self, model: Model) -> None:
        """Write down the newest action that is on its way."""
        if model.room is None or not model.pending:
            return
        pending = model.pending[-1]
        path = self._path(model.room, model.me)
        with suppress(OSError):
            if not path.exists():
                self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
                for old in sorted(self._directory.iterdir())[: -_MOST + 1]:
                    old.unlink()
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{pending.revision} {max(pending.at - model.room.starts, 0)} {pending.action}\n")

    def record(self, model: Model) -> Record | None:
        """One's own play of a finished race: as it was seen, else as it was written down, if that comes to its board."""
        room, play = model.room, model.play
        seen = model.record()
        if seen is not None or room is None or play is None or not room.seed:
            return seen
        try:
            lines = [line.split(" ", 2) for line in self._path(room, model.me).read_text(encoding="utf-8").splitlines()]
            noted = {int(revision): (int(at), action) for revision, at, action in lines}
            actions = [noted[revision] for revision in range(play.revision)]
            times = accumulate((at for at, _ in actions), max)
            made = tuple(zip(times, (action for _, action in actions), strict=True))
            record = Record(
                model.game, Deal.parse(room.deal), room.seed, room.options.undo_rule, model.name or "?", made
            )
            same = record.replay().board.state_hash() == play.board.state_hash()
        except (OSError, ValueError, KeyError, SamedealError):
            return None
        return record if same else None

    def _path(self, room: RoomState, player: str) -> Path:
        """The file of a player's race, by a name that no server has a say in."""
        digest = sha256(f"{room.room} {player} ".encode() + room.commitment).hexdigest()[:16]
        return self._directory / f"{room.starts:020}-{digest}.txt"
