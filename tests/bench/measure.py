"""Functions that measure: the time of a call, and the cost of a commit to a real store."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from samedeal.deal import commitment
from samedeal.options import Options
from samedeal_server.races.race import DealSecret, JoinCommand, Race, RaceCommand, StartCommand, apply
from samedeal_server.store.store import RoomSecret, Store
from tests.server.commits import commit_of

ROOMS = 8
PLAYERS = 8
MOVES = 60


def microseconds(work: Callable[[], object], calls: int, tries: int = 5) -> float:
    """Return the mean duration of a call in the fastest of several ``tries``, in microseconds."""
    best = float("inf")
    for _ in range(tries):
        started = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, time.perf_counter() - started)
    return best / calls * 1e6


@dataclass(frozen=True)
class Cost:
    """CPU time and elapsed time of one commit, in microseconds."""

    cpu: float
    wall: float


async def start_race(store: Store, room: str) -> list[tuple[str, int]]:
    """Create a room with a running race. Return its players and their generations."""
    now = await store.now()
    seed = bytes(32)
    race = Race(room, Options(players=PLAYERS, countdown=0), 0, "random", commitment(seed), False, now, now)
    assert await store.create_room(race, RoomSecret(DealSecret(seed), b"", b""))
    players = [f"player{number}" for number in range(PLAYERS)]
    commands: list[RaceCommand] = [*(JoinCommand(player, player, {}) for player in players), StartCommand(players[0])]
    for command in commands:
        snapshot = await store.load(room)
        assert snapshot is not None
        changed, what = apply(snapshot.race, command, snapshot.now)
        assert await store.compare_and_set(snapshot, changed, what, "")
    return [(player, await store.connect_player(room, player)) for player in players]


async def commit_cost(store: Store, name: str) -> Cost:
    """Return the cost of a commit to ``store`` while players of several rooms, whose codes begin with ``name``, move."""
    seats = [(f"{name}{room}", *seat) for room in range(ROOMS) for seat in await start_race(store, f"{name}{room}")]

    async def play(room: str, player: str, generation: int) -> None:
        for revision in range(MOVES):
            verdict = await store.commit(commit_of(player, generation, revision, "3 5", room=room))
            assert verdict.outcome == "ok"

    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(play(*seat) for seat in seats))
    commits = len(seats) * MOVES
    return Cost((time.process_time() - cpu) / commits * 1e6, (time.perf_counter() - wall) / commits * 1e6)
