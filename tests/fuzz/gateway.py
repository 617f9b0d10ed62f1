"""Valid and damaged requests over real connections to a real node, during a race of other players.

An input is the data that one connection sends. The node must answer each message once or close the connection. It must log
no fault, and the race of the other players must go on undisturbed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from redis.asyncio import Redis
from structlog.testing import capture_logs

from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.deal import Deal, shuffled
from samedeal.errors import MalformedFrame, PlayError
from samedeal.games import GAMES, game_named
from samedeal.options import WantedOptions
from samedeal.protocol.codec import decode_to_client, encode
from samedeal.protocol.messages import (
    AckedAction,
    Act,
    BoardState,
    CommitShare,
    Create,
    DeclareStuck,
    Hello,
    Join,
    KickPlayer,
    Leave,
    ListRooms,
    Ping,
    Ready,
    Recover,
    Rematch,
    Resign,
    RevealShare,
    Start,
    ToServer,
    Watch,
)
from samedeal.race import seats, values
from samedeal_server.config import limits
from samedeal_server.config.limits import Limits
from samedeal_server.connections import client_socket, handshake_admission
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.gateway import gateway
from samedeal_server.rooms import hub, player_connection, registry
from samedeal_server.store import sessions
from tests.fuzz.campaign import BrokenPromise, Campaign
from tests.fuzz.damage import damaged_bytes, damaged_message
from tests.fuzz.fuzzed_nodes import INPUTS_PER_NODE, no_faults
from tests.fuzz.requests import REQUESTS
from tests.server.client import Client
from tests.server.live_nodes import Node, serving
from tests.server.races import race as start_race
from tests.server.raw_client import BINARY, CLOSE, CONT, PING, TEXT, Wire, frame
from tests.server.raw_client import handshake as raw_handshake

_WATCHED: Final = (
    *(gateway, client_socket, handshake_admission, hub, limits, player_connection, registry, seats, values, sessions),
)
_ROOMS: Final = ("fuzz-1", "fuzz-2", "fuzz-3")
_LIMITS: Final = Limits(
    rooms=100,
    rooms_per_address=10_000,
    sessions_per_address=100_000,
    address_rate=1e6,
    address_burst=1_000_000,
    rate=400,
    burst=200,
    slow_for=0.2,
    refusals=20,
    handshake_timeout=2,
    hello_timeout=2,
    guesses_per_address=50,
)
_LAST_ID: Final = 987_654_321
"""The id of the last request of each connection."""

_INPUTS_PER_CHECK: Final = 25
"""The number of inputs between two checks of the other players' race."""


@dataclass(frozen=True)
class Step:
    """Data to send: a message as the payload of one frame, or raw bytes."""

    data: bytes
    raw: bool = False


Script = tuple[Step, ...]

_RAW: Final = (
    *(frame(PING, b"x"), frame(TEXT, b"text"), frame(TEXT, b"\xff\xfe"), frame(CLOSE, b"\x03\xe8")),
    *(frame(CLOSE, b"\x03"), frame(BINARY, b"x", masked=False), frame(BINARY, b"x", reserved=4)),
    *(frame(BINARY, b"\x81", fin=False) + frame(CONT, b"\xa4"), frame(CONT, b"x"), frame(0x3, b"x")),
    *(frame(BINARY, b"x", length=1 << 40), frame(BINARY, b"x" * 17_000), frame(BINARY, b"")),
    frame(PING) * 700,
)


def make_script(rng: Random) -> Script:
    """Make an input: a hello and then requests, which may make sense or not."""
    match rng.randrange(5):
        case 0:
            return _race(rng)
        case 1:
            requests: list[ToServer] = [rng.choice(REQUESTS) for _ in range(rng.randint(1, 12))]
        case _:
            room = rng.choice(_ROOMS)
            requests = [_hello(rng)]
            for _ in range(rng.randint(1, 8)):
                requests.append(rng.choice(_REQUEST_MAKERS)(room))
    steps = [Step(encode(message)) for message in requests]
    if rng.random() < 0.1:
        steps.insert(rng.randint(0, len(steps)), Step(rng.choice(_RAW), raw=True))
    return tuple(steps)


_REQUEST_MAKERS: Final = (
    lambda room: Create(id=1, room=room, options=WantedOptions(countdown=0, deal="#7")),
    lambda room: Create(
        id=2, room=room, options=WantedOptions(players=2, start="all-ready", games=("athena", "steve"))
    ),
    lambda room: Create(id=3, room=room, options=WantedOptions(players=1, start="full", countdown=0), passphrase="x"),
    lambda room: Create(id=4, options=WantedOptions(spectators=False)),
    lambda room: Join(id=5, room=room),
    lambda room: Join(id=6, room=room, passphrase="x", revision=2, event=5),
    lambda room: Join(id=7, room="calm"),
    lambda room: Watch(id=8, room=room),
    lambda room: Watch(id=9, room=room, passphrase="x"),
    lambda room: Watch(id=10, room="calm"),
    lambda room: Ready(id=11),
    lambda room: Start(id=12),
    lambda room: CommitShare(id=12, draw=1, commitment=bytes(32)),
    lambda room: RevealShare(id=12, draw=1, share=bytes(32)),
    lambda room: KickPlayer(id=17, player="nobody"),
    lambda room: Act(id=13, revision=0, action="3 5"),
    lambda room: Act(id=14, revision=1, action="undo"),
    lambda room: Recover(id=14, revision=0, actions=(AckedAction(id=13, action="3 5", time=1),), receipt=b""),
    lambda room: Resign(id=15),
    lambda room: DeclareStuck(id=16),
    lambda room: Rematch(id=16),
    lambda room: Leave(id=17),
    lambda room: ListRooms(id=18),
    lambda room: Ping(id=19),
)


