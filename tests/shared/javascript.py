"""The checker in JavaScript, ``shared/checker/check.mjs``, as tests run it with Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest

CHECKER: Final = Path(__file__).parents[2] / "shared" / "checker"
NODE: Final = shutil.which("node")

needs_node: Final = pytest.mark.skipif(NODE is None, reason="Node is not installed")


def verdicts(paths: Iterable[Path], *options: str) -> dict[str, str]:
    """Return the verdict of the checker on each file, by its name without its ending."""
    done = _node(str(CHECKER / "check.mjs"), *options, *map(str, paths))
    found = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert done.returncode == any(verdict.startswith("wrong: ") for verdict in found.values())
    return {Path(path).stem: verdict for path, verdict in found.items()}


def evaluate(program: str, given: Any) -> Any:
    """Run a program with the JSON of ``given`` as its input, and return the JSON that it writes."""
    imports = (
        'import { readFileSync } from "node:fs";'
        'import { deal, GAMES, seedOrder } from "./rules.mjs";'
        'import { solve } from "./search.mjs";'
        "const given = JSON.parse(readFileSync(0));"
    )
    write = f"console.log(JSON.stringify({program}))"
    return json.loads(_node("--input-type=module", "-e", imports + write, text=json.dumps(given)).stdout)


def _node(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    assert NODE is not None
    done = subprocess.run((NODE, *arguments), input=text, capture_output=True, text=True, cwd=CHECKER, check=False)
    assert done.stderr == "", done.stderr
    return done
