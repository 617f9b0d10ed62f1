"""The availability of Redis, as this node observes it on its connections."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Final, Literal

from samedeal_server.telemetry.events import LogEvent, get_logger
from samedeal_server.telemetry.metrics import Metrics

RECOVERY_TIME: Final = 1.0
"""Time, in seconds, without a failure after which a primary that was down counts as up."""

ACCEPTANCE_TIME: Final = 5.0
"""Time, in seconds, without an error after which a primary that rejected commands counts as working again.

This time is longer than the interval between heartbeats, each of which writes. A primary that rejects only writes
therefore keeps failing within this time.
"""

FailureKind = Literal["connect", "lost", "timeout", "refused"]

_log = get_logger()


class _Incident:
    """A series of failures of a primary.

    It lasts from the first failure until no failure has occurred for some time.
    """

    def __init__(self) -> None:
        self.error = ""
        self._began = 0.0
        self._latest = 0.0

    def record(self, error: Exception) -> bool:
        """Record a failure. Return whether it is the first one of the incident."""
        is_first = not self.error
        self._latest = time.monotonic()
        self.error = str(error) or type(error).__name__
        if is_first:
            self._began = self._latest
        return is_first

    def end(self, quiet_time: float) -> float | None:
        """End the incident if no failure has occurred for ``quiet_time`` seconds.

        Return how long the incident lasted, in seconds, or None if it did not end now.
        """
        if not self.error or time.monotonic() - self._latest <= quiet_time:
            return None
        self.error = ""
        return self._latest - self._began


class RedisAvailability:
    """The state of each primary: whether it is down, rejects commands, or may lose acknowledged moves.

    A primary that gets into one of these states is logged, unless ``quiet`` is true. In all methods, ``where`` is the
    address of a primary, without a password.
    """

    def __init__(self, metrics: Metrics, *, quiet: bool = False) -> None:
        self._metrics = metrics
        self._quiet = quiet
        self._outages: dict[str, _Incident] = {}
        self._rejections: dict[str, _Incident] = {}
        self._risks: dict[str, str] = {}
        self._primaries: Collection[str] | None = None

    @property
    def problem(self) -> str:
        """A text that names each primary that is down, rejects commands or may lose acknowledged moves, and says why.

        The text is empty if no primary has such a problem.
        """
        down = [f"{where} is down ({each.error})" for where, each in sorted(self._outages.items())]
        rejecting = [f"{where} rejects commands ({each.error})" for where, each in sorted(self._rejections.items())]
        unsafe = [f"{where} is unsafe ({each})" for where, each in sorted(self._risks.items())]
        return "; ".join(down + rejecting + unsafe)

    def set_primaries(self, primaries: Collection[str]) -> None:
        """Set the addresses of all primaries of a cluster. From then on, failures at other addresses are ignored."""
        self._primaries = primaries
        for known in (self._outages, self._rejections, self._risks):
            for where in [each for each in known if each not in primaries]:
                del known[where]
        self._metrics.redis_up.set(not self._outages)

    def record_answer(self, where: str, seconds: float) -> None:
        """Record that a primary answered after ``seconds``. Pass 0 if the duration is unknown."""
        if seconds:
            self._metrics.redis.observe(seconds)
        if where in self._outages and (duration := self._outages[where].end(RECOVERY_TIME)) is not None:
            del self._outages[where]
            self._metrics.redis_up.set(not self._outages)
            if not self._quiet:
                _log.info(LogEvent.REDIS_UP, redis=where, seconds=round(duration, 1))
        if where in self._rejections and (duration := self._rejections[where].end(ACCEPTANCE_TIME)) is not None:
            del self._rejections[where]
            if not self._quiet:
                _log.info(LogEvent.REDIS_ACCEPTS, redis=where, seconds=round(duration, 1))

    def record_failure(self, where: str, kind: FailureKind, error: Exception) -> None:
        """Record a failure of a primary. Only the kinds ``connect`` and ``timeout`` mean that the primary is down."""
        self._metrics.redis_errors[kind].inc()
        if self._primaries is not None and where not in self._primaries:
            return
        if kind == "refused":
            if self._rejections.setdefault(where, _Incident()).record(error) and not self._quiet:
                _log.warning(LogEvent.REDIS_REJECTS, redis=where, error=self._rejections[where].error)
        elif kind in ("connect", "timeout"):
            if self._outages.setdefault(where, _Incident()).record(error) and not self._quiet:
                _log.warning(LogEvent.REDIS_DOWN, redis=where, error=self._outages[where].error)
            self._metrics.redis_up.set(0)

    def set_risk(self, where: str, risk: str) -> None:
        """Set the reason why a primary may lose acknowledged moves. Pass an empty string if the primary is safe."""
        if risk and risk != self._risks.get(where) and not self._quiet:
            _log.warning(LogEvent.REDIS_UNSAFE, redis=where, problem=risk)
        if risk:
            self._risks[where] = risk
        else:
            self._risks.pop(where, None)

    def is_down(self, where: str) -> bool:
        """Return whether a primary is down: it was unreachable or timed out, and has not recovered since."""
        return where in self._outages
