"""Rooms on each primary of a test cluster, and races in them."""

from __future__ import annotations

from tests.server.live_nodes import Node
from tests.server.persistent_player import PersistentPlayer
from tests.server.races import race

ROOMS = ("monday", "sunday", "friday")
"""Codes of three rooms, one on each of the three primaries, in order."""


async def races(nodes: list[Node]) -> list[PersistentPlayer]:
    """Start a race of two persistent players in each of the rooms."""
    pairs = [await race(*nodes, room=room, games=("athena",), undo="free") for room in ROOMS]
    return [
        PersistentPlayer(client, nodes, seed) for seed, client in enumerate(client for pair in pairs for client in pair)
    ]
