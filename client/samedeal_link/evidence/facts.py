"""The facts of which a client's evidence consists, and their text: a line of JSON for each fact.

A fact is something that the player did, or that the server showed. The file of a race has its facts in the order in which
they became known, and ``Evidence`` is what follows from them. Times are in milliseconds.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.options import Options
from samedeal.protocol.messages import DrawnShare, EarlierPlayer, LostSeat, RoomLine, Seat, Standing, TableLine
from samedeal.terms import RoomTerms

Role = Literal["player", "spectator"]


class Wanted(Struct, frozen=True, omit_defaults=True):
    """What the player asked for before entering a room. A default value stands for anything.

    ``options`` are those of a room that the player opened, or those that follow from the race before a rematch. ``line``
    is the row that the player chose in the list of rooms. ``game`` and ``tide`` are those of *race now*, which without a
    ``tide`` may lead to the room of one too. A room that the player opened belongs to none. ``round`` is that of a rematch.
    ``private`` says whether the player asked for a passphrase. With ``again``, the deal of an earlier race is dealt again.
    ``window`` is that of a room that the player opened, or of the race before a rematch.
    """

    options: Options | None = None
    line: RoomLine | None = None
    game: str = ""
    tide: int = 0
    round: int = -1
    private: bool | None = None
    again: bool = False
    window: int = 0

    def difference(self, terms: RoomTerms, ends: int = 0) -> str:
        """Return in what a race differs from what the player asked for, in a word, or an empty text.

        ``ends`` is when the window closes, as the server showed it, or 0.
        """
        given, asked = terms.options, self.options
        if asked is not None:
            wanted = RoomTerms.options_with(asked, terms.deal)
            wanted = replace(wanted, bots=False) if self.window else wanted  # for which no window is open
            is_same = Deal.parse(asked.deal).on(terms.deal.date) == terms.deal
            if not (terms.deal.kind == "again" if self.again else is_same):
                return "deal"
            changed = (name for name in Options.__struct_fields__ if getattr(wanted, name) != getattr(given, name))
            if name := next(changed, ""):
                return name.replace("_", " ")
        found = {
            "game": (self.game, terms.game.name),
            "tide": (self.tide if self.tide or asked else "", terms.tide),
            "round": (max(self.round, 0), terms.round if self.round >= 0 else 0),
            "rule for who may enter": (self.private, terms.private),
            "window": (self.window if self.game or asked else "", terms.window),
        }
        if self.line is not None:
            found["game"] = self.line.game, terms.game.name
            found["deal"] = self.line.deal, str(terms.deal)
            found["number of seats"] = self.line.seats, given.players
            found["delay"] = self.line.delay, given.delay
            found["rule for bots"] = self.line.bots, given.bots
            closes = self.line.closes
            is_so = (
                closes == ends or are_doors(closes, ends, terms.window, reopened=True) if terms.window else not closes
            )
            found["window"] = is_so, True
            if not self.line.closes:  # nobody watches before the window has closed
                found["rule for spectators"] = self.line.spectators, given.spectators
        return next((name for name, (own, shown) in found.items() if own not in ("", None, shown)), "")


def are_doors(at: int, ends: int, window: int, *, reopened: bool) -> bool:
    """Return whether the doors of a race may close at a time, whose window closes at ``ends``.

    The host opens them again only after draws were lost.
    """
    first = ends - 750 * window
    return at == first or (reopened and first < at <= ends)


ANYTHING: Final = Wanted()
"""What a player wants who has only the code of a room."""


Promise = tuple[int, str, bytes]
"""The number of a seat, the name of its player, and the player's commitment to a share."""


class Fact(Struct, frozen=True, array_like=True, tag_field="kind", tag=str.lower):
    """The base of all facts."""


class AskedToEnter(Fact, frozen=True):
    """The player asked to take a seat in a room, or to watch it. ``today`` is the date by the clock of this machine."""

    role: Role
    room: str
    wanted: Wanted = ANYTHING
    bot: bool = False
    today: str = "1970-01-01"


class Known(Fact, frozen=True):
    """The server knows the player by this id and name."""

    player: str
    name: str


class Named(Fact, frozen=True):
    """The player's seat was first shown with this name in the countdown. If it is empty, the room is open again."""

    name: str


class Sat(Fact, frozen=True):
    """The player got a seat, or came back to it with this generation."""

    seat: int
    generation: int


class Out(Fact, frozen=True):
    """The player has lost the seat before the race began."""


class Shown(Fact, frozen=True):
    """The room showed its terms and the commitment of the server for the first time, and the table before the race.

    ``table`` is None if the race was over. ``before`` says whether the race had not begun. ``ends`` is when the window of
    the race closes, or 0.
    """

    terms: str
    commitment: bytes
    table: tuple[TableLine, ...] | None = None
    before: bool = True
    ends: int = 0


class Share(Fact, frozen=True):
    """The player drew a share for a draw."""

    draw: int
    share: bytes


