"""The evidence of races on disk: a file for each race that the player is in or watches, with a line for each fact.

With its file, a race can be judged even after the client was killed. The files hold shares that have not been revealed
yet, so only their owner can read them. One program at a time writes a file.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, Final

import msgspec

from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.facts import AskedToEnter, Fact, Role, fact_text, parse_fact
from samedeal_link.machine.paths import make_private_directory, open_private, state_home

_MOST_RACES: Final = 50
"""Maximum number of races on a server, with a seat and as a spectator each, of which files are kept.

The oldest are deleted first.
"""


class EvidenceFile:
    """The file of a race. It stays open and locked. A race goes on without its file, which is deleted once it has a gap."""

    def __init__(self, file: IO[bytes] | None = None) -> None:
        self._file = file

    def append(self, facts: Iterable[Fact]) -> None:
        """Write facts at the end, before this method returns."""
        if self._file is None:
            return
        try:
            self._file.write(b"".join(map(fact_text, facts)))
            self._file.flush()
        except OSError:
            with suppress(OSError):
                Path(self._file.name).unlink()
            self.close()

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
        try:
            for directory in (self._directory.parent, self._directory, self._directory / role):
                make_private_directory(directory)
            paths = self._paths(role)
            for path in paths[: -_MOST_RACES + 1]:
                path.unlink(missing_ok=True)
            number = int(paths[-1].stem) + 1 if paths else 1
            return _locked(open_private(self._directory / role / f"{number:08}.jsonl", "xb"))
        except (OSError, ValueError):
            return EvidenceFile()

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
            try:
                return _locked(open_private(path, "ab")), evidence
            except OSError:
                is_player = role == "player"
                return (EvidenceFile(), evidence.finding("other_window").written()) if is_player else None
        return None

    def given_up(self) -> int:
        """Return how many races ended before their start although the player had revealed a share."""
        return sum(evidence.is_given_up for evidence in map(read_evidence, self._paths("player")))

    def _paths(self, role: Role) -> list[Path]:
        return sorted(self._directory.glob(f"{role}/*.jsonl")) if self._directory else []


def _is_of(path: Path, room: str) -> bool:
    """Return whether a file begins with a request to enter a room."""
    try:
        with path.open("rb") as file:
            first = parse_fact(file.readline())
    except (OSError, msgspec.MsgspecError):
        return False
    return isinstance(first, AskedToEnter) and first.room == room


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
        for line in path.read_bytes().splitlines():
            facts.append(parse_fact(line))  # noqa: PERF401  # the facts before a damaged line are kept
    except (OSError, msgspec.MsgspecError, ValueError):
        return Evidence.of(facts).finding("unfinished", "a file is damaged").written()
    return Evidence.of(facts)


def all_evidence() -> Iterator[Evidence]:
    """Yield the evidence of all races that players had on this machine."""
    for path in sorted(evidence_root().glob("*/player/*.jsonl")):
        yield read_evidence(path)
