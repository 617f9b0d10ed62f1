"""A journal of the player's races on disk: what was shown and revealed when a deal was drawn, and the player's actions.

With the journal, a race can be recorded even after the client was killed, and a record of the server can be checked. Each
race has a file::

    race friday 5f1c... 2 ben
    share 1 9be0...
    shown 1 1 41d2... ana
    shown 1 2 77c0... ben
    revealed 1
    start 1790000000123
    0 1204 3 5
    +0 1201 7f3a... 3 5

The first line has the room, the commitment of the server, and the player's seat and name. ``share`` has the player's share
for a draw. Then follow the seats with their commitments as they were shown before this share was revealed. A seat 0 is
another room that shares the deal, with its seal. ``again`` stands between two draws if the player left and took a seat
again, and ``problem`` names a way in which the server deviated from the rules of a draw. ``start`` is in milliseconds
since 1970. ``found`` is what the program said after a race that was not fair.

A line that begins with a digit is an action that the client has sent: the revision that it applies to, the milliseconds
since the start, and the text of the action. If several of these lines have the same revision, only the last one counts:
the server refused the actions of the others. A line that begins with ``+`` is an action that the server has acknowledged.
Its time is the server's, and it also has the head of the chain after the action.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final

from samedeal.errors import SamedealError
from samedeal.protocol.messages import RoomState
from samedeal.record import Record, RecordedPlayer
from samedeal.terminal_text import printable
from samedeal_client.paths import state_home
from samedeal_client.state.draws import Draw, DrawProblem, OwnDraws, ShownSeat
from samedeal_client.state.model import Model
from samedeal_client.state.own_play import ChainLink

_MAX_RACES: Final = 50
"""Maximum number of journals kept. The oldest are deleted first."""


@dataclass
class Journal:
    """The contents of a journal.

    ``shares`` has the player's shares by draw. ``draws`` are the draws in which the player has revealed a share. The
    first ``stay`` of them were before the player took the present seat. ``problems`` are those that the client found
    during the draws, and ``findings`` are the client's sentences about a race that was not fair.
    """

    room: str
    commitment: bytes
    seat: int
    name: str
    shares: dict[int, bytes] = field(default_factory=dict)
    draws: list[Draw] = field(default_factory=list)
    stay: int = 0
    problems: list[DrawProblem] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    sent: dict[int, tuple[int, str]] = field(default_factory=dict)
    acked: dict[int, ChainLink] = field(default_factory=dict)

    @classmethod
    def parse(cls, lines: Sequence[str]) -> Journal:
        """Return the journal with these lines. Raise ValueError or KeyError if a line is damaged."""
        word, room, commitment, own_seat, own_name = (*lines[:1], "")[0].split(" ", 4)
        if word != "race":
            raise ValueError("not a journal")
        journal = cls(room, bytes.fromhex(commitment), int(own_seat), own_name)
        shown: dict[int, list[ShownSeat]] = {}
        for line in lines[1:]:
            word, _, rest = line.partition(" ")
            match word:
                case "share":
                    draw, share = rest.split(" ")
                    journal.shares[int(draw)] = bytes.fromhex(share)
                case "shown":
                    draw, seat, commitment, name = rest.split(" ", 3)
                    shown.setdefault(int(draw), []).append(ShownSeat(int(seat), name, bytes.fromhex(commitment)))
                case "revealed":
                    draw_number = int(rest)
                    seats = tuple(shown[draw_number])
                    journal.draws.append(Draw(draw_number, seats, journal.shares[draw_number]))
                case "problem":
                    journal.problems.append(DrawProblem[rest.upper()])
                case "found":
                    journal.findings.append(rest)
                case "again":
                    journal.stay = len(journal.draws)
                case "start":
                    journal.starts.append(int(rest))
                case _ if word.startswith("+"):
                    time, head, action = rest.split(" ", 2)
                    number = int(word) + 1
                    link = ChainLink(number, int(time), action, b"" if head == "-" else bytes.fromhex(head))
                    journal.acked[number] = link
                case _:
                    time, action = rest.split(" ", 1)
                    journal.sent[int(word)] = int(time), action
        return journal

    @property
    def actions(self) -> dict[int, tuple[int, str]]:
        """The time and the text of each action, by the revision that the action applies to."""
        return self.sent | {number - 1: (link.time, link.action) for number, link in self.acked.items()}


class RaceJournals:
    """The journals of the races played on this machine.

    Errors of the disk are ignored, because a race must go on without its journal.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or state_home() / "races"

    def keep_share(self, state: RoomState, player: str, share: bytes) -> None:
        """Append the player's share for the present draw."""
        self._append(state, player, f"share {state.draw} {share.hex()}")

    def keep_draw(self, state: RoomState, player: str, draw: Draw) -> None:
        """Append what was shown before the player's share is revealed."""
        shown = (f"shown {draw.number} {seat} {commitment.hex()} {name}" for seat, name, commitment in draw.seats)
        self._append(state, player, *shown, f"revealed {draw.number}")

    def keep_problem(self, state: RoomState, player: str, problem: DrawProblem) -> None:
        """Append how the server has deviated from the rules of a draw."""
        self._append(state, player, f"problem {problem.name.lower()}")

    def keep_finding(self, model: Model, sentence: str) -> None:
        """Append what the client has found out about a race that was not fair."""
        if model.room is not None:
            self._append(model.room, model.me, f"found {printable(sentence, 400)}")

    def keep_seat(self, state: RoomState, player: str) -> None:
        """Append that the player has taken a seat again."""
        self._append(state, player, "again")

    def draws(self, state: RoomState, player: str) -> tuple[dict[int, bytes], tuple[Draw, ...], int]:
        """Return the player's shares by draw, and the draws in which the player has revealed one.

        Also return how many of these draws were before the player took the present seat.
        """
        journal = self._read(state, player)
        return (journal.shares, tuple(journal.draws), journal.stay) if journal is not None else ({}, (), 0)

    def append_sent(self, model: Model) -> None:
        """Append the player's newest unanswered action."""
        if model.room is not None and model.own.pending:
            pending, starts = model.own.pending[-1], model.room.starts
            start = [f"start {starts}"] if pending.revision == 0 else []
            line = f"{pending.revision} {max(pending.time - starts, 0)} {pending.action}"
            self._append(model.room, model.me, *start, line)

    def append_acked(self, model: Model) -> None:
        """Append the newest acknowledged action, with the head of the chain."""
        link = model.own.newest_link
        if model.room is not None and link is not None:
            head = link.head.hex() or "-"
            self._append(model.room, model.me, f"+{link.revision - 1} {link.time} {head} {link.action}")

    def record(self, model: Model) -> Record | None:
        """Return the record of this player's part of the finished race, or None if the deal or an action is unknown.

        If the client did not see the whole race, the actions are read from the journal. These actions must lead to the
        player's present board.
        """
        room, play = model.room, model.own.play
        seen = model.record()
        if seen is not None or room is None or play is None or not (room.seed or room.proof):
            return seen
        journal = self._read(room, model.me)
        if journal is None:
            return None
        try:
            actions = [journal.actions[revision] for revision in range(play.revision)]
            record = model.record_of(room, tuple(actions))
            same = record is not None and record.replay().board.state_hash() == play.board.state_hash()
        except (KeyError, SamedealError):
            return None
        return record if same else None

    def compare(self, record: Record) -> list[JournalComparison]:
        """Compare a record with every journal of the same race on this machine."""
        paths = sorted(self._directory.glob("*.txt")) if self._directory.is_dir() else ()
        found = (compare_with_journal(record, journal) for journal in map(_parsed, paths) if journal is not None)
        return [comparison for comparison in found if comparison is not None]

    def journal_of(self, model: Model) -> Journal | None:
        """Return the journal of the race in the player's room, or None if there is none or it is damaged."""
        return self._read(model.room, model.me) if model.room is not None else None

    def _read(self, room: RoomState, player: str) -> Journal | None:
        return _parsed(self._path(room, player))

    def _append(self, room: RoomState, player: str, *lines: str) -> None:
        """Append lines to the journal of a race. If the race has no journal yet, create it."""
        path = self._path(room, player)
        with suppress(OSError):
            first = []
            if not path.exists():
                seat = next((seat for seat in room.players if seat.player == player), None)
                if seat is None:
                    return
                self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
                oldest = sorted(self._directory.iterdir(), key=lambda old: old.stat().st_mtime)
                for old in oldest[: -_MAX_RACES + 1]:
                    old.unlink()
                first = [f"race {room.room} {room.commitment.hex()} {seat.seat} {seat.name}"]
            with path.open("a", encoding="utf-8") as file:
                file.write("".join(f"{line}\n" for line in (*first, *lines)))

    def _path(self, room: RoomState, player: str) -> Path:
        """Return the file of a player's race. The name is a digest, so that a server can't choose it."""
        digest = sha256(f"{room.room} {player} ".encode() + room.commitment).hexdigest()[:32]
        return self._directory / f"{digest}.txt"


