"""Which ways an input goes through the code: what is told apart is each step from one line of a function to another."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable
from types import FrameType, ModuleType
from typing import Any, Self


class Edges:
    """Watches some modules while it is entered: ``seen`` are all steps so far, and whatever else was noted."""

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
        """Have something else that an input led to count as a step, where code can't be watched."""
        self.seen.add(what)

    def take_new(self) -> int:
        """How many steps were seen for the first time since this was last asked."""
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
