"""Makes mistakes in a copy of the source, one at a time, and checks that tests notice each of them::

    python -m tests.mutants --only 7

First each of the named test files must pass on the unchanged copy. The exit code is 1 if a mutant survived or no longer
applies, or if a test file fails without any mistake.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.mutants.mutants import ROOT, Inapplicable, Mutant, load_mutants

_FIRST_TIMEOUT: Final = 600.0
"""Timeout, in seconds, for a test file without any mistake."""

_MIN_TIMEOUT: Final = 60.0
"""Minimum timeout, in seconds, for the tests of a mutant. Tests that hang have noticed the mistake."""

_SLOWDOWN: Final = 6
"""Maximum duration of the tests of a mutant, as a multiple of their duration without the mistake."""

_PACKAGES: Final = ("shared", "server", "client")
_NOT_COPIED: Final = (".git", ".venv", ".*_cache", "__pycache__", ".hypothesis", "build", "dist")


class WorkingCopy:
    """A copy of the repository in which mistakes are made."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "copy"
        shutil.copytree(ROOT, self.root, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(str(self.root / package) for package in _PACKAGES),
            "PYTHONDONTWRITEBYTECODE": "1",  # a mutated file may have the time and size of the cached one
            "TMPDIR": str(directory),
        }

    def tests_pass(self, *tests: str, timeout: float = _FIRST_TIMEOUT) -> bool:
        """Run test files until the first failure or a timeout in seconds. Raise RuntimeError if pytest can't run them."""
        process = subprocess.Popen(
            (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests),
            cwd=self.root,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            return False
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        if process.returncode not in (0, 1, 2):  # 2: a test module could not be imported
            raise RuntimeError(f"pytest ended with code {process.returncode}:\n{output[-2000:]}")
        return process.returncode == 0

    def is_killed(self, mutant: Mutant, timeout: float) -> bool:
        """Make a mistake, and return whether its tests notice it. Raise Inapplicable if the mistake does not fit."""
        path = self.root / mutant.file
        source = path.read_text(encoding="utf-8")
        path.write_text(mutant.mutate(source), encoding="utf-8")
        try:
            return not self.tests_pass(*mutant.tests, timeout=timeout)
        finally:
            path.write_text(source, encoding="utf-8")


def main() -> int:
    """Check the mutants, or those that the command line names."""
    mutants = load_mutants()
    command = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    command.add_argument("--only", type=int, nargs="+", metavar="N", choices=range(1, len(mutants) + 1), help="numbers")
    chosen = command.parse_args().only
    mutants = [mutant for mutant in mutants if not chosen or mutant.number in chosen]
    problems = 0
    seconds: dict[str, float] = {}
    failing: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as directory:
        copy = WorkingCopy(Path(directory))
        for mutant in mutants:
            for tests in mutant.tests:
                if tests not in seconds:
                    started_at = time.monotonic()
                    if not copy.tests_pass(tests):
                        failing.add(tests)
                        print(f"    {tests} fails without any mistake", flush=True)
                    seconds[tests] = time.monotonic() - started_at
            started_at = time.monotonic()
            if not failing.isdisjoint(mutant.tests):
                outcome = "NOT CHECKED"
            else:
                timeout = max(_MIN_TIMEOUT, _SLOWDOWN * sum(seconds[tests] for tests in mutant.tests))
                try:
                    outcome = "killed" if copy.is_killed(mutant, timeout) else "SURVIVED"
                except Inapplicable as error:
                    outcome = f"DOES NOT APPLY: {error}"
            problems += outcome != "killed"
            print(f"{mutant}: {outcome} ({time.monotonic() - started_at:.0f} s)", flush=True)
    print(f"{len(mutants)} mutants, {len(mutants) - problems} killed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
