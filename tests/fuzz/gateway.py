"""Valid and damaged requests over real connections to a real node, during a race of other players.

The race of the other players must go on undisturbed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from msgspec.structs import replace as with_

from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.deal import Deal, shuffled
from samedeal.errors import PlayError
from samedeal.games import GAMES, game_named
from samedeal.options import WantedOptions
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import Act, Create, Hello, Join, Leave, Ping, Rematch, Resign, Start, ToServer
from tests.fuzz.fuzzed_nodes import RAW, BrokenPromise, Campaign, Script, Step, fuzz_nodes, send_script
from tests.server.client import Client
from tests.server.live_nodes import PLENTY, Node, serving
from tests.server.races import race as start_race
from tests.shared.protocol.samples import SAMPLES

_REQUESTS: Final[list[ToServer]] = [sample for sample in SAMPLES if isinstance(sample, ToServer)]
_ROOMS: Final = ("fuzz-1", "fuzz-2", "fuzz-3", "calm")
_LIMITS: Final = replace(
    PLENTY, rooms=100, rate=400, burst=200, slow_for=0.2, refusals=20, handshake_timeout=2, hello_timeout=2
)
_INPUTS_PER_CHECK: Final = 25
"""The number of inputs between two checks of the other players' race."""


def make_script(rng: Random) -> Script:
    """Make an input: a hello and then requests, which may make sense or not."""
    match rng.randrange(5):
        case 0:
            return _race(rng)
        case 1:
            requests: list[ToServer] = [rng.choice(_REQUESTS) for _ in range(rng.randint(1, 12))]
        case _:
            room = rng.choice(_ROOMS)
            chosen = rng.choices(_REQUESTS, k=rng.randint(1, 8))
            requests = [_hello(rng), *(with_(each, room=room) if hasattr(each, "room") else each for each in chosen)]
    steps = [Step(encode(message)) for message in requests]
    if rng.random() < 0.1:
        steps.insert(rng.randint(0, len(steps)), rng.choice(RAW))
    return tuple(steps)


def _hello(rng: Random) -> Hello:
    return Hello(id=0, name=f"f{rng.randrange(1 << 30)}")


def _race(rng: Random) -> Script:
    """A player races alone on a known deal, so that the moves are legal. Some requests are repeated at the end."""
    name = rng.choice(list(GAMES))
    deal = f"#{rng.randint(1, 9)}"
    room = f"race-{rng.randrange(1 << 30)}"
    options = WantedOptions(games=(name,), deal=deal, countdown=0, undo="free", delay=rng.choice((0, 15)), limit=60)
    opening: list[ToServer] = [Create(id=1, room=room, options=options), Join(id=2, room=room), Start(id=3)]
    requests = [_hello(rng), *opening]
    game = game_named(name)
    play = Play(Board.deal(game, shuffled(Deal.parse(deal).public_seed(), game.decks)), Undo.FREE)
    for number in range(rng.randint(1, 12)):
        moves = play.board.legal_moves()
        action = "undo" if not moves or (play.moves and rng.random() < 0.2) else str(rng.choice(moves))
        requests.append(Act(id=10 + number, revision=play.revision, action=action))
        with suppress(PlayError):
            play = play.act(action)
    requests += rng.choices(requests[4:], k=2)
    requests += [rng.choice((Resign(id=90), Leave(id=91), Ping(id=92))), Rematch(id=93)]
    return tuple(Step(encode(message)) for message in requests)


@dataclass
class FuzzedNode:
    """A node, and a race on it that must not be disturbed."""

    node: Node
    ana: Client
    bob: Client
    rng: Random
    tried: int = 0

    async def send(self, script: Script) -> None:
        """Send a script, and after some of them make a move for each of the other players."""
        await send_script(self.node.url, script)
        self.tried += 1
        if self.tried % _INPUTS_PER_CHECK == 0:
            for client in (self.ana, self.bob):
                await self._move(client)

    async def _move(self, client: Client) -> None:
        play = client.play
        moves = play.board.legal_moves()
        try:
            await client.act(str(self.rng.choice(moves)) if moves and self.rng.random() < 0.9 else "undo")
        except (AssertionError, ConnectionError) as error:
            if play.moves != play.undos:
                raise BrokenPromise(f"the other players' race was disturbed: {error}") from error


async def fuzz_gateway(seed: int, inputs: int, *, stop: int = 1) -> Campaign:
    """Try a number of connections. Stop after ``stop`` broken promises."""
    campaign = Campaign("gateway", seed, make_script)

    @asynccontextmanager
    async def fuzzed_node(redis: str, name: str) -> AsyncIterator[FuzzedNode]:
        async with serving(redis, name, _LIMITS) as node:
            ana, bob = await start_race(node, room="calm", limit=7200, undo="free", players=2)
            yield FuzzedNode(node, ana, bob, campaign.rng)

    return await fuzz_nodes(campaign, inputs, stop, fuzzed_node, FuzzedNode.send)
