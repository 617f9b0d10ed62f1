"""A few worlds; ``make simulation`` runs as many as you like. Each runs until the end of its races in simulated time."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from pathlib import Path

import pytest

import samedeal
from samedeal.protocol.messages import Acked
from samedeal_server.store.connect import connect
from samedeal_server.store.news import NewsId
from samedeal_server.store.store import LEASE, Store
from samedeal_server.telemetry.metrics import Metrics
from tests.server.plain_http import ask
from tests.server.races import finish, race
from tests.simulation.__main__ import different_worlds
from tests.simulation.days import RECORD_DAYS
from tests.simulation.loop import Host, NothingLeftToDo, SimulatedLoop
from tests.simulation.mirror import differences, real_redis
from tests.simulation.node import SimulatedNode
from tests.simulation.plan import PLACES, make_world
from tests.simulation.redis_server import Interference, SimulatedRedis
from tests.simulation.release import OTHER_VERSION, other_release
from tests.simulation.world import known_deals, run_week, run_world, simulated

SEEDS = (1, 7, 15, 17, 21, 29, 39, *range(41, 73), 5038)
"""Worlds in which the mutants of this module are found."""

MOST_BATCHES = 12
"""Number of batches to Redis after which a race surely has its record."""

TODAY = 10 * (int(time.time()) // 86_400)
"""The first seed of the worlds that only this day has."""


@pytest.mark.parametrize("seed", [*SEEDS, *range(TODAY, TODAY + 10)])
def test_promises_hold_in_the_world(seed: int) -> None:
    plan = make_world(seed, known_deals())
    verdict = run_world(plan)
    assert not verdict.violations, f"{plan}\n" + "\n".join(verdict.violations)
    assert verdict.outcome.acked > 5 or seed not in SEEDS, verdict


@pytest.mark.parametrize(("seed", "last"), [(9, samedeal.__version__), (7, OTHER_VERSION)])
def test_promises_hold_while_a_release_is_deployed(seed: int, last: str) -> None:
    """The older release is a second copy of this source tree. In the second world, it comes back."""
    welcomed: list[bytes] = []

    def note(_time: float, _where: str, what: object) -> None:
        if isinstance(what, bytes):
            welcomed.extend(re.findall(rb"samedeal (\d\.\d\.\d)\W", what))

    plan = make_world(seed, known_deals(), other_release(Path(__file__).parents[2]))
    verdict = run_world(plan, note)
    assert not verdict.violations, f"{plan}\n" + "\n".join(verdict.violations)
    assert (welcomed[0].decode(), welcomed[-1].decode()) == (OTHER_VERSION, last)
    assert set(welcomed) == {OTHER_VERSION.encode(), samedeal.__version__.encode()}
    assert sys.modules["samedeal"] is samedeal


def test_same_seed_gives_the_same_world_in_another_process() -> None:
    """Elements of sets have another order there."""
    assert different_worlds(range(5, 6), sys.executable) == []


def test_model_answers_as_a_real_redis() -> None:
    """In this world nodes die, of which Redis must tell nobody any more."""
    with real_redis() as path:
        assert differences(make_world(8, known_deals()), path) == []


async def small_world(loop: SimulatedLoop, cut: str = "") -> list[str]:
    """Two players race on a node. The connection to Redis is cut before, during or after the third commit."""
    redis = SimulatedRedis(loop)
    await redis.start()
    node = await SimulatedNode(loop, "node-1", redis.url).started()
    commits = 0

    def interfere(_host: Host, labels: list[str]) -> Interference | None:
        nonlocal commits
        commits += "commit_action" in labels
        return Interference(cut) if cut and commits == 3 and "commit_action" in labels else None  # type: ignore[arg-type]  # one of these

    redis.interfere = interfere
    url = "ws://{}:{}".format(*node.target)
    ana, bob = await race(url, url, games=("athena",))
    acked = [*await ana.acts(4), *await bob.acts(2)]
    assert all(isinstance(each, Acked) for each in acked)
    state = await finish(ana, bob)
    await node.drain()
    return [f"{line.name} {line.moves}" for line in state.standings]


@pytest.mark.parametrize("cut", ["", "before", "during", "after"])
def test_commit_is_made_once_wherever_it_is_cut(cut: str) -> None:
    with simulated("small") as loop:
        standings = loop.run_until_complete(loop.world.run(small_world(loop, cut)))
    assert sorted(standings) == ["ana 4", "bob 2"]


async def record_races(loop: SimulatedLoop) -> None:
    """Two nodes record races. In each race, the one that begins stands still after another number of its batches."""
    redis = SimulatedRedis(loop)
    await redis.start()
    nodes = {}
    for name in ("node-1", "node-2"):
        nodes[name] = await SimulatedNode(loop, name, redis.url, "--health-port", f"900{name[-1]}").started()
    left, owner = 0, ""

    def interfere(host: Host, labels: list[str]) -> None:
        nonlocal left, owner
        if left and host.name in nodes and "replace_string" in labels:  # the script that takes leases
            owner = owner or host.name
        if left and host.name == owner:
            left -= 1
            if not left:
                nodes[owner].freeze()
                loop.call_later(LEASE / 500, nodes[owner].thaw)

    redis.interfere = interfere
    urls = ["ws://{}:{}".format(*node.target) for node in nodes.values()]
    kept: list[int] = []
    ended: list[str] = []
    texts: list[bytes] = []
    async with connect(redis.url) as client:
        store = Store(client, Metrics())
        for batches in range(1, MOST_BATCHES + 1):
            ana, bob = await race(*urls, games=("athena",))
            await ana.act("draw")
            left, owner = batches, ""
            await finish(ana, bob)
            recorded = b""
            for _ in range(30):
                await asyncio.sleep(1)
                ended = [news.race for _, news in await store.news.after(NewsId(0, 0)) if news.event == "finished"]
                texts = [await store.records.text(each) for each in ended]
                assert b"" not in texts
                recorded = recorded or b"".join(texts[batches - 1 :])
            assert len(ended) == len({*ended}) == batches
            assert recorded == texts[-1]
            assert [(await store.earlier.past(each.player)).races for each in (ana, bob)] == [(ended[-1],)] * 2
            pages = [(await ask(f"http://127.0.0.1:900{name[-1]}", "/metrics")).text for name in nodes]
            kept = [int(float(re.findall(r'records_total{outcome="kept"} (\S+)', page)[0])) for page in pages]
            assert sum(kept) == batches
    assert min(kept) > 0


def test_node_that_stands_still_at_any_write_doubles_nothing() -> None:
    with simulated("records") as loop:
        loop.run_until_complete(loop.world.run(record_races(loop)))


def test_week_with_a_leap_day_leaves_nothing_behind() -> None:
    sizes = run_week()
    assert max(sizes) <= sizes[RECORD_DAYS - 1] + 5


def test_world_in_which_nothing_can_happen_ends() -> None:
    with simulated("nothing") as loop, pytest.raises(NothingLeftToDo):
        loop.run_until_complete(loop.world.run(asyncio.Event().wait()))


def test_plans_have_every_kind_of_cut_and_differ() -> None:
    plans = [make_world(seed, known_deals()) for seed in range(300)]
    cuts = [cut for plan in plans for cut in plan.cuts]
    assert {cut.place for cut in cuts} == set(PLACES)
    assert {cut.what.split()[0] for cut in cuts} == {"cut", "crash", "freeze", "late", "refuse"}
    assert len({str(plan) for plan in plans}) == len(plans)
    assert str(make_world(7, known_deals())) == str(make_world(7, known_deals()))
