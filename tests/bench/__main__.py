"""The report of ``make bench``: the goals for the price of a move, and what was measured.

python -m tests.bench [--rounds N] [--seconds S] [--only SCENARIO] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from tests.bench import move_price
from tests.bench.move_price import Price, Scenario, idle_memory, measure
from tests.bench.spectators import spectator_price

SCENARIOS: Final = (
    Scenario("closed loop", 64, 0.0),
    Scenario("human pace", 256, 2.0),
    Scenario("300 racers", 300, 1.0),
    Scenario("1,000 racers", 1000, 1.0),
    Scenario("3,000 racers", 3000, 1.0),
    Scenario("5,000 racers", 5000, 1.0),
)

PROCESSES: Final = (
    *(Scenario(f"{count} process{'es' * (count > 1)}", 800, 1.0, count) for count in (1, 2, 4)),
    *(Scenario(f"{count} split", 800, 1.0, count, split=True) for count in (2, 4)),
    *(Scenario(f"{count} process{'es' * (count > 1)}", 3000, 1.0, count) for count in (1, 2, 4)),
)
"""The same racers on servers of several processes."""

ROOMS: Final = (Scenario("rooms of 4", 64, 0.5), Scenario("a room of 64", 64, 0.5, seats=64))
"""The same racers in small rooms, and all in one room."""

SPECTATORS: Final = 5000
IDLE: Final = 1000
"""Number of connections without a room, whose memory is measured."""


async def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--only", choices=[*(each.name for each in SCENARIOS), "processes", "rooms"])
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"))
    options = parser.parse_args(arguments)
    only, rounds, seconds = options.only, options.rounds, options.seconds
    print(f"CPU of the server for each acked move (medians of {rounds} rounds, and the spread of the ratio)")
    chosen = [scenario for scenario in SCENARIOS if only in (None, scenario.name)]
    prices = [await _printed(measure(scenario, rounds, seconds)) for scenario in chosen]
    print("  Goals: ratios of at most 2, and a p99 of at most 50 ms with 3,000 racers. No request was refused.")
    if only in (None, "processes"):
        prices += await _measure_processes(rounds, seconds)
    if only in (None, "rooms"):
        prices += await _measure_rooms(rounds, seconds)
    found: dict[str, object] = {"prices": [asdict(price) for price in prices]}
    if only is None:
        found |= await _measure_rest(options.seconds)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(found, indent=1))
    print(f"All rounds are in {options.json}")


async def _printed(measuring: Awaitable[Price]) -> Price:
    """Measure a price, and print its row."""
    price = await measuring
    print(move_price.row(price), flush=True)
    return price


async def _measure_processes(rounds: int, seconds: float) -> list[Price]:
    """Measure and print what a move costs on several processes, as a multiple of its cost on one."""
    print(
        "\nServers of several processes: the racers of a room meet on one of them, or, if split, are on any", flush=True
    )
    prices: list[Price] = []
    for scenario in PROCESSES:
        prices.append(await _printed(measure(scenario, rounds, seconds)))
        alone = next(each for each in prices if each.scenario.clients == scenario.clients)
        print(f"{'':15}{prices[-1].cpu / alone.cpu:.2f} times one process", flush=True)
    print("  Goals: with four processes at most 1.3 times one with 800 racers, and 1.2 times with 3,000.")
    return prices


async def _measure_rooms(rounds: int, seconds: float) -> list[Price]:
    """Measure and print what a move costs in a room of 64, as a multiple of its cost in rooms of four."""
    print("\nThe same racers in rooms of four, and in one room of 64", flush=True)
    small, large = prices = [await _printed(measure(scenario, rounds, seconds)) for scenario in ROOMS]
    print(f"  In the room of 64, a move costs {large.cpu / small.cpu:.2f} times as much (goal: at most 2).", flush=True)
    return prices


async def _measure_rest(seconds: float) -> dict[str, object]:
    """Measure and print the other figures. Return them for the JSON file."""
    memory = await idle_memory(IDLE)
    print(f"\nMemory of a connection without a room: {memory:.1f} kB (goal: 20 kB)", flush=True)
    watched = await spectator_price(SPECTATORS, 3 * seconds)
    print(
        f"\n{watched.spectators} spectators of one race see a move {watched.median:.0f} ms after the delay, p99"
        f" {watched.p99:.0f} ms (goal: 250 ms)\n  ack {watched.ack:.1f} ms, without spectators {watched.ack_without:.1f} ms:"
        f" {watched.ack / watched.ack_without:.2f} times (goal: 1.5)",
        flush=True,
    )
    return {"idle_memory_kB": memory, "spectators": asdict(watched)}


if __name__ == "__main__":
    asyncio.run(main())
