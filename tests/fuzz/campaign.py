"""The loop of every fuzz: an input is made or damaged, tried, and kept to be damaged again where it went a new way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final, Generic, TypeVar

_Input = TypeVar("_Input")

_FRESH: Final = 0.3
"""Of the inputs are made anew; the others are damaged ones of the corpus."""


class Broken(Exception):
    """A promise was broken; ``str()`` of it says which."""


@dataclass
class Outcome:
    """What a fuzz has done and found. ``broken`` holds what broke, with the input that did it."""

    name: str
    inputs: int = 0
    kept: int = 0
    steps: int = 0
    broken: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        ways = f"{self.kept} went a new way, {self.steps} steps of the code seen"
        return f"{self.name:9} {self.inputs:8} inputs, {ways}, {len(self.broken)} broken"


class Corpus(Generic[_Input]):
    """Inputs that went a new way, and how others are made of them."""

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
        if not self.kept or rng.random() < _FRESH:
            return self._make(rng)
        # Those found last are the farthest in.
        at = max(rng.randrange(len(self.kept)), rng.randrange(len(self.kept)))
        return self._damage(rng, self.kept[at], self.kept)

    def keep(self, tried: _Input) -> None:
        """Keep an input that went a new way."""
        self.kept.append(tried)


def shown(data: object) -> str:
    """An input as it can be pasted into a test."""
    text = repr(data)
    return text if len(text) < 4000 else f"{text[:4000]}... ({len(text)} characters)"
