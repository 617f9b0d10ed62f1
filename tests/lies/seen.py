"""What an honest client knows and shows, as a pure function of its requests and of the server's messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from samedeal.board_history import Undo
from samedeal.errors import SamedealError
from samedeal.protocol import messages
from samedeal.protocol.messages import Act, CommitShare, RevealShare, RoomState, Tally, ToClient, ToServer
from samedeal.protocol_codes import NoticeCode
from samedeal_link.connection.unanswered_requests import is_rate_limited, is_unsaved
from samedeal_link.evidence import facts, observation, own_draws
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.facts import AskedToEnter, fact_text, parse_fact
from samedeal_link.model.own_play import OwnPlay
from tests.lies.deals import some_bytes


class Event(NamedTuple):
    """Something that happens to a client at a local time. ``message`` is None for what happens without one."""

    kind: Literal["sent", "received", "restarted", "forgot", "taken over"]
    now: int
    message: Any = None


class Shown(NamedTuple):
    """Something that the client did or showed. ``before`` is what it did or showed before: a linked list."""

    what: str
    value: Any
    before: Shown | None


@dataclass(frozen=True, eq=False)
class Told:
    """A step of the evidence. ``answer`` is what the client then wants to send. ``before`` is the step before it."""

    what: str
    message: Any
    now: int
    answer: str
    before: Told | None

    def is_like(self, other: Told) -> bool:
        """Whether two steps are the same, whatever was before."""
        return (self.what, self.now, self.message) == (other.what, other.now, other.message)


class Seen(Struct, frozen=True):
    """A client between two events: its evidence, what the file has, and what it did and showed.

    ``ready`` is a request of the draw that the client sends next. ``skipped`` has the ids of requests that were recorded
    but are not sent, because the client was told something else.
    """

    asked: AskedToEnter
    player: str
    name: str
    seed: str
    evidence: Evidence
    file: tuple[bytes, ...] = ()
    screen: Shown | None = None
    told: Told | None = None
    own: OwnPlay = field(default_factory=OwnPlay)
    tallies: tuple[tuple[int, Tally], ...] = ()
    state: RoomState | None = None
    ready: CommitShare | RevealShare | None = None
    skipped: frozenset[int] = frozenset()
    words: frozenset[str] = frozenset()
    heard_at: int = 0
    fresh_id: int = 1 << 40

    @classmethod
    def of(cls, asked: AskedToEnter, player: str, name: str, seed: str) -> Seen:
        return cls(asked, player, name, seed, Evidence.asked(asked, player, name))._written()

    def shown(self) -> Iterator[tuple[str, Any]]:
        """What the client did and showed, newest first."""
        each = self.screen
        while each is not None:
            yield each.what, each.value
            each = each.before

    def steps(self) -> Iterator[Told]:
        """What the evidence was told, newest first."""
        step = self.told
        while step is not None:
            yield step
            step = step.before

    def _telling(self, what: str, now: int, message: Any = None) -> Seen:
        answer = type(self.ready).__name__.lower() if self.ready is not None and what == "received" else ""
        return replace(self, told=Told(what, message, now, answer, self.told))

    def showing(self, what: str, value: Any = None) -> Seen:
        return replace(self, screen=Shown(what, value, self.screen))

    def _written(self) -> Seen:
        if not self.evidence.new:
            return self
        lines = tuple(map(fact_text, self.evidence.new))
        return replace(self, file=self.file + lines, evidence=self.evidence.written())

    def after(self, event: Event) -> Seen:
        """Return the client after an event."""
        if event.kind == "sent":
            return self._sent(event.message, event.now)
        flushed = self
        if self.ready is not None:
            flushed = self._sending(replace(self.ready, id=self.fresh_id), event.now)
            flushed = replace(flushed, fresh_id=self.fresh_id + 1)
        if event.kind == "received":
            return flushed._received(event.message, event.now)
        known = flushed
        match event.kind:
            case "taken over":  # the connection was closed with the code 4002
                known = replace(flushed, evidence=flushed.evidence.finding("other_window"))._written()
            case "restarted":
                kept = Evidence.of(parse_fact(line) for line in flushed.file)
                anew = replace(flushed, evidence=kept, own=OwnPlay(), tallies=(), state=None)
                known = replace(anew, heard_at=0).showing("restarted")
            case "forgot":
                asked = Evidence.asked(self.asked, self.player, self.name)
                anew = replace(flushed, evidence=asked, file=(), own=OwnPlay(), tallies=(), state=None)
                known = anew._written().showing("forgot")
        return known._telling(event.kind, event.now)

    def _sent(self, request: ToServer, now: int) -> Seen:
        if isinstance(request, CommitShare | RevealShare):
            if self.ready is None or replace(self.ready, id=request.id) != request:
                return replace(self, skipped=self.skipped | {request.id})
            return self._sending(request, now)
        if isinstance(request, Act):
            try:
                own, act = self.own.with_action(request.action, request.id, now)
            except SamedealError:
                return replace(self, skipped=self.skipped | {request.id})
            return replace(self, own=own)._sending(act, now)
        return self._sending(request, now)

    def _sending(self, request: ToServer, now: int) -> Seen:
        known = replace(self, evidence=observation.sent(self.evidence, request, now), ready=None)
        known = known._telling("sent", now, request)
        if isinstance(request, messages.Hello):
            known = known.showing("back", now - self.heard_at)
        if isinstance(request, RevealShare):
            assert self.state is not None
            known = known.showing("reveal", (request, self.state, bool(self.evidence.contradiction)))
        elif isinstance(
            request,
            Act | messages.Resign | messages.Leave | messages.DeclareStuck | messages.Join | messages.Begin,
        ):
            known = known.showing("sent", (request, now))
        elif isinstance(request, messages.Ping):
            known = known.showing("ping", (request.id, now))
        return known._written()

    def _received(self, message: ToClient, now: int) -> Seen:
        if getattr(message, "to", None) in self.skipped:
            return self
        known = replace(self, evidence=observation.received(self.evidence, message, now), heard_at=now)
        if isinstance(message, RoomState):
            known = known._drawing(message)
        known = known._telling("received", now, message)._written()._showing(message, now)
        if isinstance(message, RoomState | messages.Drawn) and (words := known.evidence.words):
            known = replace(known, words=known.words | {words})
        return known

    def _drawing(self, state: RoomState) -> Seen:
        evidence = self.evidence
        if draw := own_draws.wanted_share(evidence, state):
            evidence = evidence.plus(facts.Share(draw, self.share(draw)))
        evidence, request = own_draws.answer(evidence, state)
        return replace(self, evidence=evidence, ready=request)

    def share(self, draw: int) -> bytes:
        return some_bytes(f"{self.seed} {self.name} {draw}")

    def _showing(self, message: ToClient, now: int) -> Seen:
        match message:
            case RoomState():
                tallies = {seat.player: seat.seat for seat in message.players}
                known = tuple((tallies[each.player], each) for each in message.tallies if each.player in tallies)
                return replace(self, state=message, tallies=known).showing("state", message)
            case messages.BoardState() | messages.Acked() | messages.Refused():
                return self._playing(message, now)
            case messages.ProgressUpdate():
                tallies_now = tuple(
                    (seat, tally.updated(message) if seat == message.seat else tally) for seat, tally in self.tallies
                )
                newest = [(seat, tally) for seat, tally in tallies_now if seat == message.seat]
                known_now = replace(self, tallies=tallies_now)
                return known_now.showing("tally", newest[0]) if newest else known_now
            case messages.Begun():
                return self.showing("begun", message.time)
            case messages.Pong():
                return self.showing("pong", (message.to, now))
            case messages.Notice(code=NoticeCode.KICKED):
                return self.showing("kicked", now)
            case messages.Drawn() | messages.DelayedBoard() | messages.DelayedMove() | messages.Notice():
                return self.showing(type(message).__name__.lower(), message)
            case _:
                return self

    def _playing(self, message: messages.BoardState | messages.Acked | messages.Refused, now: int) -> Seen:
        before = self.own
        try:
            if isinstance(message, messages.BoardState):
                own = before.with_board(message, self._undo_rule())
            elif isinstance(message, messages.Acked):
                own = before.acked(message, self.state.starts if self.state else 0)
            elif is_rate_limited(message) or is_unsaved(message):  # the link sends the action again by itself
                own = before
            else:
                own = before.refused(message)
        except SamedealError:
            return self
        known = replace(self, own=own)
        if own.rollback is not None and own.rollback is not before.rollback:
            revision = next(each.revision for each in before.pending if each.id == getattr(message, "to", None))
            known = known.showing("refused", (revision, own.rollback.action, own.rollback.code, now))
        if own.play is not None and own.play is not before.play and not own.out_of_sync:
            may_undo = own.may_undo if not own.pending else None
            shown = own.play.revision, own.play.board.piles, own.play.moves, own.play.undos, may_undo
            known = known.showing("board", shown)
            if isinstance(message, messages.Acked):
                action = next(each.action for each in before.pending if each.id == message.to)
                known = known.showing("ack", (own.play.revision, action, message.time))
        return known

    def _undo_rule(self) -> Undo:
        return self.state.options.undo_rule if self.state else Undo.NO_REVEAL
