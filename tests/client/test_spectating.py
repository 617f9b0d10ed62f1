"""The spectator's choices as a value. ``tests/golden/answers/races.txt`` has their keys."""

from __future__ import annotations

from samedeal_link.records.spectating import Spectating, Watched

RACE = Watched(("p2", "p3", "p1"), {"p1", "p3"}, {"p1": "1", "p2": "2", "p3": "4"}, pages=2)


def test_state_is_limited_to_what_is_there() -> None:
    assert Spectating("p2", page=5).limited_to(RACE) == Spectating(page=1)
    assert Spectating("p1").limited_to(RACE) == Spectating("p1")
