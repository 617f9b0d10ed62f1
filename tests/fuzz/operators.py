"""Operator requests, valid and damaged, with and without the token.

The node must answer each message or close the connection.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from redis.asyncio import Redis
from structlog.testing import capture_logs

from samedeal.errors import MalformedFrame
from samedeal.protocol import admin as protocol
from samedeal.protocol.admin import (
    SUBPROTOCOL,
    Backup,
    Ban,
    CloseRoom,
    CloseRooms,
    Drain,
    FromOperator,
    Kick,
    ListBans,
    ListServerRooms,
    Login,
    Say,
    ShowRoom,
    Status,
    Unban,
)
from samedeal.protocol.codec import decode_to_operator, encode
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.operators import node_agent, operator_gateway
from samedeal_server.races import server_bans
from tests.fuzz.campaign import BrokenPromise, Campaign
from tests.fuzz.damage import Frames, damaged_frames
from tests.fuzz.fuzzed_nodes import INPUTS_PER_NODE, no_faults
from tests.server.live_nodes import Node, serving
from tests.server.raw_client import BINARY, Wire, frame, handshake

_WATCHED: Final = (operator_gateway, server_bans, node_agent, protocol)
_TOKEN: Final = "t" * 40
_SAMPLES: Final[tuple[FromOperator, ...]] = (
    Status(id=2),
    ListServerRooms(id=3),
    ShowRoom(id=4, room="friday"),
    Kick(id=5, room="friday", player="ana"),
    Ban(id=6, target="203.0.113.0/24", seconds=60, reason="a flood"),
    Ban(id=7, target="0123456789ab"),
    Unban(id=8, target="203.0.113.0/24"),
    ListBans(id=9),
    Say(id=10, text="We stop at eight"),
    CloseRooms(id=13, empty=True, target="203.0.113.7"),
    CloseRoom(id=11, room="sunday"),
    Drain(id=12, node="nobody"),
    Backup(id=13),
)


async def fuzz_operator(seed: int, inputs: int, *, stop: int = 1) -> Campaign[Frames]:
    """Try a number of connections. Stop after ``stop`` broken promises."""
    campaign = Campaign("operator", seed, _WATCHED, _make, damaged_frames)
    with TemporaryDirectory() as directory, capture_logs() as log:
        async with EmbeddedRedis(Path(directory), "everysec") as redis:
            for first in range(0, inputs, INPUTS_PER_NODE):
                async with serving(redis, f"operated-{first}", token=_TOKEN) as node:
                    async with Redis.from_url(redis) as client:
                        await client.flushall()
                    ana = await node.player("ana")
                    await ana.join(await ana.create("friday"))
                    for conversation in campaign.inputs(min(inputs, first + INPUTS_PER_NODE), stop):
                        with campaign.trying(conversation), no_faults(log):
                            await _try(node, conversation)
    return campaign


def _make(rng: Random) -> Frames:
    frames = [encode(rng.choice(_SAMPLES)) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.8:
        frames.insert(0, encode(Login(id=1, token=_TOKEN)))
    return tuple(frames)


async def _try(node: Node, conversation: Frames) -> None:
    wire = await Wire.open(node.url)
    try:
        await wire.send(handshake(Sec_WebSocket_Protocol=SUBPROTOCOL))
        if b" 101 " not in await wire.head():
            raise BrokenPromise("the handshake was not answered")
        for sent in conversation:
            await wire.send(frame(BINARY, sent))
            with suppress(TimeoutError):
                answer = await wire.frame()
                if answer is None or answer[0] != BINARY:
                    return
                try:
                    decode_to_operator(answer[1])
                except MalformedFrame as error:
                    raise BrokenPromise(f"the node sent a frame that is not a message: {error}") from error
                continue
            raise BrokenPromise("neither answered nor closed")
    finally:
        await wire.close()
