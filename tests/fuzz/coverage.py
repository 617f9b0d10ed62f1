"""Coverage of the code under test, as steps from one line of a function to the next."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable
from types import FrameType, ModuleType
from typing import Any, Self


class LineCoverage:
    """Traces some modules inside a ``with`` block. ``seen`` holds all steps so far, and everything passed to ``note``."""

    def __init__(self, modules: Iterable[ModuleType]) -> None:
        self._files = {module.__file__: number for number, module in enumerate(modules)}
        self.seen: set[tuple[Hashable, ...]] = set()
        self._known = 0

    def __enter__(self) -> Self:
        sys.settrace(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def note(self, *what: Hashable) -> None:
        """Count something else that an input led to as a step, for code that can't be traced."""
        self.seen.add(what)

    def count_new(self) -> int:
        """Return the number of new steps since the last call."""
        new, self._known = len(self.seen) - self._known, len(self.seen)
        return new

    def _call(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        number = self._files.get(frame.f_code.co_filename)
        if number is None:
            return None
        last = 0

        def line(frame: FrameType, _event: str, _argument: Any) -> Any:
            nonlocal last
            self.seen.add((number, last, frame.f_lineno))
            last = frame.f_lineno
            return line

        return line
