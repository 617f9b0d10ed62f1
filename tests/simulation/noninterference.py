"""Compares two worlds that differ only in unseen cards. The nodes must send exactly the same in both, at the same times.

A world is a race over two nodes with two racers, a spectator, an operator, and a client in the lobby. A seed decides what
they do. NONINTERFERENCE.md, in the folder of the tests, explains the method and what is masked.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest import mock

from msgspec.structs import replace as struct_replace
from prometheus_client import GCCollector, ProcessCollector
from redis.asyncio import Redis

from samedeal.board import Board
from samedeal.board_history import UNDO, Undo
from samedeal.cards import DECK, HIDDEN
from samedeal.errors import MalformedText, SamedealError
from samedeal.game import Game
from samedeal.games import GAMES
from samedeal.moves import Move
from samedeal.protocol.admin import BackedUp, Kick, ListServerRooms, RoomShown, ServerRooms, ShowRoom
from samedeal.protocol.codec import pack, unpack
from samedeal.protocol.messages import (
    Acked,
    AckedAction,
    Act,
    DeclareStuck,
    Done,
    Join,
    Joined,
    KickPlayer,
    Leave,
    ListRooms,
    Ready,
    Recover,
    Rematch,
    Resign,
    Rooms,
    Start,
    Watch,
    Watching,
)
from samedeal.race import draws
from samedeal_server.rooms import room_creation
from samedeal_server.solving.pool import SolverPool
from samedeal_server.solving.worker import Candidate
from samedeal_server.store.connect import connect
from samedeal_server.store.news import NewsId
from samedeal_server.store.store import Store
from samedeal_server.telemetry.metrics import Metrics
from tests.chaos.rounds import node_options
from tests.server.client import Client
from tests.server.operator_client import Operator
from tests.server.plain_http import ask
from tests.server.races import lose_moves
from tests.simulation.loop import SimulatedLoop
from tests.simulation.node import SimulatedNode
from tests.simulation.redis_server import SimulatedRedis
from tests.simulation.timeline import payloads
from tests.simulation.world import simulated

ROOM: Final = "room"
PASSPHRASE: Final = "open sesame"
MIN_UNSEEN: Final = 12
"""Minimum number of unseen cards. Racers turn up no more cards when fewer are left."""

_HEALTH_PORT: Final = 9_000
_LONGEST_PAUSE: Final = 4.0
"""Maximum time, in seconds, between two steps."""

_COUNTDOWN: Final = 60
_STEPS_OF_COUNTDOWN: Final = 10
"""Maximum number of random steps during a countdown, so that the world is over long before the cards are dealt."""

Places = frozenset[tuple[int, int]]
"""Places of the deal: the position of the pile, and the number of cards below. Unseen cards lie where they were dealt."""

_MASKED: Final = {
    "receipt": bytes(16),
    **dict.fromkeys(("head", "commitment", "share_commitment", "digest"), bytes(32)),
    "data": b"",
    "size": 0,
}
"""The values that replace fields which follow from the seed. They are as long on the wire, except those of a backup."""

_TIMESTAMP: Final = re.compile('"timestamp": "[^"]*"')
"""The time of a line of the log, which is the real one."""

_MOST_RECOVERED: Final = 40
"""Maximum number of actions that are lost at once. A spectator who is sent more at once would be sent boards instead."""

_BAD_FRAMES: Final = (
    b"",
    b"\xc1",
    b"\x81\xa4type\xa3act",
    b"\xdf\xff\xff\xff\xff",
    pack({"type": "fold", "id": 1 << 40}),
)
_ODD_ACTIONS: Final = (
    *("fold", "1 2 x1", "3", "draw draw", "\x1b[2J", "1 0 x50", "z 3", "w 4", "draw", "deal"),
    *(UNDO,) * 5,
)


class RacingClient(Client):
    """A client that applies acks without checking them, and keeps its actions for ``Recover``."""

    kept: tuple[AckedAction, ...] = ()
    receipt = b""

    def apply(self, action: str, acked: Acked) -> None:
        self.kept = (*self.kept, AckedAction(id=acked.to, action=action, time=acked.time))
        self.receipt = acked.receipt
        self.follow(action, acked)


@dataclass(frozen=True)
class Deck:
    """A seed with the order of cards that is dealt in its place."""

    seed: bytes
    cards: bytes


@dataclass(frozen=True)
class Transcript:
    """All that left the nodes of one world, each with its time and place, and the places of cards that no racer has seen."""

    outputs: tuple[tuple[float, str, object], ...]
    hidden: Places

    def differs_from(self, other: Transcript) -> str:
        """Return the first difference between two worlds as text, or an empty string if there is none."""
        pairs = zip_longest(self.outputs, other.outputs)
        return next((f"{mine}\n{others}" for mine, others in pairs if mine != others), "")


class World:
    """Two nodes, and their clients."""

    def __init__(self, game: Game, loop: SimulatedLoop, redis: SimulatedRedis, seed: object) -> None:
        self.rng = Random(f"{game} {seed}")
        self.rule = self.rng.choice(list(Undo))
        self.clients: dict[str, RacingClient] = {}
        self._game = game
        self._redis = redis
        self._loop = loop
        self._nodes: list[SimulatedNode] = []
        self._passphrase = ""

    async def start(self, scratch: Path) -> None:
        """Start Redis and both nodes."""
        await self._redis.start()
        for number in (1, 2):
            options = (*node_options(scratch), "--health-port", str(_HEALTH_PORT + number))
            node = SimulatedNode(self._loop, f"node-{number}", self._redis.url, *options)
            self._nodes.append(await node.started())

    def _url(self, at: int) -> str:
        return "ws://{}:{}".format(*self._nodes[at].target)

    async def connect_client(self, name: str, at: int, session: str = "") -> RacingClient:
        """Connect or reconnect a client to a node."""
        self.clients[name] = client = await RacingClient.hello(self._url(at), name, session)
        client.undo = self.rule
        return client

    async def _pause(self) -> None:
        """Do nothing for a while, often only for a moment."""
        await asyncio.sleep(_LONGEST_PAUSE * self.rng.random() ** 6)

    async def race(self, steps: int, *, dealt: bool, joint: bool) -> Places:
        """Run a number of random steps in a new room, before or after the deal. A joint deal is found in the countdown.

        Return the places of cards that no racer has seen.
        """
        ana = await self.connect_client("ana", 0)
        for name, at in (("bob", 1), ("carl", 0), ("dan", self.rng.choice([0, 1])), ("wat", 1)):
            await self.connect_client(name, at)
        delay, countdown = self.rng.choice([0, 600]), 0 if dealt else _COUNTDOWN
        options: dict[str, Any] = {"undo": self.rule.value, "delay": delay, "countdown": countdown, "limit": 3600}
        self._passphrase = self.rng.choice(["", PASSPHRASE])
        if joint:
            options["deal"] = "winnable"
        await ana.create(ROOM, games=(self._game.name,), passphrase=self._passphrase, **options)
        await self._pause()
        for name in ("ana", "bob", "dan"):
            await self._enter(name, Join, Joined)
        await self._kick("dan")
        await self._enter("wat", Watch, Watching)
        late = max(0, steps - _STEPS_OF_COUNTDOWN)
        start_at = 0 if dealt else late if joint else self.rng.randint(late, 2 * steps)
        for number in range(steps):
            if number == start_at:
                await self.clients["ana"].expect(Done, Start)
                await self._pause()
                if joint:
                    await self._draw()
            name = self.rng.choice(["ana", "bob"])
            take_step = self.rng.choices(_STEPS, _WEIGHTS)[0]
            await take_step(self, name)
            await self._pause()
        quitter = self.clients[self.rng.choice(["ana", "bob"])]
        for kind, fields in ((DeclareStuck, {}), (Resign, {}), (Leave, {}), (Watch, {"room": ROOM})):
            if self.rng.random() < 0.7:
                await quitter.ask(kind, **fields)
                await self._pause()
        await self._operate(quitter)
        await self.clients["carl"].expect(Rooms, ListRooms)
        await self._pause()
        await self._read_metrics()
        return self._hidden()

    async def _enter(self, name: str, kind: Callable[..., Any], answer: type) -> None:
        """Let a client enter the room. If it is private, the client gives a wrong passphrase first."""
        if self._passphrase:
            await self.clients[name].refused("bad_passphrase", kind, room=ROOM, passphrase="open barley")
            await self._pause()
        await self.clients[name].expect(answer, kind, room=ROOM, passphrase=self._passphrase)
        await self._pause()

    async def _draw(self) -> None:
        """Let ana and bob draw the deal together."""
        for name in ("ana", "bob"):
            await self.clients[name].commit()
            await self._pause()
        for name in ("ana", "bob"):
            await self.clients[name].reveal()
            await self._pause()

    async def _kick(self, kicked: str) -> None:
        """Let bob, and then the host, try to remove a player before the start. The player then tries to return."""
        for name in ("bob", "ana"):
            await self.clients[name].ask(KickPlayer, player=self.clients[kicked].player)
            await self._pause()
        for kind in (Join, Watch):
            await self.clients[kicked].ask(kind, room=ROOM, passphrase=self._passphrase)
            await self._pause()

    async def _operate(self, kicked: RacingClient) -> None:
        """Let an operator look at everything, make a backup, and remove a player, who then tries to come back."""
        operator = await Operator.login(self._url(0))
        await operator.expect(ServerRooms, ListServerRooms)
        await operator.expect(RoomShown, ShowRoom, room=ROOM)
        _, answer = await operator.back_up()
        assert isinstance(answer, BackedUp)
        await self._pause()
        await operator.ask(Kick, room=ROOM, player=kicked.player)
        await self._pause()
        await operator.close()
        for kind, fields in ((Act, {"revision": 0, "action": "draw"}), (Join, {"room": ROOM}), (Watch, {"room": ROOM})):
            await kicked.ask(kind, **fields)
            await self._pause()

    def _hidden(self) -> Places:
        """Return the places of cards that no racer has seen."""
        racers = [self.clients[name] for name in ("ana", "bob")]
        boards = [first_board(self._game) if client.revision < 0 else client.play.board for client in racers]
        is_early = any(client.revision < 0 for client in racers)
        return frozenset.intersection(*(hidden_places(board, everything=is_early) for board in boards))

    async def _act(self, name: str, action: str, ahead: int = 0, **fields: Any) -> None:
        client = self.clients[name]
        at = max(0, client.revision)
        if client.revision >= 0 and len(self._hidden()) < MIN_UNSEEN and _turns_up(client.play.board, action):
            action = _ODD_ACTIONS[0]
        answer = await client.ask(Act, revision=max(0, at + ahead), action=action, **fields)
        if isinstance(answer, Acked) and not ahead:
            client.apply(action, answer)

    def _legal(self, name: str) -> list[Move]:
        """Return the legal moves of a racer, sometimes only those that turn up a card."""
        client = self.clients[name]
        if client.revision < 0:
            return [Move("1", "0")]
        legal = list(client.play.board.legal_moves())
        turning = [move for move in legal if client.play.board.turns_up(move)]
        return turning if turning and self.rng.random() < 0.3 else legal

    async def _move(self, name: str) -> None:
        if legal := self._legal(name):
            await self._act(name, str(self.rng.choice(legal)))

    async def _send_illegal_move(self, name: str) -> None:
        names = [*self._game.keys, "0", "s", "w"]
        size = self.rng.choice(["", "", " x2", " x3", " x5", " x9"])
        await self._act(name, f"{self.rng.choice(names)} {self.rng.choice(names)}{size}")

    async def _send_odd_action(self, name: str) -> None:
        """Let a racer send an undo, something that is no action, or an action on another board."""
        await self._act(name, self.rng.choice(_ODD_ACTIONS), self.rng.choice([0, 0, 0, 0, -2, -1, 1, 5]))

    async def _repeat_action(self, name: str) -> None:
        if legal := self._legal(name):
            action = str(self.rng.choice(legal))
            await self._act(name, action)
            await self._act(name, action, -1, id=self.clients[name].last_id)

    async def _send_bad_frame(self, name: str) -> None:
        await self.clients[name].socket.send(self.rng.choice(_BAD_FRAMES))

    async def _resume(self, name: str) -> None:
        old = self.clients.pop(name)
        if self.rng.random() < 0.5:
            await old.abort()
        else:
            await old.close()
        await self._pause()
        new = await self.connect_client(name, self.rng.choice([0, 1]), old.session)
        known = old.revision if old.revision >= 0 and self.rng.random() < 0.5 else -1
        if known >= 0:
            new.play = old.play
        new.kept, new.receipt = old.kept, old.receipt
        await new.expect(Joined, Join, room=ROOM, revision=known)

    async def _recover(self, name: str) -> None:
        """Let the store lose all actions of a racer, who sends them again, first with a receipt that proves nothing."""
        old = self.clients[name]
        kept = old.kept or (AckedAction(id=1, action="draw", time=1),)
        if old.kept and len(kept) <= _MOST_RECOVERED:
            del self.clients[name]
            async with Redis.from_url(self._redis.url) as redis:
                await lose_moves(redis, ROOM, old.player)
            await old.closed()
            await self._pause()
            new = await self.connect_client(name, self.rng.choice([0, 1]), old.session)
            new.play, new.kept, new.receipt = old.play, old.kept, old.receipt
            await new.expect(Joined, Join, room=ROOM, revision=len(kept))
            await self._pause()
        receipts = [bytes(16), old.receipt]
        for receipt in receipts:
            await self.clients[name].ask(Recover, revision=0, actions=kept, receipt=receipt)

    async def _send_request(self, name: str) -> None:
        """Let a racer send a request that changes nothing, or the client in the lobby guess a passphrase or a room."""
        guess = {"room": ROOM if self._passphrase else "elsewhere", "passphrase": "open barley"}
        requests: list[tuple[str, Callable[..., Any], dict[str, Any]]] = [
            *((name, Join, {"room": ROOM, "revision": revision}) for revision in (-1, 0, 3)),
            *((name, kind, {}) for kind in (Ready, Rematch, ListRooms)),
            *((name, KickPlayer, {"player": self.clients[kicked].player}) for kicked in (name, "dan", "wat")),
            (name, Watch, {"room": ROOM}),
            *(("carl", kind, guess) for kind in (Join, Watch)),
        ]
        who, kind, fields = self.rng.choice(requests)
        await self.clients[who].ask(kind, **fields)

    async def _pass_time(self, _name: str) -> None:
        """Let the nodes do what they do at intervals, and read their metrics."""
        await asyncio.sleep(self.rng.uniform(0, _LONGEST_PAUSE))
        await self._read_metrics()

    async def _read_metrics(self) -> None:
        for number in (1, 2):
            await ask(f"http://127.0.0.1:{_HEALTH_PORT + number}", "/metrics")


_STEP_WEIGHTS: Final[dict[Callable[[World, str], Any], int]] = {
    World._move: 12,
    World._send_illegal_move: 5,
    World._send_odd_action: 5,
    World._repeat_action: 2,
    World._send_bad_frame: 1,
    World._resume: 1,
    World._recover: 1,
    World._send_request: 3,
    World._pass_time: 1,
}
_STEPS: Final = list(_STEP_WEIGHTS)
_WEIGHTS: Final = list(_STEP_WEIGHTS.values())


def _turns_up(board: Board, action: str) -> bool:
    try:
        move = Move.parse(action)
    except MalformedText:
        return False
    return board.is_legal(move) and board.turns_up(move) > 0


def _mask(name: str, value: object) -> object:
    return [_MASKED[name]] * len(value) if isinstance(value, list) else _MASKED[name]


def _masked(value: object) -> object:
    if isinstance(value, dict):
        return {name: _mask(name, each) if name in _MASKED and each else _masked(each) for name, each in value.items()}
    return list(map(_masked, value)) if isinstance(value, list) else value


def _masked_payload(payload: bytes) -> bytes:
    try:
        return pack(_masked(unpack(payload, dict[str, Any])))
    except (SamedealError, ValueError):  # what is no message, such as a page of metrics
        return payload


def first_board(game: Game) -> Board:
    """Return a deal of a game, as its players see it."""
    return Board.deal(game, first_deck(game, 0).cards).masked()


def first_deck(game: Game, seed: object) -> Deck:
    """Return a random deck."""
    cards = list(DECK * game.decks)
    Random(f"{game} {seed} cards").shuffle(cards)
    return Deck(bytes([1]) * 32, bytes(cards))


def hidden_places(board: Board, *, everything: bool = False) -> Places:
    """Return the places of cards on a board that nobody has seen, or of all cards if ``everything`` is true."""
    return frozenset(
        (at, under)
        for at, pile in enumerate(board.piles)
        for under, card in enumerate(pile)
        if everything or card == HIDDEN
    )


def other_deck(game: Game, deck: Deck, hidden: Places) -> Deck:
    """Return a deck that differs only in its seed and in the cards at the ``hidden`` places of the deal."""
    dealt_at = [_deal_order(game)[place] for place in sorted(hidden)]
    dealt_from = dealt_at[1:] + dealt_at[:1]
    cards = bytearray(deck.cards)
    for target, source in zip(dealt_at, dealt_from, strict=True):
        cards[target] = deck.cards[source]
    return Deck(bytes([2]) * 32, bytes(cards))


def _deal_order(game: Game) -> dict[tuple[int, int], int]:
    """Return the position in the deck, from 0, of the card at each place of the deal."""
    size = len(DECK)
    numbers = range(size * game.decks)
    game = Game(game.name, struct_replace(game.file, suits=4))  # so that all cards of a deck differ
    one = Board.deal(game, bytes(DECK[at % size] for at in numbers))
    two = Board.deal(game, bytes(DECK[(at + at // size) % size] for at in numbers))
    order = {}
    for at, (pile, again) in enumerate(zip(one.piles, two.piles, strict=True)):
        for under, (card, other) in enumerate(zip(pile, again, strict=True)):
            first, second = DECK.index(card & 0x3F), DECK.index(other & 0x3F)
            order[at, under] = first + size * ((second - first) % size)
    return order


async def _find_some_candidate(_pool: SolverPool, candidate: Candidate) -> str:
    """Win a candidate whose number depends on the secret, and so on the world."""
    tried = hashlib.sha256(candidate.mixed + bytes([candidate.number])).digest()
    return "1 2" if tried[0] % 4 == 0 else ""


@contextmanager
def _dealing(deck: Deck) -> Iterator[None]:
    """Deal a given deck in every room."""
    with (
        mock.patch.object(room_creation, "new_seed", return_value=deck.seed),
        mock.patch.object(draws, "shuffled", return_value=deck.cards),
        mock.patch.object(SolverPool, "solve", _find_some_candidate),
        mock.patch.object(ProcessCollector, "collect", return_value=()),  # the real process
        mock.patch.object(GCCollector, "collect", return_value=()),
    ):
        yield


def run_world(game: Game, deck: Deck, seed: object, steps: int, *, dealt: bool, joint: bool) -> Transcript:
    """Run one world. If ``joint`` is true, the deal is joint, and bytes take no time: the search may send more of them."""
    outputs: list[tuple[float, str, object]] = []

    def note(time: float, where: str, what: object) -> None:
        if where.startswith("node") and (where.endswith(" log") or ">world" in where):
            sent = [*map(_masked_payload, payloads(what))] if isinstance(what, bytes) else _TIMESTAMP.sub("", str(what))
            outputs.append((time, where, sent))

    async def play(loop: SimulatedLoop, scratch: Path) -> Places:
        world = World(game, loop, redis := SimulatedRedis(loop), seed)
        await world.start(scratch)
        hidden = await world.race(steps, dealt=dealt, joint=joint)
        async with connect(redis.url) as client:
            told = [
                struct_replace(news, race="") for _, news in await Store(client, Metrics()).news.after(NewsId(0, 0))
            ]
        outputs.append((loop.time(), "news", told))
        return hidden

    with (
        tempfile.TemporaryDirectory(prefix="world-") as scratch,
        simulated(f"{game} {seed}", note) as loop,
        _dealing(deck),
    ):
        loop.network.slowest *= not joint
        hidden = loop.run_until_complete(loop.world.run(play(loop, Path(scratch))))
        return Transcript(tuple(outputs), hidden)


def compare(game: Game, seed: object, steps: int, *, dealt: bool, joint: bool = False) -> str:
    """Return the first difference between two worlds that differ only in unseen cards, or an empty string.

    If ``joint`` is true, the deals are joint deals that the server finds before they are dealt, each after another number
    of candidates.
    """
    deck = first_deck(game, seed)
    one = run_world(game, deck, seed, steps, dealt=dealt, joint=joint)
    other = other_deck(game, deck, one.hidden)
    assert other.cards != deck.cards
    return one.differs_from(run_world(game, other, seed, steps, dealt=dealt, joint=joint))


CASES: Final = [
    (game, dealt) for game in GAMES.values() for dealt in (False, True) if not dealt or hidden_places(first_board(game))
]
"""All games before the deal, and the games with face-down cards after it."""


def main() -> int:
    """Compare the worlds of many seeds."""
    command = argparse.ArgumentParser(prog="python -m tests.simulation.noninterference", description=main.__doc__)
    command.add_argument("--seed", type=int, default=1, help="the first seed")
    command.add_argument("--rounds", type=int, default=10)
    command.add_argument("--steps", type=int, default=60)
    given = command.parse_args()
    differing = 0
    for seed in range(given.seed, given.seed + given.rounds):
        for game, dealt in CASES:
            joint = not dealt and seed % 2 == 0
            if difference := compare(game, seed, given.steps, dealt=dealt, joint=joint):
                print(f"{game}, seed {seed}, {dealt=}, {joint=}: {difference}", flush=True)
                differing += 1
    print(f"{given.rounds * len(CASES)} pairs of worlds of {given.steps} steps, {differing} of them different")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
