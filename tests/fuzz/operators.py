"""What might be said where operators come in, with the token and without: each message is answered, or the way closed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from samedeal.errors import MalformedFrame
from samedeal.protocol import admin as protocol
from samedeal.protocol.admin import (
    SUBPROTOCOL,
    Backup,
    Ban,
    CloseRoom,
    Drain,
    FromOperator,
    Kick,
    ListBans,
    ListRooms,
    Login,
    Say,
    ShowRoom,
    Status,
    Unban,
)
from samedeal.protocol.codec import decode_to_operator, encode
from samedeal_server import admin, bans, roster
from samedeal_server.embedded import EmbeddedRedis
from tests.fuzz.campaign import Broken, Corpus, Outcome, shown
from tests.fuzz.damage import damaged_bytes, damaged_message
from tests.fuzz.edges import Edges
from tests.fuzz.mistakes import mistakes_of_nodes
from tests.server.conftest import Node, serving
from tests.server.wire import BINARY, Wire, frame, handshake

_WATCHED: Final = (admin, bans, roster, protocol)
_TOKEN: Final = "t" * 40
_AFRESH: Final = 400
"""Inputs after which a new node takes the place of the old one, on a Redis with nothing in it."""

_SAMPLES: Final[tuple[FromOperator, ...]] = (
    Status(id=2),
    ListRooms(id=3),
    ShowRoom(id=4, room="friday"),
    Kick(id=5, room="friday", player="ana"),
    Ban(id=6, who="203.0.113.0/24", seconds=60, reason="a flood"),
    Ban(id=7, who="0123456789ab"),
    Unban(id=8, who="203.0.113.0/24"),
    ListBans(id=9),
    Say(id=10, text="We stop at eight"),
    CloseRoom(id=11, room="sunday"),
    Drain(id=12, node="nobody"),
    Backup(id=13),
)

Said = tuple[bytes, ...]


async def fuzz_operator(seed: int, inputs: int, *, stop: int = 1) -> Outcome:
    """Try so many connections; ends after ``stop`` broken promises."""
    rng = Random(seed)
    corpus: Corpus[Said] = Corpus(rng, _make, _damage)
    edges = Edges(_WATCHED)
    outcome = Outcome("operator")
    with TemporaryDirectory() as directory, mistakes_of_nodes() as mistakes:
        async with EmbeddedRedis(Path(directory), "everysec") as redis:
            while outcome.inputs < inputs and len(outcome.broken) < stop:
                async with serving(redis, f"operated-{outcome.inputs}", token=_TOKEN) as node:
                    await node.store.redis.flushall()
                    ana = await node.player("ana")
                    await ana.join(await ana.create("friday"))
                    for _ in range(min(_AFRESH, inputs - outcome.inputs)):
                        said = corpus.next()
                        outcome.inputs += 1
                        try:
                            with edges:
                                await _try(node, said)
                            if mistakes:
                                raise Broken(f"the node made a mistake: {mistakes[0]}")
                        except Broken as broken:
                            mistakes.clear()
                            outcome.broken.append(f"{broken}: {shown(said)}")
                        if edges.take_new():
                            corpus.keep(said)
                        if len(outcome.broken) >= stop:
                            break
    outcome.kept, outcome.steps = len(corpus.kept), len(edges.seen)
    return outcome


def _make(rng: Random) -> Said:
    said = [encode(rng.choice(_SAMPLES)) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.8:
        said.insert(0, encode(Login(id=1, token=_TOKEN)))
    return tuple(said)


def _damage(rng: Random, said: Said, others: list[Said]) -> Said:
    frames = list(said)
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(len(frames)) if frames else 0
        match rng.randrange(6):
            case 0 if frames:
                del frames[at]
            case 1:
                frames[at:at] = rng.choice(others)[:3]
            case 2 if frames:
                frames[at] = damaged_bytes(rng, frames[at])
            case _ if frames:
                frames[at] = damaged_message(rng, frames[at])
    return tuple(frames[:12])


async def _try(node: Node, said: Said) -> None:
    wire = await Wire.open(node.url)
    try:
        await wire.send(handshake(Sec_WebSocket_Protocol=SUBPROTOCOL))
        if b" 101 " not in await wire.head():
            raise Broken("the handshake was not answered")
        for each in said:
            await wire.send(frame(BINARY, each))
            with suppress(TimeoutError):
                got = await wire.frame()
                if got is None or got[0] != BINARY:
                    return
                try:
                    decode_to_operator(got[1])
                except MalformedFrame as error:
                    raise Broken(f"the node said what is no message: {error}") from error
                continue
            raise Broken("no answer, and no close")
    finally:
        await wire.close()
