"""What a commit costs a node: travelling with the others of its turn of the event loop, against each on its own."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import pytest

from samedeal.deal import commitment
from samedeal.options import Options
from samedeal_server.race import Begin, Command, Race, Sit, after
from samedeal_server.store import commits
from samedeal_server.store.commits import Commit
from samedeal_server.store.connect import connect
from samedeal_server.store.redis import Secret, Store

ROOMS = 8
PLAYERS = 8
MOVES = 60
ROUNDS = 3


@dataclass(frozen=True)
class Cost:
    """Microseconds of this process's CPU, and of waiting, for one commit."""

    cpu: float
    wall: float


async def racing(store: Store, room: str) -> list[tuple[str, int]]:
    """Open a room in which a race runs; returns its players and their generations."""
    now = await store.now()
    seed = bytes(32)
    race = Race(room, Options(players=PLAYERS, countdown=0), 0, "random", commitment(seed), False, now, now)
    assert await store.open(race, Secret(seed, b"", b""))
    players = [f"player{number}" for number in range(PLAYERS)]
    commands: list[Command] = [*(Sit(player, player, {}) for player in players), Begin(players[0])]
    for command in commands:
        snapshot = await store.load(room)
        assert snapshot is not None
        changed, what = after(snapshot.race, command, snapshot.now)
        assert await store.settle(snapshot, changed, what, "")
    return [(player, await store.attach(room, player)) for player in players]


async def cost(store: Store, name: str) -> Cost:
    seats = [(f"{name}{room}", *seat) for room in range(ROOMS) for seat in await racing(store, f"{name}{room}")]

    async def play(room: str, player: str, generation: int) -> None:
        for revision in range(MOVES):
            verdict = await store.commit(
                Commit(room, player, generation, revision, revision, "3 5", b"", 0, revision, 0, False, False, False)
            )
            assert verdict.outcome == "ok"

    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(play(*seat) for seat in seats))
    number = len(seats) * MOVES
    return Cost((time.process_time() - cpu) / number * 1e6, (time.perf_counter() - wall) / number * 1e6)


async def test_commits_travel_together(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with connect(redis_url) as redis:
        store = Store(redis)
        together, alone = [], []
        for number in range(ROUNDS):
            together.append(await cost(store, f"together{number}"))
            with monkeypatch.context() as patch:
                patch.setattr(commits, "LARGEST_BATCH", 1)
                alone.append(await cost(store, f"alone{number}"))
    print(f"\n{ROOMS * PLAYERS} players at once, microseconds a commit (median of {ROUNDS})")
    middle = ROUNDS // 2
    for label, costs in (("together", together), ("alone", alone)):
        cpu, wall = (sorted(getattr(each, kind) for each in costs)[middle] for kind in ("cpu", "wall"))
        print(f"  {label:9} {cpu:7.1f} CPU of the node {wall:7.1f} passing")
    ratio = sorted(one.cpu / other.cpu for one, other in zip(together, alone, strict=True))[middle]
    print(f"  together costs {ratio:.2f} of the CPU of alone")
