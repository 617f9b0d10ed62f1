"""A client's evidence of its own race: what the player did, and what the server showed. Pure; it only grows.

``Evidence`` is what follows from its facts, of which ``new`` has those that have not been written to the file yet. The
role of the player is what the player did, not what the server says. ``observation`` says which facts follow from requests
and messages. If a message contradicts the evidence, the evidence gets a ``Found`` with the name of a row of the table of
verdicts (``samedeal.verdict_rows``), and keeps what was shown first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from operator import add
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from samedeal.deal_words import deal_words
from samedeal.errors import SamedealError, UnknownGame, UnknownTerms
from samedeal.protocol import messages
from samedeal.protocol.messages import Tally, ToServer
from samedeal.terms import RoomTerms
from samedeal.verdict_rows import ROWS, row_sentence
from samedeal_link.evidence import facts
from samedeal_link.evidence.facts import ANYTHING, Fact, Role, Wanted, fact_text
from samedeal_link.evidence.race_clock import RaceClock

MOST_BYTES: Final = 1_000_000
"""Length of the facts of a race as text after which those in ``_ENDLESS`` are dropped. Then the verdict says so."""

_ENDLESS: Final = (
    *(facts.Counted, facts.BoardWatched, facts.MoveWatched, facts.Mistimed, facts.Dealt, facts.EndShown),
    *(facts.Gone, facts.Back, facts.Sat, facts.Named),
)
"""The facts that a server can add without end. What the player does has bounds, and without it the server seems to lie."""


class Ack(NamedTuple):
    """An action that the server confirmed: its id, the revision that it led to, its time and text, the board's hash.

    ``may_undo`` is whether the server said that it can be undone.
    """

    id: int
    revision: int
    time: int
    action: str
    cards: bytes
    may_undo: bool


_GIVING_UP: Final = ("resign", "leave")

_CAUSES: Final = {"loss": ("lost_data", "changed_record"), "window": ("other_window", "new_session")}
"""The rows about troubles of honest servers and players."""


def deal_hash(seed: bytes, proof: str) -> bytes:
    """Return the hash of a revealed deal: of its seed, or of its proof."""
    return sha256(seed + proof.encode()).digest()


class Evidence(Struct, frozen=True):
    """What a client knows of its own race.

    ``called`` is the player's name on the server, and ``name`` that of the seat. The operator may change it until the seat
    ``is_named``, in the countdown.

    ``terms`` is None before the first state of the room, and if this release does not understand them. ``digest`` is
    computed by this client. ``came_late`` says that the race had begun when they were shown. ``draws`` are those in
    which the player has revealed a share. ``is_out`` says that the player has no seat any more, and ``out_after`` in how
    many draws the player had revealed a share when this was so the last time, or -1. ``today`` is the date by the clock
    of this machine. ``places`` are all seats that the player had, with the name there. ``came_from`` is the seat before
    the player came back, until a state says more. ``begun`` is None until the race has begun. ``ends`` is when the
    window of the race closes, or 0, and ``drawing`` are those who drew its deal, as the server said it. ``asked_at`` is
    when the player asked to begin there, or 0 if that is unknown, and ``began_at`` when the player did; both are None
    before. ``acks`` are in the order of their revisions. ``found`` has what was contradicted or is missing, by the names
    of rows: the detail of the first time, and how often. ``results`` has the ends of the race that were shown.
    ``absent`` has the seats of racers without a connection, and 0 while the client itself has not seen the race go on.
    ``counts`` are those of the racers, by seat. ``gave_up_at`` is the time on the server's clock by which the player
    resigned, left, or was told of being removed, or 0. ``mistimed`` has how often and by how much the server's times
    were wrong, in sum. ``heard_at`` is the local time, in milliseconds, of the newest message.

    The fields from ``new`` on are only in memory. ``was_there`` says that this connection is older than the closing of the
    doors. ``expected`` are the seats, names and kinds of the players as the newest
    countdown showed them, or None. ``delay`` is that of the boards for spectators, as the server said it.
    """

    role: Role = "player"
    room: str = ""
    wanted: Wanted = ANYTHING
    player: str = ""
    called: str = ""
    name: str = ""
    is_named: bool = False
    seat: int = 0
    places: frozenset[tuple[int, str]] = frozenset()
    bot: bool = False
    today: str = "1970-01-01"
    generation: int = 0
    terms_text: str = ""
    terms: RoomTerms | None = None
    commitment: bytes = b""
    came_late: bool = False
    shares: Mapping[int, bytes] = field(default_factory=dict)
    draws: tuple[facts.Sealed, ...] = ()
    lost: tuple[messages.LostSeat, ...] = ()
    drawn: facts.SharesShown | None = None
    is_out: bool = False
    out_after: int = -1
    begun: facts.RaceBegun | None = None
    ends: int = 0
    drawing: tuple[facts.Drawing, ...] = ()
    asked_at: int | None = None
    began_at: int | None = None
    dealt: tuple[facts.Dealt, ...] = ()
    sent_actions: Mapping[int, facts.Sent] = field(default_factory=dict)
    acks: tuple[Ack, ...] = ()
    denied: tuple[tuple[facts.Sent, facts.Denied], ...] = ()
    own: frozenset[str] = frozenset()
    gave_up_at: int = 0
    is_kicked: bool = False
    stuck: frozenset[int] = frozenset()
    resigned: frozenset[int] = frozenset()
    absent: frozenset[int] = frozenset({0})
    results: tuple[facts.EndShown, ...] = ()
    table: tuple[messages.TableLine, ...] | None = None
    found: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    counts: Mapping[int, tuple[facts.Counts, ...]] = field(default_factory=dict)
    boards: tuple[facts.BoardWatched, ...] = ()
    moves: tuple[facts.MoveWatched, ...] = ()
    mistimed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    size: int = 0
    new: tuple[Fact, ...] = ()
    event: int = -1
    heard_at: int = 0
    phase: str = ""
    came_from: int = 0
    was_there: bool = False
    expected: frozenset[tuple[int, str, bool]] | None = None
    delay: int | None = None
    clock: RaceClock = field(default_factory=RaceClock)
    waiting: Mapping[int, tuple[ToServer, int]] = field(default_factory=dict)
    tallies: Mapping[int, Tally] = field(default_factory=dict)

    @classmethod
    def asked(cls, asked: facts.AskedToEnter, player: str, name: str) -> Evidence:
        """Return the evidence of a player who asks for a seat in a room, or asks to watch it."""
        return cls().plus(asked).plus(facts.Known(player, name))

    @classmethod
    def of(cls, kept: Iterable[Fact]) -> Evidence:
        """Return the evidence that consists of facts, which a file has."""
        evidence = cls()
        for fact in kept:
            evidence = evidence.plus(fact).written()
        return replace(evidence, phase="finished" if evidence.results else "racing" if evidence.begun else "")

    def written(self) -> Evidence:
        """Return the evidence after its new facts have been written to the file."""
        return replace(self, new=()) if self.new else self

    def draw(self, number: int) -> facts.Sealed | None:
        """Return the draw with a number, or None if the player has revealed no share in it."""
        return next((each for each in self.draws if each.draw == number), None)

    @property
    def digest(self) -> bytes:
        """The digest of the terms, or an empty value if they are not understood."""
        return self.terms.digest if self.terms else b""

    @property
    def start(self) -> int:
        """The start of the race, in milliseconds since 1970, or 0 if it has not begun."""
        return self.begun.start if self.begun else 0

    @property
    def window(self) -> int:
        """The length of the race's window, in seconds, or 0."""
        return self.terms.window if self.terms else 0

    @property
    def is_hidden(self) -> bool:
        """Whether the player may know only the own attempt: the window is open."""
        return self.window > 0 and self.phase == "racing"

    @property
    def is_given_up(self) -> bool:
        """Whether the player has revealed a share for a race that did not begin with the player."""
        return bool(self.draws) and (self.begun is None or self.is_out)

    @property
    def has_given_up(self) -> bool:
        """Whether the player has resigned or left, or was removed, as far as this program knows."""
        return not self.own.isdisjoint(_GIVING_UP) or self.is_kicked

    @property
    def contradiction(self) -> str:
        """How the server has contradicted itself or the rules, in a sentence, if no honest trouble excuses it."""
        wrong = (
            row_sentence(row, detail) for row, (detail, _) in self.found.items() if self.verdict_of(row) == "wrong"
        )
        return next(wrong, "")

    def verdict_of(self, row: str) -> Literal["unsure", "wrong"]:
        """Return what a row makes of the verdict: no trouble that was seen can cause what is *wrong*."""
        excused = any(cause in self.found for trouble in ROWS[row].excuses for cause in _CAUSES[trouble])
        return "unsure" if excused else ROWS[row].verdict

    @property
    def words(self) -> str:
        """The words of the deal, or an empty text while they are not known."""
        if self.terms is None or self.phase in ("", "open"):
            return ""
        if self.terms.deal.kind != "winnable":
            return deal_words(self.digest, self.commitment)
        if self.drawn is None:
            return ""
        shares = ((each.seat, each.commitment, each.share) for each in self.drawn.shares)
        return deal_words(self.digest, self.commitment, shares)

    def at_seat(self, name: str) -> Evidence:
        """Return the evidence after the player's seat was shown with a name."""
        return replace(self, name=name, places=self.places | {(self.seat, name)})

    # Adding facts

    def plus(self, fact: Fact) -> Evidence:
        """Return the evidence with one more fact."""
        size = self.size + len(fact_text(fact))
        if size > MOST_BYTES and isinstance(fact, _ENDLESS):
            return self.finding("unfinished", "there was too much to keep")
        return _ADDED[type(fact)](replace(self, size=size, new=(*self.new, fact)), fact)

    def finding(self, row: str, detail: str = "") -> Evidence:
        """Return the evidence with what a row of the table of verdicts is about. The first time is kept, others counted."""
        if row in self.found:
            first, times = self.found[row]
            return replace(self, found={**self.found, row: (first, times + 1)})
        return self.plus(facts.Found(row, detail[:200]))

    def finding_if(self, condition: bool, row: str, detail: str = "") -> Evidence:  # noqa: FBT001  # the condition is the point
        """Return the evidence with a row if a condition holds."""
        return self.finding(row, detail) if condition else self

    def timed(self, what: Literal["misdated", "late", "dealt", "set"], by: int) -> Evidence:
        """Return the evidence with a time of the server that is wrong by so many milliseconds, if that is more than 0."""
        return self.plus(facts.Mistimed(what, by)) if by > 0 else self


