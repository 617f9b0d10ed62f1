"""Closed connections and rooms are freed without Python's search for reference cycles."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from websockets.server import ServerProtocol

from samedeal.protocol.messages import Act
from samedeal_server.connections.client_socket import ClientSocket
from samedeal_server.rooms.hub import Hub
from samedeal_server.rooms.player_connection import PlayerConnection
from tests.server.client import Client
from tests.server.live_nodes import Node
from tests.server.plain_http import ask
from tests.server.races import race
from tests.server.waiting import until

_COUNTED = {ClientSocket, Hub, PlayerConnection, ServerProtocol}


def alive() -> Counter[str]:
    """Count the connections and rooms in this process."""
    return Counter(type(thing).__name__ for thing in gc.get_objects() if type(thing) in _COUNTED)


@pytest.fixture
def _without_cycle_search() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_without_cycle_search")
@pytest.mark.parametrize("end", [Client.close, Client.abort])
async def test_closed_race_is_freed_without_cycle_search(one: Node, end: Callable[[Client], Any]) -> None:
    before = alive()
    ana, bob = await race(one, deal="#4821")
    carl = await one.player("carl")
    await carl.watch(ana.room)
    await ana.acts(3)
    await bob.refused("illegal", Act, revision=0, action="1 1")
    assert alive() - before == Counter(ClientSocket=3, Hub=1, PlayerConnection=3, ServerProtocol=3)
    for client in (ana, bob, carl):
        await end(client)
    await until(lambda: not alive() - before)


@pytest.mark.usefixtures("_without_cycle_search")
async def test_http_request_is_freed_without_cycle_search(one: Node) -> None:
    before = alive()
    assert (await ask(one.url)).status == 200
    await until(lambda: not alive() - before)
