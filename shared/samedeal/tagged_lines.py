"""A reader of texts whose lines are a tag and a value, such as terms and records, and what such values may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from samedeal.errors import MalformedText, SamedealError

_Value = TypeVar("_Value")

_NUMBER: Final = re.compile(r"0|[1-9][0-9]*")


class TaggedLines:
    """A reader that goes through lines from top to bottom. ``at`` is the number of the next line, the first one is 0.

    ``wrong`` makes the error of the whole text from what is wrong with a line, and the number of this line.
    """

    def __init__(self, lines: Sequence[str], wrong: Callable[[SamedealError, int], SamedealError], at: int = 0) -> None:
        self._lines = lines
        self._wrong = wrong
        self.at = at

    @property
    def line(self) -> str:
        """The next line. It is empty after the last one."""
        return self._lines[self.at] if self.at < len(self._lines) else ""

    def has(self, tag: str) -> bool:
        """Return whether the next line has a tag."""
        return self.line.startswith(f"{tag}: ")

    def take(self, tag: str, read: Callable[[str], _Value]) -> _Value:
        """Return the value of the next line. Raise the error of the text if it has another tag or a wrong value."""
        if not self.has(tag):
            raise self.refuse(f"Expected '{tag}: ...', not {self.line[:40]!r}.")
        return self.take_line(lambda line: read(line.removeprefix(f"{tag}: ")))

    def take_if(self, tag: str, read: Callable[[str], _Value], default: _Value) -> _Value:
        """Return the value of the next line if it has the tag, and else the default."""
        return self.take(tag, read) if self.has(tag) else default

    def take_all(self, tag: str, read: Callable[[str], _Value]) -> list[_Value]:
        """Return the values of the next lines as long as they have the tag."""
        values = []
        while self.has(tag):
            values.append(self.take(tag, read))
        return values

    def take_line(self, read: Callable[[str], _Value]) -> _Value:
        """Return what ``read`` makes of the whole next line. Raise the error of the text if the line is wrong."""
        try:
            value = read(self.line)
        except SamedealError as error:
            raise self._wrong(error, self.at) from None
        self.at += 1
        return value

    def refuse(self, sentence: str) -> SamedealError:
        """Return the error of the text because of the next line."""
        return self._wrong(MalformedText(sentence), self.at)


def number_between(lowest: int, highest: int) -> Callable[[str], int]:
    """Return a function that reads a number from ``lowest`` to ``highest``."""

    def number(text: str) -> int:
        if not _NUMBER.fullmatch(text) or not lowest <= int(text[:20]) <= highest:
            raise MalformedText(f"{text[:20]!r} is not a number from {lowest} to {highest}.")
        return int(text)

    return number


def read_hash(text: str, size: int = 32) -> bytes:
    """Return a hash of ``size`` bytes."""
    if not re.fullmatch(rf"[0-9a-f]{{{2 * size}}}", text):
        raise MalformedText(f"This is not {2 * size} hexadecimal digits in lower case.")
    return bytes.fromhex(text)