def _asked(known: Evidence, fact: facts.AskedToEnter) -> Evidence:
    return replace(known, role=fact.role, room=fact.room, wanted=fact.wanted, bot=fact.bot, today=fact.today)


def _known(known: Evidence, fact: facts.Known) -> Evidence:
    return replace(known, player=fact.player, called=fact.name, name=fact.name)


def _named(known: Evidence, fact: facts.Named) -> Evidence:
    return replace(known.at_seat(fact.name), is_named=True) if fact.name else replace(known, is_named=False)


def _sat(known: Evidence, fact: facts.Sat) -> Evidence:
    seat = known.seat if known.begun is not None and known.seat else fact.seat
    places = known.places | {(seat, known.name)}
    is_named = known.is_named and not known.is_out
    return replace(known, seat=seat, places=places, generation=fact.generation, is_out=False, is_named=is_named)


def _terms_shown(known: Evidence, fact: facts.Shown) -> Evidence:
    shown = replace(
        known,
        terms_text=fact.terms,
        commitment=fact.commitment,
        table=fact.table,
        came_late=not fact.before,
        ends=fact.ends,
    )
    try:
        terms = RoomTerms.parse(fact.terms)
    except (UnknownTerms, UnknownGame) as error:
        return shown.finding("unknown_terms", str(error))
    except SamedealError:
        return shown.finding("contradicting_terms")
    shown = replace(shown, terms=terms)
    shown = shown.finding_if(terms.room != known.room, "other_room")
    difference = known.wanted.difference(terms, fact.ends)
    shown = shown.finding_if(bool(difference), "other_request", difference)
    return shown.finding_if(terms.deal.has_proof and not terms.is_described, "other_description")


