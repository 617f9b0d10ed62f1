"""The open connections of players to one node, shared by everything that broadcasts to them or counts them."""

from __future__ import annotations

from samedeal_server.rooms.player_connection import PlayerConnection


class OpenConnections(set[PlayerConnection]):
    """A set of connections. ``draining`` is True once the node accepts no more of them."""

    def __init__(self) -> None:
        super().__init__()
        self.draining = False
