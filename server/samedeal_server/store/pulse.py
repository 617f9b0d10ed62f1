"""Whether Redis answers, as this node's connections to it find: counted each time, logged when it changes."""

from __future__ import annotations

import time
from typing import Final, Literal

import structlog

from samedeal_server.metrics import Metrics

SETTLED: Final = 1.0
"""Seconds without a failure after which an answer means that Redis is back: of many Redis some may be."""

Failure = Literal["connect", "lost", "timeout", "refused"]

_log: structlog.stdlib.BoundLogger = structlog.get_logger("redis")


class Pulse:
    """What a node's connections to Redis tell of it; a ``silent`` one logs nothing."""

    def __init__(self, metrics: Metrics, *, silent: bool = False) -> None:
        self._metrics = metrics
        self._silent = silent
        self._away_since = 0.0
        self._failed = 0.0

    @property
    def away(self) -> bool:
        """Whether the last that is known of Redis is that it does not answer."""
        return self._away_since > 0

    def answered(self, seconds: float) -> None:
        """An answer came, so long after its question was sent; 0 where that is not known."""
        if seconds:
            self._metrics.redis.observe(seconds)
        if self._away_since and time.monotonic() - self._failed > SETTLED:
            if not self._silent:
                _log.info("redis_back", seconds=round(self._failed - self._away_since, 1))
            self._away_since = 0.0
            self._metrics.redis_up.set(1)

    def failed(self, kind: Failure, error: Exception) -> None:
        """A question was not answered. One connection that breaks is replaced: only who can't be reached is away."""
        self._metrics.redis_errors[kind].inc()
        if kind not in ("connect", "timeout"):
            return
        self._failed = time.monotonic()
        if not self._away_since:
            self._away_since = self._failed
            self._metrics.redis_up.set(0)
            if not self._silent:
                _log.warning("redis_away", error=str(error) or type(error).__name__)
