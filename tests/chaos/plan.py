"""What a round of chaos does: rooms, players and faults, all of it decided by the seed and the round's number. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from samedeal.games import GAMES
from samedeal.options import Options

FaultKind = Literal[
    "kill node",
    "freeze node",
    "drain node",
    "kill redis",
    "pause redis",
    "drop redis clients",
    "drop announcements",
    "stall redis",
    "reset redis",
    "cut",
    "reset",
    "stall",
    "swallow",
    "delay",
    "split",
]

_WEIGHTS: Final[dict[FaultKind, int]] = {
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
    "swallow": 4,
    "delay": 2,
    "split": 3,
}


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong ``at`` seconds after the rooms have opened, for some seconds.

    ``which`` picks the node, or seeds the choice of the connections; ``share`` is how many of them are hit.
    """

    at: float
    kind: FaultKind
    which: int
    seconds: float
    share: float

    def __str__(self) -> str:
        return f"{self.at:5.2f} s  {self.kind} ({self.which}, {self.seconds:.2f} s, share {self.share:.2f})"


@dataclass(frozen=True)
class RoomPlan:
    """A room: of its players the first ``solvers`` know a way home, the last ``links`` use the real client's link."""

    code: str
    options: Options
    solvers: int
    links: int
    spectators: int

    def __str__(self) -> str:
        how = self.options
        return (
            f"{self.code}: {how.games[0]} {how.deal}, {how.players} players, {self.solvers} know the way, "
            f"{self.links} by link, {self.spectators} watch {how.delay} s late, undo {how.undo}, "
            f"{how.limit} s, start {how.start} after {how.countdown} s"
            f"{', first home ends it' if how.first_home_ends else ''}"
        )


@dataclass(frozen=True)
class Plan:
    """One round."""

    seed: int
    number: int
    nodes: int
    rooms: tuple[RoomPlan, ...]
    faults: tuple[Fault, ...]

    def rng(self, *names: object) -> Random:
        """A source of chance of somebody's own, the same whenever the round is run."""
        return Random(f"{self.seed}/{self.number}/{'/'.join(map(str, names))}")

    def __str__(self) -> str:
        head = f"seed {self.seed} round {self.number}: {self.nodes} nodes"
        return "\n  ".join([head, *map(str, self.rooms), *map(str, self.faults)])


def make_plan(seed: int, number: int, known: dict[str, str], *, small: bool = False) -> Plan:
    """Plan a round; ``known`` are the deals, by game, to which a way home is known. A small one is over sooner."""
    rng = Random(f"{seed}/{number}")
    rooms = tuple(
        _room(rng, f"room-{at + 1}", known, small=small)
        for at in range(rng.randint(2, 3) if small else rng.randint(3, 6))
    )
    horizon = 7.0 if small else 12.0
    count = rng.randint(6, 9) if small else rng.randint(8, 16)
    kinds, weights = list(_WEIGHTS), list(_WEIGHTS.values())
    faults = [
        Fault(
            at=round(rng.uniform(0.3, horizon), 2),
            kind=kind,
            which=rng.randrange(1000),
            seconds=round(rng.choice([0.05, 0.3, 1.0, 2.0, 4.0, 7.0]) * rng.uniform(0.5, 1.0), 2),
            share=rng.choice([0.1, 0.3, 1.0]),
        )
        for kind in rng.choices(kinds, weights, k=count)
    ]
    return Plan(seed, number, 2 if small else 3, rooms, tuple(sorted(faults, key=lambda fault: fault.at)))


def _room(rng: Random, code: str, known: dict[str, str], *, small: bool) -> RoomPlan:
    game = rng.choice(list(GAMES))
    solved = rng.random() < 0.5
    players = rng.randint(2, 4) if small else rng.randint(2, 8)
    options = Options(
        games=(game,),
        deal=known[game] if solved else "random",
        players=players,
        limit=10 if small else rng.randint(10, 13),
        undo=rng.choice(["free", "no-reveal", "off"]),
        delay=rng.choice([0, 1, 3]),
        start=rng.choice(["full", "all-ready", "host"]),
        countdown=rng.randint(0, 1),
        first_home_ends=rng.random() < 0.4,
    )
    return RoomPlan(
        code=code,
        options=options,
        solvers=rng.randint(1, players) if solved else 0,
        links=rng.randint(0, players),
        spectators=rng.randint(0, 2),
    )


def deploy_plan(seed: int, known: dict[str, str], *, rooms: int, players: int, every: float) -> Plan:
    """A plan in which nothing goes wrong but that all nodes are replaced, one after another, so many seconds apart."""
    games = ["willow", "phoenix", "ace-of-hearts"]  # whose ways home are short
    nodes = 3
    return Plan(
        seed,
        1,
        nodes,
        tuple(
            RoomPlan(
                code=f"room-{at + 1}",
                options=Options(
                    games=(games[at % len(games)],),
                    deal=known[games[at % len(games)]],
                    players=players,
                    limit=max(10, int((nodes + 1) * every)),
                    delay=1,
                    start="full",
                    countdown=0,
                ),
                solvers=players,
                links=players // 2,
                spectators=1,
            )
            for at in range(rooms)
        ),
        tuple(Fault(round((at + 1) * every, 2), "drain node", 0, 0.0, 1.0) for at in range(nodes)),
    )
