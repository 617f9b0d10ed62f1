"""The players' connections to this node, in one object that several modules share."""

from __future__ import annotations

from samedeal_server.rooms.player_connection import PlayerConnection


class OpenConnections(set[PlayerConnection]):
    """The players' open connections to this node. ``draining`` is True once the node accepts no new connections."""

    def __init__(self) -> None:
        super().__init__()
        self.draining = False