NO_JOURNALS: Final = RaceJournals(Path(os.devnull))
"""Journals that keep nothing, because no file can be in their directory."""


def _parsed(path: Path) -> Journal | None:
    """Return the journal in a file, or None if there is none or it is damaged."""
    try:
        return Journal.parse(path.read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError, KeyError):
        return None


@dataclass(frozen=True)
class JournalComparison:
    """The result of comparing a record with the player's own journal of the race.

    ``player`` is the name of the player of the journal. ``actions`` is the number of acknowledged actions in the
    journal. ``differences`` describes what differs: first in the deal, then in the actions. ``drew`` is true if the
    journal has what was shown to the player when the deal was drawn.
    """

    player: str
    actions: int
    differences: tuple[str, ...] = ()
    drew: bool = False


def compare_with_journal(record: Record, journal: Journal) -> JournalComparison | None:
    """Compare a record with a journal.

    Return None if the journal is of another race. Also return None if the record lacks the player of the journal
    because it does not have all players.
    """
    terms = record.terms
    is_same_deal = journal.commitment == terms.commitment
    if journal.room != terms.room or not (is_same_deal or terms.start in journal.starts):
        return None
    if not is_same_deal:
        return JournalComparison(
            journal.name, len(journal.acked), ("The record has another commitment of the server than the race had.",)
        )
    player = next((each for each in record.players if each.seat == journal.seat), None)
    differences = [problem.value for problem in journal.problems]
    if player is None or player.name != journal.name:
        if not record.is_whole:
            return None
        if journal.starts:
            differences.append(f"The record has no player {journal.name} in seat {journal.seat}.")
        elif not differences:
            return None  # the player gave up the seat before the race
    else:
        if journal.starts and terms.start not in journal.starts:
            differences.append("The record has another start than the race had.")
        differences.append(draw_difference(record, journal.draws))
        differences.append(action_difference(record, player, journal.acked.values()))
    differences += [f"After the race, your program said: {sentence}" for sentence in journal.findings]
    found = tuple(dict.fromkeys(filter(None, differences)))
    return JournalComparison(journal.name, len(journal.acked), found, drew=bool(journal.draws))


