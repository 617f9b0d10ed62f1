"""The logging of a node: one event per line, as JSON or in a readable format.

Logs never contain a seed, a token or a card. The logs of libraries are formatted in the same way. Errors that clients
cause are logged without a traceback.
"""

from __future__ import annotations

import logging
import sys
import time
import traceback
from collections import Counter
from contextlib import suppress
from typing import Final, TextIO

import structlog
from structlog.typing import EventDict, ExcInfo, FilteringBoundLogger, Processor, WrappedLogger

from samedeal.terminal_text import printable
from samedeal_server.config.config import Config

_LIBRARIES: Final = {"websockets": logging.WARNING, "samedeal": logging.WARNING, "redis": logging.WARNING}
"""Minimum log levels of libraries, even if the configured level is lower.

Below its level, websockets logs tokens and cards.
"""

_MAX_WIDTH: Final = 2000
"""Maximum width, in columns, of a value or a line of a traceback in the readable format."""

_THROTTLE_INTERVAL: Final = 10.0
"""Minimum interval, in seconds, between two lines with the same reason in a ThrottledLog."""


def log_stream(config: Config) -> TextIO:
    """Return the stream for logs: standard output. If ``--announce`` needs standard output, return standard error."""
    return sys.stderr if config.announce else sys.stdout


def is_pretty(config: Config) -> bool:
    """Return whether logs are written in the readable format instead of JSON."""
    return config.log_style == "pretty" or (config.log_style == "auto" and log_stream(config).isatty())


def set_up(config: Config, node: str) -> None:
    """Set up logging with the level and the format from ``config``. Add the name of the node to JSON lines."""
    stream = log_stream(config)
    min_level = logging.getLevelNamesMapping()[config.log_level.upper()]
    pretty = is_pretty(config)

    def order_fields(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        first = {name: event.pop(name) for name in ("timestamp", "level", "event")}
        return {**first, "node": node, **event}

    shared: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if pretty else "iso", utc=not pretty),
    ]
    # A traceback that shows local variables would show seeds, tokens and cards.
    if pretty:
        renderer = structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=_printable_traceback)
        rendering: list[Processor] = [_make_printable, renderer]
    else:
        traceback_as_data = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        json_lines = structlog.processors.JSONRenderer()
        rendering = [order_fields, structlog.processors.ExceptionRenderer(traceback_as_data), json_lines]
    lines = _LineWriter(stream)
    structlog.configure(
        processors=[*shared, *rendering],
        wrapper_class=structlog.make_filtering_bound_logger(min_level),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=False,
    )
    handler = _LibraryHandler(lines)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[_name_library, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
        )
    )
    root = logging.getLogger()
    for earlier in [handler for handler in root.handlers if isinstance(handler, _LibraryHandler)]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    root.setLevel(max(min_level, logging.INFO))
    for library, library_min_level in _LIBRARIES.items():
        logging.getLogger(library).setLevel(max(min_level, library_min_level))


class ThrottledLog:
    """Logs events that clients can cause as often as they like, with at most one line per reason in ten seconds.

    Each line says how many events have occurred since the previous line.
    """

    def __init__(self, log: FilteringBoundLogger) -> None:
        self._log = log
        self._counts: Counter[str] = Counter()
        self._logged_at: dict[str, float] = {}

    def info(self, event: str, reason: str, **fields: object) -> None:
        """Log an event with its fields. If an event with the same reason was logged recently, only count the new one."""
        if count := self._due(reason):
            self._log.info(event, reason=reason, count=count, **fields)

    def warning(self, event: str, reason: str, **fields: object) -> None:
        """Log or count an event as ``info`` does, at level warning."""
        if count := self._due(reason):
            self._log.warning(event, reason=reason, count=count, **fields)

    def _due(self, reason: str) -> int:
        """Count an event. Return how many there are for a line, or 0 if it is too early for a line."""
        self._counts[reason] += 1
        now = time.monotonic()
        if now - self._logged_at.get(reason, -_THROTTLE_INTERVAL) < _THROTTLE_INTERVAL:
            return 0
        self._logged_at[reason] = now
        return self._counts.pop(reason)


class _LineWriter:
    """Writes lines to a stream. Errors are ignored, because a closed pipe or a full disk must not stop the node."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def msg(self, line: str) -> None:
        with suppress(OSError, ValueError):
            self._stream.write(f"{line}\n")
            self._stream.flush()

    debug = info = warning = error = critical = msg


class _LibraryHandler(logging.Handler):
    """Formats the logs of libraries in the same way as the node's own logs."""

    def __init__(self, lines: _LineWriter) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._lines.msg(self.format(record))
        except Exception:  # noqa: BLE001  # as the handlers of the standard library do
            self.handleError(record)


def _name_library(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    return {**event, "library": event["_record"].name}


def _make_printable(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace control characters in an event. They may come from a client, and a terminal would interpret them."""
    return {key: printable(value, _MAX_WIDTH) if isinstance(value, str) else value for key, value in event.items()}


def _printable_traceback(sio: TextIO, exc_info: ExcInfo) -> None:
    text = "".join(traceback.format_exception(*exc_info))
    sio.write("\n" + "\n".join(printable(line, _MAX_WIDTH) for line in text.splitlines()))
