"""Fuzzing from the command line::

    python -m tests.fuzz --seed 7 --inputs 10000

Tries a number of inputs of each kind, derived from the seed. A kind stops at the first broken promise, and its input is
printed for use in a test. ``--only`` tries one kind.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final

from tests.fuzz.fuzzed_nodes import Campaign
from tests.fuzz.gateway import fuzz_gateway
from tests.fuzz.operators import fuzz_operator

KINDS: Final[dict[str, Callable[..., Coroutine[Any, Any, Campaign]]]] = {
    "gateway": fuzz_gateway,
    "operator": fuzz_operator,
}


def main() -> int:
    command = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--inputs", type=int, default=2000, help="inputs of each kind")
    command.add_argument("--only", choices=KINDS, help="try only this kind")
    command.add_argument("--stop", type=int, default=1, help="broken promises after which a kind stops")
    given = command.parse_args()
    broken = False
    try:
        for kind in KINDS if given.only is None else (given.only,):
            started_at = time.monotonic()
            campaign = asyncio.run(KINDS[kind](given.seed, given.inputs, stop=given.stop))
            print(f"{campaign}, {time.monotonic() - started_at:.0f} s", flush=True)
            for each in campaign.broken:
                print(f"  BROKEN {each}", flush=True)
                broken = True
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
