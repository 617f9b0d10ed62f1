"""The file with the player's past races: ``history.jsonl`` in the state directory, one race in JSON on each line.

Races are only appended, under a lock, so that two clients can write at the same time. If a race has several lines, the
last one counts. Lines that can't be read, and lines of later versions, are kept.
"""

from __future__ import annotations

import fcntl
from pathlib import Path

import msgspec
from msgspec import Struct

from samedeal_link.machine.paths import open_private, state_home, tell_unsaved
from samedeal_link.machine.terminal import terminal
from samedeal_link.model.model import Model
from samedeal_link.records.past_races import VERSION, History, PastRace, best_time, race_result, unfinished_race
from samedeal_link.session.client_session import ClientSession


class _AnyVersion(Struct):
    version: int


class HistoryFile:
    """The history on disk. The default ``path`` is the history of this user."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_home() / "history.jsonl"

    def read(self) -> History:
        """Return the history, with races that could not be written. Raise OSError if the file can't be read."""
        try:
            data = self.path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            data = b""
        return _parse(data + terminal().unsaved.kept.get(self.path, b""))

    def append(self, race: PastRace) -> None:
        """Append a line for a race, unless the last line for this race is the same.

        Raise OSError if the file can't be read or written. The race is then kept in memory.
        """
        unsaved = terminal().unsaved
        lines = unsaved.kept.get(self.path, b"\n") + msgspec.json.encode(race) + b"\n"
        with unsaved.keeping(self.path, lines):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open_private(self.path, "a+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                before = file.read()
                if _parse(before + lines) != _parse(before):  # the last write may have been cut short
                    file.write(lines if before and not before.endswith(b"\n") else lines[1:])


def _parse(data: bytes) -> History:
    races: dict[tuple[str, int, str], PastRace] = {}
    damaged = newer = 0
    for line in filter(None, map(bytes.strip, data.split(b"\n"))):
        try:
            if msgspec.json.decode(line, type=_AnyVersion).version > VERSION:
                newer += 1
                continue
            race = msgspec.json.decode(line, type=PastRace)
        except (ValueError, RecursionError):
            damaged += 1
        else:
            races[race.key] = race
    return History(tuple(sorted(races.values(), key=lambda race: race.starts)), damaged, newer)


def best_before(model: Model) -> int | None:
    """Return this user's best time, in milliseconds, in earlier races of the same game.

    Return None for a spectator, if there is no such time, or if the history can't be read.
    """
    if model.room is None or model.delay is not None:
        return None
    try:
        return best_time(HistoryFile().read().races, model.room.game, before=model.room.starts or None)
    except OSError:
        return None


class HistoryRecorder:
    """The writer that appends a session's races to the history. If a race can't be written, the player is told."""

    def __init__(self, client: ClientSession) -> None:
        self._client = client
        self._file = HistoryFile()
        self._appended: PastRace | None = None

    def update(self) -> None:
        """Append the player's race once the player has finished or resigned, or the race is over.

        Call this after each change of the session.
        """
        self._append(race_result(self._client.model))

    def quit_for_good(self, *, cut_off: bool = False) -> None:
        """Append the player's race when the client ends and the player can't return to the race.

        ``cut_off`` is as in ``PastRace``.
        """
        model = self._client.model
        self._append(race_result(model) or unfinished_race(model, cut_off=cut_off))

    def _append(self, race: PastRace | None) -> None:
        if race is None or race == self._appended:
            return
        self._appended = race
        try:
            self._file.append(race)
        except OSError as error:
            tell_unsaved(error)
