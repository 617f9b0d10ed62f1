"""Races as values, for tests of their rules and of the store."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from samedeal.deal import commitment
from samedeal.options import Options
from samedeal_server.races.race import Race

SEED = bytes(range(32))


def new_race(room: str = "friday", *, created: int = 1_000, **fields: Any) -> Race:
    """A race that has just been opened, with some other fields."""
    race = Race(*(room, Options(), 0, "random", commitment(SEED)), private=False, created=created, changed_at=created)
    return replace(race, **fields)
