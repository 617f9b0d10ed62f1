"""Which acked moves survive when a node or Redis is killed while racers move."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, Literal

from redis.asyncio import Redis

from samedeal.protocol.messages import Acked, Act
from samedeal_server.store import keys
from tests.load.processes import load_setup, race
from tests.server.client import Client

_RACERS: Final = 16

POWER_CUT: Final = (
    "Not measured. With appendfsync everysec, Redis promises to lose the moves of at most about two seconds, and clients"
    " that still run send them again. With durability = always it promises to lose none."
)


@dataclass(frozen=True)
class Survival:
    """The number of moves that were acked before a process was killed, and how many of them Redis does not have."""

    killed: str
    acked: int
    lost: int


async def survival(killed: Literal["the server", "Redis"], seconds: float) -> Survival:
    """Kill the node or Redis with SIGKILL while racers move as fast as they are acked, then look for the moves in Redis."""
    async with load_setup("everysec") as setup:
        node = await setup.node()
        racers = await race(node, "racer", _RACERS)
        moving = [asyncio.create_task(_move(racer)) for racer in racers]
        await asyncio.sleep(seconds)
        if killed == "Redis":
            await setup.redis.kill()
            await setup.redis.start()
        await node.kill()
        await asyncio.gather(*(racer.closed() for racer in racers))
        for each in moving:
            each.cancel()
        await asyncio.wait(moving)
        acked = lost = 0
        async with Redis.from_url(setup.redis.url) as redis:
            for racer in racers:
                stored = await redis.xlen(keys.log(racer.room, racer.player))
                assert racer.play is not None
                revision = racer.play.revision + sum(isinstance(message, Acked) for message in racer.inbox)
                acked += revision
                lost += max(0, revision - stored)
    return Survival(killed, acked, lost)


async def _move(racer: Client) -> None:
    """Make moves until one is not acked."""
    while racer.play is not None:
        action = str(racer.play.board.legal_moves()[0])
        number = await racer.send(Act, revision=racer.play.revision, action=action)
        answer = await racer.answer(number)
        if not isinstance(answer, Acked):
            return
        racer.apply(action, answer)
