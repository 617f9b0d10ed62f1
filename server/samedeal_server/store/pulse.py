"""Whether Redis answers, as this node's connections to it find: counted each time, logged when it changes."""

from __future__ import annotations

import time
from typing import Literal

import structlog

from samedeal_server.metrics import Metrics

Failure = Literal["connect", "lost", "timeout", "refused"]

_log: structlog.stdlib.BoundLogger = structlog.get_logger("redis")


class Pulse:
    """What a node's connections to Redis tell of it."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._away_since = 0.0

    @property
    def away(self) -> bool:
        """Whether the last that is known of Redis is that it does not answer."""
        return self._away_since > 0

    def answered(self, seconds: float) -> None:
        """An answer came, so long after its question was sent; 0 where that is not known."""
        if seconds:
            self._metrics.redis.observe(seconds)
        if self._away_since:
            _log.info("redis_back", seconds=round(time.monotonic() - self._away_since, 1))
            self._away_since = 0.0
            self._metrics.redis_up.set(1)

    def failed(self, kind: Failure, error: Exception) -> None:
        """A question was not answered. One connection that breaks is replaced: only who can't be reached is away."""
        self._metrics.redis_errors[kind].inc()
        if kind in ("connect", "timeout") and not self._away_since:
            self._away_since = time.monotonic()
            self._metrics.redis_up.set(0)
            _log.warning("redis_away", error=str(error) or type(error).__name__)
