"""The limits of a node."""

from __future__ import annotations

from dataclasses import dataclass

from samedeal_server.config.setting_sources import setting


@dataclass(frozen=True)
class Limits:
    """The limits of a node. A limit that applies to all nodes together says so in its description.

    Rates are in moves per second, and every request counts as one or more moves. An IPv6 address counts as its /64
    network. Limits on one address also apply to its /56 and /48 networks, multiplied by ``NETWORK_FACTORS``. For
    passphrases, an IPv6 address counts as its /48 network instead.
    """

    connections: int = setting(10_000, "connections to this node", minimum=1)
    connections_per_address: int = setting(200, "connections from one address to this node", minimum=1)
    handshakes: int = setting(1_000, "connections to this node that have not completed the handshake", minimum=1)
    rooms: int = setting(10_000, "rooms on all nodes together", minimum=1)
    rooms_per_address: int = setting(60, "rooms created from one address through this node in 10 minutes", minimum=1)
    spectators_per_room: int = setting(2_000, "spectators of a room on this node", minimum=0)
    rate: float = setting(40.0, "moves per second from one connection", minimum=0.1)
    burst: int = setting(120, "moves in a burst from one connection", minimum=20)
    address_rate: float = setting(1_000.0, "moves per second from one address to this node", minimum=1)
    address_burst: int = setting(10_000, "moves in a burst from one address to this node", minimum=100)
    sessions: int = setting(20_000, "new players on this node in 10 minutes", minimum=1)
    sessions_per_address: int = setting(300, "new players from one address on this node in 10 minutes", minimum=1)
    guesses_per_address: int = setting(
        20, "wrong passphrases of a room from one address in 10 minutes, on all nodes together", minimum=1
    )
    guesses_per_room: int = setting(200, "wrong passphrases of a room in 10 minutes, on all nodes together", minimum=1)
    listeners: int = setting(1_000, "programs that listen to the news of public races on this node", minimum=0)
    records: int = setting(1_000, "records of finished races kept, by all nodes together", minimum=0)
    record_days: int = setting(30, "days for which the record of a race is kept", minimum=1)
    actions_per_race: int = setting(10_000, "moves of a player in a race", minimum=1)

    # These are no settings: no operator has a reason to change them.
    handshake_timeout: float = 10.0
    """Timeout, in seconds, for the handshake."""
    slow_for: float = 10.0
    """Total delay, in seconds, of a connection that exceeds its rate, before its requests are refused."""
    refusals: int = 60
    """Rate-limited requests in a minute before a connection is closed."""
    guesses_waiting: int = 64
    """Passphrases that wait to be checked on this node."""
    guesses_waiting_per_address: int = 16
    """Passphrases from one address that wait to be checked on this node."""
    bad_frames: int = 20
    """Malformed frames from a connection in a minute."""
    control_frames: int = 600
    """WebSocket pings, pongs and fragments from a connection in a minute."""
    hello_timeout: float = 10.0
    """Timeout, in seconds, for the first message of a client."""
    backlog: int = 512
    """Frames queued for a client before it is disconnected."""
    late_backlog: int = 64
    """Frames queued for a spectator before it skips to the newest boards."""


Networks = tuple[str, ...]
"""The networks that contain an address, the smallest first, in the order of ``NETWORK_FACTORS``."""


@dataclass(eq=False)
class LiveLimits:
    """The limits that currently apply on a node.

    All parts of the node share this object. Open connections keep their rates and the sizes of their queues.
    """

    current: Limits
