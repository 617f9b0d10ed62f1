"""The loggers of a node's modules. The section *Logs* of deploy/README.md explains each event."""

from __future__ import annotations

from typing import cast

import structlog
from structlog.typing import FilteringBoundLogger


def get_logger() -> FilteringBoundLogger:
    """Return a logger. When ``logs.set_up`` changes the configuration, the logger uses the new one."""
    return cast("FilteringBoundLogger", structlog.get_logger())
