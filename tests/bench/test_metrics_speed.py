"""What counting costs: of a move, and of being asked for all of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from samedeal_server.gateway import Gateway
from samedeal_server.metrics import Metrics
from samedeal_server.store.connect import connect
from samedeal_server.store.redis import Store
from tests.bench.test_commit_speed import cost

TIMES = 20_000
ROUNDS = 5
CONNECTIONS = 10_000
TRAVELLING = 16
"""Moves that share a batch, where a node has something to do."""


def microseconds(work: Callable[[], object], times: int = TIMES) -> float:
    """The best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(times):
            work()
        best = min(best, time.perf_counter() - began)
    return best / times * 1e6


async def test_what_counting_a_move_costs(redis_url: str) -> None:
    metrics = Metrics()

    def move() -> None:
        metrics.requests["act"].inc()
        metrics.moves["ok"].inc()
        metrics.ack.observe(0.004)
        metrics.fan_out.observe(0.1)

    def batch() -> None:
        metrics.batch.observe(TRAVELLING)
        metrics.commit.observe(0.002)
        metrics.redis.observe(0.002)

    each, together = microseconds(move), microseconds(batch)
    counting = each + together / TRAVELLING
    async with connect(redis_url) as redis:
        commit = min([(await cost(Store(redis), f"c{number}")).cpu for number in range(ROUNDS)])
    print(f"\ncounting, microseconds of CPU\n  a move {each:21.2f}\n  a batch {together:20.2f}")
    print(f"  a move of {TRAVELLING} in a batch {counting:.2f}: {counting / commit:.1%} of what its commit costs")


def test_what_telling_all_costs() -> None:
    connections = [SimpleNamespace(kind="racing", waiting=number % 3) for number in range(CONNECTIONS)]
    metrics = Metrics()
    gateway = SimpleNamespace(connections=connections, metrics=metrics, rooms=SimpleNamespace(hubs={}), draining=False)
    stock = microseconds(lambda: Gateway.take_stock(cast("Any", gateway)), 10)
    text = microseconds(metrics.text, 10)
    print(f"\n/metrics of a node with {CONNECTIONS} connections: {(stock + text) / 1000:.1f} ms of its event loop")
