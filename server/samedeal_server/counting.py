"""Counters and histograms for Prometheus that cost next to nothing to add to.

The library's own take a lock each time and look at each bucket. A node counts in one thread, many times a move, and is asked
for it a few times a minute: here adding is an addition, and the rest is done by whoever asks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

Key = str | tuple[str, ...]


class Count:
    """A number that grows."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def inc(self) -> None:
        """Add one."""
        self.value += 1


class Counts(Collector):
    """A counter with labels, by the label's value or the tuple of several; those in ``known`` are there from the start.

    The values are words of the code, never of a client.
    """

    def __init__(
        self, registry: CollectorRegistry, name: str, words: str, labels: Iterable[str], known: Iterable[Key] = ()
    ) -> None:
        self._counts = {key: Count() for key in known}
        self._name = name
        self._words = words
        self.labels = tuple(labels)
        registry.register(self)

    def __getitem__(self, key: Key) -> Count:
        found = self._counts.get(key)
        if found is None:
            self._counts[key] = found = Count()
        return found

    def collect(self) -> Iterator[Metric]:
        """As the library wishes."""
        family = CounterMetricFamily(self._name, self._words, labels=self.labels)
        for key, count in self._counts.items():
            family.add_metric((key,) if isinstance(key, str) else key, count.value)
        yield family


class Spread(Collector):
    """A histogram: how often there was at most so much, for each of some bounds."""

    def __init__(self, registry: CollectorRegistry, name: str, words: str, bounds: Iterable[float]) -> None:
        self._name = name
        self._words = words
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self._sum = 0.0
        registry.register(self)

    def observe(self, amount: float) -> None:
        """Count one of so much."""
        self._counts[bisect_left(self._bounds, amount)] += 1
        self._sum += amount

    def collect(self) -> Iterator[Metric]:
        """As the library wishes."""
        family = HistogramMetricFamily(self._name, self._words)
        buckets, total = [], 0
        for bound, count in zip((*self._bounds, float("inf")), self._counts, strict=True):
            total += count
            buckets.append((floatToGoString(bound), total))  # type: ignore[no-untyped-call]  # the library has no types for it
        family.add_metric((), buckets, self._sum)
        yield family
