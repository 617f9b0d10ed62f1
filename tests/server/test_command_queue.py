"""Tests of commands that reach one race at the same time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from samedeal.protocol.messages import Done, Ready
from samedeal_server.errors import StoreUnavailable
from samedeal_server.rooms.command_queue import CommandQueue
from samedeal_server.store.store import Store
from tests.server.live_nodes import Node
from tests.server.races import seated

PLAYERS = 6


async def test_concurrent_commands_load_the_race_once_each(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    players = await seated(one, names=[f"player-{number}" for number in range(PLAYERS)], players=PLAYERS)
    loaded = 0
    load = Store.load

    async def count(store: Store, room: str) -> Any:
        nonlocal loaded
        loaded += 1
        return await load(store, room)

    monkeypatch.setattr(Store, "load", count)
    for ready in (True, False):
        await asyncio.gather(*(player.expect(Done, Ready, ready=ready) for player in players))
    assert loaded == 2 * PLAYERS


async def test_waiting_commands_share_an_outage() -> None:
    queue = CommandQueue()
    asked = 0

    async def command() -> None:
        nonlocal asked
        async with queue.turn():
            asked += 1
            await asyncio.sleep(0)  # now the others wait
            raise StoreUnavailable("Timeout reading from socket")

    for outages in (1, 2):
        results = await asyncio.gather(*(command() for _ in range(3)), return_exceptions=True)
        assert list(map(type, results)) == [StoreUnavailable] * 3
        assert asked == outages