def draw_difference(record: Record, draws: Sequence[Draw]) -> str:
    """Return how the deal of a record differs from what was shown to the player when it was drawn, or an empty text."""
    proof = record.proof
    if not draws:
        return ""
    if proof is None or proof.public:
        return "The players drew the deal together, and the record has another one."
    problem = OwnDraws(tuple(draws)).problem_of_shares(proof.draw, proof.shares, proof.seals)
    return problem.value if problem is not None else ""


def action_difference(record: Record, player: RecordedPlayer, acked: Iterable[ChainLink]) -> str:
    """Return the first difference between a player's recorded and acknowledged actions, or an empty text.

    Every acknowledged action must be in the record, even if it was made when the race is said to have ended.
    """
    heads = list(record.heads(player))
    links = sorted(acked, key=lambda link: link.revision)
    for link in links:
        revision = link.revision
        yours = f"action {revision} as {link.action} after {link.time / 1000:.3f} s"
        if revision > len(player.actions):
            more = len(links) - 1 - links.index(link)
            rest = f" and {more} more" if more else ""
            return f"Your journal has {yours}{rest}, which the server had confirmed. The record lacks them."
        time, action = player.actions[revision - 1]
        line = record.line_of("action", player.seat, revision)
        if (time, action) != (link.time, link.action):
            return f"Line {line} of the record has {action} after {time / 1000:.3f} s. Your journal has {yours}."
        if link.head and link.head != heads[revision]:
            return f"Line {line}: the head of the chain is not the one in your journal."
    last = links[-1].revision if links else 0
    if len(player.actions) > last:
        return (
            f"The record has {len(player.actions)} actions of {player.name}, but your journal ends after {last}. "
            "Unless you went on playing on another machine, somebody added the others."
        )
    return ""
