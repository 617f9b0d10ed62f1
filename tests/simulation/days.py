"""Days of a server: the deal of the day and a tide at each midnight, sessions that expire, and records that age."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from redis.asyncio import Redis

from samedeal.deal import Deal
from samedeal.protocol.messages import Created, Done, Hello, ListRecords, ListRooms, RaceNow, Records, Resign, Rooms
from samedeal_server.store import keys
from samedeal_server.store.sessions import SESSION_LIFETIME
from tests.chaos.rounds import node_options
from tests.server.client import Client
from tests.server.races import draw, kept, raced
from tests.simulation.loop import SimulatedLoop
from tests.simulation.node import SimulatedNode
from tests.simulation.redis_server import SimulatedRedis

FIRST_DAY: Final = datetime(2028, 2, 25, tzinfo=UTC)
"""The beginning of a week with a leap day."""

_DAYS: Final = 7
RECORD_DAYS: Final = 3
_RACES_A_DAY: Final = 3
_LONGEST_LIFETIME: Final = timedelta(seconds=SESSION_LIFETIME, days=1)
"""Time after which Redis has forgotten everybody who did not come back."""


class Week:
    """A week of a server that rests between its evenings. ``sizes`` are numbers of keys."""

    def __init__(self, loop: SimulatedLoop, scratch: Path) -> None:
        self.sizes: list[int] = []
        self._loop = loop
        self._options = (*node_options(scratch), "--tides", "00:00 willow", "--limit-record-days", str(RECORD_DAYS))
        self._redis = SimulatedRedis(loop)
        self._nodes: list[SimulatedNode] = []
        self._started = 0

    async def pass_by(self) -> None:
        """Let the week pass, and then two months without anybody. Raise AssertionError if the server breaks a promise."""
        await self._redis.start()
        session = bobs = guests = player = ""
        for day in range(1, _DAYS + 1):
            midnight = FIRST_DAY + timedelta(days=day)
            await self._sleep_until(midnight - timedelta(minutes=4))
            url = await self._open()
            ana, bob = await Client.hello(url, "ana", session), await Client.hello(url, "bob", bobs)
            assert player in ("", ana.player)
            session, bobs, player = ana.session, bob.session, ana.player
            if guests:
                await _is_forgotten(url, guests)
            guest = await Client.hello(url, "guest")  # who takes no seat
            guests = guest.session
            await guest.close()
            await self._evening(midnight, ana, bob)
            async with Redis.from_url(self._redis.url) as redis:
                self.sizes.append(await redis.dbsize())
            await self._rest()
        await self._sleep_until(FIRST_DAY + _LONGEST_LIFETIME + timedelta(days=_DAYS))
        url = await self._open()
        await _is_forgotten(url, session)
        stranger = await Client.hello(url)
        assert (await stranger.expect(Records, ListRecords)).records == ()
        assert (await stranger.expect(Rooms, ListRooms)).rooms == ()
        await stranger.close()
        await asyncio.sleep(120)
        await self._rest()
        await asyncio.sleep(2 * 86_400)
        async with Redis.from_url(self._redis.url, decode_responses=True) as redis:
            left = {str(key) for key in await redis.keys()}
        assert left == {keys.SCHEMAS, keys.RECEIPT_KEY, keys.NEWS, keys.RECORDS}

    async def _evening(self, midnight: datetime, *players: Client) -> None:
        """Let players race the deal of the day, come to the tide at midnight, and race the deal of the next day."""
        for number, date in enumerate((midnight - timedelta(days=1), midnight)):
            if number:
                await self._tide(midnight, *players)
            room = await players[0].create(games=("willow",), deal="daily")
            state = await raced(room, *players, moves=3)
            assert state.deal == f"daily {date:%Y-%m-%d}"
            assert (await kept(players[0], room)).deal == Deal.parse(state.deal)
        kept_now = len((await players[0].expect(Records, ListRecords)).records)
        evenings = min((midnight - FIRST_DAY).days, RECORD_DAYS)
        assert evenings * _RACES_A_DAY <= kept_now <= (evenings + 1) * _RACES_A_DAY
        for player in players:
            await player.close()

    async def _tide(self, midnight: datetime, *players: Client) -> None:
        start = int(1000 * midnight.timestamp())
        rooms = [(await player.expect(Created, RaceNow, game="willow", tide=start)).room for player in players]
        assert len({*rooms}) == 1
        for player in players:
            player.inbox.clear()
            await player.join(rooms[0])
        await self._sleep_until(midnight - timedelta(seconds=9))
        await draw(*players)
        assert abs(1000 * self._loop.true_time() - start) < 2_000
        for player in players:
            await player.acts(2)
        for player in players:
            await player.expect(Done, Resign)
        await kept(players[0], rooms[0])

    async def _sleep_until(self, when: datetime) -> None:
        await asyncio.sleep(max(0.0, when.timestamp() - self._loop.true_time()))

    async def _open(self) -> str:
        for _ in range(2):
            self._started += 1
            node = SimulatedNode(self._loop, f"node-{self._started}", self._redis.url, *self._options)
            self._nodes.append(await node.started())
        return "ws://{}:{}".format(*self._nodes[0].target)

    async def _rest(self) -> None:
        assert [problem for node in self._nodes if (problem := await node.drain())] == []
        self._nodes.clear()


async def _is_forgotten(url: str, session: str) -> None:
    """Assert that a session has expired."""
    client = await Client.connect(url)
    await client.refused("no_session", Hello, name="ana", session=session)
    await client.close()
