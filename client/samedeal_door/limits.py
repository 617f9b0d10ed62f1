"""The limits of a door. If it has several workers, they apply to each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Final

RATE_TIME: Final = 60.0
"""Time, in seconds, in which an address may connect ``rate`` times."""

_MOST_ADDRESSES: Final = 10_000
"""Maximum number of addresses whose connections are counted."""


def _limit(default: int, meaning: str) -> int:
    """Return the field of a limit, with what its option says."""
    limit: int = field(default=default, metadata={"meaning": meaning})
    return limit


@dataclass(frozen=True)
class DoorLimits:
    """The limits, with times in seconds."""

    sessions: int = _limit(200, "sessions in this process")
    per_address: int = _limit(20, "sessions from one address")
    per_key: int = _limit(5, "sessions with one key")
    logins: int = _limit(200, "connections that have not logged in")
    logins_per_address: int = _limit(20, "connections from one address that have not logged in")
    login_time: int = _limit(30, "seconds until a connection has logged in")
    rate: int = _limit(60, "connections from one address in a minute")
    offered_keys: int = _limit(10, "keys that a connection offers")
    idle: int = _limit(3600, "seconds without a key press until a session ends")
    kept_keys: int = _limit(100_000, "keys whose seats and history are kept")


def network_of(address: str) -> str:
    """Return the network that counts as one address: the /64 of an IPv6 address, whose user can choose the rest."""
    return str(ip_network((address, 64), strict=False)) if ":" in address else address


class Rates:
    """The number of connections of each address in the current minute."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._since = 0.0
        self._counts: Counter[str] = Counter()

    def allows(self, address: str, now: float) -> bool:
        """Count a connection at the time ``now``, in seconds. Return whether the address may connect."""
        if now - self._since >= RATE_TIME or len(self._counts) >= _MOST_ADDRESSES:
            self._since = now
            self._counts.clear()
        self._counts[address] += 1
        return self._counts[address] <= self._rate


def session_refusal(limits: DoorLimits, players: Sequence[tuple[str, str]], network: str, identity: str) -> str:
    """Return why a session can't begin, or an empty string.

    ``players`` has the network and the identity of the player of each open session. A guest has no identity.
    """
    if len(players) >= limits.sessions:
        return "This door is full. Try again later."
    if sum(player[0] == network for player in players) >= limits.per_address:
        return "Too many people play from your address. Try again later."
    if identity and sum(player[1] == identity for player in players) >= limits.per_key:
        return "You play with this key in too many windows. Close one of them."
    return ""
