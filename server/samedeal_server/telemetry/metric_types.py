"""Counters and histograms for the event loop.

Unlike the types of prometheus_client, they take no locks, as only the thread of the event loop uses them. A move changes
five values. This takes 0.7 µs instead of 2.6 µs, which is 5 % of a node's CPU time for a move.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import inf

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString


class Counter:
    """A counter."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def inc(self) -> None:
        """Count an event."""
        self.value += 1


class LabelledCounter(Collector):
    """The counters of a metric, by the values of its ``label``.

    ``values`` are those for which the metric has a counter from the start. Any other counter is created when it is
    first used.
    """

    def __init__(
        self, registry: CollectorRegistry, name: str, description: str, label: str, values: Iterable[str]
    ) -> None:
        self._name = name
        self._description = description
        self._labelnames = (label,)  # as the types of prometheus_client name it
        self._counters = {value: Counter() for value in values}
        registry.register(self)

    def __getitem__(self, value: str) -> Counter:
        if (counter := self._counters.get(value)) is None:
            counter = self._counters[value] = Counter()
        return counter

    def collect(self) -> Iterator[CounterMetricFamily]:
        """Yield the metric for the registry."""
        family = CounterMetricFamily(self._name, self._description, labels=self._labelnames)
        for value, counter in self._counters.items():
            family.add_metric((value,), counter.value)
        yield family


class Histogram(Collector):
    """A histogram. ``bounds`` are the upper bounds of its buckets, in ascending order. A last bucket has no bound."""

    def __init__(self, registry: CollectorRegistry, name: str, description: str, bounds: Sequence[float]) -> None:
        self._name = name
        self._description = description
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0
        registry.register(self)

    def observe(self, value: float) -> None:
        """Count a value in its bucket."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def cumulative(self) -> list[tuple[float, int]]:
        """Return the upper bound of each bucket, and the number of values up to this bound. The last bound is infinity."""
        return list(zip((*self._bounds, inf), accumulate(self._counts), strict=True))

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """Yield the metric for the registry."""
        buckets = [
            (floatToGoString(bound), count)  # type: ignore[no-untyped-call]  # the library has no types for it
            for bound, count in self.cumulative()
        ]
        yield HistogramMetricFamily(self._name, self._description, buckets=buckets, sum_value=self._sum)
