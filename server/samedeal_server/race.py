"""A race's life, pure: what each command does in each phase, and who stands where at the end.

The laws
--------
- A race is ``open`` until its countdown begins, as its options say: by the host's word, when all are ready (two at the
  least, where there is room for two), when every seat is taken, or at a time.
- The host is the player who has had a seat for longest.
- Seats are taken while the race is open and given up until it runs; from then on a seat is for good, and to leave is to
  resign. Whoever is gone from an open room for a while has given up the seat, so that nobody waits for them, unless the
  race starts at a time.
- The deal is out when the countdown ends, at ``starts``; nothing counts from ``ends`` on. Both are fixed with the
  countdown, and the clock is the store's. A countdown that has run out is a race under way, whoever comes first to say so.
- A race is finished when every player is home, out, or over (no legal move and no undo), when its time is up, or, where
  the room says so, with the first player home.
- Home stands before not home; those home by time; the others by cards up, then by who got there first. Who is level in
  all of it shares the place.
- A finished race may have one successor. A room that nobody is in, or that is long finished, closes.
- The operator may take a player out, as if they left, but for good, and may close a room. A race that is closed under way
  has no order and keeps its seed.

What each command does, by phase::

               open        countdown   racing      finished    closed
    Sit        takes seat  back only   back only   back only   room_closed
    Leave      gives up    gives up    resigns     nothing     nothing
    SetReady   marks       started     started     started     room_closed
    Begin      countdown   started     started     started     room_closed
    Resign     not_racing  not_racing  out         not_racing  room_closed
    Link       not_over    not_over    not_over    successor   room_closed
    Expel      no seat     no seat     out         no return   room_closed
    Shut       closes      closes      closes      closes      nothing
    Tick       may begin   may race    may finish  may close   nothing

In an open room, a Sit and a Tick also free the seats of those who are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.errors import Refused
from samedeal.games import Game
from samedeal.options import Options
from samedeal.protocol.messages import Phase, Standing

KEPT: Final = 3_600_000
"""Milliseconds for which a finished race's room stays, and an open room that nobody is in."""

ABSENT_AFTER: Final = 45_000
"""Milliseconds after which a player that nothing was heard of counts as not connected."""


_MOST_EXPELLED: Final = 100


class Racer(Struct, frozen=True):
    """A player with a seat, ``since`` a time in milliseconds; ``out`` says that they resigned."""

    player: str
    name: str
    seat: int
    ready: bool = False
    out: bool = False
    since: int = 0


class Run(Struct, frozen=True):
    """How far a player's board has come; times in milliseconds, 0 for not yet.

    ``generation`` is that of the player's newest connection, ``here`` when that was last heard of, negative once it is gone;
    ``risen`` is when the number of cards up last changed; ``over`` when no legal move was left and no undo allowed.
    """

    generation: int = 0
    revision: int = 0
    up: int = 0
    moves: int = 0
    undos: int = 0
    active: int = 0
    risen: int = 0
    home: int = 0
    over: int = 0
    here: int = 0


Runs = Mapping[str, Run]


