"""Races as values, for tests of their rules and of the store."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from samedeal.deal import commitment
from samedeal.options import Options
from samedeal.terms import description_hash
from samedeal_server.races.race import Race

SEED = bytes(range(32))


def new_race(room: str = "friday", *, created: int = 1_000, **fields: Any) -> Race:
    """A race that has just been opened, with some other fields."""
    race = Race(room, Options(), 0, "random", b"", private=False, created=created, changed_at=created)
    race = replace(race, **fields)
    race = replace(race, description=race.description or description_hash(race.game))
    return race if race.commitment else replace(race, commitment=commitment(race.terms.digest, SEED))
