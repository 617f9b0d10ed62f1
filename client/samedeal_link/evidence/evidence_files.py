"""The evidence of races on disk: a file for each race that the player is in or watches, with a line for each fact.

With its file, a race can be judged even after the client was killed. The files hold shares that have not been revealed
yet, so only their owner can read them. One program at a time writes a file.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import IO, Final

import msgspec

from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.facts import AskedToEnter, Fact, Role, fact_text, parse_fact
from samedeal_link.machine.paths import make_private_directory, open_private, state_home, tell_unsaved
from samedeal_link.machine.terminal import terminal

_MOST_RACES: Final = 50
"""Maximum number of races on a server, with a seat and as a spectator each, of which files are kept.

The oldest are deleted first.
"""


class EvidenceFile:
    """The file of a race. It stays open and locked.

    A race goes on without its file, which is deleted once it has a gap: what it should have is then in memory, at ``path``.
    """

    def __init__(self, file: IO[bytes] | None = None, path: Path | None = None) -> None:
        self._file = file
        self._path = path

    def append(self, facts: Iterable[Fact]) -> None:
        """Write facts at the end, before this method returns."""
        text = b"".join(map(fact_text, facts))
        if self._file is not None:
            end = self._file.tell()
            try:
                self._file.write(text)
                self._file.flush()
            except OSError as error:
                self._path = path = Path(self._file.name)
                _keep_in_memory(path, error)
                with suppress(OSError):
                    terminal().unsaved.kept[path] += path.read_bytes()[:end]
                    path.unlink()
                self.close()
        if self._path is not None:
            terminal().unsaved.kept.setdefault(self._path, bytearray()).extend(text)

    def close(self) -> None:
        """Close the file, so that another program can write it."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        self._file = None


class EvidenceFiles:
    """The files of the races on one server, in a directory of ``root``. Without ``root``, nothing is kept."""

    def __init__(self, root: Path | None, server: str) -> None:
        self._directory = root / sha256(server.encode()).hexdigest()[:16] if root else None

    def create(self, role: Role) -> EvidenceFile:
        """Return a new file."""
        if self._directory is None:
            return EvidenceFile()
        paths = self._paths(role)
        number = next((int(path.stem) for path in reversed(paths) if path.stem.isdigit()), 0) + 1
        new = self._directory / role / f"{number:08}.jsonl"
        try:
            for directory in (self._directory.parent, self._directory, new.parent):
                make_private_directory(directory)
            for path in paths[: -_MOST_RACES + 1]:
                terminal().unsaved.kept.pop(path, None)
                path.unlink(missing_ok=True)
            return _locked(open_private(new, "xb"))
        except OSError as error:
            return _keep_in_memory(new, error)

    def reopen(self, role: Role, room: str, player: str) -> tuple[EvidenceFile, Evidence] | None:
        """Return the file and the evidence of the newest race of a player in a room, or None if there is none.

        The player must not have lost or left the seat. If another program writes the file, it is only read, and another
        program of a spectator is none of a spectator's business.
        """
        for path in reversed(self._paths(role)):
            if not _is_of(path, room):
                continue
            evidence = read_evidence(path)
            if evidence.player != player:
                continue
            if role == "player" and (evidence.is_out or evidence.is_kicked or "leave" in evidence.own):
                return None
            if path in terminal().unsaved.kept:
                return EvidenceFile(path=path), evidence
            try:
                return _locked(open_private(path, "ab")), evidence
            except BlockingIOError:
                is_player = role == "player"
                return (EvidenceFile(), evidence.finding("other_window").written()) if is_player else None
            except OSError as error:
                return _keep_in_memory(path, error, path.read_bytes()), evidence
        return None

    def given_up(self) -> int:
        """Return how many races ended before their start although the player had revealed a share."""
        return sum(evidence.is_given_up for evidence in map(read_evidence, self._paths("player")))

    def _paths(self, role: Role) -> list[Path]:
        if self._directory is None:
            return []
        unsaved = (path for path in terminal().unsaved.kept if path.parent == self._directory / role)
        return sorted({*self._directory.glob(f"{role}/*.jsonl"), *unsaved})


def _is_of(path: Path, room: str) -> bool:
    """Return whether a file begins with a request to enter a room."""
    try:
        with BytesIO(kept) if (kept := terminal().unsaved.kept.get(path)) else path.open("rb") as file:
            first = parse_fact(file.readline())
    except (OSError, msgspec.MsgspecError):
        return False
    return isinstance(first, AskedToEnter) and first.room == room


def _keep_in_memory(path: Path, error: OSError, before: bytes = b"") -> EvidenceFile:
    """Return a file that is only in memory, after an error of the one at ``path``, and tell the player."""
    tell_unsaved(error)
    terminal().unsaved.kept[path] = bytearray(before)
    return EvidenceFile(path=path)


def _locked(file: IO[bytes]) -> EvidenceFile:
    """Return a file that no other program has locked. Raise OSError otherwise."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return EvidenceFile(file)


def evidence_root() -> Path:
    """Return the directory with the evidence of all servers."""
    return state_home() / "evidence"


def read_evidence(path: Path) -> Evidence:
    """Return the evidence in a file. What follows a damaged line is not read, and the evidence says so."""
    facts: list[Fact] = []
    try:
        for line in bytes(terminal().unsaved.kept.get(path) or path.read_bytes()).splitlines():
            facts.append(parse_fact(line))  # noqa: PERF401  # the facts before a damaged line are kept
    except msgspec.ValidationError:
        return Evidence.of(facts).finding("unfinished", "another release wrote a file").written()
    except (OSError, msgspec.MsgspecError, ValueError):
        return Evidence.of(facts).finding("unfinished", "a file is damaged").written()
    return Evidence.of(facts)


def all_evidence() -> Iterator[Evidence]:
    """Yield the evidence of all races that players had on this machine."""
    for path in sorted(evidence_root().glob("*/player/*.jsonl")):
        yield read_evidence(path)
