"""Lies from the command line::

    python -m tests.lies --seed 7 --jobs 2

Prints what was found wrong with the clients, if anything, for each row of the table of verdicts how many lies only this
row finds, and the comparisons of the verdict without which it would find the same.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.lies.comparisons import unneeded
from tests.lies.enumeration import Findings, enumerate_lies
from tests.shared.javascript import NODE


def main() -> int:
    command = argparse.ArgumentParser(prog="python -m tests.lies", description=__doc__.partition("\n")[0])
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--sample", type=int, default=1, metavar="K", help="try each K-th lie")
    command.add_argument("--jobs", type=int, default=1)
    command.add_argument("--plans", nargs="+", default=[], metavar="NAME", help="only these races")
    command.add_argument(
        "--kinds", nargs="+", default=[], metavar="KIND", help="honest, troubles, changes, coherent, pairs"
    )
    given = command.parse_args()
    started_at = time.monotonic()
    findings: Findings = enumerate_lies(str(given.seed), given.sample, given.jobs, given.plans, given.kinds)
    print(findings.report())
    if given.sample == 1 and not given.plans and not given.kinds:
        needless = [*unneeded(findings.judged)]
        findings.holes += needless
        print(f"comparisons of the verdict that no world needs: {len(needless)}", *needless, sep="\n  ")
    if NODE is None:
        print("The page was not tried, because Node is not installed.")
    print(f"{time.monotonic() - started_at:.0f} s")
    return bool(findings.holes)


if __name__ == "__main__":
    sys.exit(main())
