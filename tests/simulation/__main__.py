"""Worlds from the command line::

    python -m tests.simulation --seed 7 --worlds 100

Each seed determines a world. A world with a violation is reduced to the fewest faults that still have one.
``--trace`` prints a timeline of the first world.
``--check`` runs each world twice, in processes that order sets of texts differently, and compares their traces. The second
one may be of another Python: ``--check python3.13``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tests.simulation.mirror import differences, real_redis
from tests.simulation.plan import WorldPlan, make_world, with_lone_race
from tests.simulation.release import other_release
from tests.simulation.timeline import lines_of
from tests.simulation.world import Verdict, known_deals, run_world


def smallest(plan: WorldPlan) -> WorldPlan:
    """Return the plan of a world with a violation without those faults that it does not need."""
    while (less := next((less for less in plan.without() if run_world(less).violations), None)) is not None:
        plan = less
    return plan


def plan_of(seed: int, older: Path | None, *, lone: bool = False) -> WorldPlan:
    """Return the plan of the world of a seed. Nodes may first have the release of an ``older`` source tree."""
    plan = make_world(seed, known_deals(), other_release(older.resolve()) if older else None)
    return with_lone_race(plan) if lone else plan


def _run_seed(older: Path | None, seed: int, *, lone: bool = False) -> Verdict:
    return run_world(plan_of(seed, older, lone=lone))


def _verdicts(seeds: range, jobs: int, older: Path | None, *, lone: bool) -> Iterator[Verdict]:
    run_seed = partial(_run_seed, older, lone=lone)
    if jobs == 1:
        yield from map(run_seed, seeds)
        return
    with ProcessPoolExecutor(jobs) as processes:
        for first in range(seeds.start, seeds.stop, 4 * jobs):
            yield from processes.map(run_seed, range(first, min(first + 4 * jobs, seeds.stop)))


def different_worlds(seeds: range, python: str, older: Path | None = None) -> list[int]:
    """Run worlds in two processes, the second one with a certain Python. Return the seeds whose traces differ."""
    command = ["-m", "tests.simulation", "--digests", "--seed", str(seeds.start), "--worlds", str(len(seeds))]
    command += ["--older", str(older)] if older else []
    processes = [
        subprocess.Popen(
            (program, *command), env={**os.environ, "PYTHONHASHSEED": number}, stdout=subprocess.PIPE, text=True
        )
        for number, program in (("1", sys.executable), ("2", python))
    ]
    runs = [process.communicate()[0].splitlines() for process in processes]
    return [seed for seed, one, two in zip(seeds, *runs, strict=True) if one != two]


def _print_timeline(time: float, where: str, what: object) -> None:
    for line in lines_of(where, what):
        print(f"{time:9.4f}  {line}")


def _mirrored(seeds: range) -> int:
    """Compare the answers of the model with those of a real Redis. Return the exit code."""
    plans = [plan for plan in (make_world(seed, known_deals()) for seed in seeds) if not plan.round.fails_over]
    with real_redis() as path:
        found = [text for plan in plans for text in differences(plan, path)]
    print(*found[:20], f"{len(plans)} worlds beside a real Redis: {len(found)} differences", sep="\n")
    return 1 if found else 0


def main() -> int:
    command = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__.partition("\n")[0])
    command.add_argument("--seed", type=int, default=1, help="that of the first world")
    command.add_argument("--worlds", type=int, default=20)
    command.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of processes")
    command.add_argument("--lone", action="store_true", help="let somebody race with nobody but the house")
    command.add_argument("--trace", action="store_true", help="print what happens in the first world")
    command.add_argument("--keep-going", action="store_true", help="continue after a violation, and reduce nothing")
    command.add_argument("--check", nargs="?", const=sys.executable, metavar="PYTHON", help="run each world twice")
    command.add_argument("--digests", action="store_true", help="print the hash of the trace of each world")
    command.add_argument("--mirror", action="store_true", help="compare each answer of Redis with that of a real one")
    command.add_argument(
        "--older", type=Path, metavar="DIR", help="deploy this release where nodes have that of another source tree"
    )
    given = command.parse_args()
    seeds = range(given.seed, given.seed + given.worlds)
    if given.check:
        differ = different_worlds(seeds, given.check, given.older)
        print(f"{len(seeds)} worlds twice; seeds with two traces: {differ or 'none'}")
        return 1 if differ else 0
    if given.mirror:
        return _mirrored(seeds)
    if given.trace:
        print(plan := plan_of(given.seed, given.older, lone=given.lone))
        verdict = run_world(plan, _print_timeline)
        print(f"{verdict.digest}: {verdict.outcome}", *verdict.violations, sep="\n  BROKEN ")
        return 1 if verdict.violations else 0
    if given.digests:
        for seed in seeds:
            print(seed, _run_seed(given.older, seed, lone=given.lone).digest, flush=True)
        return 0
    acked = broken = 0
    for seed, verdict in zip(seeds, _verdicts(seeds, given.jobs, given.older, lone=given.lone), strict=True):
        acked += verdict.outcome.acked
        if not verdict.violations:
            continue
        broken += 1
        plan = plan_of(seed, given.older, lone=given.lone)
        print(plan, *verdict.violations[:10], sep="\n  BROKEN ", flush=True)
        if not given.keep_going:
            print("The fewest faults that still have a violation:", smallest(plan), sep="\n")
            print(f"To see it again: make simulation SEED={seed} TRACE=1{' ARGS=--lone' * given.lone}")
            break
    print(f"{seed - given.seed + 1} worlds, {broken} broken, {acked} actions acked")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
