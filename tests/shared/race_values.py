"""Races as values, for tests of their rules and of the store."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from samedeal.deal import commitment
from samedeal.options import Options
from samedeal.race.values import Race
from samedeal.terms import description_hash

SEED = bytes(range(32))


def new_race(room: str = "friday", *, created: int = 1_000, **fields: Any) -> Race:
    """A race that has just been opened, with some other fields."""
    race = changed(
        Race(room, Options(), 0, "random", b"", private=False, created=created, changed_at=created), **fields
    )
    race = replace(race, description=race.description or description_hash(race.game))
    return race if race.commitment else replace(race, commitment=commitment(race.terms.digest, SEED))


def changed(race: Race, **fields: Any) -> Race:
    """A race with other fields, also those of its draw and of its result."""
    for name, value in (("draw", race.draw), ("result", race.result)):
        inner = {field: fields.pop(field) for field in value.__struct_fields__ if field in fields}
        fields = {name: replace(value, **inner), **fields}
    return replace(race, **fields)
