"""The cost of metrics: for each move, and for each scrape."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from samedeal_server.gateway.gateway import Gateway
from samedeal_server.store.connect import connect
from samedeal_server.store.store import Store
from samedeal_server.telemetry.metrics import Metrics
from tests.bench.measure import commit_cost, microseconds

TIMES = 20_000
ROUNDS = 5
CONNECTIONS = 10_000
BATCH_SIZE = 16
"""Moves that share a batch on a busy node."""


async def test_cost_of_metrics_per_move(redis_url: str) -> None:
    metrics = Metrics()

    def move() -> None:
        metrics.requests["act"].inc()
        metrics.moves["ok"].inc()
        metrics.ack.observe(0.004)
        metrics.fan_out.observe(0.1)

    def batch() -> None:
        metrics.batch.observe(BATCH_SIZE)
        metrics.commit.observe(0.002)
        metrics.redis.observe(0.002)

    move_cost, batch_cost = microseconds(move, TIMES), microseconds(batch, TIMES)
    counting = move_cost + batch_cost / BATCH_SIZE
    async with connect(redis_url) as redis:
        commit = min([(await commit_cost(Store(redis, Metrics()), f"c{number}")).cpu for number in range(ROUNDS)])
    print(f"\nmetrics, microseconds of CPU\n  a move {move_cost:21.2f}\n  a batch {batch_cost:20.2f}")
    print(f"  a move of {BATCH_SIZE} in a batch {counting:.2f}: {counting / commit:.1%} of the cost of its commit")


def test_cost_of_a_scrape() -> None:
    connections = [SimpleNamespace(kind="racing", waiting=number % 3) for number in range(CONNECTIONS)]
    metrics = Metrics()
    gateway = SimpleNamespace(connections=connections, metrics=metrics, rooms=SimpleNamespace(hubs={}), draining=False)
    gauges = microseconds(lambda: Gateway.update_gauges(cast("Any", gateway)), 10)
    text = microseconds(metrics.text, 10)
    print(f"\n/metrics of a node with {CONNECTIONS} connections: {(gauges + text) / 1000:.1f} ms of its event loop")
