"""The plan of a world: a round of chaos, and faults at exact places of the store. Pure.

A place is the n-th batch of commands that nodes send with a certain script or command. It does not depend on time, so a
plan from which some faults were left out still has the others where they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Final, Literal, get_args

import msgspec

from samedeal.solver.solve import SOLVER
from tests.chaos.plan import Fault, Plan, RoomPlan, TidePlan, make_plan, with_window
from tests.simulation.release import Release

What = Literal["cut before", "cut during", "cut after", "crash before", "crash after", "freeze", "late", "refuse"]
"""What happens at a place.

The connection is cut before the batch is executed, in the middle, or before its answer; or the node is killed then. Or
the node stands still once it has sent the batch, or the answer is late, or Redis refuses the command.
"""

_WEIGHTS: Final = {"cut before": 4, "cut during": 2, "cut after": 6, "crash before": 2, "crash after": 3, "refuse": 4}

PLACES: Final = {
    "commit_action": (12, 40),
    "compare_and_set": (6, 12),
    "connect_player": (3, 4),
    "record_presence": (1, 3),
    "replace_string": (5, 4),
    "create_room": (1, 1),
    "set_spectator_count": (1, 2),
    "XRANGE": (4, 25),
    "HMGET": (3, 40),
    "HSET": (3, 3),
    "TIME": (1, 12),
    "ZADD": (1, 4),
    "SET": (1, 12),
    "SSUBSCRIBE": (2, 3),
    "add_news": (2, 4),
}
"""The places: how often a plan chooses each, and about how many of them a world has."""

_LINK_FAULTS: Final = ("mute redis", "lose announcements", "slow search", "step node clock", "slow network")
LINK_FAULTS: Final = (*_LINK_FAULTS, "mute clients")
"""Faults that take some time, apart from those of chaos. What is mute sends nothing more, and is sent everything."""

_LONE_FAULTS: Final = (
    *_LINK_FAULTS,
    "kill house",
    "kill house",
    "kill node",
    "freeze node",
    "drain node",
    "reset",
    "stall",
)
"""Faults while somebody races alone."""

_THEMES: Final = (
    *("anything", "searches", "anything", "commits", "anything", "announcements"),
    *("anything", "searches", "anything", "commits", "records", "announcements"),
)
"""What worlds are about, in turn."""

_GAMES: Final = ("willow", "phoenix", "ace-of-hearts")
"""Games of rooms whose deals nobody searches for."""

_SEARCHED_GAME: Final = "ace-of-hearts"
"""The game of all others: nearly every deal can be won, and the solver sees it within a tenth of a second."""

_SEARCHED: Final = frozenset(("winnable", "daily"))


@dataclass(frozen=True)
class Cut:
    """A fault at the n-th batch with a script or command. If it takes time, that is ``seconds``."""

    place: str
    nth: int
    what: What
    seconds: float

    def __str__(self) -> str:
        return f"{self.what} at {self.place} {self.nth} ({self.seconds} s)"


@dataclass(frozen=True)
class WorldPlan:
    """A round of chaos and cuts. ``slowness`` multiplies the time of searches for deals.

    ``older`` is the release that all nodes have at first. Each deploy brings the other one.
    """

    round: Plan
    cuts: tuple[Cut, ...]
    slowness: float = 1.0
    older: Release | None = None

    def without(self) -> Iterator[WorldPlan]:
        """Yield the plans with one fault less."""
        for at in range(len(self.cuts)):
            yield replace(self, cuts=self.cuts[:at] + self.cuts[at + 1 :])
        for at in range(len(self.round.faults)):
            faults = self.round.faults[:at] + self.round.faults[at + 1 :]
            yield replace(self, round=replace(self.round, faults=faults))

    def __str__(self) -> str:
        return "\n  ".join((str(self.round), f"searches take {self.slowness:g} times as long", *map(str, self.cuts)))


def make_world(seed: int, known: Mapping[str, str], older: Release | None = None) -> WorldPlan:
    """Plan a world. ``known`` has the deals with known winning actions, by game.

    If there is an ``older`` release, this one is deployed where it was, and in half of the worlds rolled back. If they have
    different solvers, they refuse each other's rooms with deals that were searched for, so there are none.

    Some worlds have many faults of all kinds. Others have few of one kind, in a small room, because what a fault does is
    often mended by the next one.
    """
    rng = Random(f"world {seed}")
    whole = make_plan(seed, 0, dict(known), small=True)
    rooms = [_smaller(room, rng, known) for room in whole.rooms[: rng.choice((1, 1, 2))]]
    faults, cuts = list(whole.faults), [_cut(rng) for _ in range(rng.choice((0, 1, 3, 6)))]
    tide = None if whole.fails_over or rng.random() < 0.5 else TidePlan(_SEARCHED_GAME, 2, round(rng.uniform(4, 9), 1))
    nodes, slowness = rng.choice((1, 2, 2)), rng.choice((1, 5, 40))
    if not whole.fails_over:
        faults = rng.sample(faults, rng.choice((0, 0, 1, 2)))
        faults += [_link_fault(rng, rng.choice(_LINK_FAULTS), 7.0) for _ in range(rng.choice((0, 1, 1, 2)))]
    match _THEMES[seed % len(_THEMES)]:
        case "searches":
            faults, cuts, tide, nodes, slowness = [], [], None, 2, 40
            rooms = [_quiet(rooms[0], "winnable", 3)]
        case "commits":
            faults, tide, nodes = [], None, rng.choice((1, 1, 2))
            commits = rng.sample(range(1, 12), rng.choice((1, 3)))
            cuts = [replace(_cut(rng), place="commit_action", nth=nth) for nth in commits]
            if len(cuts) == 1:  # nothing but an answer is lost, so that nothing mends what that does
                cuts = [replace(cuts[0], what=rng.choice(("cut during", "cut after")))]
            rooms = [_quiet(rooms[0], "random", 2)]
        case "records":
            faults, tide, nodes = [], None, 2
            what: What = rng.choice(("freeze", "freeze", "freeze", "crash after"))
            cuts = [Cut("replace_string", rng.randint(1, 5), what, 20.0)]
            rooms = [_quiet(rooms[0], "random", 2)]
        case "announcements":
            cuts, tide, nodes = [], None, 2
            faults = [_link_fault(rng, "lose announcements", 2.0) for _ in range(3)]
            rooms = [_quiet(rooms[0], "winnable", 3)]
        case _:
            pass
    if older is not None:
        nodes, deploys = max(nodes, 2), Random(f"deploys {seed}")
        faults += [_link_fault(deploys, "deploy", latest) for latest in deploys.choice(((8.0,), (4.0, 14.0)))]
        if older.shared("solver.solve").SOLVER != SOLVER:
            rooms, tide = [_unsearched(room) for room in rooms], None
    faults.sort(key=lambda fault: fault.at)
    plan = replace(whole, nodes=nodes, rooms=tuple(rooms), faults=tuple(faults), tide=tide)
    return WorldPlan(plan, tuple(cuts), slowness, older)


def with_lone_race(plan: WorldPlan) -> WorldPlan:
    """Return a plan without failovers in which somebody also races with nobody but the house, which may be killed."""
    rng, whole = Random(f"lone {plan.round.seed}"), plan.round
    faults = [fault for fault in whole.faults if fault.kind != "fail over"]
    faults += [_link_fault(rng, rng.choice(_LONE_FAULTS), 35.0) for _ in range(rng.choice((0, 1, 2)))]
    faults.sort(key=lambda fault: fault.at)
    return replace(plan, round=replace(whole, faults=tuple(faults), lone=round(rng.uniform(0.5, 9), 1)))


def with_race_that_waits(plan: WorldPlan) -> WorldPlan:
    """Return a plan without failovers whose first room has a window, in which beginnings may be cut."""
    rng, whole = Random(f"window {plan.round.seed}"), plan.round
    faults = tuple(fault for fault in whole.faults if fault.kind != "fail over")
    room = with_window(_quiet(whole.rooms[0], "winnable", whole.rooms[0].options.players))
    room = replace(room, links=rng.choice((0, 1)))
    cuts = [replace(_cut(rng), place="begin_attempt", nth=rng.randint(1, 4)) for _ in range(rng.choice((0, 1, 1, 2)))]
    rooms = (room, *whole.rooms[1:])
    return replace(plan, round=replace(whole, rooms=rooms, faults=faults), cuts=(*plan.cuts, *cuts))


def _smaller(room: RoomPlan, rng: Random, known: Mapping[str, str]) -> RoomPlan:
    options = room.options
    game = _SEARCHED_GAME if options.deal in _SEARCHED else rng.choice(_GAMES)
    players = min(rng.choice((2, 2, 3)), options.players)
    deal = options.deal if options.deal in {*_SEARCHED, "random"} else known[game]
    options = msgspec.structs.replace(options, games=(game,), deal=deal, players=players)
    links, solvers = min(room.links, players), min(room.solvers, players)
    habits = room.habits[: players - max(1, links)]
    slowness = rng.choice((2.0, 10.0))
    return replace(room, options=options, links=links, solvers=solvers, habits=habits, slowness=slowness)


def _quiet(room: RoomPlan, deal: str, players: int) -> RoomPlan:
    """Return a room with few moves, whose players all use plain frames, so that the judge sees all that they get."""
    games = (_SEARCHED_GAME if deal in _SEARCHED else "willow",)
    options = msgspec.structs.replace(room.options, games=games, deal=deal, players=players, series=1)
    return replace(room, options=options, links=0, solvers=0, habits=(), slowness=10.0)


def _unsearched(room: RoomPlan) -> RoomPlan:
    if room.options.deal not in _SEARCHED:
        return room
    return replace(room, options=msgspec.structs.replace(room.options, deal="random"), habits=())


def _link_fault(rng: Random, kind: str, latest: float) -> Fault:
    at, seconds = rng.uniform(0, latest), rng.choice((0.3, 2.0, 7.0)) * rng.uniform(0.5, 1.0)
    which = rng.randrange(1000)
    kind = "mute clients" if kind == "mute redis" and which % 3 == 0 else kind
    return Fault(round(at, 2), kind, which, round(seconds, 2), 1.0)


def _cut(rng: Random) -> Cut:
    place = rng.choices(list(PLACES), [weight for weight, _ in PLACES.values()])[0]
    what = rng.choices(get_args(What), [_WEIGHTS.get(what, 2) for what in get_args(What)])[0]
    seconds = rng.choice((0.5, 2.0, 7.0, 7.0, 60.0) if what == "freeze" else (0.5, 2.0, 6.0))
    nth = 1 + rng.randrange(rng.choice((3, PLACES[place][1])))
    return Cut(place, nth, what, seconds)
