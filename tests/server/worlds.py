"""Two worlds that differ only in cards which nobody has seen: everything that leaves the server must be the same in both.

A world is a race over two nodes, with everybody who may look: two racers, a spectator, and somebody in the lobby. A seed
decides what they do: they play, take back, ask for what can't be, send what can't be read, are cut off and come back. Then
the cards that were seen by nobody are put in another order, and all of it is done again. What is legitimately another each
time is masked: times, ids, tokens, the commitment (its own test says that nothing follows from it), receipts, and the
numbers of events and connections' generations, which are times.

How long an answer takes can't be compared byte by byte. What bounds it is that the same instructions are executed in both
worlds, which ``test_non_interference`` counts for the engine; nothing else on a node has to do with cards. What is left
is which entry of a table of the same size is looked at.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest import mock

import structlog
from redis import Redis

from samedeal.board import Board
from samedeal.cards import DECK, HIDDEN
from samedeal.errors import MalformedText
from samedeal.games import GAMES, Game
from samedeal.moves import Move
from samedeal.play import UNDO, Play, Undo
from samedeal.protocol.codec import pack, unpack
from samedeal.protocol.messages import (
    Acked,
    Act,
    Done,
    Join,
    Joined,
    ListRooms,
    Ping,
    Pong,
    Ready,
    Rematch,
    Resign,
    Rooms,
    Start,
    Watch,
)
from samedeal_server import hub, logs, rooms
from samedeal_server.config import Config
from samedeal_server.embedded import EmbeddedRedis
from samedeal_server.store import keys
from tests.server.client import DEADLINE, Client
from tests.server.conftest import Node, serving

ROOM: Final = "room"
NEVER: Final = 1e6
FEW: Final = 12
"""Cards not seen by any racer, from which on no more are turned up."""

Places = frozenset[tuple[int, int]]
"""A card that was never turned up lies where it was dealt: in which pile, and on how many cards."""

_MASKED: Final = {
    "time": 1 << 40,
    "starts": 1 << 40,
    "ends": 1 << 40,
    "active": 1 << 40,
    "risen": 1 << 40,
    "home": 1 << 40,
    "at": 1 << 40,
    "generation": 1 << 40,
    "event": 1 << 40,
    "receipt": bytes(16),
    "commitment": bytes(32),
}
"""Fields that are another each time, where they are not empty, and what is put in their place: as long on the wire."""

_OF_TIME: Final = re.compile("^process_|^python_|_redis_|_event_loop_|_rooms$|_bucket$|_sum$|_gsum$")
"""Metrics that say how long something took, and what a node does of itself as time passes."""

_UNREADABLE: Final = (
    b"",
    b"\xc1",
    b"\x81\xa4type\xa3act",
    b"\xdf\xff\xff\xff\xff",
    pack({"type": "fold", "id": 1 << 40}),
)
_NO_MOVES: Final = ("fold", "1 2 x1", "3", "draw draw", "\x1b[2J", "1 0 x50", "z 3", "w 4", "draw", "deal", UNDO)


class Racing(Client):
    """A client that believes what it is told."""

    def apply(self, action: str, acked: Acked) -> None:
        assert self.play is not None
        if action == UNDO:
            board = Board(self.play.board.game, acked.piles)
            past = self.play.past.before if self.play.past else None
            self.play = Play(board, self.undo, past, acked.revision, acked.moves, acked.undos, acked.seen)
        else:
            self.play = self.play.act(action, faces=acked.seen or None)


@dataclass(frozen=True)
class Deck:
    """A seed, and the order of the cards that is dealt as if it were the seed's."""

    seed: bytes
    cards: bytes


@dataclass(frozen=True)
class Told:
    """What somebody was told in a step: its frames, masked.

    What ``log`` is told are the lines of both nodes, sorted; what ``metrics`` is told are those of both together.
    """

    step: str
    who: str
    what: tuple[object, ...]


@dataclass(frozen=True)
class Transcript:
    """All that left the server in a world, and the places in which cards lie that no racer has seen."""

    told: tuple[Told, ...]
    hidden: Places

    def differs_from(self, other: Transcript) -> str:
        """Where two worlds come apart first, as text; empty where they don't."""
        for mine, others in zip(self.told, other.told, strict=False):
            if mine != others:
                return f"{mine}\n{others}"
        return "" if len(self.told) == len(other.told) else "one is longer than the other"


def _is_pong(frame: bytes | str) -> bool:
    """Whether it is a mark of our own, that stands where it happens to among what others cause."""
    return isinstance(frame, bytes) and b"\xa4type\xa4pong" in frame


