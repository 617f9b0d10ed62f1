"""The corpus that all fuzzers share: inputs that reached new code are kept and damaged again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final, Generic, TypeVar

_Input = TypeVar("_Input")

_NEW_SHARE: Final = 0.3
"""The share of inputs that are new. The others are damaged inputs of the corpus."""


class BrokenPromise(Exception):
    """The code under test broke a promise. ``str()`` says which."""


@dataclass
class Outcome:
    """The result of a fuzzer. ``broken`` holds the broken promises, each with its input."""

    name: str
    inputs: int = 0
    kept: int = 0
    steps: int = 0
    broken: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        reached = f"{self.kept} reached new code, {self.steps} steps covered"
        return f"{self.name:9} {self.inputs:8} inputs, {reached}, {len(self.broken)} broken"


class Corpus(Generic[_Input]):
    """Inputs that reached new code, and the source of further inputs."""

    def __init__(
        self, rng: Random, make: Callable[[Random], _Input], damage: Callable[[Random, _Input, list[_Input]], _Input]
    ) -> None:
        self._rng = rng
        self._make = make
        self._damage = damage
        self.kept: list[_Input] = []

    def next(self) -> _Input:
        """The next input to try."""
        rng = self._rng
        if not self.kept or rng.random() < _NEW_SHARE:
            return self._make(rng)
        # Prefer later inputs, which reach deeper into the code.
        at = max(rng.randrange(len(self.kept)), rng.randrange(len(self.kept)))
        return self._damage(rng, self.kept[at], self.kept)

    def keep(self, tried: _Input) -> None:
        """Keep an input that reached new code."""
        self.kept.append(tried)


def input_text(data: object) -> str:
    """Return an input as text for a test."""
    text = repr(data)
    return text if len(text) < 4000 else f"{text[:4000]}... ({len(text)} characters)"
