"""Operator requests, valid and damaged, with and without the token."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Final
from unittest import mock

from samedeal.protocol.admin import SUBPROTOCOL, FromOperator, Login
from samedeal.protocol.codec import decode_to_operator, encode
from samedeal_server.operators import auth
from tests.fuzz.fuzzed_nodes import Campaign, Script, Step, fuzz_nodes, send_script
from tests.server.live_nodes import Node, serving
from tests.server.operator_client import TOKEN
from tests.shared.protocol.samples import ADMIN_SAMPLES

_REQUESTS: Final[list[FromOperator]] = [
    each for each in ADMIN_SAMPLES if isinstance(each, FromOperator) and not isinstance(each, Login)
]


async def fuzz_operator(seed: int, inputs: int, *, stop: int = 1) -> Campaign:
    """Try a number of connections. Stop after ``stop`` broken promises."""
    campaign = Campaign("operator", seed, _make, raw=())
    with mock.patch.multiple(auth, WRONG_TOKEN_DELAY=0, WRONG_TOKENS_AT_ONCE=1_000_000):
        return await fuzz_nodes(campaign, inputs, stop, _operated_node, _send)


@asynccontextmanager
async def _operated_node(redis: str, name: str) -> AsyncIterator[Node]:
    async with serving(redis, name, token=TOKEN) as node:
        ana = await node.player("ana")
        await ana.join(await ana.create("friday"))
        yield node


def _make(rng: Random) -> Script:
    requests = [rng.choice(_REQUESTS) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.8:
        requests.insert(0, Login(id=1, token=TOKEN))
    return tuple(Step(encode(request)) for request in requests)


async def _send(node: Node, script: Script) -> None:
    await send_script(node.url, script, SUBPROTOCOL, decode_to_operator)
