"""Errors of a node: it cannot start or continue, or Redis is unavailable."""

from __future__ import annotations

from typing import Final

from samedeal.data_files import read_data
from samedeal.sentences import SentenceRow

STARTUP_ERRORS: Final = read_data("samedeal_server", "startup_errors.toml", dict[str, dict[str, SentenceRow]])["errors"]


class StartupError(Exception):
    """Error of a node that cannot start or continue. ``startup_errors.toml`` has its sentence, by its name."""

    def __init__(self, name: str, /, **words: object) -> None:
        row = STARTUP_ERRORS[name]
        super().__init__(row.sentence.format(**words))
        self.code = row.code or name


class StoreUnavailable(Exception):
    """Error of a command to Redis: Redis is unreachable, timed out, or answered with an error.

    The command may still have taken effect. ``__cause__`` is the error of the Redis client.
    """


class StoreRejected(StoreUnavailable):
    """Error of a command that Redis has answered with an error."""