def _hello(rng: Random) -> Hello:
    return Hello(id=0, name=f"f{rng.randrange(1 << 30)}")


def _race(rng: Random) -> Script:
    """A player races alone on a known deal, so that the moves are legal. Some requests are repeated at the end."""
    name = rng.choice(list(GAMES))
    deal = f"#{rng.randint(1, 9)}"
    room = f"race-{rng.randrange(1 << 30)}"
    options = WantedOptions(games=(name,), deal=deal, countdown=0, undo="free", delay=rng.choice((0, 15)), limit=60)
    requests: list[ToServer] = [
        _hello(rng),
        Create(id=1, room=room, options=options),
        Join(id=2, room=room),
        Start(id=3),
    ]
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


def damage_script(rng: Random, script: Script, others: list[Script]) -> Script:
    steps = list(script)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(steps)) if steps else 0
        match rng.randrange(8):
            case 0 if steps:
                del steps[at]
            case 1 if steps:
                steps[at:at] = [steps[at]] * rng.choice((1, 1, 3))
            case 2:
                steps[at:at] = rng.choice(others)[: rng.randint(1, 4)]
            case 3:
                steps[at:at] = [Step(rng.choice(_RAW), raw=True)]
            case 4 if steps:
                steps[at] = Step(damaged_bytes(rng, steps[at].data), steps[at].raw)
            case 5 if len(steps) > 1:
                other = rng.randrange(len(steps))
                steps[at], steps[other] = steps[other], steps[at]
            case _ if steps and not steps[at].raw:
                steps[at] = Step(damaged_message(rng, steps[at].data))
    return tuple(steps[:40])


class FuzzedNode:
    """A node, and a race on it that must not be disturbed."""

    def __init__(self, node: Node, ana: Client, bob: Client) -> None:
        self.node = node
        self.ana = ana
        self.bob = bob

    async def play_race(self, rng: Random) -> None:
        """Make a move for each of the other players."""
        for client in (self.ana, self.bob):
            play = client.play
            assert play is not None
            moves = play.board.legal_moves()
            try:
                await client.act(str(rng.choice(moves)) if moves and rng.random() < 0.9 else "undo")
            except (AssertionError, ConnectionError) as error:
                if play.moves == play.undos:
                    continue
                raise BrokenPromise(f"the other players' race was disturbed: {error}") from error


@asynccontextmanager
async def _fuzzed_node(redis: str, number: int) -> AsyncIterator[FuzzedNode]:
    async with AsyncExitStack() as stack:
        node = await stack.enter_async_context(serving(redis, f"fuzzed-{number}", _LIMITS))
        async with Redis.from_url(redis) as plain:
            await plain.flushall()
        ana, bob = await start_race(node, room="calm", limit=7200, undo="free", players=2)
        yield FuzzedNode(node, ana, bob)


async def fuzz_gateway(seed: int, inputs: int, *, stop: int = 1) -> Campaign[Script]:
    """Try a number of connections. Stop after ``stop`` broken promises."""
    campaign = Campaign("gateway", seed, _WATCHED, make_script, damage_script)
    with TemporaryDirectory() as directory, capture_logs() as log:
        async with EmbeddedRedis(Path(directory), "everysec") as redis:
            for first in range(0, inputs, INPUTS_PER_NODE):
                async with _fuzzed_node(redis, first) as stage:
                    for script in campaign.inputs(min(inputs, first + INPUTS_PER_NODE), stop):
                        with campaign.trying(script), no_faults(log):
                            await _try(stage, script)
                            if campaign.tried % _INPUTS_PER_CHECK == 0:
                                await stage.play_race(campaign.rng)
    return campaign


async def _try(stage: FuzzedNode, script: Script) -> None:
    wire = await Wire.open(stage.node.url)
    try:
        await wire.send(raw_handshake())
        if b" 101 " not in await wire.head():
            raise BrokenPromise("the handshake was not answered")
        talk = _CountedConnection(wire)
        for step in script:
            if not await talk.send(step):
                return
        await talk.send_last()
    finally:
        await wire.close()


class _CountedConnection:
    """A connection that waits for the answer to each message."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._uncountable = False
        """Whether raw bytes were sent, after which answers can't be matched to messages."""

    async def send(self, step: Step) -> bool:
        """Send data and wait for the answer. Return False once the connection is closed."""
        if step.raw:
            self._uncountable = True
            await self._wire.send(step.data)
            return True
        await self._wire.send(frame(BINARY, step.data))
        return self._uncountable or await self._answered(lambda _: True)

    async def send_last(self) -> None:
        """Send a ping, which must be answered unless the connection is closed."""
        await self._wire.send(frame(BINARY, encode(Ping(id=_LAST_ID))))
        await self._answered(lambda answer: answer.to == _LAST_ID)

    async def _answered(self, good: Any) -> bool:
        while True:
            try:
                got = await self._wire.frame()
            except TimeoutError:
                if self._uncountable:  # the raw bytes were an incomplete frame, so later bytes completed it
                    return False
                raise BrokenPromise("neither answered nor closed") from None
            if got is None:
                return False
            opcode, payload = got
            if opcode != BINARY:
                continue
            try:
                message = decode_to_client(payload)
            except MalformedFrame as error:
                raise BrokenPromise(f"the node sent a frame that is not a message: {error}") from error
            if hasattr(message, "to") and good(message):
                return True
            if isinstance(message, BoardState) and message.revision > 1_000_000:
                raise BrokenPromise("a board beyond its bounds")