def _share(known: Evidence, fact: facts.Share) -> Evidence:
    return replace(known, shares={**known.shares, fact.draw: fact.share})


def _acked(known: Evidence, fact: facts.ActConfirmed) -> Evidence:
    sent = known.sent_actions.get(fact.id)
    if sent is None:
        return known
    ack = Ack(fact.id, sent.revision + 1, fact.time, sent.action, fact.cards, fact.may_undo)
    if any(each[1:] == ack[1:] for each in reversed(known.acks)):
        return known
    if not known.acks or ack.revision > known.acks[-1].revision:
        return replace(known, acks=(*known.acks, ack))
    again = known.finding_if(
        "lost_data" not in known.found, "other_action", f"Action {ack.revision} was confirmed twice."
    )
    return replace(again, acks=(*(each for each in known.acks if each.revision < ack.revision), ack))


def _denied(known: Evidence, fact: facts.Denied) -> Evidence:
    sent = known.sent_actions.get(fact.id)
    return replace(known, denied=(*known.denied, (sent, fact))) if sent is not None else known


def _did(known: Evidence, fact: facts.Own) -> Evidence:
    did = replace(known, own=known.own | {fact.act})
    return _given_up(did, fact) if fact.act in _GIVING_UP else did


def _given_up(known: Evidence, fact: facts.Own | facts.Kicked) -> Evidence:
    return replace(known, gave_up_at=known.gave_up_at or fact.time)


