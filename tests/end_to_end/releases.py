"""Other releases to run together with this tree: the previous one, from its tag, and a future one, made from this tree."""

from __future__ import annotations

import ast
import io
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
TO_COME: Final = "99.0.0"

_GROWN: Final = (
    "shared/samedeal/protocol/admin.py",
    "server/samedeal_server/store/events.py",
    "shared/samedeal/protocol/messages.py",
    "shared/samedeal/options.py",
    "shared/samedeal/race/values.py",
)
"""Modules whose structs get another field in the future release."""

_FIXED: Final = ("Progress", "RequestMessage", "AnswerMessage")
"""A hash of numbers, and what all requests and answers have, whose own fields come after it and may need a value."""

_MORE_EVENTS: Final = """
local once = append_event
append_event = function(...)
  local another = {...}
  another[6] = 'L \\255'
  once(unpack(another))
  return once(...)
end
"""
"""Lua that writes an event of an unknown kind before each event."""


class Release(NamedTuple):
    """A version and the directory of its packages. None stands for this tree."""

    version: str
    packages: Path | None


def tag_before() -> str | None:
    """Return the newest release tag before this tree, or None if there is none or no repository."""
    top = subprocess.run(("git", "rev-parse", "--show-toplevel"), cwd=ROOT, capture_output=True, text=True, check=False)
    if top.returncode or Path(top.stdout.strip()) != ROOT:
        return None
    merged = ("git", "tag", "--list", "v*", "--sort=-version:refname", "--merged", "HEAD", "--no-contains", "HEAD")
    done = subprocess.run(merged, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.split()[0] if done.stdout else None


def release_before(tag: str, to: Path) -> Release:
    """Install the release of a tag."""
    archive = subprocess.run(("git", "archive", tag), cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(to / "tree", filter="data")
    return Release(tag.removeprefix("v"), _installed(to / "tree", to))


def release_to_come(to: Path) -> Release:
    """Make a future release with everything that may change without raising the schema (ARCHITECTURE.md, *Versions*)."""
    tree = to / "tree"
    copy_sources(tree, "shared", "server", "client", "pyproject.toml", "README.md", "LICENSE")
    for name in _GROWN:
        _grow(tree / name)
    _replace(tree / "shared/samedeal/__init__.py", r'__version__ = ".+"', f'__version__ = "{TO_COME}"')
    store = tree / "server/samedeal_server/store"
    _replace(store / "schema.py", r"range\((\d+), \d+\)", r"range(\1, SCHEMA_VERSION + 2)")
    _replace(store / "events.py", r'f"presence \{player\} ", " 1"', r'f"presence {player} ", " 1 later"')
    _replace(store / "lua/commit_action.lua", r"('undos', undos)\)", r"\1, 'later', 1)")
    with (store / "lua/prelude.lua").open("a") as script:
        script.write(_MORE_EVENTS)
    return Release(TO_COME, _installed(tree, to))


def copy_sources(to: Path, *names: str) -> None:
    """Copy files and folders of this tree."""
    to.mkdir(parents=True)
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, to)


def _grow(module: Path) -> None:
    """Add a field to each struct of a module."""
    lines = module.read_text().splitlines()
    for node in reversed(ast.parse(module.read_text()).body):
        fields = [each for each in getattr(node, "body", ()) if isinstance(each, ast.AnnAssign)]
        if isinstance(node, ast.ClassDef) and fields and node.name not in _FIXED:
            lines.insert(fields[-1].end_lineno or 0, '    later: str = "more"')
    module.write_text("\n".join(lines) + "\n")


def _replace(file: Path, pattern: str, by: str) -> None:
    text, count = re.subn(pattern, by, file.read_text())
    assert count, f"{pattern!r} is no longer in {file.name}. Change the pattern to match the new code."
    file.write_text(text)


def _installed(tree: Path, to: Path) -> Path:
    """Build the wheel of a source tree and return the directory of its packages."""
    build = (sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", to)
    done = subprocess.run(build, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = to.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(to / "packages")
    return to / "packages"
