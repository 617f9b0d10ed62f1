"""A seat to which the player can return."""

from __future__ import annotations

from typing import NamedTuple


class KeptSeat(NamedTuple):
    """A seat in an unfinished race: the URL of the server, the player's name, and the room."""

    url: str
    name: str
    room: str

    @property
    def arguments(self) -> list[str]:
        """The arguments of ``samedeal`` that lead back to the seat."""
        return ["join", self.url, self.room, "--name", self.name]
