"""Joint deals drawn by real clients while nodes, Redis and connections fail::

    python -m tests.chaos.draws --seed 7 --races 500

The players of a race leave, answer late or not at all, and are restarted in the middle of a draw. The servers are honest,
so no client may find that one of them lied. Prints how the deals were verified. Stops at the first accusation.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from samedeal.errors import RequestRefused
from samedeal.options import Options
from samedeal.protocol.messages import Notice, RoomState
from samedeal_link.connection.address import ServerAddress
from samedeal_link.connection.client_error_codes import ClientCode
from samedeal_link.connection.dial import CannotConnect
from samedeal_link.connection.link_events import Ended, SeatLost
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.session.race_audit import audit_race
from samedeal_link.session.room_client import RoomClient
from samedeal_server.tasks import cancel_and_wait
from tests.chaos.plan import Fault
from tests.chaos.proxy import Proxy
from tests.chaos.stage import ProcessStage

ROOMS: Final = 6
"""Number of races that are drawn at the same time, on the same two nodes."""

_RETRY_DELAY: Final = 0.2
_TIMEOUT: Final = 60.0
"""Timeout, in seconds, for all races of a round to end.

A failover may take a full room back to the time before its start. If a player has left meanwhile, the room then waits
for another one, who never comes.
"""

_HABITS: Final = ("steady", "steady", "steady", "late", "mute", "leaver", "restarted", "restarted")
_FAULTS: Final = ("kill node", "kill node", "freeze node", "cut", "cut", "reset", "stall", "kill redis")
_LIMITS: Final = ("--limit-address-burst", "5000", "--limit-connections-per-address", "1000")


class _LateLink(Link):
    """A link that answers a draw some seconds late, or not at all if ``latest`` is 0."""

    latest = 0.0
    delays = Random(0)

    async def _take_part_in_draw(self, state: RoomState) -> None:
        if self.latest:
            asyncio.get_running_loop().call_later(self.delays.uniform(0, self.latest), self._answer_late, state)

    def _answer_late(self, state: RoomState) -> None:
        task = asyncio.ensure_future(super()._take_part_in_draw(state))
        task.add_done_callback(lambda done: done.exception())


@dataclass
class Player:
    """A player of one race, with a habit that makes draws fail. ``outcome`` says how the player's race ended."""

    url: str
    name: str
    room: str
    habit: str
    rng: Random
    evidence: Path
    sessions: MemorySessions = field(default_factory=MemorySessions)
    outcome: str = ""
    seen: str = ""
    _ending: asyncio.Task[None] | None = None
    accusations: list[str] = field(default_factory=list)

    async def race(self, opens: Options | None) -> None:
        """Join the room, opening it first with the options ``opens`` if they are given, and race to the end."""
        restarts = 1 if self.habit == "restarted" else 0
        while not self.outcome:
            with suppress(CannotConnect, RequestRefused):
                async with self._link() as link:
                    rooms = RoomClient(link)
                    await self._take_part(rooms, opens, stops=restarts > 0)
                    restarts, opens = restarts - 1, None
                    continue
            await asyncio.sleep(_RETRY_DELAY)

    def _link(self) -> Link:
        kind: type[Link] = Link
        if self.habit in ("late", "mute"):
            kind = type("_Late", (_LateLink,), {"latest": 6.0 * (self.habit == "late"), "delays": self.rng})
        return kind(ServerAddress(self.url), self.name, self.sessions, rng=self.rng, evidence_root=self.evidence)

    async def _take_part(self, rooms: RoomClient, opens: Options | None, *, stops: bool) -> None:
        """Follow the race until it is over for the player, or if ``stops`` is true, until a draw has begun."""
        entering = asyncio.create_task(self._enter(rooms, opens))
        self._ending = None
        try:
            async for event in rooms:
                match event:
                    case Notice(ClientCode.NOT_FAIR, sentence):
                        self.accusations.append(sentence)
                    case SeatLost(code) | Ended(code):
                        self.outcome = self.outcome or f"out: {code}"
                        return
                    case _:
                        pass
                if entering.done() and (error := entering.exception()) is not None:
                    self.outcome = f"out: {getattr(error, 'code', error)}"
                    return
                room = rooms.model.room
                if room is not None:
                    self.seen = (
                        f"{room.phase}, draw {room.draw}, {len(room.players)} players, newest event {event!r:.200}"
                    )
                if room is not None and self._is_done(rooms, room, stops=stops):
                    break
            if not self.outcome and rooms.model.room is not None and rooms.model.room.phase == "finished":
                await self._verify(rooms)
        finally:
            await cancel_and_wait([task for task in (entering, self._ending) if task is not None])

    def _is_done(self, rooms: RoomClient, room: RoomState, *, stops: bool) -> bool:
        """Act on a state of the room. Return whether the player is done with this connection."""
        is_drawn = room.phase == "countdown" and room.draw > 0
        if is_drawn and self.habit == "leaver" and self._ending is None:
            self._ending = asyncio.create_task(self._leave(rooms))
        elif room.phase == "racing" and self._ending is None:
            self._ending = asyncio.create_task(_retried(rooms.resign))
        elif room.phase == "closed":
            self.outcome = "closed"
        stopped = is_drawn and stops and self.rng.random() < 0.5
        return stopped or bool(self.outcome) or room.phase == "finished"

    async def _verify(self, rooms: RoomClient) -> None:
        reading = asyncio.create_task(_read(rooms))
        found = (await audit_race(rooms, lambda _: None)).verdict
        reading.cancel()
        self.outcome = f"{found.kind}: {', '.join(found.rows)}" if found is not None else "nothing"
        if found is not None and found.kind == "wrong":
            self.accusations.append(found.sentence)

    async def _enter(self, rooms: RoomClient, opens: Options | None) -> None:
        if opens is not None:
            with suppress(RequestRefused):
                await rooms.create(opens, self.room)
        while True:
            try:
                return await rooms.join(self.room)
            except RequestRefused as refused:
                if refused.code not in ("no_room", "unavailable", "rate_limited", "draining", "unanswered"):
                    raise
            await asyncio.sleep(_RETRY_DELAY)

    async def _leave(self, rooms: RoomClient) -> None:
        await asyncio.sleep(self.rng.uniform(0, 0.5))
        await _retried(rooms.leave)
        self.outcome = "left"
        await rooms.link.close()