class Race(Struct, frozen=True):
    """One race of a room. Times are milliseconds on the store's clock, 0 for not yet.

    ``round`` counts the rematches before it; ``deal`` is the text of its deal; ``commitment`` binds the server to the
    seed, which is empty here until the race is finished; ``idle`` is since when nothing has happened to it; ``follows``
    is the room of the race that this one is the rematch of; ``expelled`` are the newest of those who may not come back.
    """

    room: str
    options: Options
    round: int
    deal: str
    commitment: bytes
    private: bool
    created: int
    idle: int
    follows: str = ""
    phase: Phase = "open"
    racers: Annotated[tuple[Racer, ...], Meta(max_length=16)] = ()
    starts: int = 0
    ends: int = 0
    seed: bytes = b""
    next: str = ""
    standings: tuple[Standing, ...] = ()
    expelled: tuple[str, ...] = ()

    @property
    def game(self) -> Game:
        """The game of this race."""
        return self.options.game(self.round)

    @property
    def host(self) -> str:
        """The id of the player who has had a seat for longest, or empty."""
        return self.racers[0].player if self.racers else ""

    def racer(self, player: str) -> Racer | None:
        """The player's seat, or None."""
        return next((racer for racer in self.racers if racer.player == player), None)

    def here(self, runs: Runs, now: int) -> tuple[Racer, ...]:
        """Those whose seats are theirs: without, in an open room that waits for players, who is gone for a while."""
        if self.phase != "open" or self.options.start == "at":
            return self.racers
        return tuple(
            racer
            for racer in self.racers
            if now - max(racer.since, abs(runs.get(racer.player, Run()).here)) < ABSENT_AFTER
        )

    def check_welcome(self, player: str) -> None:
        """Raises Refused for a player whom the operator has taken out of this room."""
        if player in self.expelled:
            raise Refused("kicked", "The operator of this server has taken you out of this room: choose another one")

    def due(self) -> int:
        """When a Tick may next do something."""
        match self.phase:
            case "open" if self.options.start == "at":
                return self.options.start_at - (1000 * self.options.countdown if self.racers else 0)
            case "open" | "finished":
                return self.idle + KEPT
            case "countdown":
                return self.starts
            case "racing":
                return self.ends
            case _:
                return 0

    def done(self, runs: Runs) -> bool:
        """Whether nobody has anything left to play for."""
        return all(racer.out or (run := runs.get(racer.player, Run())).home or run.over for racer in self.racers)

    def successor_deal(self) -> str:
        """The deal of the rematch: the next number after a number, else a random one."""
        deal = Deal.parse(self.deal)
        return str(Deal("number", number=deal.number + 1)) if deal.kind == "number" else "random"


class Sit(Struct, frozen=True):
    """A player takes a seat, or comes back to it."""

    player: str
    name: str
    runs: Runs


class Leave(Struct, frozen=True):
    """A player gives up the seat."""

    player: str


class SetReady(Struct, frozen=True):
    """A player is ready, or not any more."""

    player: str
    ready: bool


class Begin(Struct, frozen=True):
    """A player says that the race shall start."""

    player: str


class Resign(Struct, frozen=True):
    """A player goes out of the race."""

    player: str


class Link(Struct, frozen=True):
    """The room of the rematch is there."""

    room: str


class Expel(Struct, frozen=True):
    """The operator takes a player out."""

    player: str


class Shut(Struct, frozen=True):
    """The operator closes the room."""


class Tick(Struct, frozen=True):
    """Time has passed, or a player came home. ``seed`` is that of the deal, which a finish reveals."""

    runs: Runs
    seed: bytes


Command = Sit | Leave | SetReady | Begin | Resign | Link | Expel | Shut | Tick
Outcome = tuple[Race, tuple[str, ...]]
"""The race after a command, and the names of what happened; the same race and nothing when it changed nothing."""


def after(race: Race, command: Command, now: int) -> Outcome:
    """What a command makes of a race at a time. Raises Refused with the code and the sentence for the one who asked."""
    begun: tuple[str, ...] = ()
    if race.phase == "countdown" and now >= race.starts:
        race, begun = replace(race, phase="racing"), ("racing",)
    law = _LAWS[type(command)].get(race.phase)
    if law is None:
        raise Refused("room_closed", "This room is closed: list the rooms for another one, or open one")
    changed, events = law(race, command, now)
    events = (*begun, *events)
    if not events:
        return race, ()
    return replace(changed, idle=now), events


# ---------------------------------------------------------------- seats


