"""What a program could not write to its files: files are copies, and the program goes on with what it has in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Unsaved:
    """What could not be written, by the path of its file, and what the player is told about files, and ``log`` too.

    What stores keep here, they return as if it were in the file, and write it with the next thing that can be written.
    """

    def __init__(self, log: Callable[[str], None] = lambda _: None) -> None:
        self.kept: dict[Path, Any] = {}
        self._log = log
        self._told: set[str] = set()
        self._untold: list[str] = []

    @contextmanager
    def keeping(self, path: Path, value: object) -> Iterator[None]:
        """Keep a value in memory if writing it inside the context raises OSError."""
        try:
            yield
        except OSError:
            self.kept[path] = value
            raise
        self.kept.pop(path, None)

    def tell(self, sentence: str) -> None:
        """Tell the player a sentence, but only once."""
        if sentence not in self._told:
            self._told.add(sentence)
            self._log(sentence)
            self._untold.append(sentence)

    def take_sentences(self) -> list[str]:
        """Return the sentences for the player since the last call."""
        sentences, self._untold = self._untold, []
        return sentences
