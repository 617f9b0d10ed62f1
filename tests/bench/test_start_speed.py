"""The start-up time of the client's commands. Prints a table. Only commands that need Textual may import it."""

from __future__ import annotations

import subprocess
import sys
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter

RUNS = 5

LINES = {
    "import samedeal": "import samedeal",
    "the whole library": "from samedeal import *",
    "samedeal --help": "from samedeal_client.cli import main; main(['--help'])",
    "samedeal play --help": "from samedeal_client.cli import main; main(['play', '--help'])",
    "samedeal rules athena": "from samedeal_client.cli import main; main(['rules', 'athena'])",
    "the full screen, loaded": "import samedeal_client.full_screen.app, samedeal_client.full_screen.screens.race",
}


def cost(line: str) -> tuple[float, float]:
    """Return the elapsed time and the CPU time of a start, in milliseconds."""
    before, began = getrusage(RUSAGE_CHILDREN), perf_counter()
    subprocess.run([sys.executable, "-c", line], stdout=subprocess.DEVNULL, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    work = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return (perf_counter() - began) * 1e3, work * 1e3


def test_start_speed() -> None:
    print("\n\n                              ms    of work")
    for name, line in LINES.items():
        runs = [cost(line) for _ in range(RUNS)]
        print(f"{name:<26}{min(passed for passed, _ in runs):>6.0f}{min(work for _, work in runs):>11.0f}")
