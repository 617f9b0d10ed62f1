"""What all fuzzers share: inputs that reach new code are kept and damaged again, and broken promises are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from random import Random
from types import ModuleType
from typing import Final, Generic, TypeVar

from tests.fuzz.coverage import LineCoverage

_Input = TypeVar("_Input")

_NEW_SHARE: Final = 0.3
"""The share of inputs that are new. The others are damaged inputs that were kept."""


class BrokenPromise(Exception):
    """The code under test broke a promise. ``str()`` says which."""


class Campaign(Generic[_Input]):
    """The inputs that a fuzzer has tried. ``broken`` holds the broken promises, each with its input.

    ``make`` makes new inputs, and ``damage`` changes an input, perhaps with parts of others. Steps of the modules
    ``watched`` count as reached code.
    """

    def __init__(
        self,
        name: str,
        seed: int,
        watched: Iterable[ModuleType],
        make: Callable[[Random], _Input],
        damage: Callable[[Random, _Input, list[_Input]], _Input],
    ) -> None:
        self.rng = Random(seed)
        self.coverage = LineCoverage(watched)
        self.tried = 0
        self.broken: list[str] = []
        self._name = name
        self._make = make
        self._damage = damage
        self._kept: list[_Input] = []

    def __str__(self) -> str:
        reached = f"{len(self._kept)} reached new code, {len(self.coverage.seen)} steps covered"
        return f"{self._name:9} {self.tried:8} inputs, {reached}, {len(self.broken)} broken"

    def inputs(self, until: int, stop: int) -> Iterator[_Input]:
        """Yield inputs until so many have been tried, or so many promises are broken."""
        while self.tried < until and len(self.broken) < stop:
            yield self._next()

    def _next(self) -> _Input:
        rng = self.rng
        if not self._kept or rng.random() < _NEW_SHARE:
            return self._make(rng)
        # Prefer later inputs, which reach deeper into the code.
        at = max(rng.randrange(len(self._kept)), rng.randrange(len(self._kept)))
        return self._damage(rng, self._kept[at], self._kept)

    @contextmanager
    def trying(self, tried: _Input) -> Iterator[None]:
        """Trace the block, which tries an input, and note if it breaks a promise."""
        self.tried += 1
        try:
            with self.coverage:
                yield
        except BrokenPromise as broken:
            self.broken.append(f"{broken}: {_input_text(tried)}")
        if self.coverage.count_new():
            self._kept.append(tried)


def _input_text(data: object) -> str:
    """Return an input as text for a test."""
    text = repr(data)
    return text if len(text) < 4000 else f"{text[:4000]}... ({len(text)} characters)"
