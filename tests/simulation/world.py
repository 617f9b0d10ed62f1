"""One world: everything that follows from a seed, from the plan to the verdict."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import msgspec

from samedeal import deal_proof, joint_deal
from samedeal.options import Options
from samedeal.solver.solve import solve
from samedeal_link.solving import solver_process
from samedeal_server.rooms import passphrases, tide_rooms
from tests.chaos import bots
from tests.chaos.plan import TIDE_LIMIT
from tests.chaos.rounds import Outcome, Round, node_options, winning_records
from tests.simulation.days import FIRST_DAY, Week
from tests.simulation.judge import judge_world
from tests.simulation.loop import SimulatedLoop
from tests.simulation.network import Network
from tests.simulation.node import nodes_in_this_process
from tests.simulation.plan import WorldPlan
from tests.simulation.redis_server import SimulatedRedis
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
        SolverProcess.slowness = 1.0
        with loop.real_world_replaced(), nodes_in_this_process(), _known_answers():
            try:
                yield loop
            finally:
                loop.end()
    finally:
        gc.enable()


@dataclass(frozen=True)
class Verdict:
    """What happened in a world. Worlds with the same ``digest`` went the same way."""

    outcome: Outcome
    digest: str

    @property
    def violations(self) -> tuple[str, ...]:
        """A sentence for each broken promise."""
        return self.outcome.violations


@cache
def known_deals() -> dict[str, str]:
    """Return the deals with known winning actions, by game."""
    return {game: str(record.deal) for game, record in winning_records().items()}


def run_world(
    plan: WorldPlan,
    trace: Trace | None = None,
    make_redis: Callable[[SimulatedLoop], SimulatedRedis] = SimulatedRedis,
) -> Verdict:
    """Play a round in a world and judge it."""
    seed = f"{plan.round.seed}/{plan.round.number}"
    with tempfile.TemporaryDirectory(prefix="world-") as scratch, simulated(seed, trace) as loop:
        SolverProcess.slowness = plan.slowness

        async def play() -> Outcome:
            options = node_options(Path(scratch))
            stage = SimulatedStage(loop, make_redis(loop), *options, fails_over=plan.round.fails_over, cuts=plan.cuts)
            played = Round(plan.round, stage)
            with stage.duties_noted(), _short_tides():
                evidence = await played.play()
            outcome = played.outcome(evidence)
            return replace(outcome, violations=(*outcome.violations, *judge_world(evidence, stage.work)))

        outcome = loop.run_until_complete(loop.world.run(play()))
        digest = loop.digest
    return Verdict(outcome, digest)


def run_week(*, always_up: bool) -> list[int]:
    """Let a week pass. Return the number of keys after each evening."""
    with tempfile.TemporaryDirectory(prefix="week-") as scratch, simulated("week") as loop:
        loop.epoch += FIRST_DAY.timestamp() - loop.true_time()
        week = Week(loop, Path(scratch), always_up=always_up)
        loop.run_until_complete(loop.world.run(week.pass_by()))
    return week.sizes


@contextmanager
def _short_tides() -> Iterator[None]:
    """Let tides start at any time, and be short."""

    def short_race(*args: Any, **given: Any) -> Options:
        return msgspec.structs.replace(Options.scheduled(*args, **given), limit=TIDE_LIMIT)

    with (
        mock.patch.object(tide_rooms, "has_tide", return_value=True),
        mock.patch.object(tide_rooms, "Options", SimpleNamespace(scheduled=short_race)),
        mock.patch.object(tide_rooms, "_COUNTDOWN", 1),
    ):
        yield


@contextmanager
def _known_answers() -> Iterator[None]:
    """Let nodes, clients and judge share the answers of the solver, and hash passphrases quickly."""
    with (
        mock.patch.object(joint_deal, "solve", _solve),
        mock.patch.object(deal_proof, "solve", _solve),
        mock.patch.object(solver_process, "solve", _solve),
        mock.patch.object(solver_process.SolverProcess, "_call", _call),
        mock.patch.object(bots._OnLink, "audits", new=True),
        mock.patch.dict(passphrases._SCRYPT, n=2),
    ):
        yield


async def _call(_: object, _otherwise: object, function: Callable[..., Any], *arguments: object) -> Any:
    """Call a function here, instead of in a process of a client."""
    return function(*arguments)


_solve = lru_cache(maxsize=None)(solve)
