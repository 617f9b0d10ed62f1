"""A server with several workers: one port, one Redis, and processes that are killed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from samedeal.protocol.admin import Drain
from samedeal.protocol.messages import Done, ProgressUpdate, Start
from tests.end_to_end.processes import Program, Programs, nothing_remains
from tests.server.client import Client
from tests.server.operator_client import TOKEN, Operator
from tests.server.plain_http import ask

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the workers are found in /proc")


def worker_of(programs: Programs, number: int) -> int:
    """Return the id of a worker's process."""
    mark = f"\0SAMEDEAL_WORKER={number}:".encode()
    (pid,) = (
        pid
        for pid, command in programs.left_running().items()
        if "samedeal_server " in command and mark in b"\0" + Path(f"/proc/{pid}/environ").read_bytes()
    )
    return pid


async def client_of_each(server: Program, address: str) -> dict[str, Client]:
    """Connect until each of two workers has a client. Return the clients by the names of the nodes."""
    clients: dict[str, Client] = {}
    while len(clients) < 2:
        client = await Client.hello(address, f"player-{len(server.events)}")
        node = (await server.logs("hello"))["node"]
        clients.setdefault(node, client)
    return clients


async def node_at(server: Program, url: str) -> str:
    """Connect, and return the name of the node that has the connection."""
    client = await Client.hello(url, "mira")
    return str((await server.logs("hello", player=client.player))["node"])


@pytest.fixture
async def server(programs: Programs, request: pytest.FixtureRequest) -> AsyncIterator[tuple[Program, str, str]]:
    """A server with two workers, or as many as the test says, its address, and that of its health checks.

    It has a Redis of its own. When it is told to stop after the test, nothing of it may remain.
    """
    workers = getattr(request, "param", 2)
    program = await programs.start(
        *("-m", "samedeal_server", "--workers", str(workers), "--port", "0", "--health-port", "0"),
        *("--data", str(programs.home / "data"), "--log-style", "json", "--admin-token", TOKEN),
    )
    while not (listening := await program.logs("listening"))["health"] or len(program.events) < workers + 1:
        pass
    yield program, listening["address"], listening["health"]
    program.signal(signal.SIGTERM)
    assert await program.exit_code() == 0
    await nothing_remains(programs)


async def test_race_goes_on_when_a_worker_is_killed(server: tuple[Program, str, str], programs: Programs) -> None:
    operated, address, health = server
    ana, bob = (await client_of_each(operated, address)).values()
    await ana.join(await ana.create(games=("athena",)))
    await bob.join(ana.room)
    await ana.expect(Done, Start)
    for client in (ana, bob):
        await client.dealt()
    await ana.act("draw")
    await bob.until(ProgressUpdate, lambda progress: progress.moves == 1)
    assert (await ask(health, "/readyz")).status == 200
    metrics = (await ask(health, "/metrics")).text
    assert all(f'samedeal_connections_opened_total{{worker="{number}"}}' in metrics for number in (1, 2))

    os.kill(worker_of(programs, 1), signal.SIGKILL)
    assert (await operated.logs("worker_died"))["worker"] == 1
    await operated.logs("worker_restarted", worker=1)
    assert (await ask(health, "/readyz")).status == 200
    for name, client in (("ana", ana), ("bob", bob)):
        again = await Client.hello(address, name, client.session)
        assert (await again.join(client.room)).revision == (name == "ana")


async def test_racers_of_a_room_meet_on_one_worker(server: tuple[Program, str, str], programs: Programs) -> None:
    operated, address, _ = server
    rooms = [f"/r/room-{number}" for number in range(6)]
    homes = [{await node_at(operated, address + room) for _ in range(4)} for room in rooms]
    assert {len(nodes) for nodes in homes} == {1}
    os.kill(worker_of(programs, 1), signal.SIGKILL)
    await operated.logs("worker_restarted", worker=1)
    again = [await node_at(operated, address + room) for room in rooms]
    assert [again.index(name) for name in again] == [homes.index(nodes) for nodes in homes]


@pytest.mark.parametrize("server", [3], indirect=True)
async def test_server_goes_on_without_a_drained_worker(server: tuple[Program, str, str]) -> None:
    """The worker gives its homes away."""
    operated, address, health = server
    home = await node_at(operated, f"{address}/r/friday")
    await (await Operator.login(address)).expect(Done, Drain, node=home)
    await operated.logs("stopped", node=home)
    while (await ask(health, "/readyz")).status != 200:
        pass
    nodes = {await node_at(operated, f"{address}/r/friday") for _ in range(12)}
    assert len(nodes) == 1
    assert home not in nodes | {await node_at(operated, address) for _ in range(6)}
