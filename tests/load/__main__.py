"""What a node bears: tables of what connections cost it, and of what the load of some does to others.

    python -m tests.load [SCENARIO ...]

Latencies are compared with those of the same racers before the load and after it, on whatever else this machine is doing.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from samedeal.board import Board
from samedeal.deal import shuffled
from samedeal.games import GAMES
from samedeal.play import UNDO, Play, Undo
from samedeal.protocol.messages import Acked, Act, Refused
from samedeal_server.descriptors import RESERVED
from tests.chaos.plan import deploy_plan
from tests.chaos.rounds import known_ways, play_round
from tests.load.stage import Stage, Usage, acks, gone, race, stage
from tests.server.client import Client

SECONDS: Final = 8.0
PACE: Final = 0.1
PROCESSES: Final = 4
AWAY: Final = 12.0
DEPLOY: Final[dict[str, Any]] = {"rooms": 8, "players": 6, "every": 6.0}


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table."""
    lines = [head, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    print(f"\n{title}")
    for line in lines:
        print(
            "  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip(), flush=True
        )


def millis(took: Sequence[float], share: float) -> float:
    """A quantile in milliseconds."""
    return 1000 * took[min(len(took) - 1, int(share * len(took)))]


async def compared(
    what: str,
    racers: list[Client],
    node_pid: int,
    load: Callable[[], Awaitable[int]],
    unload: Callable[[], Awaitable[None]],
) -> list[object]:
    """A row: what a load costs the node for each of it, and what it does to the acks of racers."""
    before = await acks(racers, SECONDS, PACE, 1)
    empty = Usage.of(node_pid)
    count = await load()
    full = Usage.of(node_pid)
    began = time.monotonic()
    during = await acks(racers, SECONDS, PACE, 2)
    share = (Usage.of(node_pid).cpu - full.cpu) / (time.monotonic() - began)
    late = Usage.of(node_pid)
    await unload()
    after = await acks(racers, SECONDS, PACE, 3)
    calm = sorted(before + after)
    return [
        what,
        count,
        f"{(full.memory - empty.memory) / max(1, count) / 1024:.1f}",
        f"{(late.memory - empty.memory) / max(1, count) / 1024:.1f}",
        f"{100 * share:.0f} %",
        f"{millis(calm, 0.5):.1f} {millis(calm, 0.95):.1f}",
        f"{millis(during, 0.5):.1f} {millis(during, 0.95):.1f}",
        f"{millis(during, 0.5) / millis(calm, 0.5):.2f} {millis(during, 0.95) / millis(calm, 0.95):.2f}",
    ]


HEAD: Final = ("load", "count", "KiB each", "KiB after", "node CPU", "ack ms p50 p95", "under load", "ratio")


async def crowd(there: Stage, what: str, count: int, *, watching: bool = False, ear: str = "") -> list[object]:
    """A row about many connections that do little."""
    node = await there.node()
    racers = await race(node, "racer", delay=0)
    came: list[asyncio.subprocess.Process] = []

    async def load() -> int:
        for _ in range(PROCESSES):
            room = racers[0].room if watching else ""
            came.append(await there.crowd(node, count // PROCESSES, room, ear))
        return count

    async def unload() -> None:
        for each in came:
            await gone(each)

    row = await compared(what, racers, node.pid, load, unload)
    await node.kill()
    return row


async def crowds(there: Stage) -> None:
    """Idle connections, spectators, and spectators who read slowly or nothing."""
    rows = [
        await crowd(there, "idle", 3000),
        await crowd(there, "spectators of one race", 1000, watching=True),
        await crowd(there, "spectators who read slowly", 1000, watching=True, ear="slow"),
        await crowd(there, "spectators who read nothing", 1000, watching=True, ear="deaf"),
    ]
    table("What is there and does little", HEAD, rows)


async def rooms(there: Stage) -> None:
    """Many rooms with a racer each, and racers who read nothing."""
    node = await there.node()
    racers = await race(node, "racer")
    alone: list[Client] = []

    async def open_rooms() -> int:
        for number in range(300):
            alone.extend(await race(node, f"alone-{number}", 1))
        return len(alone)

    async def close_rooms() -> None:
        for client in alone:
            await client.cut()

    rows = [await compared("rooms with a racer each", racers, node.pid, open_rooms, close_rooms)]
    await node.kill()
    node = await there.node()
    seated = await race(node, "seated", 16)

    async def stop_reading() -> int:
        for client in seated[4:]:
            client.socket.transport.pause_reading()
        return 12

    async def read_again() -> None:
        for client in seated[4:]:
            client.socket.transport.resume_reading()

    rows.append(await compared("racers who read nothing", seated[:4], node.pid, stop_reading, read_again))
    table("Rooms and racers", HEAD, rows)


async def files(there: Stage) -> None:
    """A node that is out of file descriptors."""
    node = await there.node(files=RESERVED + 64)
    racers = await race(node, "racer")
    calm = await acks(racers, SECONDS, PACE, 1)
    silent = [await asyncio.open_connection(*node.target) for _ in range(1000)]
    before, began = Usage.of(node.pid), time.monotonic()
    crowded = await acks(racers, SECONDS, PACE, 2)
    after = Usage.of(node.pid)
    for _, writer in silent:
        writer.transport.abort()
    row = [
        RESERVED + 64,
        after.files,
        f"{100 * (after.cpu - before.cpu) / (time.monotonic() - began):.0f} %",
        f"{millis(calm, 0.5):.1f} {millis(calm, 0.95):.1f}",
        f"{millis(crowded, 0.5):.1f} {millis(crowded, 0.95):.1f}",
    ]
    head = ("may be open", "are open", "node CPU", "ack ms p50 p95", "with 1000 silent connections")
    table("A node out of file descriptors", head, [row])


async def away(there: Stage) -> None:
    """Redis stopped, and killed, for some seconds while racers go on sending."""
    rows = []
    for how in ("stopped", "killed"):
        node = await there.node()
        racers = await race(node, "racer", 8)
        calm = await acks(racers, 3, PACE, 1)
        before = Usage.of(node.pid)
        done = asyncio.Event()
        sending = asyncio.gather(*(insist(racer, done) for racer in racers))
        if how == "stopped":
            there.redis.freeze()
        else:
            await there.redis.kill()
        gone_at = time.monotonic()
        most = before.memory
        while time.monotonic() < gone_at + AWAY:
            await asyncio.sleep(0.5)
            most = max(most, Usage.of(node.pid).memory)
        if how == "stopped":
            there.redis.thaw()
        else:
            await there.redis.start()
        back_at = time.monotonic()
        done.set()
        asked = await sending
        again = time.monotonic() - back_at
        later = await acks(racers, 3, PACE, 2)
        rows.append(
            [
                f"{how} for {AWAY:.0f} s",
                sum(asked),
                f"{(most - before.memory) / 1024:.0f}",
                f"{(Usage.of(node.pid).memory - before.memory) / 1024:.0f}",
                f"{again:.2f}",
                f"{millis(calm, 0.5):.1f} {millis(later, 0.5):.1f}",
            ]
        )
        await node.kill()
    head = (
        "Redis",
        "refused",
        "KiB more, most",
        "KiB more, after",
        "s until all move again",
        "ack ms p50 before, after",
    )
    table("Redis away", head, rows)


async def insist(racer: Client, until: asyncio.Event) -> int:
    """Make move after move, each again with its id as long as it is unavailable, until one counts; how often in vain."""
    refused = 0
    while racer.play is not None:
        action = str(racer.play.board.legal_moves()[0])
        number = await racer.send(Act, revision=racer.play.revision, action=action)
        while not isinstance(answer := await racer.answer(number), Acked):
            assert isinstance(answer, Refused)
            assert answer.code == "unavailable", answer
            refused += 1
            await racer.send(Act, id=number, revision=racer.play.revision, action=action)
        racer.apply(action, answer)
        if until.is_set():
            break
    return refused


async def deploy(_: Stage) -> None:
    """All nodes replaced one after another, while dozens of bots race."""
    plan = deploy_plan(int(time.time()), {game: str(way.deal) for game, way in known_ways().items()}, **DEPLOY)
    outcome = await play_round(plan)
    back = sorted(outcome.away)
    head = ("racers", "nodes", "acked", "broken promises", "times back", "s, median", "p95", "longest")
    row = [
        outcome.racers,
        plan.nodes,
        outcome.acked,
        len(outcome.violations),
        len(back),
        *(f"{back[min(len(back) - 1, int(share * len(back)))]:.2f}" for share in (0.5, 0.95, 1.0)),
    ]
    table("All nodes replaced one by one", head, [row])
    for violation in outcome.violations:
        print(f"  BROKEN {violation}")


def replay(_: Stage) -> Awaitable[None]:
    """The longest log there may be."""
    game = GAMES["athena"]
    rows = []
    for count in (1_000, 10_000):
        play = Play(Board.deal(game, shuffled(bytes(32), game.decks)), Undo.FREE)
        began = time.process_time()
        for number in range(count):
            play = play.act(UNDO if number % 5 == 4 else "draw")
        took = time.process_time() - began
        rows.append([count, f"{1000 * took:.0f}", f"{1e6 * took / count:.1f}"])
    table("A log played again", ("actions", "ms", "us each"), rows)
    return asyncio.sleep(0)


SCENARIOS: Final[dict[str, Callable[[Stage], Awaitable[None]]]] = {
    "crowds": crowds,
    "rooms": rooms,
    "files": files,
    "away": away,
    "deploy": deploy,
    "replay": replay,
}


async def run(names: Sequence[str]) -> None:
    """Run scenarios, each on a stage of its own."""
    for name in names or SCENARIOS:
        async with stage() as there:
            await SCENARIOS[name](there)


def main() -> int:
    """Run what is named, or everything."""
    command = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__.partition("\n")[0])
    command.add_argument(
        "scenarios", nargs="*", metavar="SCENARIO", choices=[*SCENARIOS, []], help=", ".join(SCENARIOS)
    )
    asyncio.run(run(command.parse_args().scenarios))
    return 0


if __name__ == "__main__":
    sys.exit(main())