class World:
    """The nodes, those who look, and what each was told."""

    def __init__(self, game: Game, nodes: tuple[Node, Node], log: io.StringIO, seed: object) -> None:
        self.rng = Random(f"{game} {seed}")
        self.rule = self.rng.choice(list(Undo))
        self.clients: dict[str, Racing] = {}
        self._game = game
        self._nodes = nodes
        self._at: dict[str, Node] = {}
        self._names: dict[bytes, bytes] = {}
        self._read: dict[str, int] = {}
        self._log = log
        self._log_read = 0
        self._told: list[Told] = []
        self._closed: list[int | None] = []

    async def come(self, name: str, at: int, session: str = "") -> Racing:
        """Have somebody come, or come back, to a node."""
        client = await Racing.hello(self._nodes[at].url, name, session)
        client.undo = self.rule
        self._names[client.player.encode()] = name.ljust(len(client.player)).encode()
        self._names[client.session.encode()] = name.ljust(len(client.session)).encode()
        self.clients[name], self._at[name], self._read[name] = client, self._nodes[at], 0
        return client

    # ---------------------------------------------------------------- hearing

    async def settle(self, step: str, *, answers_first: bool = False) -> None:
        """Wait until nothing more follows from what was asked, have counts be told, and note what everybody was told."""
        for client in self.clients.values():
            await client.want(Pong, Ping)  # what follows an answer has been told then
        async with asyncio.timeout(DEADLINE):
            for node in self._nodes:
                while not await self._quiet(node):
                    pass
        for node in self._nodes:
            followed = node.rooms.hubs.get(ROOM)
            if followed is not None and followed._flush is not None:
                followed._flush.cancel()
                followed._tell_counts()
        for name, client in self.clients.items():
            await client.want(Pong, Ping)  # what was told before has come then
            frames = [self._mask(frame) for frame in client.frames[self._read[name] :] if not _is_pong(frame)]
            self._read[name] = len(client.frames)
            if answers_first:
                frames.sort(key=lambda frame: b"\xa2to" not in frame)
            self._told.append(Told(step, name, tuple(frames)))
        lines = self._log.getvalue()
        self._told.append(Told(step, "log", tuple(sorted(map(self._mask_line, lines[self._log_read :].splitlines())))))
        self._log_read = len(lines)
        counted: dict[str, float] = defaultdict(float)
        for node in self._nodes:
            node.gateway.take_stock()
            for metric in node.rooms.metrics.registry.collect():
                for sample in metric.samples:
                    if not _OF_TIME.search(sample.name):
                        counted[f"{sample.name} {sample.labels}"] += sample.value
        self._told.append(Told(step, "metrics", tuple(sorted(counted.items()))))

    async def _quiet(self, node: Node) -> bool:
        newest = await node.store.redis.hget(keys.meta(ROOM), "event")
        followed = node.rooms.hubs.get(ROOM)
        here = [client for name, client in self.clients.items() if self._at[name] is node]
        if len(node.gateway._serving) != len(here) or node.rooms._tasks:
            return False
        if followed is None:
            return True
        waits = not followed.race.options.delay and followed.spectators and followed.race.phase == "racing"
        shown = followed._gallery is not None and followed._gallery.next_at() is None
        counting = followed.race.phase == "countdown" and not followed.race.options.countdown
        return followed.event == int(newest or 0) and not counting and (shown or not waits)

    def _mask(self, frame: bytes | str) -> bytes:
        assert isinstance(frame, bytes)
        for mine, name in self._names.items():
            frame = frame.replace(mine, name)
        fields = unpack(frame, dict[str, Any])
        assert pack(fields) == frame
        return pack(_masked(fields))

    def _mask_line(self, line: str) -> str:
        for mine, name in self._names.items():
            line = line.replace(mine.decode(), name.decode())
        # When it was, and how long that was after the connection began, are the clock's.
        return json.dumps({**json.loads(line), "timestamp": "", "seconds": ""})

    # ---------------------------------------------------------------- doing

    async def race(self, steps: int, *, dealt: bool) -> Transcript:
        """Open a room, do so much with it, before or after the cards are dealt, and leave it at that."""
        ana, bob = await self.come("ana", 0), await self.come("bob", 1)
        await self.come("carl", 0)
        wat = await self.come("wat", 1)
        delay, countdown = self.rng.choice([0, 600]), 0 if dealt else 60
        how: dict[str, Any] = {"undo": self.rule.value, "delay": delay, "countdown": countdown, "limit": 3600}
        await ana.create(ROOM, games=(self._game.name,), **how)
        await self.settle("created")
        for client in (ana, bob):
            await client.join(ROOM)
            await self.settle("joined")
        await wat.watch(ROOM)
        await self.settle("watching")
        if dealt or self.rng.random() < 0.5:
            await ana.want(Done, Start)
            await self.settle("started", answers_first=True)
        for number in range(steps):
            name = self.rng.choice(["ana", "bob"])
            deed = self.rng.choices(_DEEDS, _WEIGHTS)[0]
            await deed(self, name)
            await self.settle(f"{number} {name} {deed.__name__.strip('_')}")
        quits = self.clients[self.rng.choice(["ana", "bob"])]
        await quits.ask(Resign)
        await quits.ask(Watch, room=ROOM)
        await self.settle("resigned and watching")
        await self.clients["carl"].want(Rooms, ListRooms)
        await self.settle("listed")
        return Transcript(tuple(self._told), self._hidden())

    def _hidden(self) -> Places:
        """Where cards lie that no racer has seen."""
        plays = [self.clients[name].play for name in ("ana", "bob")]
        boards = [play.board if play else first_board(self._game) for play in plays]
        return frozenset.intersection(*(hidden_places(board, everything=not all(plays)) for board in boards))

    async def _act(self, name: str, action: str, ahead: int = 0, **fields: Any) -> None:
        client = self.clients[name]
        at = client.play.revision if client.play else 0
        if client.play and len(self._hidden()) < FEW and _turns_up(client.play.board, action):
            action = _NO_MOVES[0]
        answer = await client.ask(Act, revision=max(0, at + ahead), action=action, **fields)
        if isinstance(answer, Acked) and answer.revision == at + 1:
            client.apply(action, answer)

    def _legal(self, name: str) -> list[Move]:
        """The moves of a racer; at times only those that turn up a card."""
        play = self.clients[name].play
        if play is None:
            return [Move("1", "0")]
        legal = play.board.legal_moves()
        turning = [move for move in legal if play.board.turns_up(move)]
        return turning if turning and self.rng.random() < 0.3 else legal

    async def _move(self, name: str) -> None:
        if legal := self._legal(name):
            await self._act(name, str(self.rng.choice(legal)))

    async def _take_back(self, name: str) -> None:
        await self._act(name, UNDO)

    async def _cheat(self, name: str) -> None:
        names = [*self._game.keys, "0", "s", "w"]
        size = self.rng.choice(["", "", " x2", " x3", " x5", " x9"])
        await self._act(name, f"{self.rng.choice(names)} {self.rng.choice(names)}{size}")

    async def _babble(self, name: str) -> None:
        await self._act(name, self.rng.choice(_NO_MOVES))

    async def _be_late(self, name: str) -> None:
        await self._act(name, "draw", self.rng.choice([-2, -1, 1, 5]))

    async def _say_twice(self, name: str) -> None:
        if legal := self._legal(name):
            action = str(self.rng.choice(legal))
            await self._act(name, action)
            await self._act(name, action, -1, id=self.clients[name]._id)

    async def _garble(self, name: str) -> None:
        await self.clients[name].socket.send(self.rng.choice(_UNREADABLE))

    async def _sit_again(self, name: str) -> None:
        await self.clients[name].want(Joined, Join, room=ROOM, revision=self.rng.choice([-1, 0, 3]))

    async def _resume(self, name: str) -> None:
        old = self.clients.pop(name)
        if self.rng.random() < 0.5:
            await old.cut()
        else:
            await old.close()
        await self.settle(f"{name} gone")
        new = await self.come(name, self.rng.choice([0, 1]), old.session)
        known = old.play.revision if old.play is not None and self.rng.random() < 0.5 else -1
        if known >= 0:
            new.play = old.play
        await new.want(Joined, Join, room=ROOM, revision=known)

    async def _ask_in_vain(self, name: str) -> None:
        kind, fields = self.rng.choice(
            [(Start, {}), (Ready, {}), (Watch, {"room": ROOM}), (Rematch, {}), (ListRooms, {})]
        )
        await self.clients[name].ask(kind, **fields)