def _counted(known: Evidence, fact: facts.Counted) -> Evidence:
    before = known.counts.get(fact.seat, ())
    counts = facts.Counts(*map(add, before[-1] if before else facts.NO_COUNTS, fact.by))
    return replace(known, counts={**known.counts, fact.seat: (*before, counts)})


def _mistimed(known: Evidence, fact: facts.Mistimed) -> Evidence:
    times, total = known.mistimed.get(fact.what, (0, 0))
    return replace(known, mistimed={**known.mistimed, fact.what: (times + 1, total + fact.by)})


def _gone(known: Evidence, fact: facts.Gone) -> Evidence:
    match fact.how:
        case "stuck":
            return replace(known, stuck=known.stuck | {fact.seat})
        case "resigned":
            return replace(known, resigned=known.resigned | {fact.seat})
        case "away":
            return replace(known, absent=known.absent | {fact.seat})


_ADDED: Final[Mapping[type, Callable[[Evidence, Any], Evidence]]] = {
    facts.AskedToEnter: _asked,
    facts.Known: _known,
    facts.Named: _named,
    facts.Sat: _sat,
    facts.Out: lambda known, _: replace(known, is_out=True, out_after=len(known.draws)),
    facts.Shown: _terms_shown,
    facts.Share: _share,
    facts.Sealed: lambda known, fact: replace(known, draws=(*known.draws, fact)),
    facts.Drawing: lambda known, fact: replace(known, drawing=(*known.drawing, fact)),
    facts.Losses: lambda known, fact: replace(known, lost=fact.lost),
    facts.SharesShown: lambda known, fact: replace(known, drawn=fact),
    facts.RaceBegun: lambda known, fact: replace(known, begun=fact),
    facts.AskedToBegin: lambda known, fact: replace(known, asked_at=fact.time),
    facts.Began: lambda known, fact: replace(known, began_at=fact.time),
    facts.Dealt: lambda known, fact: replace(known, dealt=(*known.dealt, fact)),
    facts.Sent: lambda known, fact: replace(known, sent_actions={**known.sent_actions, fact.id: fact}),
    facts.ActConfirmed: _acked,
    facts.Denied: _denied,
    facts.Own: _did,
    facts.Kicked: lambda known, fact: _given_up(replace(known, is_kicked=True), fact),
    facts.EndShown: lambda known, fact: replace(known, results=(*known.results, fact)),
    facts.Gone: _gone,
    facts.Back: lambda known, fact: replace(known, absent=known.absent - {fact.seat}),
    facts.Counted: _counted,
    facts.BoardWatched: lambda known, fact: replace(known, boards=(*known.boards, fact)),
    facts.MoveWatched: lambda known, fact: replace(known, moves=(*known.moves, fact)),
    facts.Mistimed: _mistimed,
    facts.Found: lambda known, fact: replace(known, found={**known.found, fact.row: (fact.detail, 1)}),
}
"""How each kind of fact changes the evidence."""
