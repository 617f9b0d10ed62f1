"""Compares two worlds that differ only in unseen cards. The server must send exactly the same in both.

A world is a race over two nodes with two racers, a spectator, an operator, and a client in the lobby. A seed decides what
they do. NONINTERFERENCE.md, in the folder of the tests, explains the method and what is masked.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import io
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, aclosing, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest import mock

import structlog
from msgspec.structs import replace as struct_replace
from prometheus_client import ProcessCollector
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from samedeal.board import Board
from samedeal.board_history import UNDO, Undo
from samedeal.cards import DECK, HIDDEN
from samedeal.errors import MalformedText
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
    Ping,
    Pong,
    Ready,
    Recover,
    Rematch,
    Resign,
    Rooms,
    Start,
    Watch,
    Watching,
)
from samedeal.race import draws, due_times, endings, room_state, seats
from samedeal_server.config.config import Config
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.loop_timers import Timers
from samedeal_server.rooms import hub, progress_updates, room_creation, room_list
from samedeal_server.solving.pool import SolverPool
from samedeal_server.solving.worker import Candidate
from samedeal_server.store import keys
from samedeal_server.store.news import NewsId
from samedeal_server.store.pubsub import Announcement, Listener
from samedeal_server.store.redis_client import PrimaryClient, RedisCommand
from samedeal_server.telemetry import logs
from tests.server.client import DEADLINE, Client
from tests.server.live_nodes import Node, RedisClient, serving
from tests.server.operator_client import TOKEN, Operator
from tests.server.races import lose_moves

ROOM: Final = "room"
PASSPHRASE: Final = "open sesame"
NEVER: Final = 10**9
"""A time, in seconds or in milliseconds, that no world lasts."""

MIN_UNSEEN: Final = 12
"""Minimum number of unseen cards. Racers turn up no more cards when fewer are left."""

_MAX_LATENCY: Final = 0.03
"""Maximum time, in seconds, by which a slow Redis delays a command, its answer or an announcement. Most delays are short."""

_COUNTDOWN: Final = 60
_STEPS_OF_COUNTDOWN: Final = 10
"""Maximum number of random steps during a countdown, so that the world is over long before the cards are dealt."""

Places = frozenset[tuple[int, int]]
"""Places of the deal: the position of the pile, and the number of cards below. Unseen cards lie where they were dealt."""

_MASKED: Final = {
    "reached": 1 << 20,
    **dict.fromkeys(("time", "starts", "ends", "acted_at", "last_progress_at", "finished_at"), 1 << 40),
    **dict.fromkeys(("generation", "event"), 1 << 40),
    "receipt": bytes(16),
    **dict.fromkeys(("head", "commitment", "share_commitment", "digest"), bytes(32)),
    "data": b"",
    "size": 0,
}
"""The values that replace fields which differ from run to run. They are as long on the wire, except those of a backup."""

_TIMED_METRICS: Final = re.compile("^process_|^python_|_redis_|_event_loop_|_rooms$|_bucket$|_sum$|_gsum$")
"""Metrics of durations, and of what a node does by itself as time passes."""

_MOST_RECOVERED: Final = 40
"""Maximum number of actions that are lost at once. A spectator who is sent more at once would be sent boards instead."""

_BAD_FRAMES: Final = (
    b"",
    b"\xc1",
    b"\x81\xa4type\xa3act",
    b"\xdf\xff\xff\xff\xff",
    pack({"type": "fold", "id": 1 << 40}),
)
_ILLEGAL_ACTIONS: Final = ("fold", "1 2 x1", "3", "draw draw", "\x1b[2J", "1 0 x50", "z 3", "w 4", "draw", "deal", UNDO)


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
class Output:
    """The masked frames that left the server for ``receiver`` in one step.

    If ``receiver`` is ``log``, they are the sorted lines of both nodes. If it is ``metrics``, they are the sums over both.
    """

    step: str
    receiver: str
    frames: tuple[object, ...]


@dataclass(frozen=True)
class Transcript:
    """All output of the server in one world, with the places of cards that no racer has seen."""

    outputs: tuple[Output, ...]
    hidden: Places

    def differs_from(self, other: Transcript) -> str:
        """Return the first difference between two worlds as text, or an empty string if there is none."""
        for mine, others in zip(self.outputs, other.outputs, strict=False):
            if mine != others:
                return f"{mine}\n{others}"
        return "" if len(self.outputs) == len(other.outputs) else "one is longer than the other"


def _is_pong(frame: bytes | str) -> bool:
    """Return whether a frame answers a ping of ``settle``. Its position among other frames depends on timing."""
    return isinstance(frame, bytes) and b"\xa4type\xa4pong" in frame


class World:
    """The nodes, the clients, and everything that they received."""

    def __init__(
        self, game: Game, nodes: tuple[Node, Node], redis: RedisClient, log: io.StringIO, seed: object
    ) -> None:
        self.rng = Random(f"{game} {seed}")
        self.rule = self.rng.choice(list(Undo))
        self.clients: dict[str, RacingClient] = {}
        self._game = game
        self._nodes = nodes
        self._redis = redis
        self._at: dict[str, Node] = {}
        self._names: dict[bytes, bytes] = {}
        self._read: dict[str, int] = {}
        self._log = log
        self._log_read = 0
        self._outputs: list[Output] = []
        self._passphrase = ""

    async def connect_client(self, name: str, at: int, session: str = "") -> RacingClient:
        """Connect or reconnect a client to a node."""
        client = await RacingClient.hello(self._nodes[at].url, name, session)
        client.undo = self.rule
        self._names[client.player.encode()] = name.ljust(len(client.player)).encode()
        self._names[client.session.encode()] = name.ljust(len(client.session)).encode()
        self.clients[name], self._at[name], self._read[name] = client, self._nodes[at], 0
        return client

    async def settle(self, step: str, *, answers_first: bool = False) -> None:
        """Wait until the nodes are idle, flush progress updates, and record everything that was sent."""
        for client in self.clients.values():
            await client.expect(Pong, Ping)  # then the messages that follow an answer have been sent
        async with asyncio.timeout(DEADLINE):
            while not await self._are_quiet():
                pass
        for node in self._nodes:
            followed = node.rooms.hubs.get(ROOM)
            if followed is not None:
                followed.updates.flush()
        for name, client in self.clients.items():
            await client.expect(Pong, Ping)  # then everything that was sent before has arrived
            frames = [self._mask(frame) for frame in client.frames[self._read[name] :] if not _is_pong(frame)]
            self._read[name] = len(client.frames)
            if answers_first:
                frames.sort(key=lambda frame: b"\xa2to" not in frame)
            self._outputs.append(Output(step, name, tuple(frames)))
        lines = self._log.getvalue()
        self._outputs.append(
            Output(step, "log", tuple(sorted(map(self._mask_line, lines[self._log_read :].splitlines()))))
        )
        self._log_read = len(lines)
        counted: dict[str, float] = defaultdict(float)
        for node in self._nodes:
            node.gateway.update_gauges()
            for metric in node.rooms.metrics.registry.collect():
                for sample in metric.samples:
                    if not _TIMED_METRICS.search(sample.name):
                        counted[f"{sample.name} {sample.labels}"] += sample.value
        self._outputs.append(Output(step, "metrics", tuple(sorted(counted.items()))))

    async def _are_quiet(self) -> bool:
        """Return whether both nodes are idle, and no event was added while they were looked at."""
        newest = await self._newest_event()
        return all(self._is_quiet(node, newest) for node in self._nodes) and newest == await self._newest_event()

    async def _newest_event(self) -> int:
        return int(await self._redis.hget(keys.meta(ROOM), "last_event") or 0)

    def _is_quiet(self, node: Node, newest: int) -> bool:
        followed = node.rooms.hubs.get(ROOM)
        here = [client for name, client in self.clients.items() if self._at[name] is node]
        if len(node.gateway.serving) != len(here) or node.rooms.background.tasks:
            return False
        if followed is None:
            return True
        waits = not followed.race.options.delay and followed.audience.spectators and followed.race.phase == "racing"
        boards = followed.boards.delayed
        shown = boards is not None and boards.next_at() is None
        counting = followed.race.phase == "countdown" and not followed.race.options.countdown
        # Boards that are built now must contain all moves: the node's clock is behind that of the store.
        newest_move = max((progress.last_action_at for progress in followed.progress.values()), default=0)
        current = followed.model.event == newest and newest_move <= node.rooms.clock.now()
        return current and not counting and (shown or not waits)

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
        # The time of an event, and the seconds since its connection began, depend on the clock.
        return json.dumps({**json.loads(line), "timestamp": "", "seconds": ""})

    async def race(self, steps: int, *, dealt: bool, joint: bool) -> Transcript:
        """Run a number of random steps in a new room, before or after the deal. A joint deal is found in the countdown."""
        ana = await self.connect_client("ana", 0)
        for name, at in (("bob", 1), ("carl", 0), ("dan", self.rng.choice([0, 1])), ("wat", 1)):
            await self.connect_client(name, at)
        delay, countdown = self.rng.choice([0, 600]), 0 if dealt else _COUNTDOWN
        options: dict[str, Any] = {"undo": self.rule.value, "delay": delay, "countdown": countdown, "limit": 3600}
        self._passphrase = self.rng.choice(["", PASSPHRASE])
        if joint:
            options["deal"] = "winnable"
        await ana.create(ROOM, games=(self._game.name,), passphrase=self._passphrase, **options)
        await self.settle("created")
        for name in ("ana", "bob", "dan"):
            await self._enter(name, Join, Joined)
        await self._kick("dan")
        await self._enter("wat", Watch, Watching)
        late = max(0, steps - _STEPS_OF_COUNTDOWN)
        start_at = 0 if dealt else late if joint else self.rng.randint(late, 2 * steps)
        for number in range(steps):
            if number == start_at:
                await self.clients["ana"].expect(Done, Start)
                await self.settle("started", answers_first=True)
                if joint:
                    await self._draw()
            name = self.rng.choice(["ana", "bob"])
            take_step = self.rng.choices(_STEPS, _WEIGHTS)[0]
            await take_step(self, name)
            await self.settle(f"{number} {name} {take_step.__name__.strip('_')}")
        quitter = self.clients[self.rng.choice(["ana", "bob"])]
        for kind, fields in ((DeclareStuck, {}), (Resign, {}), (Leave, {}), (Watch, {"room": ROOM})):
            if self.rng.random() < 0.7:
                await quitter.ask(kind, **fields)
                await self.settle(kind.__name__)
        await self._operate(quitter)
        await self.clients["carl"].expect(Rooms, ListRooms)
        await self.settle("listed")
        told = await self._nodes[0].store.news.after(NewsId(0, 0))
        self._outputs.append(
            Output("told", "news", tuple(self._mask(pack(struct_replace(news, race=""))) for _, news in told))
        )
        return Transcript(tuple(self._outputs), self._hidden())

    async def _enter(self, name: str, kind: Callable[..., Any], answer: type) -> None:
        """Let a client enter the room. If it is private, the client gives a wrong passphrase first."""
        if self._passphrase:
            await self.clients[name].refused("bad_passphrase", kind, room=ROOM, passphrase="open barley")
            await self.settle(f"{name} guesses")
        await self.clients[name].expect(answer, kind, room=ROOM, passphrase=self._passphrase)
        await self.settle(f"{name} enters")

    async def _draw(self) -> None:
        """Let ana and bob draw the deal together."""
        for name in ("ana", "bob"):
            await self.clients[name].commit()
            await self.settle(f"{name} commits")
        for name in ("ana", "bob"):
            await self.clients[name].reveal()
            await self.settle(f"{name} reveals")

    async def _kick(self, kicked: str) -> None:
        """Let bob, and then the host, try to remove a player before the start. The player then tries to return."""
        for name in ("bob", "ana"):
            await self.clients[name].ask(KickPlayer, player=self.clients[kicked].player)
            await self.settle(f"{name} kicks {kicked}")
        for kind in (Join, Watch):
            await self.clients[kicked].ask(kind, room=ROOM, passphrase=self._passphrase)
            await self.settle(f"{kind.__name__} of {kicked}")

    async def _operate(self, kicked: RacingClient) -> None:
        """Let an operator look at everything, make a backup, and remove a player, who then tries to come back."""
        operator = await Operator.login(self._nodes[0].url)
        await operator.expect(ServerRooms, ListServerRooms)
        await operator.expect(RoomShown, ShowRoom, room=ROOM)
        _, answer = await operator.back_up()
        assert isinstance(answer, BackedUp)
        await self.settle("backed up")
        await operator.ask(Kick, room=ROOM, player=kicked.player)
        await self.settle("kicked")
        await operator.close()
        self._outputs.append(Output("operated", "operator", tuple(map(self._mask, operator.frames))))
        for kind, fields in ((Act, {"revision": 0, "action": "draw"}), (Join, {"room": ROOM}), (Watch, {"room": ROOM})):
            await kicked.ask(kind, **fields)
            await self.settle(f"{kind.__name__} of a kicked player")

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
            action = _ILLEGAL_ACTIONS[0]
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

    async def _undo(self, name: str) -> None:
        await self._act(name, UNDO)

    async def _send_illegal_move(self, name: str) -> None:
        names = [*self._game.keys, "0", "s", "w"]
        size = self.rng.choice(["", "", " x2", " x3", " x5", " x9"])
        await self._act(name, f"{self.rng.choice(names)} {self.rng.choice(names)}{size}")

    async def _send_malformed_action(self, name: str) -> None:
        await self._act(name, self.rng.choice(_ILLEGAL_ACTIONS))

    async def _send_stale_action(self, name: str) -> None:
        await self._act(name, "draw", self.rng.choice([-2, -1, 1, 5]))

    async def _repeat_action(self, name: str) -> None:
        if legal := self._legal(name):
            action = str(self.rng.choice(legal))
            await self._act(name, action)
            await self._act(name, action, -1, id=self.clients[name].last_id)

    async def _send_bad_frame(self, name: str) -> None:
        await self.clients[name].socket.send(self.rng.choice(_BAD_FRAMES))

    async def _rejoin(self, name: str) -> None:
        await self.clients[name].expect(Joined, Join, room=ROOM, revision=self.rng.choice([-1, 0, 3]))

    async def _resume(self, name: str) -> None:
        old = self.clients.pop(name)
        if self.rng.random() < 0.5:
            await old.abort()
        else:
            await old.close()
        await self.settle(f"{name} gone")
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
            await lose_moves(self._redis, ROOM, old.player)
            for node in self._nodes:
                if followed := node.rooms.hubs.get(ROOM):
                    await followed.pull()
            await old.closed()
            await self.settle(f"{name} rolled back")
            new = await self.connect_client(name, self.rng.choice([0, 1]), old.session)
            new.play, new.kept, new.receipt = old.play, old.kept, old.receipt
            await new.expect(Joined, Join, room=ROOM, revision=len(kept))
            await self.settle(f"{name} resumed")
        receipts = [bytes(16), old.receipt]
        for receipt in receipts:
            await self.clients[name].ask(Recover, revision=0, actions=kept, receipt=receipt)

    async def _send_refused_request(self, name: str) -> None:
        kick = {"player": self.clients[self.rng.choice([name, "dan", "wat"])].player}
        kind, fields = self.rng.choice(
            [(Ready, {}), (Watch, {"room": ROOM}), (Rematch, {}), (ListRooms, {}), (KickPlayer, kick)]
        )
        await self.clients[name].ask(kind, **fields)

    async def _guess(self, _name: str) -> None:
        """Let the client in the lobby try to enter the room with a wrong passphrase, or one that does not exist."""
        room = ROOM if self._passphrase else "elsewhere"
        await self.clients["carl"].ask(self.rng.choice([Join, Watch]), room=room, passphrase="open barley")

    async def _pass_time(self, _name: str) -> None:
        """Let each node do what it does at intervals."""
        for node in self._nodes:
            upkeep = node.upkeep
            for work in (upkeep.sweep, upkeep.poll, upkeep.report_presence, upkeep.refresh, upkeep.repair):
                await work()
                await self.settle(work.__name__)


_STEP_WEIGHTS: Final[dict[Callable[[World, str], Any], int]] = {
    World._move: 12,
    World._undo: 2,
    World._send_illegal_move: 5,
    World._send_malformed_action: 2,
    World._send_stale_action: 1,
    World._repeat_action: 2,
    World._send_bad_frame: 1,
    World._rejoin: 1,
    World._resume: 1,
    World._recover: 1,
    World._send_refused_request: 1,
    World._guess: 1,
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


async def _sleep_forever(_timers: Timers, _delay: float) -> None:
    await asyncio.Event().wait()


@contextmanager
def _without_time() -> Iterator[None]:
    """Keep nodes from doing anything because time has passed, since worlds do not take equally long."""
    with ExitStack() as stack:
        for module, name in (
            (progress_updates, "PROGRESS_INTERVAL"),
            (hub, "ABSENCE_TIMEOUT"),
            (due_times, "HOST_TIMEOUT"),
            (endings, "IDLE_AFTER"),
            (seats, "SEAT_HELD"),
            *((module, "ABSENT_AFTER") for module in (endings, room_state)),
        ):
            stack.enter_context(mock.patch.object(module, name, NEVER))
        stack.enter_context(mock.patch.object(room_list, "LIST_LIFETIME", 0))
        stack.enter_context(mock.patch.object(Timers, "sleep", _sleep_forever))
        stack.enter_context(mock.patch.object(ProcessCollector, "collect", return_value=()))  # slow, and not compared
        yield


@contextmanager
def _slow_redis(rng: Random) -> Iterator[None]:
    """Delay commands, their answers, and announcements by random times."""
    execute, announcements = PrimaryClient.try_execute, Listener.announcements

    async def delay() -> None:
        await asyncio.sleep(_MAX_LATENCY * rng.random() ** 6)

    async def execute_slowly(
        client: PrimaryClient, commands: Sequence[RedisCommand], *, durable: bool = False
    ) -> list[Any]:
        await delay()
        answers = await execute(client, commands, durable=durable)
        await delay()
        return answers

    async def announce_late(listener: Listener) -> AsyncGenerator[Announcement]:
        async with aclosing(announcements(listener)) as in_time:
            async for announcement in in_time:
                await delay()
                yield announcement

    with (
        mock.patch.object(PrimaryClient, "try_execute", execute_slowly),
        mock.patch.object(Listener, "announcements", announce_late),
    ):
        yield


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
    ):
        yield


@contextmanager
def _logging() -> Iterator[io.StringIO]:
    """Capture the log of all nodes."""
    log = io.StringIO()
    try:
        with contextlib.redirect_stdout(log):
            logs.set_up(Config(log_level="debug", log_style="json"), "n")
        yield log
    finally:
        structlog.reset_defaults()
        structlog.contextvars.clear_contextvars()


async def run_world(
    redis_url: str, game: Game, deck: Deck, seed: object, steps: int, *, dealt: bool, slow: bool, joint: bool
) -> Transcript:
    """Run one world on an empty Redis, which answers slowly if ``slow`` is true. If ``joint`` is true, the deal is joint."""
    with Redis.from_url(redis_url) as redis:
        redis.flushall()
    with ExitStack() as settings:
        settings.enter_context(_without_time())
        settings.enter_context(_dealing(deck))
        log = settings.enter_context(_logging())
        if slow:
            settings.enter_context(_slow_redis(Random(f"{seed} {deck.seed.hex()}")))
        async with AsyncExitStack() as stack:
            one = await stack.enter_async_context(serving(redis_url, "n1", token=TOKEN))
            two = await stack.enter_async_context(serving(redis_url, "n2"))
            redis = await stack.enter_async_context(AsyncRedis.from_url(redis_url))
            return await World(game, (one, two), redis, log, seed).race(steps, dealt=dealt, joint=joint)


async def compare(
    redis_url: str, game: Game, seed: object, steps: int, *, dealt: bool, slow: bool = False, joint: bool = False
) -> str:
    """Return the first difference between two worlds that differ only in unseen cards, or an empty string.

    If ``slow`` is true, Redis answers slowly in both worlds, and each time after another delay. If ``joint`` is true, the
    deals are joint deals that the server finds before they are dealt, each after another number of candidates.
    """
    deck = first_deck(game, seed)
    one = await run_world(redis_url, game, deck, seed, steps, dealt=dealt, slow=slow, joint=joint)
    other = other_deck(game, deck, one.hidden)
    assert other.cards != deck.cards
    return one.differs_from(await run_world(redis_url, game, other, seed, steps, dealt=dealt, slow=slow, joint=joint))


CASES: Final = [
    (game, dealt) for game in GAMES.values() for dealt in (False, True) if not dealt or hidden_places(first_board(game))
]
"""All games before the deal, and the games with face-down cards after it."""


def main() -> int:
    """Compare the worlds of many seeds."""
    command = argparse.ArgumentParser(prog="python -m tests.server.noninterference", description=main.__doc__)
    command.add_argument("--seed", type=int, default=1, help="the first seed")
    command.add_argument("--rounds", type=int, default=10)
    command.add_argument("--steps", type=int, default=60)
    given = command.parse_args()

    async def rounds() -> int:
        compared = differing = 0
        with tempfile.TemporaryDirectory(prefix="worlds-") as scratch:
            async with EmbeddedRedis(Path(scratch), "everysec") as url:
                for seed in range(given.seed, given.seed + given.rounds):
                    for (game, dealt), slow in product(CASES, (False, True)):
                        compared += 1
                        joint = not dealt and seed % 2 == 0
                        if difference := await compare(
                            url, game, seed, given.steps, dealt=dealt, slow=slow, joint=joint
                        ):
                            print(f"{game}, seed {seed}, {dealt=}, {slow=}, {joint=}: {difference}", flush=True)
                            differing += 1
        print(f"{compared} pairs of worlds of {given.steps} steps, {differing} of them different")
        return 1 if differing else 0

    return asyncio.run(rounds())


if __name__ == "__main__":
    sys.exit(main())
