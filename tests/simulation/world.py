"""One world: everything that follows from a seed, from the plan to the verdict."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.chaos.plan import Plan, make_plan
from tests.chaos.rounds import Outcome, Round, node_options, winning_records
from tests.chaos.stepped_node import short_tides
from tests.simulation.loop import SimulatedLoop
from tests.simulation.network import Network
from tests.simulation.node import nodes_in_this_process
from tests.simulation.solver import SolverProcess
from tests.simulation.stage import SimulatedStage

Trace = Callable[[float, str, object], None]


@contextmanager
def simulated(seed: str, trace: Trace | None = None) -> Iterator[SimulatedLoop]:
    """Let this process be a world, in whose loop the block may run coroutines.

    Python must not search for reference cycles, because what it frees may close connections.
    """
    loop = SimulatedLoop(seed, trace)
    Network(loop)
    loop.program = SolverProcess
    gc.disable()
    try:
        with loop.real_world_replaced(), nodes_in_this_process(), short_tides():
            try:
                yield loop
            finally:
                loop.end()
    finally:
        gc.enable()


@dataclass(frozen=True)
class Verdict:
    """What happened in a world. ``seconds`` is how long it took."""

    outcome: Outcome
    digest: str
    seconds: float


@cache
def known_deals() -> dict[str, str]:
    """Return the deals with known winning actions, by game."""
    return {game: str(record.deal) for game, record in winning_records().items()}


def run_world(plan: Plan, trace: Trace | None = None) -> Verdict:
    """Play a round in a world and judge it."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="world-") as scratch, simulated(f"{plan.seed}/{plan.number}", trace) as loop:

        async def play() -> Outcome:
            stage = SimulatedStage(loop, *node_options(Path(scratch)), fails_over=plan.fails_over)
            played = Round(plan, stage)
            return played.outcome(await played.play())

        outcome = loop.run_until_complete(loop.world.run(play()))
        digest = loop.digest
    return Verdict(outcome, digest, time.monotonic() - began)
