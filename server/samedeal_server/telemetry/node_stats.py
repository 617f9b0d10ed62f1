"""Statistics of a node: rates and latencies since the previous sample, and memory."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from typing import Final

from samedeal_server.telemetry.metrics import Metrics

_STATM: Final = Path("/proc/self/statm")


class NodeStats:
    """Computes rates and latencies of a node from its metrics."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._sampled_at = time.monotonic()
        self._cpu_time = time.process_time()
        self._acks = metrics.ack_seconds.cumulative()

    def sample(self) -> dict[str, float]:
        """Return the rates and latencies since the previous sample. The keys are fields of ``NodeLine``."""
        before, self._acks = self._acks, self._metrics.ack_seconds.cumulative()
        acks = [(bound, count - previous) for (bound, count), (_, previous) in zip(self._acks, before, strict=True)]
        now, cpu_time = time.monotonic(), time.process_time()
        elapsed, used = max(now - self._sampled_at, 1e-3), cpu_time - self._cpu_time
        self._sampled_at, self._cpu_time = now, cpu_time
        return {
            "moves": acks[-1][1] / elapsed,
            "median": 1000 * _quantile(acks, 0.5),
            "p99": 1000 * _quantile(acks, 0.99),
            "load": used / elapsed,
        }


def _quantile(buckets: list[tuple[float, int]], share: float) -> float:
    """Return the smallest finite bound with at least the fraction ``share`` (0 to 1) of all values at or below it.

    If there is no such bound, return the largest finite bound. If there are no values, return 0.
    """
    wanted = share * buckets[-1][1]
    bounds = [bound for bound, count in buckets[:-1] if count >= wanted]
    return (bounds or [buckets[-2][0]])[0] if wanted else 0.0


def memory() -> int:
    """Return the resident memory of this process, in bytes. Return its peak if the system reports only the peak."""
    try:
        return int(_STATM.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
