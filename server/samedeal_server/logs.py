"""Logs: one event a line, JSON for machines or pretty on a terminal; never a seed, a token or a card.

What libraries log goes the same way. Of a client's doing there is never a traceback.
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
from structlog.typing import EventDict, ExcInfo, Processor, WrappedLogger
from websockets.exceptions import WebSocketException

from samedeal.names import printable
from samedeal_server.config import Config

_LIBRARIES: Final = {"websockets": logging.WARNING, "samedeal": logging.WARNING, "redis": logging.WARNING}
"""From which level on libraries are heard, whatever is asked for: below it the frames are told, with tokens and cards."""

_WIDEST: Final = 2000
"""Columns of a value, and of a line of a traceback, on a terminal."""

_SELDOM: Final = 10.0
"""Seconds between two lines of what strangers cause."""

_HANDSHAKE_FAILED: Final = "opening handshake failed"
"""What some versions of websockets say of garbage, with a traceback."""


def goes_to(config: Config) -> TextIO:
    """Standard output, unless that is for the announcement alone."""
    return sys.stderr if config.announce else sys.stdout


def is_pretty(config: Config) -> bool:
    """Whether lines are for people."""
    return config.log_style == "pretty" or (config.log_style == "auto" and goes_to(config).isatty())


def set_up(config: Config, node: str) -> None:
    """Write events from the level on that is wished for, each with the node's name."""
    to = goes_to(config)
    least = logging.getLevelNamesMapping()[config.log_level.upper()]
    pretty = is_pretty(config)

    def in_order(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        first = {name: event.pop(name) for name in ("timestamp", "level", "event")}
        return {**first, "node": node, **event}

    shared: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if pretty else "iso", utc=not pretty),
    ]
    # A traceback that shows local variables would show seeds, tokens and cards.
    rendering: list[Processor] = (
        [_harmless, structlog.dev.ConsoleRenderer(colors=to.isatty(), exception_formatter=_plain_traceback)]
        if pretty
        else [
            in_order,
            structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False)),
            structlog.processors.JSONRenderer(),
        ]
    )
    lines = _Lines(to)
    structlog.configure(
        processors=[*shared, *rendering],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=False,
    )
    handler = _Libraries(lines)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[_name_library, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
        )
    )
    root = logging.getLogger()
    for earlier in [each for each in root.handlers if isinstance(each, _Libraries)]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    root.setLevel(max(least, logging.INFO))
    for library, its_least in _LIBRARIES.items():
        logging.getLogger(library).setLevel(max(least, its_least))


class Seldom:
    """Logs what strangers may cause at any rate: one line in ten seconds for each reason, with how often it was."""

    def __init__(self, log: structlog.stdlib.BoundLogger) -> None:
        self._log = log
        self._times: Counter[str] = Counter()
        self._said: dict[str, float] = {}

    def info(self, event: str, reason: str, **fields: object) -> None:
        """Log an event unless it was of late; ``fields`` are those of this time."""
        self._times[reason] += 1
        now = time.monotonic()
        if now - self._said.get(reason, -_SELDOM) >= _SELDOM:
            self._said[reason] = now
            self._log.info(event, reason=reason, times=self._times.pop(reason), **fields)


class _Lines:
    """Where lines go. A reader that is gone, or a full disk, must not end a race."""

    def __init__(self, to: TextIO) -> None:
        self._to = to

    def msg(self, line: str) -> None:
        with suppress(OSError, ValueError):
            self._to.write(f"{line}\n")
            self._to.flush()

    debug = info = warning = error = critical = msg


class _Libraries(logging.Handler):
    """Has what libraries log go the same way; what a client did to its handshake they tell as a mistake of ours."""

    def __init__(self, lines: _Lines) -> None:
        super().__init__()
        self._lines = lines
        self._strangers = Seldom(structlog.get_logger("handshakes"))

    def emit(self, record: logging.LogRecord) -> None:
        try:
            error = record.exc_info[1] if record.exc_info else None
            if record.msg == _HANDSHAKE_FAILED and isinstance(error, (WebSocketException, EOFError, OSError)):
                self._strangers.info("turned_away", "malformed", error=str(error.__cause__ or error))
            else:
                self._lines.msg(self.format(record))
        except Exception:  # noqa: BLE001  # as the standard library's handlers do
            self.handleError(record)


def _name_library(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    return {**event, "library": event["_record"].name}


def _harmless(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Without what a terminal would obey: some words are a client's."""
    return {key: printable(value, _WIDEST) if isinstance(value, str) else value for key, value in event.items()}


def _plain_traceback(sio: TextIO, exc_info: ExcInfo) -> None:
    text = "".join(traceback.format_exception(*exc_info))
    sio.write("\n" + "\n".join(printable(line, _WIDEST) for line in text.splitlines()))
