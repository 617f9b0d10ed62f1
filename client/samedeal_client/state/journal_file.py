"""A journal of the player's actions on disk. The journal allows a record of the race even after the client was killed.

Each race has a file. The first line begins with ``#``. It has the room, the start of the race and the commitment of the
deal, then the player's seat and name. Every other line is an action: the revision that it applies to, the milliseconds
since the start of the race, and the text of the action.

A line that begins with ``+`` is an action that the server has acknowledged. Its time is the server's, and it also has
the head of the chain after the action. A line without ``+`` is an action that the client has sent. If several of these
lines have the same revision, only the last one counts: the server refused the actions of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from samedeal.errors import SamedealError
from samedeal.protocol.messages import RoomState
from samedeal.record import Record, RecordedPlayer
from samedeal_client.paths import state_home
from samedeal_client.state.model import Model
from samedeal_client.state.own_play import ChainLink

_MAX_RACES: Final = 50
"""Maximum number of journals kept. The oldest are deleted first."""


class ActionJournal:
    """The journals of the races played on this machine.

    Errors of the disk are ignored, because a race must go on without its journal.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or state_home() / "races"

    def append(self, model: Model) -> None:
        """Append the player's newest unanswered action. If the race has no journal yet, create the journal."""
        if model.room is None or not model.own.pending:
            return
        pending = model.own.pending[-1]
        path = self._path(model.room, model.me)
        with suppress(OSError):
            if not path.exists():
                self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
                for old in sorted(self._directory.iterdir())[: -_MAX_RACES + 1]:
                    old.unlink()
                seat, room = model.seat, model.room
                if seat is not None:
                    first = f"# {room.room} {room.starts} {room.commitment.hex()} {seat.seat} {seat.name}\n"
                    path.write_text(first, encoding="utf-8")
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{pending.revision} {max(pending.time - model.room.starts, 0)} {pending.action}\n")

    def append_acked(self, model: Model) -> None:
        """Append the newest acknowledged action, with the head of the chain."""
        link = model.own.newest_link
        if model.room is None or link is None:
            return
        with suppress(OSError), self._path(model.room, model.me).open("a", encoding="utf-8") as file:
            file.write(f"+{link.revision - 1} {link.time} {link.head.hex() or '-'} {link.action}\n")

    def record(self, model: Model) -> Record | None:
        """Return the record of this player's part of the finished race, or None if the deal or an action is unknown.

        If the client did not see the whole race, the actions are read from the journal. These actions must lead to the
        player's present board.
        """
        room, play = model.room, model.own.play
        seen = model.record()
        if seen is not None or room is None or play is None or not (room.seed or room.proof):
            return seen
        try:
            by_revision = _actions(self._path(room, model.me).read_text(encoding="utf-8").splitlines())
            actions = [by_revision[revision] for revision in range(play.revision)]
            record = model.record_of(room, tuple(actions))
            same = record is not None and record.replay().board.state_hash() == play.board.state_hash()
        except (OSError, ValueError, KeyError, SamedealError):
            return None
        return record if same else None

    def _path(self, room: RoomState, player: str) -> Path:
        """Return the file of a player's race. The name contains a digest, so that a server can't choose the name."""
        digest = sha256(f"{room.room} {player} ".encode() + room.commitment).hexdigest()[:16]
        return self._directory / f"{room.starts:020}-{digest}.txt"


@dataclass(frozen=True)
class JournalComparison:
    """The result of comparing a record with the player's own journal of the race.

    ``player`` is the name of the player of the journal. ``actions`` is the number of acknowledged actions in the
    journal. ``difference`` describes the first difference, or is empty if there is none.
    """

    player: str
    actions: int
    difference: str = ""


def compare_with_journals(record: Record, directory: Path | None = None) -> list[JournalComparison]:
    """Compare a record with every journal of the same race on this machine."""
    directory = directory or state_home() / "races"
    found = []
    for path in sorted(directory.glob("*.txt")) if directory.is_dir() else ():
        with suppress(OSError, ValueError):
            comparison = compare_with_journal(record, path.read_text(encoding="utf-8").splitlines())
            if comparison is not None:
                found.append(comparison)
    return found


def compare_with_journal(record: Record, lines: Sequence[str]) -> JournalComparison | None:
    """Compare a record with the lines of a journal.

    Return None if the journal is of another race. Also return None if the record lacks the player of the journal
    because it does not have all players. Raise ValueError if a line is damaged.
    """
    terms = record.terms
    if not lines or not lines[0].startswith("# "):
        return None
    room, start, commitment, seat, name = lines[0][2:].split(" ", 4)
    if room != terms.room or (int(start) != terms.start and commitment != terms.commitment.hex()):
        return None
    acked = _acked_links(lines)
    result = JournalComparison(name, len(acked))
    if (int(start), commitment) != (terms.start, terms.commitment.hex()):
        return replace(result, difference="The record has another start or another commitment than the race had.")
    player = next((each for each in record.players if each.seat == int(seat)), None)
    if player is None or player.name != name:
        missing = f"The record has no player {name} in seat {seat}."
        return replace(result, difference=missing) if record.is_whole else None
    return replace(result, difference=_first_difference(record, player, acked))


def _first_difference(record: Record, player: RecordedPlayer, acked: Mapping[int, ChainLink]) -> str:
    heads = list(record.heads(player))
    for revision, link in sorted(acked.items()):
        yours = f"action {revision} as {link.action} after {link.time / 1000:.3f} s"
        if revision > len(player.actions):
            if record.terms.start + link.time < record.end:
                return f"Your journal has {yours}, which the record lacks."
            break
        time, action = player.actions[revision - 1]
        line = record.line_of("action", player.seat, revision)
        if (time, action) != (link.time, link.action):
            return f"Line {line} of the record has {action} after {time / 1000:.3f} s. Your journal has {yours}."
        if link.head and link.head != heads[revision]:
            return f"Line {line}: the head of the chain is not the one that the server sent you then."
    if len(player.actions) > max(acked, default=0):
        return (
            f"The record has {len(player.actions)} actions of {player.name}, but your journal ends after "
            f"{max(acked, default=0)}. Unless you went on playing on another machine, somebody added the others."
        )
    return ""


def _acked_links(lines: Sequence[str]) -> dict[int, ChainLink]:
    """Return the acknowledged actions by the revisions that they led to."""
    links = {}
    for line in lines:
        if line.startswith("+"):
            revision, time, head, action = line[1:].split(" ", 3)
            number = int(revision) + 1
            links[number] = ChainLink(number, int(time), action, b"" if head == "-" else bytes.fromhex(head))
    return links


def _actions(lines: list[str]) -> dict[int, tuple[int, str]]:
    """Return the time and the text of each action, by the revision that the action applies to.

    Raise ValueError if a line is damaged.
    """
    sent = {}
    for line in lines:
        if not line.startswith(("+", "#")):
            revision, time, action = line.split(" ", 2)
            sent[int(revision)] = int(time), action
    return sent | {revision - 1: (link.time, link.action) for revision, link in _acked_links(lines).items()}
