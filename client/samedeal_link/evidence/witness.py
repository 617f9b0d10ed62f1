"""What a link does with the evidence of its player's race: it keeps it in memory and in a file, and answers draws by it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from msgspec.structs import replace

from samedeal.protocol.messages import (
    CommitShare,
    Hello,
    Join,
    Joined,
    RevealShare,
    RoomState,
    ToClient,
    ToServer,
    Watch,
    Watching,
    Welcome,
)
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.evidence_files import EvidenceFile, EvidenceFiles
from samedeal_link.evidence.facts import ANYTHING, AskedToEnter, Role, Share, Wanted
from samedeal_link.evidence.observation import received, sent
from samedeal_link.evidence.own_draws import answer, wanted_share


class Witness:
    """The evidence of the race that the player is in. ``new_share`` returns a new random share.

    Times are local ones, in milliseconds. Facts are in the file before a request leaves, and before a message is shown. A
    witness that ``is_blind`` learns nothing, because there is no server: it is practice.
    """

    def __init__(self, files: EvidenceFiles, new_share: Callable[[], bytes], *, bot: bool = False) -> None:
        self.is_blind = False
        self.evidence = Evidence()
        self._files = files
        self._file: EvidenceFile | None = None
        self._new_share = new_share
        self._bot = bot
        self._next: Evidence | None = None
        self._fresh: Evidence | None = None
        self._has_resumed = False

    def asks(self, role: Role, room: str, wanted: Wanted, player: str, name: str) -> None:
        """Record that the player asks to enter a room. The evidence of it begins with the answer.

        A racer who watches the others stays a racer.
        """
        known = self.evidence
        is_same_race = role == "spectator" and known.role == "player" and known.room == room and known.begun is not None
        if self.is_blind or is_same_race:
            return
        self._next = self._asked(role, room, wanted, player, name)

    def _asked(self, role: Role, room: str, wanted: Wanted, player: str, name: str) -> Evidence:
        today = datetime.now(UTC).date().isoformat()
        asked = Evidence.asked(AskedToEnter(role, room, wanted, self._bot, today), player, name)
        return replace(asked, clock=replace(self.evidence.clock, is_fixed=False))

    def greeted(self, welcome: Welcome, now: int) -> None:
        """Record that a new connection was made."""
        self.sends(Hello(id=welcome.to, name=welcome.name), now)
        self.receives(welcome, now)

    def sends(self, request: ToServer, now: int) -> None:
        """Record a request that is about to be sent."""
        known = self.evidence
        if isinstance(request, Join | Watch):
            if request.room not in (known.room, self._next.room if self._next else ""):
                role: Role = "player" if isinstance(request, Join) else "spectator"
                self.asks(role, request.room, ANYTHING, known.player, known.called)
            if self._next is not None and self._next.room == request.room:
                self._next = sent(self._next, request, now)
                return
        self.evidence = sent(self.evidence, request, now)
        self._write()

    def receives(self, message: ToClient, now: int) -> None:
        """Record a message that has arrived."""
        if self.is_blind:
            return
        entered = self._next
        if entered is not None and getattr(message, "to", -1) in entered.waiting:
            self._next = received(entered, message, now)
            if isinstance(message, Joined | Watching):
                self._enter(entered, message, now)
            return
        known = self.evidence
        is_back = isinstance(message, Watching) and message.to in known.waiting and bool(known.terms_text)
        if is_back and known.role == "spectator":
            asked = self._asked(known.role, known.room, ANYTHING, known.player, known.called)
            self._fresh = replace(asked, waiting=known.waiting)  # the room may have been opened anew meanwhile
        if self._fresh is not None:  # it is not known yet whether the room still has the same race
            if isinstance(message, RoomState):
                self._choose(self._fresh, message)
            else:
                self._fresh = received(self._fresh, message, now)
        self._has_resumed = isinstance(message, Joined) or (self._has_resumed and not isinstance(message, RoomState))
        self.evidence = received(self.evidence, message, now)
        self._write()

    def _enter(self, asked: Evidence, message: Joined | Watching, now: int) -> None:
        """Begin with the evidence of another room, or go on with that of an earlier program in the same race."""
        self.close()
        self._file = None
        waiting = {**self.evidence.waiting, **asked.waiting}  # answers to both still arrive
        asked = replace(asked, waiting=waiting, clock=replace(self.evidence.clock, is_fixed=False))
        fresh, self._next = received(asked, message, now), None
        kept = self._files.reopen(asked.role, asked.room, asked.player)
        if kept is None:
            self.evidence, self._fresh = fresh, None
            return
        self._file, evidence = kept
        known = replace(evidence, waiting=asked.waiting, clock=asked.clock)
        self.evidence, self._fresh = received(known, message, now), fresh

    def _choose(self, fresh: Evidence, state: RoomState) -> None:
        """Go on with the evidence that there is only if the room still has its race."""
        self._fresh = None
        if not _has_race_of(self.evidence, state):
            self.close()
            self._file, self.evidence = None, fresh

    def is_other_race(self, state: RoomState) -> bool:
        """Return whether the room was opened anew while the program had no connection."""
        known = self.evidence
        is_known = self._has_resumed and state.room == known.room and bool(known.terms_text)
        return is_known and self._fresh is None and not _has_race_of(known, state)

    def answer(self, state: RoomState) -> CommitShare | RevealShare | None:
        """Return the request that a draw waits for, if any. Its id is 0. What it needs is in the file."""
        if self.is_blind:
            return None
        if draw := wanted_share(self.evidence, state):
            self.evidence = self.evidence.plus(Share(draw, self._new_share()))
        self.evidence, request = answer(self.evidence, state)
        self._write()
        return request

    def taken_over(self) -> None:
        """Record that another program of the player has taken over the seat."""
        self.evidence = self.evidence.finding("other_window")
        self._write()

    def finds(self, rows: dict[str, str]) -> None:
        """Record what was found after the race, so that the file has it too."""
        for row, detail in rows.items():
            if row not in self.evidence.found:
                self.evidence = self.evidence.finding(row, detail)
        self._write()

    def given_up(self) -> int:
        """Return how many other races on this server did not begin with the player, who had revealed a share."""
        return self._files.given_up()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _write(self) -> None:
        evidence = self.evidence
        if not evidence.new or not evidence.terms_text or self._fresh is not None:
            return
        if self._file is None:
            self._file = self._files.create(evidence.role)
        self._file.append(evidence.new)
        self.evidence = evidence.written()


def _has_race_of(known: Evidence, state: RoomState) -> bool:
    """Return whether a room still has the race that the evidence is about.

    Only the results tell a race from the next one with the same public deal.
    """
    is_next = bool(known.results) and state.phase in ("open", "countdown")
    return (state.terms, state.commitment) == (known.terms_text, known.commitment) and not is_next
