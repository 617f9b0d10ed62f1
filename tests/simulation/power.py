"""How many worlds it takes to find mistakes::

    python -m tests.simulation.power --worlds 200

Makes one mutant of ``tests/mutants`` after another in a copy of the source, and runs worlds until one has a violation.
By default, these are the mutants that ``test_simulation.py`` has to notice. The exit code is 1 if one was not found.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.mutants.__main__ import WorkingCopy
from tests.mutants.mutants import Mutant, load_mutants

_TESTS: Final = "tests/simulation/test_simulation.py"


class _Copy(WorkingCopy):
    """A copy of the repository in which worlds run."""

    def worlds(self, mutant: Mutant, first: int, worlds: int) -> str:
        """Return what worlds with a mistake print."""
        path = self.root / mutant.file
        source = path.read_text(encoding="utf-8")
        path.write_text(mutant.mutate(source), encoding="utf-8")
        try:
            command = (
                "-m",
                "tests.simulation",
                "--seed",
                str(first),
                "--worlds",
                str(worlds),
                "--jobs",
                "1",
                "--brief",
            )
            run = subprocess.run(
                (sys.executable, *command),
                cwd=self.root,
                env=self._environment,
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            path.write_text(source, encoding="utf-8")
        return run.stdout if run.returncode else ""


def main() -> int:
    command = argparse.ArgumentParser(prog="python -m tests.simulation.power", description=__doc__.partition("\n")[0])
    command.add_argument("--seed", type=int, default=1, help="that of the first world")
    command.add_argument("--worlds", type=int, default=200)
    command.add_argument("--only", type=int, nargs="+", metavar="N", help="numbers of mutants")
    given = command.parse_args()
    survived = 0
    with tempfile.TemporaryDirectory(prefix="power-", ignore_cleanup_errors=True) as directory:
        copy = _Copy(Path(directory))
        for mutant in load_mutants():
            if mutant.number in given.only if given.only else _TESTS in mutant.tests:
                found = copy.worlds(mutant, given.seed, given.worlds)
                survived += not found
                print(mutant, found.strip() or "    NOT FOUND", sep="\n    ", flush=True)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
