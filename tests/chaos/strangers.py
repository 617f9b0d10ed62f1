"""Strangers: clients without a seat. They exceed the rate of the players' address, and try to enter private rooms."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Final

from websockets.exceptions import WebSocketException

from samedeal.protocol.codec import decode_to_client, encode
from samedeal.protocol.messages import Hello, Join, Joined, ListRooms, ToServer, Watch, Watching
from samedeal_server.tasks import cancel_and_wait
from tests.chaos.bots import open_socket

STRANGERS: Final = 40
"""Number of strangers."""

_REQUESTS: Final = 30


async def flood(url: str, private_rooms: Sequence[str], rng: Random, seconds: float) -> list[str]:
    """Let all strangers send their requests concurrently. Return a sentence for each entry into a private room."""
    found: list[str] = []
    strangers = [asyncio.create_task(_ask_for_too_much(url, private_rooms, rng, found)) for _ in range(STRANGERS)]
    await asyncio.wait(strangers, timeout=seconds)
    await cancel_and_wait(strangers)
    return found


async def _ask_for_too_much(url: str, private_rooms: Sequence[str], rng: Random, found: list[str]) -> None:
    with suppress(OSError, TimeoutError, EOFError, WebSocketException):
        async with open_socket(url) as socket:
            await socket.send(encode(Hello(id=0, name=f"stranger-{rng.randrange(10_000)}")))
            for number in range(1, _REQUESTS + 1):
                await socket.send(encode(_request(number, private_rooms, rng)))
            while True:
                answer = decode_to_client(await socket.recv())
                if isinstance(answer, Joined | Watching):
                    found.append(f"{answer.room}: a stranger entered with a wrong passphrase")


def _request(number: int, private_rooms: Sequence[str], rng: Random) -> ToServer:
    if private_rooms and rng.random() < 0.1:
        kind = rng.choice((Join, Watch))
        return kind(id=number, room=rng.choice(private_rooms), passphrase=rng.choice(("", "guess", "sesame")))
    return ListRooms(id=number)
