"""A window of a day: friends who are never there at the same time race one deal, on nodes that come and go."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from samedeal.options import WantedOptions
from samedeal.protocol.messages import Begin, Begun, Create, Created, Done, Resign, RoomState
from samedeal.record import Record
from tests.server.client import Client
from tests.server.races import kept
from tests.simulation.loop import SimulatedLoop
from tests.simulation.node import SimulatedNode
from tests.simulation.redis_server import SimulatedRedis

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

HOUR: Final = 3_600.0
WINDOW: Final = 24 * HOUR
LIMIT: Final = 600
_OPTIONS: Final = WantedOptions(games=("ace-of-hearts",), deal="winnable", limit=LIMIT)


@dataclass(frozen=True)
class Attempt:
    """What a player does in the window: begins at an hour of it, makes moves, and may resign.

    Nothing is heard of who ``crashes`` until the next visit: the node dies after the first move.
    """

    hour: float
    moves: int = 3
    resigns: bool = True
    crashes: bool = False


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
        self._redis = SimulatedRedis(self.loop)
        self._opened_at = self.loop.true_time()
        self._nodes = 0
        await self._redis.start()
        self._room = ""
        for hour, name in enumerate(self.attempts):
            await self._at(hour)
            async with self._visit(name) as player:
                if not self._room:
                    self._room = (await player.expect(Created, Create, options=_OPTIONS, window=int(WINDOW))).room
                await player.join(self._room)
        for name, attempt in sorted(self.attempts.items(), key=lambda each: each[1].hour):
            await self._at(attempt.hour)
            await self._race(name, attempt)
        await self._at(max(attempt.hour for attempt in self.attempts.values()) + 1)
        for name in self.attempts:
            async with self._visit(name) as player:
                await player.join(self._room)
                self.states.append(await player.phase("finished"))
                self.record = await kept(player, self._room)

    async def _race(self, name: str, attempt: Attempt) -> None:
        async with self._visit(name, crashes=attempt.crashes) as player:
            await player.join(self._room)
            state = await player.state()
            if state.phase != "racing":
                state = state if state.drawing else await player.state(lambda state: bool(state.drawing))
                await player.take_part_alone(state.draw)
                await player.phase("racing")
            self.began[name] = (await player.expect(Begun, Begin)).time
            await player.dealt()
            await player.acts(1 if attempt.crashes else attempt.moves)
            if attempt.resigns and not attempt.crashes:
                await player.expect(Done, Resign)
        if attempt.crashes:
            async with self._visit(name) as player:
                await player.join(self._room)
                await player.dealt()
                assert player.play.moves == 1, "what was acknowledged is there"
                assert (await player.expect(Begun, Begin)).time == self.began[name]

    @asynccontextmanager
    async def _visit(self, name: str, *, crashes: bool = False) -> AsyncIterator[Client]:
        """Let a player come to a node that runs only for this visit. It ends well, or it crashes."""
        self._nodes += 1
        node = await SimulatedNode(self.loop, f"node-{self._nodes}", self._redis.url).started()
        player = await Client.hello("ws://{}:{}".format(*node.target), name, self.sessions.get(name, ""))
        self.sessions[name] = player.session
        yield player
        if crashes:
            node.crash()
        else:
            await player.close()
            assert not await node.drain()
        if not self.states:
            self.frames.setdefault(name, []).extend(player.frames)

    async def _at(self, hour: float) -> None:
        await asyncio.sleep(max(0.0, self._opened_at + hour * HOUR - self.loop.true_time()))
