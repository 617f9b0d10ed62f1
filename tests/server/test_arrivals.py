"""How often people who press *Race now* meet, by arithmetic alone.

Without anybody who goes from bots to a person, races of two people are rarer on the grid than with the former wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Final

import pytest

from samedeal_server.rooms.race_now import PERIOD, SHORTEST_WAIT

FORMER_WAIT: Final = 40.0
"""Time, in seconds, that the first player of a race used to wait."""

LATEST: Final = SHORTEST_WAIT / 2000
REACTION: Final = 3.0
"""Time, in seconds, that somebody takes who is told of another player."""

RACE: Final = (120.0, 600.0)
"""Minimum and maximum time, in seconds, that somebody races bots."""


def former_start(pressed: float) -> float:
    return pressed + FORMER_WAIT


def grid_start(pressed: float) -> float:
    return -(-(1000 * pressed + SHORTEST_WAIT) // PERIOD) * PERIOD / 1000


def races_of_people(opened: Callable[[float], float], rate: float, accepted: float = 0.0, presses: int = 5_000) -> int:
    """Return how many races begin with two people or more. They press ``rate`` times a minute.

    ``opened`` returns the start of a race that is opened for a press. Who races only bots goes to somebody who has pressed
    with the probability ``accepted``.
    """
    rng = Random(f"{rate}")
    people: Counter[float] = Counter()
    alone: dict[float, float] = {}
    pressed = last = 0.0
    for _ in range(presses):
        pressed += rng.expovariate(rate / 60)
        if last - pressed < LATEST:
            if people[last] == 1:
                alone[last] = last + rng.uniform(*RACE)
            last = opened(pressed)
        people[last] += 1
        for race, ends in [*alone.items()]:
            goes = ends > pressed and last - pressed >= REACTION + LATEST and rng.random() < accepted
            people[last] += goes
            if goes or ends <= pressed:
                del alone[race]
    return sum(count > 1 for count in people.values())


@pytest.mark.parametrize("rate", [0.2, 0.5, 1, 2, 5])
def test_races_of_people_are_no_rarer_if_a_tenth_go_to_somebody(rate: float) -> None:
    assert races_of_people(grid_start, rate, 1 / 10) >= races_of_people(former_start, rate)