class Sealed(Fact, frozen=True):
    """The player is about to reveal the share, for these seats with these commitments."""

    draw: int
    seats: tuple[Promise, ...]


class Drawing(Fact, frozen=True):
    """The room with a window showed who draws its deal, by their seats.

    ``without_me`` says that the player is not among them, although the client saw the doors close, and had lost no share.
    """

    draw: int
    seats: tuple[int, ...]
    without_me: bool = False


class Losses(Fact, frozen=True):
    """The room showed these lost seats."""

    lost: tuple[LostSeat, ...]


class SharesShown(Fact, frozen=True):
    """The room showed the shares of all players."""

    draw: int
    shares: tuple[DrawnShare, ...]


class RaceBegun(Fact, frozen=True, tag="begun"):
    """The race began at ``start`` with these racers, whose seats have only what never changes.

    ``earlier`` are those to whom the same deal was dealt before.
    """

    start: int
    racers: tuple[Seat, ...]
    earlier: tuple[EarlierPlayer, ...] = ()


class AskedToBegin(Fact, frozen=True):
    """The player asked to begin in a window. ``time`` is the earliest that the server's clock had, or 0 if unknown."""

    time: int


class Began(Fact, frozen=True):
    """The server showed when the player's clock began in a window."""

    time: int


class Dealt(Fact, frozen=True):
    """The server showed the player's whole board. ``cards`` is the hash of the piles, as this client computed it."""

    revision: int
    cards: bytes
    moves: int
    undos: int
    may_undo: bool


class Sent(Fact, frozen=True):
    """The player sent an action on a revision. ``time`` is the earliest that the server's clock had, or 0 if unknown."""

    id: int
    revision: int
    action: str
    time: int


class ActConfirmed(Fact, frozen=True):
    """The server confirmed an action, which led to a board with the hash ``cards`` at ``time``."""

    id: int
    time: int
    cards: bytes
    may_undo: bool


class Denied(Fact, frozen=True):
    """The server refused an action with a code. ``ended`` is the latest that its clock had then, or 0 if unknown."""

    id: int
    code: str
    ended: int = 0


class Own(Fact, frozen=True):
    """The player resigned, left, or declared to be stuck: the kind of the request.

    ``time`` is the latest that the server's clock had then, or 0 if unknown.
    """

    act: str
    time: int = 0


class Kicked(Fact, frozen=True):
    """The server told the player that the host or the operator had removed the player. ``time`` is as in ``Own``."""

    time: int = 0


class EndShown(Fact, frozen=True):
    """The room showed the end of the race: when it was, the standings, and a hash of the seed or proof."""

    end: int
    lines: tuple[Standing, ...]
    deal: bytes


class Gone(Fact, frozen=True):
    """A racer was shown as stuck, as resigned or as disconnected (``away``), at this seat. Seat 0 stands for this client."""

    seat: int
    how: Literal["stuck", "resigned", "away"]


class Back(Fact, frozen=True):
    """A racer who was gone was shown as connected again, at this seat. Seat 0 stands for this client."""

    seat: int


class Counts(NamedTuple):
    """What everybody is shown of a racer's board. Times are in milliseconds since 1970, or 0."""

    foundation_cards: int = 0
    moves: int = 0
    undos: int = 0
    acted_at: int = 0
    last_progress_at: int = 0
    finished_at: int = 0
    began_at: int = 0


NO_COUNTS: Final = Counts()
"""The counts at the start of a race."""


class Counted(Fact, frozen=True):
    """The server showed new counts of a racer. ``by`` is how much each differs from the ones before."""

    seat: int
    by: Counts


class BoardWatched(Fact, frozen=True):
    """The server showed a racer's whole board to somebody who watches. ``cards`` is the hash of its piles.

    ``reached`` is as in ``DelayedBoard``.
    """

    player: str
    revision: int
    cards: bytes
    moves: int
    undos: int
    time: int
    reached: tuple[int, ...] = ()


class MoveWatched(Fact, frozen=True):
    """The server showed a racer's move to somebody who watches, with the cards that it turned up."""

    player: str
    revision: int
    action: str
    seen: bytes
    time: int


class Mistimed(Fact, frozen=True):
    """A time was strange by so many milliseconds.

    An action or a beginning was dated wrongly (``misdated``), an action was answered late, the first board was dealt late,
    or the server's clock was ``set``.
    """

    what: Literal["misdated", "late", "dealt", "set"]
    by: int


class Found(Fact, frozen=True):
    """The program found what a row of the table of verdicts is about. ``row`` is its name."""

    row: str
    detail: str = ""


_DECODER: Final = msgspec.json.Decoder(reduce(or_, Fact.__subclasses__()))


def fact_text(fact: Fact) -> bytes:
    """Return the line of a fact."""
    return msgspec.json.encode(fact) + b"\n"


def parse_fact(line: bytes) -> Fact:
    """Return the fact of a line. Raise msgspec.ValidationError or DecodeError if it is none."""
    fact: Fact = _DECODER.decode(line)
    return fact
