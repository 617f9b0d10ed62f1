"""Nodes whose solver cannot run: what operators see, what players are told, and what other nodes do."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from samedeal.protocol.messages import Done, Start
from samedeal_server.solving import pool
from samedeal_server.solving.pool import SolverFailed
from tests.server.captured_log import Log
from tests.server.live_nodes import Node, NodeMaker
from tests.server.plain_http import ask
from tests.server.races import seated


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The Python of the workers: a program that ends at once, and says why."""
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho 'ImportError: no solver here' >&2\nexit 3\n")
    program.chmod(0o755)
    python = SimpleNamespace(executable=str(program))
    monkeypatch.setattr(pool, "sys", python)
    monkeypatch.setattr(pool, "RETRY_INTERVAL", 0)
    return python


async def readiness(node: Node) -> str:
    answer = await ask(node.health_url, "/readyz")
    return f"{answer.status} {answer.text.strip()}"


async def measured(node: Node, name: str) -> float:
    text = (await ask(node.health_url, "/metrics")).text
    found = re.search(rf"^samedeal_{re.escape(name)} (\S+)$", text, re.MULTILINE)
    assert found is not None, name
    return float(found[1])


async def test_operator_sees_a_broken_solver_until_it_works(
    node: NodeMaker, log: Log, monkeypatch: pytest.MonkeyPatch, broken: SimpleNamespace
) -> None:
    log.set_up()
    monkeypatch.setattr(pool, "PROBE_INTERVAL", 0)
    one = await node(health_port=0)
    works, fault = "200 This node accepts clients.", "exit code 3: ImportError: no solver here"
    while (seen := await readiness(one)) == works:  # each look starts a worker, and the third one that ends is a fault
        pass
    assert seen == f"503 The solver cannot run ({fault}), so most races cannot start."
    assert await measured(one, "solver_up") == 0
    assert [each["reason"] for each in log.named("solver_broken")] == [fault]
    assert [each["reason"] for each in log.named("solver_ended")] == [fault]

    monkeypatch.undo()
    monkeypatch.setattr(pool, "PROBE_INTERVAL", 0)
    while await readiness(one) != works:
        pass
    assert await measured(one, "solver_up") == 1
    assert len(log.named("solver_works")) == 1


async def test_search_that_ends_without_a_deal_is_logged(node: NodeMaker, log: Log, broken: SimpleNamespace) -> None:
    log.set_up()
    one = await node(health_port=0)
    (ana,) = await seated(one, names=("ana",), deal="winnable", countdown=0)
    await ana.expect(Done, Start)
    await ana.take_part()
    await ana.phase("closed")
    assert len(log.named("deal_not_found", room=ana.room)) == 1
    assert await measured(one, "oldest_deal_search_seconds") == 0


async def test_node_without_a_solver_leaves_searches_to_another(node: NodeMaker) -> None:
    one, two = await node(health_port=0), await node(health_port=0)
    solvers = one.rooms.deals.solvers
    solvers.health.fault = "out of memory"
    with mock.patch.object(solvers, "solve", side_effect=SolverFailed("out of memory")):
        (ana,) = await seated(one, names=("ana",), deal="winnable", countdown=0)
        await ana.expect(Done, Start)
        await two.rooms.tick(ana.room)
        await ana.take_part()
        await two.rooms.tick(ana.room)
        await ana.dealt()
