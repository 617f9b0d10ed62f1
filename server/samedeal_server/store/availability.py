"""The availability of Redis, as this node observes it on its connections."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from samedeal_server.telemetry.logger import get_logger
from samedeal_server.telemetry.metrics import Metrics

FailureKind = Literal["connect", "lost", "timeout", "refused"]


@dataclass(eq=False)
class RedisProblem:
    """A problem of a primary: its description, when it is over, and the events that are logged.

    ``quiet_time`` is the time, in seconds, without a failure after which the problem is over.
    """

    text: str
    quiet_time: float
    begins: str
    ends: str


DOWN: Final = RedisProblem("is down", 1.0, "redis_down", "redis_up")

REJECTS: Final = RedisProblem("rejects commands", 5.0, "redis_rejects", "redis_accepts")
"""The quiet time is longer than the interval between heartbeats, each of which writes.

A primary that rejects only writes therefore keeps failing within this time.
"""

_PROBLEMS: Final[Mapping[FailureKind, RedisProblem]] = {"connect": DOWN, "timeout": DOWN, "refused": REJECTS}

_log = get_logger()


class _Incident(NamedTuple):
    """A series of failures of a primary: the newest error, and when the first and the newest failure occurred."""

    error: str
    began: float
    latest: float


class RedisAvailability:
    """The state of each primary: whether it is down, rejects commands, or may lose acknowledged moves.

    A primary that gets into one of these states is logged. In all methods, ``where`` is the
    address of a primary, without a password.
    """

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._incidents: dict[RedisProblem, dict[str, _Incident]] = {DOWN: {}, REJECTS: {}}
        self._risks: dict[str, str] = {}
        self._primaries: Collection[str] | None = None

    @property
    def problem(self) -> str:
        """A text that names each primary that is down, rejects commands or may lose acknowledged moves, and says why.

        The text is empty if no primary has such a problem.
        """
        lines = [
            f"{where} {problem.text} ({incident.error})"
            for problem, incidents in self._incidents.items()
            for where, incident in sorted(incidents.items())
        ]
        return "; ".join(lines + [f"{where} is unsafe ({each})" for where, each in sorted(self._risks.items())])

    def set_primaries(self, primaries: Collection[str]) -> None:
        """Set the addresses of all primaries of a cluster. From then on, failures at other addresses are ignored."""
        self._primaries = primaries
        states: tuple[dict[str, Any], ...] = (*self._incidents.values(), self._risks)
        for known in states:
            for where in known.keys() - primaries:
                del known[where]
        self._metrics.redis_up.set(not self._incidents[DOWN])

    def record_answer(self, where: str, seconds: float) -> None:
        """Record that a primary answered after ``seconds``. Pass 0 if the duration is unknown."""
        if seconds:
            self._metrics.redis_seconds.observe(seconds)
        for problem, incidents in self._incidents.items():
            incident = incidents.get(where)
            if incident is not None and time.monotonic() - incident.latest > problem.quiet_time:
                del incidents[where]
                self._metrics.redis_up.set(not self._incidents[DOWN])
                _log.info(problem.ends, redis=where, seconds=round(incident.latest - incident.began, 1))

    def record_failure(self, where: str, kind: FailureKind, error: Exception) -> None:
        """Record a failure of a primary. Only the kinds ``connect`` and ``timeout`` mean that the primary is down."""
        self._metrics.redis_errors[kind].inc()
        problem = _PROBLEMS.get(kind)
        if problem is None or (self._primaries is not None and where not in self._primaries):
            return
        before, now = self._incidents[problem].get(where), time.monotonic()
        incident = _Incident(str(error) or type(error).__name__, before.began if before else now, now)
        self._incidents[problem][where] = incident
        self._metrics.redis_up.set(not self._incidents[DOWN])
        if before is None:
            _log.warning(problem.begins, redis=where, error=incident.error)

    def set_risk(self, where: str, risk: str) -> None:
        """Set the reason why a primary may lose acknowledged moves. Pass an empty string if the primary is safe."""
        if risk and risk != self._risks.get(where):
            _log.warning("redis_unsafe", redis=where, problem=risk)
        if risk:
            self._risks[where] = risk
        else:
            self._risks.pop(where, None)

    def is_down(self, where: str) -> bool:
        """Return whether a primary is down: it was unreachable or timed out, and has not recovered since."""
        return where in self._incidents[DOWN]