def _sit(race: Race, command: Sit, now: int) -> Outcome:
    race.check_welcome(command.player)
    if race.racer(command.player):
        return race, ()
    race, freed = _free(race, command.runs, now)
    if len(race.racers) >= race.options.players:
        raise Refused("room_full", f"This room is full: all {race.options.players} seats are taken")
    if any(racer.name.casefold() == command.name.casefold() for racer in race.racers):
        raise Refused(
            "name_taken", f"Somebody in this room is called {command.name} already: come back with another name"
        )
    taken = {racer.seat for racer in race.racers}
    seat = next(number for number in range(1, race.options.players + 1) if number not in taken)
    racers = (*race.racers, Racer(command.player, command.name, seat, since=now))
    return _perhaps_begin(replace(race, racers=racers), now, *freed, "joined")


def _free(race: Race, runs: Runs, now: int) -> Outcome:
    here = race.here(runs, now)
    return (race, ()) if here == race.racers else (replace(race, racers=here), ("left",))


def _sit_again(race: Race, command: Sit, now: int) -> Outcome:
    race.check_welcome(command.player)
    if race.racer(command.player):
        return race, ()
    raise Refused("race_started", "This race has started without you: watch it, or wait for the rematch")


def _give_up(race: Race, command: Leave | Expel, now: int) -> Outcome:
    if race.racer(command.player) is None:
        return race, ()
    racers = tuple(racer for racer in race.racers if racer.player != command.player)
    left = replace(race, racers=racers)
    if not racers and race.phase == "countdown":
        return replace(left, phase="open", starts=0, ends=0), ("left", "countdown_stopped")
    if race.phase == "open":
        return _perhaps_begin(left, now, "left")
    return left, ("left",)


def _go_out(race: Race, command: Leave | Resign | Expel, now: int) -> Outcome:
    racer = race.racer(command.player)
    if racer is None or racer.out or now >= race.ends:
        return race, ()
    racers = tuple(replace(each, out=True) if each is racer else each for each in race.racers)
    return replace(race, racers=racers), ("resigned",)


def _stay(race: Race, command: Command, now: int) -> Outcome:
    return race, ()


# ---------------------------------------------------------------- starting


def _mark(race: Race, command: SetReady, now: int) -> Outcome:
    racer = _seated(race, command.player)
    if racer.ready == command.ready:
        return race, ()
    racers = tuple(replace(each, ready=command.ready) if each is racer else each for each in race.racers)
    return _perhaps_begin(replace(race, racers=racers), now, "ready" if command.ready else "unready")


def _begin(race: Race, command: Begin, now: int) -> Outcome:
    _seated(race, command.player)
    if command.player != race.host:
        raise Refused("not_host", "Only the host can start the race: that is who has had a seat for longest")
    return _countdown(race, now + 1000 * race.options.countdown)


def _perhaps_begin(race: Race, now: int, *events: str) -> Outcome:
    rule, seated = race.options.start, len(race.racers)
    enough = seated >= min(2, race.options.players)
    begins = (rule == "all-ready" and enough and all(racer.ready for racer in race.racers)) or (
        rule == "full" and seated == race.options.players
    )
    if not begins:
        return race, events
    return _countdown(race, now + 1000 * race.options.countdown, *events)


def _countdown(race: Race, starts: int, *events: str) -> Outcome:
    ends = starts + 1000 * race.options.limit
    return replace(race, phase="countdown", starts=starts, ends=ends), (*events, "countdown")


def _seated(race: Race, player: str) -> Racer:
    racer = race.racer(player)
    if racer is None:
        raise Refused("no_seat", "You have no seat in this room: join it first")
    return racer


# ---------------------------------------------------------------- what time brings


def _tick_open(race: Race, command: Tick, now: int) -> Outcome:
    due = now >= race.due()
    if due and race.options.start == "at" and race.racers:
        return _countdown(race, max(now, race.options.start_at))
    left, freed = _free(race, command.runs, now)
    if due and not left.racers:
        return replace(race, phase="closed"), ("closed",)
    if freed:
        return _perhaps_begin(left, now, *freed)
    return race, ("kept_open",) if due else ()


