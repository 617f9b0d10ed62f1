"""The programs in JavaScript, which tests run with Node: the checker, and some modules of the page for browsers."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from samedeal.game import Game
from samedeal.game_json import games_json
from samedeal.games import GAMES
from samedeal_server.page.files import table_modules
from tests.programs import needs

CHECKER: Final = Path(__file__).parents[2] / "shared" / "checker"
PAGE: Final = Path(__file__).parents[2] / "server" / "samedeal_server" / "page" / "static"
PROGRAMS: Final = Path(__file__).parents[1] / "page_programs"
NODE: Final = shutil.which("node")

needs_node: Final = needs("node")


def verdicts(paths: Iterable[Path], *options: str) -> dict[str, str]:
    """Return the verdict of the checker on each file, by its name without its ending."""
    done = _node(str(CHECKER / "check.mjs"), *options, *map(str, paths))
    found = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert done.returncode == any(verdict.startswith("wrong: ") for verdict in found.values())
    return {Path(path).stem: verdict for path, verdict in found.items()}


def verdicts_on(texts: Iterable[str | bytes], folder: Path, *options: str) -> list[str]:
    """Return the verdict of the checker on each text. The texts are written to ``folder``."""
    paths = []
    for number, text in enumerate(texts):
        paths.append(folder / f"{number}.txt")
        paths[-1].write_bytes(text.encode() if isinstance(text, str) else text)
    found = verdicts(paths, *options)
    return [found[path.stem] for path in paths]


def evaluate(program: str, given: Any = None) -> Any:
    """Run a program with the JSON of ``given`` as its input, and return the JSON that it writes.

    The program can use functions and tables of the page for browsers.
    """
    imports = (
        'import { seedCards } from "./dealing.js"; import { unhex } from "./hash.js";'
        'import { publicSecret } from "./race_hashes.js";'
        'import { deal, RULES as GAMES } from "./rules.mjs"; import { solve } from "./search.mjs";'
    )
    return _evaluate(imports, program, given, PAGE)


def answer_of_page(function: str, folder: Path, given: Any = None, more: Iterable[Game] = ()) -> Any:
    """Return what a function of a module in ``page_programs``, such as ``racer.runs``, answers.

    The modules of the page, which it imports, are copied to ``folder``. ``more`` are games of tests, which they know too.
    """
    copy_page(folder, more)
    module, name = function.split(".")
    shutil.copy(PROGRAMS / f"{module}.mjs", folder)
    return _evaluate(f'import {{ {name} }} from "./{module}.mjs";', f"await {name}(given)", given, folder)


def copy_page(folder: Path, more: Iterable[Game] = ()) -> None:
    """Copy the modules of the page, with those that the server writes, and a file that tells Node that they are modules."""
    for file in PAGE.glob("*.*js*"):
        shutil.copy(file, folder)
    (folder / "games.json").write_bytes(games_json([*GAMES.values(), *more]))
    for name, content in table_modules().items():
        (folder / name).write_bytes(content)
    (folder / "package.json").write_text('{"type": "module"}')


def check_syntax(*modules: bytes) -> None:
    """Refuse texts of which one is no module."""
    read = 'const { SourceTextModule } = require("vm"); JSON.parse(require("fs").readFileSync(0))'
    texts = json.dumps([module.decode() for module in modules])
    _node(
        "--experimental-vm-modules",
        "--no-warnings",
        "-e",
        f"{read}.map(text => new SourceTextModule(text))",
        text=texts,
    )


def _evaluate(imports: str, program: str, given: Any, folder: Path) -> Any:
    read = 'import { readFileSync } from "node:fs"; const given = JSON.parse(readFileSync(0));'
    write = f"console.log(JSON.stringify({program}))"
    done = _node("--input-type=module", "-e", imports + read + write, text=json.dumps(given), folder=folder)
    return json.loads(done.stdout)


def _node(*arguments: str, text: str = "", folder: Path = CHECKER) -> subprocess.CompletedProcess[str]:
    assert NODE is not None
    done = subprocess.run((NODE, *arguments), input=text, capture_output=True, text=True, cwd=folder, check=False)
    assert done.stderr == "", done.stderr
    return done
