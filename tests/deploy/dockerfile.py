"""The instructions of the Dockerfile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FILE: Final = ROOT / "deploy" / "Dockerfile"


@dataclass(frozen=True)
class Step:
    """An instruction and its arguments as text."""

    word: str
    rest: str

    @property
    def words(self) -> list[str]:
        """The arguments as words, also if they are written as a JSON list."""
        return list(json.loads(self.rest)) if self.rest.startswith("[") else self.rest.split()

    @property
    def sources(self) -> list[str]:
        """Sources that a COPY takes from the build context. Empty if it copies from another stage."""
        return [] if self.words[0].startswith("--from=") else self.words[:-1]


def steps(text: str) -> Iterator[Step]:
    """Yield the instructions of a Dockerfile, without comments, with continued lines joined."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in lines.replace("\\\n", " ").splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            yield Step(word.upper(), re.sub(r"\s+", " ", rest.strip()))
