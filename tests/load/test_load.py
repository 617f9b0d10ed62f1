"""Short load tests. ``make load`` runs the long ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from websockets.exceptions import InvalidStatus

from samedeal_server.config.limits import Limits
from samedeal_server.process import fd_limits
from samedeal_server.process.fd_limits import RESERVED, fit_to_open_file_limit
from tests.chaos.processes import Node
from tests.load.processes import LoadSetup, end_flood, load_setup, race, url_of
from tests.load.server import main
from tests.server.client import DEADLINE, Client

FILES = RESERVED + 16


@pytest.fixture
async def setup() -> AsyncIterator[LoadSetup]:
    async with load_setup() as running:
        yield running


async def test_node_without_free_files_rejects_connections(setup: LoadSetup) -> None:
    node = await setup.node(files=FILES)
    (ana,) = await race(node, "ana", 1)
    inside: list[Client] = []
    with pytest.raises(InvalidStatus) as full:
        await connect_until_full(node, inside)
    assert full.value.response.status_code == 503
    assert len(inside) > 8
    await ana.act("draw")
    for client in inside:
        await client.abort()
    async with asyncio.timeout(DEADLINE):
        while True:
            try:
                await Client.hello(url_of(node), "bob")
                break
            except InvalidStatus:
                continue
    await ana.act("draw")


async def connect_until_full(node: Node, inside: list[Client]) -> None:
    """Append clients to ``inside`` until the node rejects one with an InvalidStatus."""
    while len(inside) < FILES:
        inside.append(await Client.hello(url_of(node), f"p{len(inside)}"))


def test_limits_that_fit_are_unchanged() -> None:
    limits = Limits(connections=100, handshakes=20)
    assert fit_to_open_file_limit(limits) == limits


def test_listeners_to_the_news_take_open_files_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fd_limits, "_raise_limit", lambda wanted: min(wanted, RESERVED + 80))
    limits = fit_to_open_file_limit(Limits())
    assert (limits.connections, limits.handshakes, limits.listeners) == (60, 10, 10)


async def test_floods_do_not_keep_racers_from_moving(setup: LoadSetup) -> None:
    node = await setup.node(limits=())
    ana, bob = await race(node, "racer", 2)
    floods = [await setup.flood(node, kind, 3) for kind in ("Join, Leave", "Act, DeclareStuck")]
    await asyncio.gather(ana.acts(5), bob.acts(5))
    assert all([await end_flood(flood) for flood in floods])
    assert node.code is None


async def test_operator_races_on_a_real_server(setup: LoadSetup, capsys: pytest.CaptureFixture[str]) -> None:
    node = await setup.node()
    words = [url_of(node), "--racers", "4", "--seconds", "0.5", "--pace", "0.05"]
    await asyncio.to_thread(main, words)
    assert "4 racers" in capsys.readouterr().out


def test_operator_is_told_that_a_server_cannot_be_used(capsys: pytest.CaptureFixture[str]) -> None:
    for url in ("ws://127.0.0.1:1", "cards.example.org"):
        with pytest.raises(SystemExit):
            main([url])
        assert f"{url} cannot be used" in capsys.readouterr().err
