"""A standing series of a month: friends who are never there together race each window, on nodes that run only for them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final

from msgspec.structs import replace as with_fields

from samedeal.options import LONGEST_SERIES, WantedOptions
from samedeal.protocol.messages import Create, Created, RaceNow, ReadRecord, RecordPart, RoomState
from samedeal.race.values import SHORTEST_DOORS
from samedeal.record import Record
from samedeal.series import table_of
from tests.server.client import Client
from tests.server.races import QUICK_GAME
from tests.simulation.windows import HOUR, LIMIT, Attempt, WindowDay, shown_in
from tests.simulation.world import simulated

DAY: Final = 24 * HOUR
FIRST: Final = 6 * HOUR
"""Time, in seconds, until the first window opens."""

_NOTICED: Final = 6.0
"""Time, in seconds, in which a node notices that a race is over whose window closed while none ran."""

_PATIENCE: Final = 60.0
"""Time, in seconds, for which players wait for a window to open, and do not come back later."""

Attempts = Mapping[str, Attempt]


@dataclass(frozen=True)
class Plan:
    """When the windows of a series open, in seconds from its creation, how long they are, and what the players do in them.

    The hours of attempts count from when a window opens.
    """

    opens: Sequence[float]
    window: int
    races: Sequence[Attempts]

    def ends(self, number: int) -> float:
        """Return when the window of a race closes."""
        return min(
            [
                self.opens[number] + self.window,
                *(at - SHORTEST_DOORS / 1000 for at in self.opens[number + 1 : number + 2]),
            ]
        )


def random_plan(random: Random) -> Plan:
    """Return a series of days or weeks, in which summer time begins or ends. All come to its last race."""
    period, races = random.choice(((DAY, random.randint(5, LONGEST_SERIES)), (7 * DAY, random.randint(2, 5))))
    window = random.choice((6, 12, 24) if period == DAY else (36, 48, 72))
    changed, by = random.randrange(1, races), random.choice((-HOUR, 0, HOUR))
    opens = [FIRST + each * period + (by if each >= changed else 0) for each in range(races)]
    names = ("ana", "ben", "cid", "dan")[: random.randint(2, 4)]
    plan = Plan(opens, int(window * HOUR), ())
    last = races - 1
    attempts = [
        {
            name: random_attempt(random, (plan.ends(number) - opens[number]) / HOUR, comes=number == last)
            for name in names
        }
        for number in range(races)
    ]
    return replace(plan, races=attempts)


def random_attempt(random: Random, hours: float, *, comes: bool) -> Attempt:
    """Return what a player may do in a window of so many hours."""
    hour, comes = random.uniform(0, hours - 0.5), comes or random.random() < 0.75
    return Attempt(hour, random.randrange(6), random.random() < 0.5, random.random() < 0.1, comes=comes)


@dataclass
class Month(WindowDay):
    """A standing series. ``told`` has what each player was sent in each race before everything opened.

    ``all_began`` is when the players began in each race, as the server told them. ``seen`` are the states in which players
    found the series, each with the number of the race in whose window that was.
    """

    plan: Plan = Plan((), 0, ())
    told: list[dict[str, list[bytes | str]]] = field(default_factory=list)
    all_began: list[dict[str, int]] = field(default_factory=list)
    seen: list[tuple[int, RoomState]] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)
    opens: tuple[int, ...] = ()

    async def pass_by(self) -> None:
        """Let all races pass, and look at the table."""
        await self._begin()
        self.opens = tuple(round(1000 * (self._opened_at + each)) for each in self.plan.opens)
        options = WantedOptions(games=(QUICK_GAME,), deal="winnable", limit=LIMIT, series=len(self.opens))
        self._number, self._room = -1, ""
        for hour, name in enumerate(self.attempts):
            await self._at(hour)
            async with self._visit(name) as player:
                given: dict[str, Any] = {"options": options, "window": self.plan.window, "opens": self.opens}
                self._room = self._room or (await player.expect(Created, Create, **given)).room
                await player.join(self._room)
        for number, attempts in enumerate(self.plan.races):
            self._number, self.began, self.frames = number, {}, {}
            if self.plan.window > DAY:  # no room outlives eight days without a node
                await self._at(self.plan.opens[number] / HOUR)
                async with self._visit(next(iter(attempts))):
                    await asyncio.sleep(_NOTICED)
            for name, attempt in sorted(attempts.items(), key=lambda each: each[1].hour):
                if attempt.comes:
                    await self._at(self.plan.opens[number] / HOUR + attempt.hour)
                    await self._race(name, attempt)
            self.told.append(self.frames)
            self.all_began.append(self.began)
        latest = max(attempt.hour for attempt in self.plan.races[-1].values())
        await self._at(self.plan.opens[-1] / HOUR + latest + 1)  # all have begun, so everything is open
        for name in self.attempts:
            async with self._visit(name) as player:
                await self._enter(player)
                shown = player.shown
                is_over = shown is not None and shown.phase == "finished"
                self.states.append(shown if shown and is_over else await player.phase("finished"))
                await self._read_records(player)

    async def _enter(self, player: Client) -> float:
        """Find the race of the series. A node opens its window late if none ran before, which the player waits for."""
        found, before = await player.expect(Created, RaceNow, series=self._room), ""
        while found.room != before:
            await asyncio.sleep(_NOTICED)
            before, found = found.room, await player.expect(Created, RaceNow, series=self._room)
        await player.join(found.room)
        state = await player.state(lambda state: state.room == found.room)
        self.seen.append((self._number, state))
        opens_in = state.doors_close_at / 1000 - self.loop.true_time() if state.phase == "open" else 0.0
        if opens_in > _PATIENCE:
            return (state.doors_close_at / 1000 - self._opened_at) / HOUR
        if state.phase == "open":
            await asyncio.sleep(max(0.0, opens_in))
            await player.state(lambda state: state.room == found.room and state.phase != "open")
        return 0.0

    async def _read_records(self, player: Client) -> None:
        """Read the records of all races. One whose deal nobody has drawn has none."""
        last = self.states[-1]
        for room in (*last.rooms_before, last.room):
            part = await player.ask(ReadRecord, race=room)
            if isinstance(part, RecordPart):
                self.records[room] = Record.read(part.text)


def month(plan: Plan, seed: str = "month") -> Month:
    """Let a series pass in a world of its own."""
    with simulated(seed) as loop:
        passed = Month(loop, plan.races[0], plan=plan)
        loop.run_until_complete(loop.world.run(passed.pass_by()))
    return passed


def broken(passed: Month) -> list[str]:
    """Return a sentence for each promise that a series has broken."""
    plan, opens = passed.plan, passed.opens
    found = []
    for number, state in passed.seen:
        expected = min(number, len(opens) - 1)
        if state.opens != opens[state.round :] or len(state.rooms_before) != state.round:
            found.append(f"race {state.round} has other times or rooms")
        elif state.round != expected and not (state.round == expected + 1 and state.phase == "open"):
            found.append(f"in window {number}, the series led to race {state.round}")
        elif state.ends - opens[state.round] != round(1000 * (plan.ends(state.round) - plan.opens[state.round])):
            found.append(f"race {state.round} closes at another time")
        elif [(each.name, each.seat) for each in state.players][: state.round and 99] != [
            (name, at) for at, name in enumerate(passed.attempts, 1)
        ][: state.round and 99]:
            found.append(f"race {state.round} has other seats")
        if state.phase != "finished" and sum(bool(began) for began in passed.all_began[: state.round]) < max(
            (line.races for line in state.table), default=0
        ):
            found.append(f"the table of race {state.round} was told early")
    tables = {state.table for state in passed.states}
    if len(tables) != 1:
        return [*found, "there is no one table"]
    (table,) = tables
    records = [passed.records[room] for room in passed.records]
    if [with_fields(line, player="") for line in table_of(records)] != [with_fields(line, player="") for line in table]:
        found.append("the table does not follow from the records")
    if len(records) != sum(bool(began) for began in passed.all_began):
        found.append("a race is lost")
    raced = [number for number, began in enumerate(passed.all_began) if began]
    for number, record in zip(raced, records, strict=False):
        record.check()
        for line in record.players:
            attempt, began = plan.races[number][line.name], passed.all_began[number].get(line.name, 0)
            made = (1 if attempt.crashes else attempt.moves) if began else 0
            if (line.began_at, len(line.actions)) != (began, made):
                found.append(f"in race {number}, {line.name} has another attempt than was acknowledged")
    return found


def compared(seed: int) -> list[str]:
    """Let a random series pass twice, in which an attempt differs. Return a sentence for each broken promise."""
    random = Random(seed)
    plan = random_plan(random)
    number = random.randrange(len(plan.races))
    who = random.choice(sorted(plan.races[number]))
    was = plan.races[number][who]
    other = replace(random_attempt(random, 1, comes=True), hour=was.hour, comes=was.comes)
    races = [attempts if at != number else {**attempts, who: other} for at, attempts in enumerate(plan.races)]
    one, twin = month(plan, str(seed)), month(replace(plan, races=races), str(seed))
    told = [
        f"in race {at}, {name} was told of {who}'s attempt in race {number}"
        for at in range(number + 1)
        for name in plan.races[0]
        if (at, name) != (number, who) and shown_in(one.told[at].get(name, [])) != shown_in(twin.told[at].get(name, []))
    ]
    return [*broken(one), *broken(twin), *told]


if __name__ == "__main__":
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        print(seed, *compared(seed), flush=True)
