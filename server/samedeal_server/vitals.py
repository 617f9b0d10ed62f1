"""How a node fares, between one look and the next."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from typing import Final

from samedeal_server.counting import Spread
from samedeal_server.metrics import Metrics

_STATM: Final = Path("/proc/self/statm")


class Vitals:
    """What a node has done since it was last looked at, from its metrics."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._looked = time.monotonic()
        self._used = time.process_time()
        self._acks = _buckets(metrics.ack)

    def look(self) -> dict[str, float]:
        """The fields of a ``NodeLine`` that are measured over a time."""
        before, self._acks = self._acks, _buckets(self._metrics.ack)
        acks = [(bound, count - was) for (bound, count), (_, was) in zip(self._acks, before, strict=True)]
        now, used = time.monotonic(), time.process_time()
        passed, load = max(now - self._looked, 1e-3), used - self._used
        self._looked, self._used = now, used
        return {
            "moves": acks[-1][1] / passed,
            "typical": 1000 * _most(acks, 0.5),
            "slow": 1000 * _most(acks, 0.99),
            "load": load / passed,
        }


def _buckets(histogram: Spread) -> list[tuple[float, float]]:
    """The bounds of a histogram, and how many were within each; infinity, the last, has all."""
    return [
        (float(sample.labels["le"]), sample.value)
        for metric in histogram.collect()
        for sample in metric.samples
        if sample.name.endswith("_bucket")
    ]


def _most(buckets: list[tuple[float, float]], share: float) -> float:
    """What this share of all took at the most, as far as the bounds tell; 0 where there were none."""
    wanted = share * buckets[-1][1]
    finite = [bound for bound, count in buckets[:-1] if count >= wanted]
    return (finite or [buckets[-2][0]])[0] if wanted else 0.0


def memory() -> int:
    """The bytes of memory that this process holds, or, where the system does not say, has held at the most."""
    try:
        return int(_STATM.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
