"""A server process whose log a test reads."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

from tests.end_to_end.processes import Program
from tests.server.client import DEADLINE


class Operated:
    """A server whose log is read from its standard output, one JSON event per line."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.events: list[dict[str, Any]] = []

    async def logs(self, event: str, **fields: object) -> dict[str, Any]:
        """Wait for the next event with a name and these fields. Every line until then must be an event."""
        while True:
            match = await self.program.expect(r"(?m)^(.*)\n")
            found: dict[str, Any] = json.loads(match[1])
            self.events.append(found)
            assert {"timestamp", "level", "event", "node"} <= found.keys()
            if found["event"] == event and all(found.get(name) == value for name, value in fields.items()):
                return found

    async def get(self, url: str) -> tuple[int, str]:
        """Return the status and the body that the health listener answers with, status 0 if it does not answer."""

        def ask() -> tuple[int, str]:
            try:
                with build_opener(ProxyHandler({})).open(url, timeout=DEADLINE) as answer:
                    return answer.status, answer.read().decode()
            except HTTPError as error:
                with error:  # it keeps the connection open
                    return error.code, ""
            except OSError:
                return 0, ""

        return await asyncio.to_thread(ask)
