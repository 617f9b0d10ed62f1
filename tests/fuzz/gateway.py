"""Requests and worse over real connections to a real node, while others race there.

An input is what one connection says. Each message in it must be answered once, or the connection closed; the node must make
no mistake that it knows of, and the race of the others must go on as if nobody else were there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from samedeal.board import Board
from samedeal.deal import Deal, shuffled
from samedeal.errors import MalformedFrame, PlayError
from samedeal.games import GAMES, Game
from samedeal.options import WantedOptions
from samedeal.play import Play, Undo
from samedeal.protocol.codec import decode_to_client, encode
from samedeal.protocol.messages import (
    Act,
    BoardState,
    Create,
    Done,
    Held,
    Hello,
    Join,
    Leave,
    ListRooms,
    Ping,
    Ready,
    Recover,
    Rematch,
    Resign,
    Start,
    ToServer,
    Watch,
)
from samedeal_server import connection, door, gateway, hub, limits, race, rooms, sessions
from samedeal_server.embedded import EmbeddedRedis
from samedeal_server.limits import Limits
from tests.fuzz.campaign import Broken, Corpus, Outcome, shown
from tests.fuzz.damage import damaged_bytes, damaged_message
from tests.fuzz.edges import Edges
from tests.fuzz.mistakes import mistakes_of_nodes
from tests.fuzz.requests import REQUESTS
from tests.server.client import Client
from tests.server.conftest import Node, serving
from tests.server.wire import BINARY, CLOSE, CONT, PING, TEXT, Wire, frame, handshake

_WATCHED: Final = (gateway, connection, door, hub, limits, race, rooms, sessions)
_DEADLINE: Final = 10.0
_ROOMS: Final = ("fuzz-1", "fuzz-2", "fuzz-3")
_AFRESH: Final = 400
"""Inputs after which a new node takes the place of the old one, on a Redis without a room."""

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
_LAST: Final = 987_654_321
"""The id of the question that each connection asks last."""

_PLAYS: Final = 25
"""Inputs between two looks at whether the others' race goes on."""


@dataclass(frozen=True)
class Step:
    """Something that a connection says: a message, as the payload of one frame, or bytes as they go over the wire."""

    data: bytes
    raw: bool = False


Script = tuple[Step, ...]

_RAW: Final = (
    frame(PING, b"x"),
    frame(TEXT, b"text"),
    frame(TEXT, b"\xff\xfe"),
    frame(CLOSE, b"\x03\xe8"),
    frame(CLOSE, b"\x03"),
    frame(BINARY, b"x", masked=False),
    frame(BINARY, b"x", reserved=4),
    frame(BINARY, b"\x81", fin=False) + frame(CONT, b"\xa4"),
    frame(CONT, b"x"),
    frame(0x3, b"x"),
    frame(BINARY, b"x", length=1 << 40),
    frame(BINARY, b"x" * 17_000),
    frame(BINARY, b""),
    frame(PING) * 700,
)


# ---------------------------------------------------------------- making and damaging


def _make(rng: Random) -> Script:
    """What a client might say: hello, and then something that makes sense, or does not."""
    match rng.randrange(5):
        case 0:
            return _race(rng)
        case 1:
            said: list[ToServer] = [rng.choice(REQUESTS) for _ in range(rng.randint(1, 12))]
        case _:
            room = rng.choice(_ROOMS)
            said = [_hello(rng)]
            for _ in range(rng.randint(1, 8)):
                said.append(rng.choice(_SAYINGS)(room))
    steps = [Step(encode(message)) for message in said]
    if rng.random() < 0.1:
        steps.insert(rng.randint(0, len(steps)), Step(rng.choice(_RAW), raw=True))
    return tuple(steps)


_SAYINGS: Final = (
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
    lambda room: Act(id=13, revision=0, action="3 5"),
    lambda room: Act(id=14, revision=1, action="undo"),
    lambda room: Recover(id=14, revision=0, held=(Held(id=13, action="3 5", at=1),), receipt=b""),
    lambda room: Resign(id=15),
    lambda room: Rematch(id=16),
    lambda room: Leave(id=17),
    lambda room: ListRooms(id=18),
    lambda room: Ping(id=19),
)


def _hello(rng: Random) -> Hello:
    return Hello(id=0, name=f"f{rng.randrange(1 << 30)}")


def _race(rng: Random) -> Script:
    """A race alone with a deal that is known, so that its moves can be made; then some of it is asked again."""
    name = rng.choice(list(GAMES))
    deal = f"#{rng.randint(1, 9)}"
    room = f"race-{rng.randrange(1 << 30)}"
    options = WantedOptions(games=(name,), deal=deal, countdown=0, undo="free", delay=rng.choice((0, 15)), limit=60)
    said: list[ToServer] = [_hello(rng), Create(id=1, room=room, options=options), Join(id=2, room=room), Start(id=3)]
    game = Game.named(name)
    play = Play(Board.deal(game, shuffled(Deal.parse(deal).public_seed(), game.decks)), Undo.FREE)
    for number in range(rng.randint(1, 12)):
        moves = play.board.legal_moves()
        action = "undo" if not moves or (play.moves and rng.random() < 0.2) else str(rng.choice(moves))
        said.append(Act(id=10 + number, revision=play.revision, action=action))
        with suppress(PlayError):
            play = play.act(action)
    said += rng.choices(said[4:], k=2)
    said += [rng.choice((Resign(id=90), Leave(id=91), Ping(id=92))), Rematch(id=93)]
    return tuple(Step(encode(message)) for message in said)