_CHANCES: Final[dict[Callable[[World, str], Any], int]] = {
    World._move: 12,
    World._take_back: 2,
    World._cheat: 5,
    World._babble: 2,
    World._be_late: 1,
    World._say_twice: 2,
    World._garble: 1,
    World._sit_again: 1,
    World._resume: 1,
    World._ask_in_vain: 1,
}
_DEEDS: Final = list(_CHANCES)
_WEIGHTS: Final = list(_CHANCES.values())


def _turns_up(board: Board, action: str) -> bool:
    try:
        move = Move.parse(action)
    except MalformedText:
        return False
    return board.is_legal(move) and board.turns_up(move) > 0


def _masked(value: object) -> object:
    if isinstance(value, dict):
        return {name: _MASKED[name] if name in _MASKED and each else _masked(each) for name, each in value.items()}
    return list(map(_masked, value)) if isinstance(value, list) else value


# ---------------------------------------------------------------- two worlds


def first_board(game: Game) -> Board:
    """Some deal of a game, as its players see it."""
    return Board.deal(game, first_deck(game, 0).cards).masked()


def first_deck(game: Game, seed: object) -> Deck:
    """Some deck."""
    cards = list(DECK * game.decks)
    Random(f"{game} {seed} cards").shuffle(cards)
    return Deck(bytes([1]) * 32, bytes(cards))


