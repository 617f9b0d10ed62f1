"""A server process whose log a test reads."""

from __future__ import annotations

import json
from typing import Any

from tests.end_to_end.processes import Program


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
