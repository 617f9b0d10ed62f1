"""The operator's guide lists the events that a node logs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import samedeal_server
from samedeal_server.store.availability import DOWN, REJECTS
from tests.deploy.introspection import GUIDE

LEVELS = ("debug", "info", "warning", "error", "exception")


def test_guide_lists_exactly_the_logged_events() -> None:
    section = GUIDE.read_text().partition("\n## Logs\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    documented = [event for row in rows for event in re.findall(r"`(\w+)`", row)]
    assert sorted(documented) == sorted({*logged()} - {"request_refused"}), "that one is only for debugging"


def logged() -> Iterator[str]:
    """Yield the events that the code of the server names."""
    for problem in (DOWN, REJECTS):
        yield from (problem.begins, problem.ends)
    for path in Path(samedeal_server.__path__[0]).rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match call:
                case ast.Call(ast.Attribute(logger, level), [ast.Constant(event), *_]) if level in LEVELS:
                    if ast.unparse(logger).endswith(("log", "get_logger()")):
                        yield str(event)
                case _:
                    pass
