"""Rounds of chaos from the command line::

    python -m tests.chaos --seed 7 --rounds 20

The seed and the number of a round determine it.
``--from`` starts at a later round, and ``--faults`` restricts the kinds of faults.
Stops at the first round with a violation, and prints its plan and the violations.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import time
from collections import Counter

from tests.chaos.plan import PROCESS_FAULTS, make_plan
from tests.chaos.rounds import play_round, winning_records


def main() -> int:
    command = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__.partition("\n")[0])
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--rounds", type=int, default=3)
    command.add_argument("--from", type=int, default=1, dest="first", metavar="ROUND")
    command.add_argument("--small", action="store_true", help="short rounds, as in the tests")
    command.add_argument(
        "--faults",
        nargs="+",
        choices=PROCESS_FAULTS,
        default=PROCESS_FAULTS,
        metavar="KIND",
        help=", ".join(PROCESS_FAULTS),
    )
    command.add_argument("--keep-going", action="store_true", help="continue after a violation")
    given = command.parse_args()
    with asyncio.Runner() as runner:
        try:
            return runner.run(_rounds(given))
        except (KeyboardInterrupt, asyncio.CancelledError):
            print("stopped", file=sys.stderr)
            return 130


async def _rounds(given: argparse.Namespace) -> int:
    stopping = asyncio.Event()
    task = asyncio.current_task()

    def stop() -> None:
        stopping.set()
        if task is not None:
            task.cancel()

    for signal_number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signal_number, stop)
    deals = {game: str(record.deal) for game, record in winning_records().items()}
    faults: Counter[str] = Counter()
    racers = acked = broken = 0
    for number in range(given.first, given.first + given.rounds):
        plan = make_plan(given.seed, number, deals, small=given.small, kinds=given.faults)
        print(plan, flush=True)
        started_at = time.monotonic()
        outcome = await play_round(plan)
        if stopping.is_set():  # a library may have swallowed the cancellation
            raise asyncio.CancelledError
        print(f"  {time.monotonic() - started_at:.1f} s: {outcome}", flush=True)
        for violation in outcome.violations:
            print(f"  BROKEN {violation}", flush=True)
        faults += outcome.faults
        racers += outcome.racers
        acked += outcome.acked
        broken += bool(outcome.violations)
        if broken and not given.keep_going:
            print(f"To run it again: make chaos SEED={given.seed} FROM={number} ROUNDS=1")
            break
    total = ", ".join(f"{count} {kind}" for kind, count in sorted(faults.items()))
    print(f"{number - given.first + 1} rounds, {broken} broken; {racers} racers, {acked} actions acked; {total}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
