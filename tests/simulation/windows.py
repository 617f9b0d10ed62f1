"""A window of a day: friends who are never there at the same time race one deal, on nodes that come and go."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any, Final

from msgspec import to_builtins

from samedeal.options import WantedOptions
from samedeal.protocol.codec import decode_to_client
from samedeal.protocol.messages import Begin, Begun, Create, Created, Done, Resign, RoomState
from samedeal.record import Record
from tests.server.client import Client
from tests.server.races import QUICK_GAME, kept
from tests.simulation.loop import SimulatedLoop
from tests.simulation.node import SimulatedNode
from tests.simulation.redis_server import SimulatedRedis
from tests.simulation.world import simulated

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

HOUR: Final = 3_600.0
WINDOW: Final = 24 * HOUR
LIMIT: Final = 600
_A_WHILE: Final = 3.0
"""Time, in seconds, in which a node notices what was due while none ran. A draw waits longer."""

_OPTIONS: Final = WantedOptions(games=(QUICK_GAME,), deal="winnable", limit=LIMIT)


@dataclass(frozen=True)
class Attempt:
    """What a player does in the window: begins at an hour of it, makes moves, and may resign.

    If it ``crashes``, the node dies after the first move. A player who is ``silent`` comes half an hour before, and takes no
    part in the draw if there is one. A player who does not come does not begin.
    """

    hour: float
    moves: int = 3
    resigns: bool = True
    crashes: bool = False
    silent: bool = False
    comes: bool = True


def random_attempt(random: Random) -> Attempt:
    """Return what a player may do after the doors have closed."""
    crashes, silent, comes = (random.random() < each for each in (0.2, 0.2, 0.9))
    return Attempt(random.uniform(7, 23.9), random.randrange(8), random.random() < 0.5, crashes, silent, comes)


@dataclass
class WindowDay:
    """A window and the attempts in it, in their order. ``frames`` has what each player was sent before everything opened."""

    loop: SimulatedLoop
    attempts: Mapping[str, Attempt]
    frames: dict[str, list[bytes | str]] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)
    states: list[RoomState] = field(default_factory=list)
    began: dict[str, int] = field(default_factory=dict)
    record: Record | None = None

    async def pass_by(self) -> None:
        """Let the day pass: each player takes a seat alone, plays alone, and comes back to look at the results."""
        await self._begin()
        self._room = ""
        for hour, name in enumerate(self.attempts):
            await self._at(hour)
            async with self._visit(name) as player:
                if not self._room:
                    self._room = (await player.expect(Created, Create, options=_OPTIONS, window=int(WINDOW))).room
                await player.join(self._room)
        for name, attempt in sorted(self.attempts.items(), key=lambda each: each[1].hour):
            if attempt.silent:
                await self._at(attempt.hour - 0.5)
                async with self._visit(name) as player:
                    await player.join(self._room)
                    await player.state(lambda state: bool(state.drawing) or state.phase == "racing")
            if attempt.comes:
                await self._at(attempt.hour)
                await self._race(name, attempt)
        for name, attempt in self.attempts.items():
            if attempt.comes and name not in self.began:  # others had to draw the deal first
                await self._race(name, attempt)
        if not self.began:
            return
        last = max(attempt.hour for attempt in self.attempts.values())
        await self._at(last + 1 if len(self.began) == len(self.attempts) else WINDOW / HOUR)
        for name in self.attempts:
            async with self._visit(name) as player:
                await player.join(self._room)
                self.states.append(await player.phase("finished"))
                self.record = await kept(player, self._room)

    async def _begin(self) -> None:
        self._redis = SimulatedRedis(self.loop)
        self._opened_at = self.loop.true_time()
        self._nodes = 0
        await self._redis.start()

    async def _enter(self, player: Client) -> float:
        """Go to the race. Return the hour at which to come back if it does not open for long, or 0."""
        await player.join(self._room)
        return 0.0

    async def _race(self, name: str, attempt: Attempt) -> None:
        async with self._visit(name, crashes=attempt.crashes) as player:
            hour = await self._enter(player)
            if not hour:
                await self._play_attempt(name, attempt, player)
        if hour:
            await self._at(hour)
            await self._race(name, attempt)
        elif attempt.crashes and name in self.began:
            async with self._visit(name) as player:
                await self._enter(player)
                await player.dealt()
                assert player.play.moves == 1, "what was acknowledged is there"
                assert (await player.expect(Begun, Begin)).time == self.began[name]

    async def _play_attempt(self, name: str, attempt: Attempt, player: Client) -> None:
        """Play an attempt, after the draw of the deal if others have not drawn it."""
        await asyncio.sleep(_A_WHILE)
        state = player.shown
        assert state is not None
        own = next(seat.seat for seat in state.players if seat.player == player.player)
        if state.phase != "racing" and own not in state.drawing:
            return
        if state.phase != "racing":
            await player.take_part_alone(state.draw)
            await player.phase("racing")
        self.began[name] = (await player.expect(Begun, Begin)).time
        await player.dealt()
        await player.acts(1 if attempt.crashes else attempt.moves)
        if attempt.resigns and not attempt.crashes:
            await player.expect(Done, Resign)

    @asynccontextmanager
    async def _visit(self, name: str, *, crashes: bool = False) -> AsyncIterator[Client]:
        """Let a player come to a node that runs only for this visit. It ends well, or it crashes."""
        self._nodes += 1
        node = await SimulatedNode(self.loop, f"node-{self._nodes}", self._redis.url).started()
        player = await Client.hello("ws://{}:{}".format(*node.target), name, self.sessions.get(name, ""))
        self.sessions[name] = player.session
        yield player
        if crashes and name in self.began:
            node.crash()
        else:
            await player.close()
            assert not await node.drain()
        if not self.states:
            self.frames.setdefault(name, []).extend(player.frames)

    async def _at(self, hour: float) -> None:
        await asyncio.sleep(max(0.0, self._opened_at + hour * HOUR - self.loop.true_time()))


def day(attempts: Mapping[str, Attempt], seed: str = "window") -> WindowDay:
    """Let a day with these attempts pass in a world of its own."""
    with simulated(seed) as loop:
        passed = WindowDay(loop, attempts)
        loop.run_until_complete(loop.world.run(passed.pass_by()))
    return passed


def timeless(value: Any) -> Any:
    """Return a message without times, which networks decide, and without the hashes and numbers that cover them."""
    if isinstance(value, dict):
        varying = ("receipt", "head", "session")
        return {name: timeless(each) for name, each in value.items() if name not in varying}
    if isinstance(value, list | tuple):
        return [timeless(each) for each in value]
    return "a time" if isinstance(value, int) and value > 10**12 else value


def shown(passed: WindowDay, name: str) -> list[Any]:
    """Return what a player was sent before everything opened."""
    return shown_in(passed.frames.get(name, []))


def shown_in(frames: Sequence[bytes | str]) -> list[Any]:
    """Return the messages in frames until everything opened."""
    messages = [decode_to_client(frame) for frame in frames if isinstance(frame, bytes)]
    is_open = (isinstance(message, RoomState) and message.phase == "finished" for message in messages)
    last = next((at for at, opened in enumerate(is_open) if opened), len(messages))
    return [timeless(to_builtins(message)) for message in messages[:last]]


def compared(seed: int) -> list[str]:
    """Let a random day pass twice, in which one player's attempt differs. Return a sentence for each broken promise."""
    random = Random(seed)
    names = ("ana", "ben", "cid", "dan", "eve")[: random.randint(2, 5)]
    attempts = {name: random_attempt(random) for name in names}
    who = random.choice(names)
    other = replace(
        random_attempt(random), hour=attempts[who].hour, silent=attempts[who].silent, comes=attempts[who].comes
    )
    one, twin = day(attempts, str(seed)), day(attempts | {who: other}, str(seed))
    broken = [
        f"{name} was told of {who}'s attempt" for name in names if name != who and shown(one, name) != shown(twin, name)
    ]
    for passed in (one, twin):
        tables = {state.standings for state in passed.states}
        if not passed.began:
            continue
        if len(tables) != 1 or passed.record is None:
            broken.append("there is no one table")
            continue
        (table,) = tables
        passed.record.check()
        for line in table:
            attempt = passed.attempts[line.name]
            made = 1 if attempt.crashes else attempt.moves
            if line.began_at != passed.began.get(line.name, 0) or line.moves + line.undos != made * (line.began_at > 0):
                broken.append(f"{line.name} has another attempt than was acknowledged")
    return broken


if __name__ == "__main__":
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        print(seed, *compared(seed), flush=True)
