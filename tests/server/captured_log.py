"""The log of nodes that run in the process of the tests."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import structlog

from samedeal_server.config.config import Config, LogStyle
from samedeal_server.telemetry import logs
from tests.server.waiting import until


@contextmanager
def logs_restored() -> Iterator[None]:
    """Let what comes later log as before."""
    before, root = structlog.get_config(), logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        structlog.configure(**before)
        root.handlers[:] = handlers
        root.setLevel(level)


class Log:
    """The log of a test, read from standard output."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture
        self.text = ""

    def set_up(self, level: str = "debug", style: LogStyle = "json") -> None:
        self._capture.readouterr()
        logs.set_up(Config(log_level=level, log_style=style), "n1")  # type: ignore[arg-type]

    def read(self) -> str:
        out, errors = self._capture.readouterr()
        assert not errors
        self.text += out
        return self.text

    def events(self) -> list[dict[str, Any]]:
        """Return all events, one per line."""
        return [json.loads(line) for line in self.read().splitlines()]

    def named(self, event: str, **fields: object) -> list[dict[str, Any]]:
        return [
            each
            for each in self.events()
            if each["event"] == event and all(each.get(name) == value for name, value in fields.items())
        ]

    async def until(self, event: str, **fields: object) -> dict[str, Any]:
        found: list[dict[str, Any]] = await until(lambda: self.named(event, **fields))
        return found[-1]