def _tick_racing(race: Race, command: Tick, now: int) -> Outcome:
    runs = command.runs
    if not race.done(runs) and now < race.ends:
        return race, ()
    return replace(race, phase="finished", seed=command.seed, standings=standings(race, runs)), ("finished",)


def _tick_finished(race: Race, command: Tick, now: int) -> Outcome:
    return (replace(race, phase="closed"), ("closed",)) if now >= race.due() else (race, ())


def standings(race: Race, runs: Runs) -> tuple[Standing, ...]:
    """The order of a race's players by its laws, first place first."""

    def rank(racer: Racer) -> tuple[int, int, int]:
        run = runs.get(racer.player, Run())
        return (0, run.home, 0) if run.home else (1, -run.up, run.risen)

    order = sorted(race.racers, key=lambda racer: (rank(racer), racer.seat))
    ranks = [rank(racer) for racer in order]
    lines = []
    for racer in order:
        run = runs.get(racer.player, Run())
        lines.append(
            Standing(
                place=ranks.index(rank(racer)) + 1,
                player=racer.player,
                name=racer.name,
                up=run.up,
                time=run.home - race.starts if run.home else 0,
                moves=run.moves,
                undos=run.undos,
                out=racer.out and not run.home,
            )
        )
    return tuple(lines)


# ---------------------------------------------------------------- afterwards


def _link(race: Race, command: Link, now: int) -> Outcome:
    return (race, ()) if race.next else (replace(race, next=command.room), ("rematch",))


def _refuse(code: str, sentence: str) -> Callable[[Race, Any, int], Outcome]:
    def refuse(race: Race, command: Command, now: int) -> Outcome:
        raise Refused(code, sentence)

    return refuse


def _expel(race: Race, command: Expel, now: int) -> Outcome:
    if race.racer(command.player) is None:
        raise Refused("no_seat", "That player has no seat in this room")
    if command.player in race.expelled:
        return race, ()
    left, events = _EXPELLED[race.phase](race, command, now)
    return replace(left, expelled=(*race.expelled, command.player)[-_MOST_EXPELLED:]), (*events, "kicked")


def _shut(race: Race, command: Shut, now: int) -> Outcome:
    return replace(race, phase="closed"), ("shut", "closed")


_EXPELLED: Final[dict[Phase, Callable[[Race, Any, int], Outcome]]] = {
    "open": _give_up,
    "countdown": _give_up,
    "racing": _go_out,
    "finished": _stay,
}

_STARTED: Final = _refuse("race_started", "This race has started already")
_NOT_RACING: Final = _refuse("not_racing", "There is no race under way here to resign")
_NOT_OVER: Final = _refuse("not_over", "A rematch can be had when this race is finished")

_LAWS: Final[dict[type, dict[Phase, Callable[[Race, Any, int], Outcome]]]] = {
    Sit: {"open": _sit, "countdown": _sit_again, "racing": _sit_again, "finished": _sit_again},
    Leave: {"open": _give_up, "countdown": _give_up, "racing": _go_out, "finished": _stay, "closed": _stay},
    SetReady: {"open": _mark, "countdown": _STARTED, "racing": _STARTED, "finished": _STARTED},
    Begin: {"open": _begin, "countdown": _STARTED, "racing": _STARTED, "finished": _STARTED},
    Resign: {"open": _NOT_RACING, "countdown": _NOT_RACING, "racing": _go_out, "finished": _NOT_RACING},
    Link: {"open": _NOT_OVER, "countdown": _NOT_OVER, "racing": _NOT_OVER, "finished": _link},
    Expel: {"open": _expel, "countdown": _expel, "racing": _expel, "finished": _expel},
    Shut: {"open": _shut, "countdown": _shut, "racing": _shut, "finished": _shut, "closed": _stay},
    Tick: {
        "open": _tick_open,
        "countdown": _stay,
        "racing": _tick_racing,
        "finished": _tick_finished,
        "closed": _stay,
    },
}
