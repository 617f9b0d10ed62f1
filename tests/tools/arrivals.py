"""How often people who press *Race now* meet: ``python -m tests.tools.arrivals`` prints it for several rates of presses.

A race is met if two people or more start it. People press independently of one another, and are away again once their race
is over. Who races only bots is told when somebody else presses, and goes there with a certain probability.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from samedeal_server.rooms.race_now import PERIOD, SHORTEST_WAIT

RATES: Final = (0.2, 0.5, 1.0, 2.0, 5.0)
"""Presses a minute."""

ACCEPTED: Final = (0.0, 0.25, 0.5, 1.0)
"""Probabilities that somebody who races only bots goes to somebody who has pressed."""

FORMER_WAIT: Final = 40.0
"""Time, in seconds, that the first player of a race used to wait."""

_LATEST: Final = SHORTEST_WAIT / 2000
_REACTION: Final = 3.0
"""Time, in seconds, that somebody takes who is told of another player."""

_RACE: Final = (120.0, 600.0)
"""Minimum and maximum time, in seconds, that somebody races bots."""

Start = Callable[[float, float], float]
"""Returns the start of the race for a press, from the time of the press and the last start that was given."""


def former_start(pressed: float, last: float) -> float:
    """Return the start in a room that waits for a fixed time after it was opened."""
    return last if last - pressed >= _LATEST else pressed + FORMER_WAIT


def grid_start(pressed: float, last: float) -> float:
    """Return the start in a room on the grid of the server."""
    if last - pressed >= _LATEST:
        return last
    return -(-(1000 * pressed + SHORTEST_WAIT) // PERIOD) * PERIOD / 1000


def met(start: Start, rate: float, accepted: float = 0.0, presses: int = 20_000) -> tuple[float, float]:
    """Return the races an hour that two people or more start, and the share of presses that lead to such a race."""
    rng = Random(f"{rate}")
    times = list(_times(rng, rate, presses))
    rooms: dict[float, int] = {}
    alone: list[tuple[float, float, float]] = []
    last = 0.0
    for pressed in times:
        if start(pressed, last) != last:
            if rooms.get(last) == 1:
                alone.append((last, last + rng.uniform(*_RACE), last))
            last = start(pressed, last)
        rooms[last] = rooms.get(last, 0) + 1
        alone = [each for each in alone if each[1] > pressed]
        for each in [*alone]:
            if last - pressed >= _REACTION + _LATEST and rng.random() < accepted:
                alone.remove(each)
                rooms[last] += 1
                rooms[each[2]] = 0
    together = [people for people in rooms.values() if people > 1]
    return 3600 * len(together) / times[-1], sum(together) / presses


def _times(rng: Random, rate: float, presses: int) -> Iterator[float]:
    time = 0.0
    for _ in range(presses):
        time += rng.expovariate(rate / 60)
        yield time


def main() -> None:
    rules = [("former", former_start, 0.0), *((f"grid, {each:.0%} go", grid_start, each) for each in ACCEPTED)]
    for rate in RATES:
        for name, start, accepted in rules:
            races, share = met(start, rate, accepted)
            print(f"{rate} a minute, {name}: {races:.1f} races an hour, {share:.0%} of the presses")


if __name__ == "__main__":
    main()