def _damage(rng: Random, script: Script, others: list[Script]) -> Script:
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


# ---------------------------------------------------------------- trying


class Stage:
    """A node, a race on it that must not be disturbed, and what the node logged of its own mistakes."""

    def __init__(self, node: Node, ana: Client, bob: Client) -> None:
        self.node = node
        self.ana = ana
        self.bob = bob

    async def play_on(self, rng: Random) -> None:
        """Have the others' race go on."""
        for client in (self.ana, self.bob):
            play = client.play
            assert play is not None
            moves = play.board.legal_moves()
            try:
                await client.act(str(rng.choice(moves)) if moves and rng.random() < 0.9 else "undo")
            except AssertionError as error:
                if play.moves == 0:
                    continue
                raise Broken(f"the others' race was disturbed: {error}") from error


@asynccontextmanager
async def _staged(redis: str, number: int) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as stack:
        node = await stack.enter_async_context(serving(redis, f"fuzzed-{number}", _LIMITS))
        await node.store.redis.flushall()
        ana, bob = await node.player("ana"), await node.player("bob")
        room = await ana.create("calm", limit=7200, undo="free", players=2)
        for client in (ana, bob):
            client.undo = Undo.FREE
            await client.join(room)
        await ana.want(Done, Start)
        await ana.dealt()
        await bob.dealt()
        yield Stage(node, ana, bob)


async def fuzz_gateway(seed: int, inputs: int, *, stop: int = 1) -> Outcome:
    """Try so many connections; ends after ``stop`` broken promises."""
    rng = Random(seed)
    corpus: Corpus[Script] = Corpus(rng, _make, _damage)
    edges = Edges(_WATCHED)
    outcome = Outcome("gateway")
    with TemporaryDirectory() as directory, mistakes_of_nodes() as mistakes:
        async with EmbeddedRedis(Path(directory), "everysec") as redis:
            while outcome.inputs < inputs and len(outcome.broken) < stop:
                async with _staged(redis, outcome.inputs) as stage:
                    for _ in range(min(_AFRESH, inputs - outcome.inputs)):
                        script = corpus.next()
                        await _judge(stage, script, rng, edges, outcome, mistakes)
                        if edges.take_new():
                            corpus.keep(script)
                        if len(outcome.broken) >= stop:
                            break
    outcome.kept, outcome.steps = len(corpus.kept), len(edges.seen)
    return outcome


async def _judge(
    stage: Stage, script: Script, rng: Random, edges: Edges, outcome: Outcome, mistakes: list[str]
) -> None:
    outcome.inputs += 1
    try:
        with edges:
            await _try(stage, script)
        if outcome.inputs % _PLAYS == 0:
            await stage.play_on(rng)
        if mistakes:
            raise Broken(f"the node made a mistake: {mistakes[0]}")
    except Broken as broken:
        mistakes.clear()
        outcome.broken.append(f"{broken}: {shown(script)}")


async def _try(stage: Stage, script: Script) -> None:
    wire = await Wire.open(stage.node.url)
    try:
        await wire.send(handshake())
        if b" 101 " not in await wire.head():
            raise Broken("the handshake was not answered")
        talk = _Talk(wire)
        for step in script:
            if not await talk.say(step):
                return
        await talk.say_at_last()
    finally:
        await wire.close()


class _Talk:
    """A connection that counts the answers it is owed."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._apart = False
        """Whether what was said was such that answers can't be counted any more."""

    async def say(self, step: Step) -> bool:
        """Say something and hear the answer; False once the connection is closed."""
        if step.raw:
            self._apart = True
            await self._wire.send(step.data)
            return True
        await self._wire.send(frame(BINARY, step.data))
        return self._apart or await self._answered(lambda _: True)

    async def say_at_last(self) -> None:
        """Ask for the time, which must be told unless the connection is closed."""
        await self._wire.send(frame(BINARY, encode(Ping(id=_LAST))))
        await self._answered(lambda answer: answer.to == _LAST)

    async def _answered(self, good: Any) -> bool:
        while True:
            try:
                got = await self._wire.frame()
            except TimeoutError:
                if self._apart:  # half a frame was said: what came after it was the other half
                    return False
                raise Broken("no answer, and no close") from None
            if got is None:
                return False
            opcode, payload = got
            if opcode != BINARY:
                continue
            try:
                message = decode_to_client(payload)
            except MalformedFrame as error:
                raise Broken(f"the node said what is no message: {error}") from error
            if hasattr(message, "to") and good(message):
                return True
            if isinstance(message, BoardState) and message.revision > 1_000_000:
                raise Broken("a board beyond its bounds")
