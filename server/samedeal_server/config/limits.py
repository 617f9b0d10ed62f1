"""The limits of a node."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of a node. ``settings.toml`` says what each limits, on this node or on all together.

    Rates are in moves per second, and every request counts as one or more moves. An IPv6 address counts as its /64
    network. Limits on one address also apply to its /56 and /48 networks, multiplied by ``NETWORK_FACTORS``. For
    passphrases, an IPv6 address counts as its /48 network instead.
    """

    connections: int = 10_000
    connections_per_address: int = 200
    handshakes: int = 1_000
    rooms: int = 10_000
    rooms_per_address: int = 60
    spectators_per_room: int = 2_000
    rate: float = 40.0
    burst: int = 120
    address_rate: float = 1_000.0
    address_burst: int = 10_000
    sessions: int = 20_000
    sessions_per_address: int = 300
    guesses_per_address: int = 20
    guesses_per_room: int = 200
    listeners: int = 1_000
    records: int = 1_000
    record_days: int = 30
    actions_per_race: int = 10_000
    windows: int = 2_000
    windows_per_address: int = 20

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
