"""The faults that nodes in this process log."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import structlog


@contextmanager
def logged_faults() -> Iterator[list[str]]:
    """Collect the events that are logged as errors inside the block. All other events are dropped."""
    faults: list[str] = []

    def collect(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> Any:
        if event["event"] == "fault" or event["level"] in ("error", "critical"):
            faults.append(repr(event))
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[structlog.processors.add_log_level, structlog.processors.format_exc_info, collect])
    try:
        yield faults
    finally:
        structlog.configure(**before)
