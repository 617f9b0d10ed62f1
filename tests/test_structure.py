"""The names and the structure of the source: what holds for every module."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
WIDEST_LINE: Final = 120
SOURCES: Final = (
    *("shared/samedeal", "server/samedeal_server", "client/samedeal_link", "client/samedeal_client"),
    *("client/samedeal_bots", "client/samedeal_door", "client/samedeal_operate"),
)
PAGES: Final = [
    *sorted(ROOT.glob("*.md")),
    *sorted(
        path for folder in ("shared", "server", "client", "deploy", "tests") for path in (ROOT / folder).rglob("*.md")
    ),
]


def modules() -> Iterator[tuple[str, ast.Module]]:
    for source in SOURCES:
        for path in sorted((ROOT / source).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def public_types(tree: ast.Module) -> Iterator[str]:
    """Yield the names of a module's public classes, type aliases and type variables.

    Type aliases and type variables are assignments to names such as ``NodeOrder``. Names such as ``PREFIX`` are
    constants.
    """
    for node in tree.body:
        names = [node.name] if isinstance(node, ast.ClassDef) else []
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name) and not target.id.isupper()]
        yield from (name for name in names if name[0].isupper())


def test_public_type_names_are_unique() -> None:
    defined = defaultdict(list)
    for module, tree in modules():
        for name in public_types(tree):
            defined[name].append(module)
    assert {name: found for name, found in defined.items() if len(found) > 1} == {}


def test_no_test_module_is_imported() -> None:
    """Fixtures and helpers live in conftest.py and in helper modules."""
    pattern = re.compile(r"^(?:from|import) \S*\btest_\w+", re.MULTILINE)
    imported = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for line in pattern.findall(path.read_text(encoding="utf-8"))
    ]
    assert imported == []


def test_every_folder_is_on_the_map() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    folders = {path.parent.name for source in SOURCES for path in (ROOT / source).glob("*/__init__.py")}
    assert {folder for folder in folders if f"`{folder}/`" not in page} == set()


def test_architecture_gives_a_reason_for_each_dependency() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = page.partition("| runtime dependency |")[2].partition("\n\n")[0]
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert sorted(re.findall(r"^\| `(\S+)` \|", table, re.MULTILINE)) == [
        re.split(r"[>;]", dependency)[0] for dependency in sorted(wanted)
    ]


def test_markdown_lines_are_short() -> None:
    """One sentence a line, at most 120 characters, except for tables, code and links, so that a diff shows what changed."""
    for page in PAGES:
        code, long = False, []
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("```"):
                code = not code
            elif len(line) > WIDEST_LINE and not code and not line.startswith("|") and "](" not in line:
                long.append(f"{number}: {line[:60]}")
        assert long == [], page
