"""Players who come to tides, for tests."""

from __future__ import annotations

from typing import Final

import pytest

from samedeal.protocol.messages import Created, RaceNow
from samedeal_server.rooms import tide_rooms
from tests.server.client import Client
from tests.server.live_nodes import Node

GAME: Final = "freecell"
PROXY: Final = {"trusted_proxies": ("127.0.0.1",)}


def start_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tides in a game start at any time, so that they may start soon."""
    monkeypatch.setattr(tide_rooms, "has_tide", lambda _times, game, _start: game == GAME)
    monkeypatch.setattr(tide_rooms, "_COUNTDOWN", 1)


async def soon(node: Node, wait: int = 2_500) -> int:
    return await node.store.now() + wait


async def person(node: Node, number: int, *, bot: bool = False, session: str = "") -> Client:
    """Connect a player from an address of their own."""
    address = {"X-Forwarded-For": f"10.{number // 256}.{number % 256}.1"}
    return await Client.hello(node.url, f"p{number}", session, bot=bot, additional_headers=address)


async def sent(client: Client, start: int) -> str:
    return (await client.expect(Created, RaceNow, game=GAME, tide=start)).room


async def enter(client: Client, start: int) -> str:
    room = await sent(client, start)
    await client.join(room)
    return room
