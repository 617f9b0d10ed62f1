"""Logs: one event a line, JSON for machines or pretty on a terminal; never a seed, a token or a card."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

from samedeal_server.config import LogStyle


def set_up(level: str, style: LogStyle, node: str) -> None:
    """Write structlog's events to standard error from a level on (``debug`` to ``error``), each with the node's name."""
    pretty = style == "pretty" or (style == "auto" and sys.stderr.isatty())
    # A traceback that shows local variables would show seeds, tokens and cards.
    renderer: Any = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if pretty
        else structlog.processors.JSONRenderer()
    )
    processors: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if not pretty:
        without_locals = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        processors.append(structlog.processors.ExceptionRenderer(without_locals))
    structlog.configure(
        processors=[*processors, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    structlog.contextvars.bind_contextvars(node=node)
    # The library's own records of broken handshakes and the like would come between, without a connection's number.
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