def hidden_places(board: Board, *, everything: bool = False) -> Places:
    """Where on a board cards lie that nobody has seen, or cards at all."""
    return frozenset(
        (at, under)
        for at, pile in enumerate(board.piles)
        for under, card in enumerate(pile)
        if everything or card == HIDDEN
    )


def other_deck(game: Game, deck: Deck, hidden: Places) -> Deck:
    """A deck that differs in the cards that lie in some places of the deal, and in its seed."""
    there = [_deal_order(game)[place] for place in sorted(hidden)]
    order = there[1:] + there[:1]
    cards = bytearray(deck.cards)
    for to, come_from in zip(there, order, strict=True):
        cards[to] = deck.cards[come_from]
    return Deck(bytes([2]) * 32, bytes(cards))


def _deal_order(game: Game) -> dict[tuple[int, int], int]:
    """Which card of the deck, counted from 0, is dealt to each place."""
    size = len(DECK)
    numbers = range(size * game.decks)
    one = Board.deal(game, bytes(DECK[at % size] for at in numbers))
    two = Board.deal(game, bytes(DECK[(at + at // size) % size] for at in numbers))
    order = {}
    for at, (pile, again) in enumerate(zip(one.piles, two.piles, strict=True)):
        for under, (card, other) in enumerate(zip(pile, again, strict=True)):
            first, second = DECK.index(card & 0x3F), DECK.index(other & 0x3F)
            order[at, under] = first + size * ((second - first) % size)
    return order


@contextmanager
def _dealing(deck: Deck) -> Iterator[io.StringIO]:
    """Have every room be dealt a deck, counts be told when the world says so, and the log be kept."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(rooms, "_seed", return_value=deck.seed))
        stack.enter_context(mock.patch.object(hub, "shuffled", return_value=deck.cards))
        stack.enter_context(mock.patch.object(hub, "PROGRESS_EVERY", NEVER))
        log = io.StringIO()
        stack.callback(structlog.contextvars.clear_contextvars)
        stack.callback(structlog.reset_defaults)
        with contextlib.redirect_stdout(log):
            logs.set_up(Config(log_level="debug", log_style="json"), "n")
        yield log


async def live(redis_url: str, game: Game, deck: Deck, seed: object, steps: int, *, dealt: bool) -> Transcript:
    """One world, from an empty Redis to the end of the steps."""
    with Redis.from_url(redis_url) as redis:
        redis.flushall()
    with _dealing(deck) as log:
        async with AsyncExitStack() as stack:
            one = await stack.enter_async_context(serving(redis_url, "n1"))
            two = await stack.enter_async_context(serving(redis_url, "n2"))
            return await World(game, (one, two), log, seed).race(steps, dealt=dealt)


async def compare(redis_url: str, game: Game, seed: object, steps: int, *, dealt: bool) -> str:
    """Where two worlds differ though nobody has seen what they differ in, as text; empty where they don't."""
    deck = first_deck(game, seed)
    one = await live(redis_url, game, deck, seed, steps, dealt=dealt)
    other = other_deck(game, deck, one.hidden)
    assert other.cards != deck.cards
    return one.differs_from(await live(redis_url, game, other, seed, steps, dealt=dealt))


CASES: Final = [
    (game, dealt) for game in GAMES.values() for dealt in (False, True) if not dealt or hidden_places(first_board(game))
]
"""Every game before the deal, when no card is seen, and those with cards that the deal does not show after it."""


def main() -> int:
    """Compare worlds of many seeds."""
    command = argparse.ArgumentParser(prog="python -m tests.server.worlds", description=main.__doc__)
    command.add_argument("--seed", type=int, default=1, help="the first seed")
    command.add_argument("--rounds", type=int, default=10)
    command.add_argument("--steps", type=int, default=60)
    given = command.parse_args()

    async def rounds() -> int:
        compared = 0
        with tempfile.TemporaryDirectory(prefix="worlds-") as scratch:
            async with EmbeddedRedis(Path(scratch), "everysec") as url:
                for seed in range(given.seed, given.seed + given.rounds):
                    for game, dealt in CASES:
                        if difference := await compare(url, game, seed, given.steps, dealt=dealt):
                            print(f"{game}, seed {seed}: {difference}")
                            return 1
                        compared += 1
        print(f"{compared} pairs of worlds of {given.steps} steps, all the same")
        return 0

    return asyncio.run(rounds())


if __name__ == "__main__":
    sys.exit(main())
