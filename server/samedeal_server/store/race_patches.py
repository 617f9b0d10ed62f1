"""The difference between two states of a race, which is much smaller than the race."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from samedeal.race.values import Race


class RacePatch(Struct, frozen=True, array_like=True):
    """The fields of a race that differ after a change. A value is None if the field has its default again.

    ``racers`` has the number of each seat that is taken after the change, and the changed fields of its racer.
    """

    fields: dict[str, Any]
    racers: tuple[tuple[int, dict[str, Any]], ...]

    @classmethod
    def between(cls, before: Race, after: Race) -> RacePatch:
        """Return the patch that turns ``before`` into ``after``."""
        old, old_racers = _split(before)
        new, new_racers = _split(after)
        return cls(
            _changed(old, new),
            tuple((seat, _changed(old_racers.get(seat, {}), racer)) for seat, racer in new_racers.items()),
        )

    def apply(self, before: Race) -> Race:
        """Return the race after the change. Raise ValueError if the patch does not fit the race ``before``."""
        old, old_racers = _split(before)
        racers = [_merged(old_racers.get(seat, {}), racer) for seat, racer in self.racers]
        return msgspec.convert({**_merged(old, self.fields), "racers": racers}, Race, builtin_types=(bytes,))


def _split(race: Race) -> tuple[dict[str, Any], dict[int, dict[str, Any]]]:
    """Return the fields of a race without its racers, and the fields of each racer by seat."""
    fields = msgspec.to_builtins(race, builtin_types=(bytes,))
    return fields, {racer["seat"]: racer for racer in fields.pop("racers", ())}


def _changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    names = {**before, **after}
    return {name: after.get(name) for name in names if before.get(name) != after.get(name)}


def _merged(before: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**before, **patch}.items() if value is not None}
