"""A busy node lets requests wait, and shares its time between networks and between their connections."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from samedeal_server.gateway.request_queue import TURN, UNDER_WAY, WINDOW, RequestQueue
from tests.server.manual_timers import ManualTimers


class Flood:
    """A queue, and clients that send a request as soon as the one before is handled, which takes one turn of the loop."""

    def __init__(self) -> None:
        self.timers = ManualTimers()
        self.queue = RequestQueue(self.timers)
        self.begun: dict[str, int] = {}
        self._soon: list[Callable[[], None]] = []
        self._clients: list[tuple[Any, int, asyncio.Future[None] | None]] = []

    def client(self, network: str) -> Any:
        """A connection from a network."""
        loop = SimpleNamespace(call_soon=self._soon.append, create_future=asyncio.get_running_loop().create_future)
        socket = SimpleNamespace(loop=loop)
        return SimpleNamespace(networks=(network,), share_end=0.0, share_held=0, share_cost=1, socket=socket)

    def share(self) -> None:
        """Let requests from two networks arrive in this turn of the loop, which cost nothing yet."""
        for network in ("x", "y"):
            client = self.client(network)
            self.queue.enter(client)
            self.queue.charge(client, 0)

    def add(self, network: str, count: int, cost: int = 1) -> None:
        """Let clients of a network begin to send requests that cost ``cost`` moves."""
        for _ in range(count):
            client = self.client(network)
            self._clients.append((client, cost, self.queue.enter(client)))

    def turn(self) -> None:
        """Let one turn of the event loop pass."""
        soon, self._soon[:] = [*self._soon], []
        for callback in soon:
            callback()
        for at, (client, cost, waiting) in enumerate(self._clients):
            if waiting is None or waiting.done():
                self.queue.charge(client, cost)
                self.begun[client.networks[0]] = self.begun.get(client.networks[0], 0) + cost
                self.queue.leave(client)
                self._clients[at] = client, cost, self.queue.enter(client)

    def turns(self, count: int) -> dict[str, int]:
        """Let turns pass. Return the cost of the requests that each network began in them."""
        self.begun = {}
        for _ in range(count):
            self.turn()
        return self.begun


async def test_requests_beyond_a_turn_wait_for_the_next() -> None:
    flood = Flood()
    flood.share()
    clients = [flood.client("a") for _ in range(3 * TURN)]
    waiting = [turn for client in clients if (turn := flood.queue.enter(client))]
    assert len(waiting) == 2 * TURN
    for client in clients[:TURN]:
        flood.queue.leave(client)
    flood.turn()
    assert [turn.done() for turn in waiting] == [True] * TURN + [False] * TURN


@pytest.mark.parametrize("network", ["calm", "flood-1"])
@pytest.mark.parametrize("cost", [1, 10])
async def test_calm_connection_does_not_wait_for_a_flood(network: str, cost: int) -> None:
    """Invariant: everything is bounded. No client slows another one down."""
    flood = Flood()
    for number in range(20):
        flood.add(f"flood-{number}", 25, cost)
    calm = flood.client(network)
    flood.turns(1000)  # until the node knows what the requests of each connection cost
    for _ in range(5):
        flood.turns(200)
        waiting = flood.queue.enter(calm)
        flood.turn()
        assert waiting is None or waiting.done()
        flood.queue.leave(calm)


@pytest.mark.parametrize(("clients", "cost"), [(30, 1), (1, 10), (30, 10)])
async def test_networks_have_equal_shares(clients: int, cost: int) -> None:
    flood = Flood()
    flood.add("many", 50)
    flood.add("other", clients, cost)
    if clients == 1:  # which can't use half of the node
        flood.add("other", 29)
    begun = flood.turns(1000)
    assert begun["many"] == pytest.approx(begun["other"], rel=0.25)


async def test_hanging_request_keeps_others_waiting_only_for_a_while() -> None:
    flood = Flood()
    flood.share()
    hanging = flood.client("a")
    flood.queue.enter(hanging)
    flood.queue.charge(hanging, UNDER_WAY)
    flood.turn()
    flood.share()
    waiting = [turn for _ in range(2 * TURN) if (turn := flood.queue.enter(flood.client("b")))]
    flood.turn()
    flood.timers.advance(WINDOW)
    assert [turn.done() for turn in waiting] == [False] * 2 * TURN
    flood.turn()
    assert [turn.done() for turn in waiting] == [True] * TURN + [False] * TURN


async def test_closed_connection_gives_up_its_turn() -> None:
    flood = Flood()
    flood.share()
    waiting = [turn for _ in range(2 * TURN) if (turn := flood.queue.enter(flood.client("a")))]
    waiting[0].cancel()
    last = flood.queue.enter(flood.client("a"))
    assert last is not None
    flood.turn()
    assert last.done()
