"""The exception with which a command fails."""

from __future__ import annotations


class Failure(Exception):
    """The failure of a command. ``str()`` gives sentences for the player. ``code`` is the exit code."""

    def __init__(self, sentence: str, code: int = 1) -> None:
        super().__init__(sentence)
        self.code = code
