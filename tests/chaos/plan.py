"""The plan of a round: rooms, players and faults, derived from the seed and the round's number. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from random import Random
from typing import Final, Literal, get_args

import msgspec

from samedeal.games import GAMES
from samedeal.options import SHORTEST_WINDOW, Options

Habit = Literal["steady", "leaver", "late", "killed"]
"""What a racer does when a joint deal is drawn.

A leaver leaves in the middle of a draw. Racers that are late answer after some seconds, and racers that are killed lose
their share after they have committed themselves to it.
"""

_WEIGHTS: Final = {
    "kill node": 4,
    "freeze node": 4,
    "drain node": 3,
    "kill redis": 3,
    "pause redis": 2,
    "drop redis clients": 2,
    "drop announcements": 3,
    "stall redis": 3,
    "reset redis": 3,
    "cut": 3,
    "reset": 4,
    "stall": 5,
    "drop answers": 4,
    "delay": 2,
    "split": 3,
    "kick": 3,
    "ban": 2,
    "close room": 1,
    "back up": 2,
    "flood": 2,
    "fail over": 1,
    "step clock": 2,
}

FAULT_KINDS: Final = tuple(_WEIGHTS)

PROCESS_FAULTS: Final = tuple(
    kind for kind in _WEIGHTS if kind not in ("step clock", "cut", "stall", "stall redis", "delay", "split")
)
"""Faults of real processes. The others are simulated, since each of their connections is a queue there."""

TIDE_LIMIT: Final = 12
"""The time limit of the races of a tide, in seconds."""

_WITH_FAIL_OVER: Final = frozenset(("kill node", "drain node", "cut", "reset", "stall", "delay", "split"))
"""Faults that a round may have besides a failover."""


@dataclass(frozen=True)
class Fault:
    """A fault that starts ``at`` seconds after the rooms were created and lasts for some seconds.

    ``which`` selects the node, room or player, or seeds the selection of connections. ``share`` is the share of connections
    that it affects.
    """

    at: float
    kind: str
    which: int
    seconds: float
    share: float

    def __str__(self) -> str:
        return f"{self.at:5.2f} s  {self.kind} ({self.which}, {self.seconds:.2f} s, share {self.share:.2f})"


@dataclass(frozen=True)
class RoomPlan:
    """A room. The first ``solvers`` players know the winning actions; the last ``links`` use the real client's link.

    A room with a ``passphrase`` is private. The code of a ``reused`` room belonged to another room before. ``habits`` are
    those of the first players. All others are steady. Players who do not know how to win need ``slowness`` times as long for
    an action. In a room with a ``window``, whose length is in seconds, they begin at different times.
    """

    code: str
    options: Options
    solvers: int
    links: int
    spectators: int
    passphrase: str = ""
    reused: bool = False
    habits: tuple[Habit, ...] = ()
    slowness: float = 1.0
    window: int = 0

    def __str__(self) -> str:
        how = self.options
        return (
            f"{self.code}: {how.games[0]} {how.deal}, {how.players} players, {self.solvers} know how to win, "
            f"{self.links} by link, {self.spectators} spectators {how.delay} s late, undo {how.undo}, "
            f"{how.limit} s, start {how.start} after {how.countdown} s"
            f"{', first finish ends the race' if how.first_finish_ends else ''}"
            f"{', the first of a series' if how.series > 1 else ''}"
            f"{f', a window of {self.window} s' if self.window else ''}"
            f"{', private' if self.passphrase else ''}{', code used before' if self.reused else ''}"
            f"{', ' + ' '.join(self.habits) if self.habits else ''}"
        )


@dataclass(frozen=True)
class TidePlan:
    """A tide to which this many racers come. It starts ``after`` seconds after the rooms were created."""

    game: str
    racers: int
    after: float

    def __str__(self) -> str:
        return f"a tide in {self.game} after {self.after:.1f} s, {self.racers} racers"


@dataclass(frozen=True)
class Plan:
    """The plan of one round.

    If ``lone`` is not 0, somebody wants to race now so many seconds after the rooms were created, and meets the house.
    """

    seed: int
    number: int
    nodes: int
    rooms: tuple[RoomPlan, ...]
    faults: tuple[Fault, ...]
    tide: TidePlan | None = None
    lone: float = 0.0

    @property
    def fails_over(self) -> bool:
        """Whether Redis fails over to a replica."""
        return any(fault.kind == "fail over" for fault in self.faults)

    def rng(self, *names: object) -> Random:
        """Return a random generator for a client, the same in every run of the round."""
        return Random(f"{self.seed}/{self.number}/{'/'.join(map(str, names))}")

    def __str__(self) -> str:
        head = f"seed {self.seed} round {self.number}: {self.nodes} nodes"
        tides = [str(self.tide)] if self.tide else []
        lone = [f"somebody races alone after {self.lone:.1f} s"] if self.lone else []
        return "\n  ".join([head, *map(str, self.rooms), *tides, *lone, *map(str, self.faults)])


def make_plan(
    seed: int, number: int, known: dict[str, str], *, small: bool = False, kinds: Collection[str] = FAULT_KINDS
) -> Plan:
    """Plan a round with faults of ``kinds``.

    ``known`` holds the deals with known winning actions, by game. ``small`` rounds are shorter.
    """
    rng = Random(f"{seed}/{number}")
    rooms = tuple(
        _room(rng, f"room-{at + 1}", known, small=small)
        for at in range(rng.randint(2, 3) if small else rng.randint(3, 6))
    )
    horizon = 7.0 if small else 12.0
    count = rng.randint(6, 9) if small else rng.randint(8, 16)
    weights = {kind: weight for kind, weight in _WEIGHTS.items() if kind in kinds}
    faults = [
        Fault(
            at=round(rng.uniform(0.3, horizon), 2),
            kind=kind,
            which=rng.randrange(1000),
            seconds=round(rng.choice([0.05, 0.3, 1.0, 2.0, 4.0, 7.0]) * rng.uniform(0.5, 1.0), 2),
            share=rng.choice([0.1, 0.3, 1.0]),
        )
        for kind in rng.choices(list(weights), list(weights.values()), k=count)
    ]
    if failover := next((fault for fault in faults if fault.kind == "fail over"), None):
        rooms = tuple(map(_with_recovering_players, rooms))
        faults = [fault for fault in faults if fault.kind in _WITH_FAIL_OVER]
        faults.append(replace(failover, at=round(rng.uniform(5.0, 7.0), 2)))
    elif Random(f"series {seed}/{number}").random() < 0.5:
        rooms = (_as_series(rooms[0]), *rooms[1:])
    elif not small:
        rooms = (with_window(rooms[0]), *rooms[1:])
    return Plan(seed, number, 2 if small else 3, rooms, tuple(sorted(faults, key=lambda fault: fault.at)))


def _as_series(room: RoomPlan) -> RoomPlan:
    """Change a room so that its players race twice, with one table. Each of them asks for the rematch."""
    return replace(
        room, options=msgspec.structs.replace(room.options, series=2, start="host"), links=0, spectators=0, habits=()
    )


def with_window(room: RoomPlan) -> RoomPlan:
    """Return a room whose players draw the deal together, and then race when they have time."""
    options = msgspec.structs.replace(room.options, deal="winnable", start="host", first_finish_ends=False)
    return replace(room, options=options, solvers=0, spectators=0, habits=(), window=SHORTEST_WINDOW)


def _with_recovering_players(room: RoomPlan) -> RoomPlan:
    """Change a room so that a failover loses nothing but moves, which the client of every player can recover.

    A lost start, finish or resignation can't be recovered. The failover waits for the start of all races, which may come
    late on a busy machine, and the races last long enough for it.
    """
    undo = "free" if room.options.undo == "off" else room.options.undo
    deal = "random" if room.options.deal == "winnable" else room.options.deal  # a lost share may change a winnable deal
    options = msgspec.structs.replace(room.options, deal=deal, limit=18, undo=undo, first_finish_ends=False)
    return replace(room, options=options, solvers=0, links=options.players, spectators=0, reused=False, habits=())


def _room(rng: Random, code: str, known: dict[str, str], *, small: bool) -> RoomPlan:
    game = rng.choice(list(GAMES))
    solved = rng.random() < 0.5
    unsolved = Random(f"{code} {rng.getstate()}").choices(["winnable", "daily", "random"], [2, 1, 2])[0]
    players = rng.randint(2, 4) if small else rng.randint(2, 8)
    options = Options(
        games=(game,),
        deal=known[game] if solved else unsolved,
        players=players,
        limit=10 if small else rng.randint(10, 13),
        undo=rng.choice(["free", "no-reveal", "off"]),
        delay=rng.choice([0, 1, 3]),
        start=rng.choice(["full", "all-ready", "host"]),
        countdown=rng.randint(0, 1),
        first_finish_ends=rng.random() < 0.4,
    )
    room = RoomPlan(
        code=code,
        options=options,
        solvers=rng.randint(1, players) if solved else 0,
        links=rng.randint(0, players),
        spectators=rng.randint(0, 2),
        passphrase=f"sesame {code}" if rng.random() < 0.3 else "",
        reused=rng.random() < 0.3,
    )
    return replace(room, habits=_habits(room, Random(f"habits {code} {rng.getstate()}")))


def _habits(room: RoomPlan, rng: Random) -> tuple[Habit, ...]:
    """Return the habits of the first players, if the deal of a room is joint. At least one player of a room is steady.

    Players on the real client's link are steady, because the link answers by itself.
    """
    if room.options.deal != "winnable":
        return ()
    count = min(3, room.options.players - max(1, room.links))
    return tuple(rng.choices(get_args(Habit), [3, 1, 2, 2], k=max(0, count)))
