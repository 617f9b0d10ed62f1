"""The racers of ``make bench`` on a real node, and how they report that it limits them."""

from __future__ import annotations

import dataclasses

import pytest

from samedeal.protocol_codes import RefusalCode
from samedeal_client.errors import Failure
from samedeal_client.net.address import parse_address
from samedeal_server.config.limits import Limits
from tests.bench.load_generator import LoadGenerator
from tests.server.live_nodes import PLENTY, Node, serving

FEW_REQUESTS = dataclasses.replace(PLENTY, rate=0.1, burst=40, slow_for=0.1, refusals=1000)
FEW_CONNECTIONS = dataclasses.replace(PLENTY, connections_per_address=2)


def metric(node: Node, name: str, **labels: str) -> float:
    return node.built.metrics.registry.get_sample_value(name, labels) or 0.0


async def test_racers_move_and_leave(redis_url: str) -> None:
    async with serving(redis_url, "n", PLENTY) as node:
        generator = LoadGenerator(parse_address(node.url), 5, seed=3)
        await generator.connect()
        generator.prepare(10)
        load = await generator.measure(0.2, pace=0)
        assert load.moves == metric(node, "samedeal_moves_total", outcome="ok") > 0
        assert 0 < load.median <= load.p99
        assert load.bytes_per_move > 100
        generator.leave()


@pytest.mark.parametrize("limits", [FEW_REQUESTS, FEW_CONNECTIONS], ids=["requests", "connections"])
async def test_a_limited_load_fails(redis_url: str, limits: Limits) -> None:
    async with serving(redis_url, "n", limits) as node:
        generator = LoadGenerator(parse_address(node.url), 4, seed=3)
        with pytest.raises(Failure, match="limits"):
            await run(generator)
        generator.leave()
        refused = metric(node, "samedeal_refusals_total", code=RefusalCode.RATE_LIMITED)
        assert (refused > 0) == (limits is FEW_REQUESTS)


async def run(generator: LoadGenerator) -> None:
    await generator.connect()
    await generator.measure(5.0, pace=0)
