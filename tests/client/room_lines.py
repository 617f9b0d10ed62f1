"""Rooms as a server lists them."""

from __future__ import annotations

from typing import Any

from samedeal.protocol.messages import Phase, RoomLine


def line(room: str, seats: str = "1/4", phase: Phase = "open", **more: Any) -> RoomLine:
    """A listed room. ``seats`` is written as on the screen: taken/all."""
    players, _, of = seats.partition("/")
    given: dict[str, Any] = {"game": "willow", "deal": "random", "spectators": True, **more}
    return RoomLine(room=room, phase=phase, players=int(players), seats=int(of), **given)
