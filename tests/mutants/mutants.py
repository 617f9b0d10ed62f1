"""Mutants: one-line mistakes that the tests must notice. ``mutants.toml`` lists them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LIST: Final = Path(__file__).parent / "mutants.toml"


class Inapplicable(Exception):
    """The fragment that a mutant replaces does not occur exactly once in its file."""


@dataclass(frozen=True)
class Mutant:
    """A mistake: in ``file``, the only occurrence of ``find`` becomes ``replace``. One of ``tests`` must then fail.

    ``why`` says what would go wrong. Paths are relative to the root of the repository.
    """

    number: int
    why: str
    file: str
    find: str
    replace: str
    tests: tuple[str, ...]

    def mutate(self, source: str) -> str:
        """Return ``source``, the content of the file, with the mistake. Raise Inapplicable if it does not fit."""
        if (count := source.count(self.find)) != 1:
            raise Inapplicable(f"{self.file} has {count} occurrences of: {self.find.strip()}")
        return source.replace(self.find, self.replace)

    def __str__(self) -> str:
        return f"{self.number:3} {self.file}: {self.why}"


def load_mutants() -> list[Mutant]:
    """Load the list, numbered from 1. Raise TypeError for an unknown or missing field."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutant"]
    return [
        Mutant(number, **{**fields, "tests": tuple(fields["tests"])}) for number, fields in enumerate(listed, start=1)
    ]
