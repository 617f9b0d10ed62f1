"""One world: everything that follows from a seed, from the plan to the verdict."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import msgspec

from samedeal_link.solving import solver_process
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
from tests.simulation.release import Release, this_release
from tests.simulation.solver import SolverProcess
from tests.simulation.stage import SimulatedStage

Trace = Callable[[float, str, object], None]


@contextmanager
def simulated(seed: str, trace: Trace | None = None, *others: Release) -> Iterator[SimulatedLoop]:
    """Let this process be a world, in whose loop the block may run coroutines. It may have nodes of ``others``.

    Python must not search for reference cycles, because what it frees may close connections.
    """
    loop = SimulatedLoop(seed, trace)
    Network(loop)
    loop.program = SolverProcess
    loop.modules = this_release().modules
    releases = (this_release(), *others)
    gc.disable()
    try:
        SolverProcess.slowness = 1.0
        with loop.real_world_replaced(), nodes_in_this_process(releases), _known_answers(releases):
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
    others = [plan.older] if plan.older else []
    with tempfile.TemporaryDirectory(prefix="world-") as scratch, simulated(seed, trace, *others) as loop:
        SolverProcess.slowness = plan.slowness

        async def play() -> Outcome:
            options = node_options(Path(scratch), house=plan.round.lone > 0)
            releases = (*others, this_release())
            stage = SimulatedStage(plan, loop, make_redis(loop), releases, *options)
            played = Round(plan.round, stage)
            with stage.work_noted(), _short_races(releases):
                evidence = await played.play()
            outcome = played.outcome(evidence)
            return replace(outcome, violations=(*outcome.violations, *judge_world(evidence, stage.work)))

        outcome = loop.run_until_complete(loop.world.run(play()))
        digest = loop.digest
    return Verdict(outcome, digest)


def run_week() -> list[int]:
    """Let a week pass. Return the number of keys after each evening."""
    with tempfile.TemporaryDirectory(prefix="week-") as scratch, simulated("week") as loop:
        loop.epoch += FIRST_DAY.timestamp() - loop.true_time()
        week = Week(loop, Path(scratch))
        loop.run_until_complete(loop.world.run(week.pass_by()))
    return week.sizes


@contextmanager
def _short_races(releases: Iterable[Release]) -> Iterator[None]:
    """Let tides start at any time, and be short, as is what players race now."""

    def short_race(options: Any, *args: Any, **given: Any) -> Any:
        return msgspec.structs.replace(options.scheduled(*args, **given), limit=TIDE_LIMIT)

    with ExitStack() as stack:
        for rooms in (release.server("rooms.tide_rooms") for release in releases):
            short = SimpleNamespace(scheduled=partial(short_race, rooms.Options))
            stack.enter_context(mock.patch.multiple(rooms, has_tide=lambda *_: True, Options=short, _COUNTDOWN=1))
        for rooms in (release.server("rooms.race_now") for release in releases):
            short = SimpleNamespace(scheduled=partial(short_race, rooms.Options))
            stack.enter_context(mock.patch.object(rooms, "Options", short))
        yield


@contextmanager
def _known_answers(releases: Iterable[Release]) -> Iterator[None]:
    """Let nodes, clients and judge share the answers of the solver, and hash passphrases quickly."""
    with ExitStack() as stack:
        for release in releases:
            for module in ("joint_deal", "deal_proof"):
                stack.enter_context(mock.patch.object(release.shared(module), "solve", release.solve))
            stack.enter_context(mock.patch.dict(release.server("rooms.passphrases")._SCRYPT, n=2))
        stack.enter_context(mock.patch.object(solver_process, "solve", this_release().solve))
        stack.enter_context(mock.patch.object(solver_process.SolverProcess, "_call", _call))
        stack.enter_context(mock.patch.object(bots._OnLink, "audits", new=True))
        yield


async def _call(_: object, _otherwise: object, function: Callable[..., Any], *arguments: object) -> Any:
    """Call a function here, instead of in a process of a client."""
    return function(*arguments)
