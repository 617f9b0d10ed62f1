"""What nodes in this process log of their own mistakes."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import structlog


@contextmanager
def mistakes_of_nodes() -> Iterator[list[str]]:
    """The lines that are logged as errors meanwhile, as they come; nothing else is logged."""
    mistakes: list[str] = []

    def look(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> Any:
        if event["event"] == "fault" or event["level"] in ("error", "critical"):
            mistakes.append(repr(event))
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[structlog.processors.add_log_level, structlog.processors.format_exc_info, look])
    try:
        yield mistakes
    finally:
        structlog.configure(**before)
