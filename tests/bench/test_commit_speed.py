"""The cost of a commit to a node, in a group of commits and alone."""

from __future__ import annotations

import pytest

from samedeal_server.store import group_commit
from samedeal_server.store.connect import connect
from samedeal_server.store.store import Store
from samedeal_server.telemetry.metrics import Metrics
from tests.bench.measure import PLAYERS, ROOMS, commit_cost

ROUNDS = 3


async def test_commit_speed(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with connect(redis_url) as redis:
        store = Store(redis, Metrics())
        together, alone = [], []
        for number in range(ROUNDS):
            together.append(await commit_cost(store, f"together{number}"))
            with monkeypatch.context() as patch:
                patch.setattr(group_commit, "MAX_BATCH", 1)
                alone.append(await commit_cost(store, f"alone{number}"))
    print(f"\n{ROOMS * PLAYERS} players at once, microseconds a commit (median of {ROUNDS})")
    median_at = ROUNDS // 2
    for label, costs in (("together", together), ("alone", alone)):
        cpu, wall = (sorted(getattr(each, kind) for each in costs)[median_at] for kind in ("cpu", "wall"))
        print(f"  {label:9} {cpu:7.1f} CPU of the node {wall:7.1f} elapsed")
    ratio = sorted(one.cpu / other.cpu for one, other in zip(together, alone, strict=True))[median_at]
    print(f"  together costs {ratio:.2f} of the CPU of alone")
