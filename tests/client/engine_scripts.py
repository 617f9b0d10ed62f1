"""Engines as shell scripts, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Final

READY: Final = "read -r line; echo ready 1\n"
"""The beginning of a script that gets ready, and then does something else than play."""


def script(folder: Path, text: str) -> str:
    """Write a shell script, and return its path."""
    path = folder / "engine"
    path.write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def answering(*cases: str) -> str:
    """The text of a script that answers ``go``. A case such as ``*' undo yes '*) answer=undo`` looks at the position."""
    given = "".join(f"{case} ;;\n" for case in cases)
    return (
        "while read -r line; do case $line in\n"
        "samedeal*) echo ready 1 ;;\n"
        f'go*) case $position in\n{given}esac; echo "bestmove $answer" ;;\n'
        "position*) position=$line ;;\n"
        "quit) exit ;;\n"
        "esac; done\n"
    )