async def _read(rooms: RoomClient) -> None:
    async for _ in rooms:
        pass


async def _retried(request: Any) -> None:
    while True:
        with suppress(RequestRefused):
            await request()
            return
        await asyncio.sleep(_RETRY_DELAY)


class Round(ProcessStage):
    """Some races at the same time, with faults during their draws."""

    def __init__(self, rng: Random, number: int, scratch: Path) -> None:
        super().__init__(scratch, *_LIMITS, fails_over=rng.random() < 0.3)
        self._rng = rng
        self._number = number
        self.players: list[Player] = []
        self.faults: Counter[str] = Counter()

    async def play(self) -> None:
        """Play the round, and end all its processes."""
        async with self.running(2) as proxy:
            races = [self._race(f"ws://127.0.0.1:{proxy.port}", number) for number in range(ROOMS)]
            faults = asyncio.create_task(self._break_things(proxy))
            await self._end(races)
            await cancel_and_wait([faults])

    async def _end(self, races: Iterable[Coroutine[Any, Any, None]]) -> None:
        """Wait until all races have ended. Report the players whose races have not."""
        tasks = [asyncio.create_task(race) for race in races]
        _, late = await asyncio.wait(tasks, timeout=_TIMEOUT)
        await cancel_and_wait(late)
        await asyncio.gather(*tasks, return_exceptions=bool(late))
        for player in self.players:
            if not player.outcome:
                player.outcome = "late"
                print(f"{player.name} ({player.habit}) did not end in {player.room}: {player.seen}", flush=True)

    async def _race(self, url: str, number: int) -> None:
        seats = self._rng.randint(2, 4)
        countdown = self._rng.randint(0, 3)
        games = ("ace-of-hearts",)
        options = Options(games, deal="winnable", players=seats, countdown=countdown, limit=60, start="full")
        room = f"room-{self._number}-{number}"
        players = [
            Player(
                url,
                f"p{number}-{seat}",
                room,
                "steady" if seat == 0 else self._rng.choice(_HABITS),
                Random(self._rng.random()),
                self._scratch / f"evidence-{number}-{seat}",
            )
            for seat in range(seats)
        ]
        self.players += players
        await asyncio.gather(*(each.race(options if at == 0 else None) for at, each in enumerate(players)))

    async def _break_things(self, proxy: Proxy) -> None:
        rng = self._rng
        kinds = ["fail over"] * self.fails_over + rng.choices(_FAULTS, k=rng.randint(3, 8))
        rng.shuffle(kinds)
        for kind in kinds:
            if kind != "kill redis" or not self.fails_over:
                await asyncio.sleep(rng.uniform(0.05, 0.6))
                self.faults[kind] += 1
                await self.inject(Fault(0, kind, rng.randrange(1 << 30), rng.uniform(0.1, 2), 0.4), proxy)


async def draw(seed: int, races: int, first: int = 1) -> int:
    """Play rounds until so many races were drawn. Return the number of accusations."""
    verdicts: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    number, drawn, began = first, 0, time.monotonic()
    while drawn < races:
        with tempfile.TemporaryDirectory(prefix="draws-", ignore_cleanup_errors=True) as scratch:
            one = Round(Random(f"draws {seed}/{number}"), number, Path(scratch))
            await one.play()
        drawn += ROOMS
        verdicts.update(player.outcome for player in one.players)
        faults += one.faults
        accusations = [
            f"{player.name} ({player.habit}): {text}" for player in one.players for text in player.accusations
        ]
        print(f"round {number}, {drawn} races, {time.monotonic() - began:.0f} s: {dict(verdicts)}", flush=True)
        if accusations:
            print(f"ACCUSED in round {number} of seed {seed}, failover {one.fails_over}:", *accusations, sep="\n  ")
            return len(accusations)
        number += 1
    print(f"{drawn} races, nobody accused; {dict(faults)}")
    return 0


def main() -> int:
    command = argparse.ArgumentParser(prog="python -m tests.chaos.draws", description=__doc__.partition("\n")[0])
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--races", type=int, default=60)
    command.add_argument("--from", type=int, default=1, dest="first", metavar="ROUND")
    given = command.parse_args()
    return 1 if asyncio.run(draw(given.seed, given.races, given.first)) else 0


if __name__ == "__main__":
    sys.exit(main())
