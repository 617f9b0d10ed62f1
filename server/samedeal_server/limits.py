"""What one client may ask for, and how much a node holds."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from samedeal.errors import Refused
from samedeal_server.settings import setting

WINDOW: Final = 600
"""Seconds over which what an address may do seldom is counted."""

_MOST_ADDRESSES: Final = 20_000
"""Addresses whose buckets are kept; those that asked least recently begin anew."""

_PARDON: Final = 0.5
"""Seconds of being read more slowly that a connection is forgiven in a second."""

_SOONEST: Final = 1.0
"""Seconds that who asks too much waits at the least."""


@dataclass(frozen=True)
class Limits:
    """Bounds of a node, but for ``rooms`` and ``guesses...``, which bound all nodes together.

    What requests cost is counted in moves: a move costs 1 of ``rate`` and ``burst``, of a connection and of its address.
    """

    connections: int = setting(10_000, "connections of this node", metavar="N", least=1)
    connections_per_address: int = setting(200, "connections from one address", metavar="N", least=1)
    handshakes: int = setting(1_000, "connections that have not said yet what they want", metavar="N", least=1)
    handshake_timeout: float = setting(
        10.0, "seconds in which a connection has to say what it wants", metavar="SECONDS", least=0.1
    )
    rooms: int = setting(10_000, "rooms of all nodes together", metavar="N", least=1)
    rooms_per_address: int = setting(60, "rooms opened from one address in 10 minutes", metavar="N", least=1)
    spectators_per_room: int = setting(2_000, "spectators of a room through this node", metavar="N", least=0)
    rate: float = setting(40.0, "moves that a connection may make in a second", metavar="N", least=0.1)
    burst: int = setting(120, "moves that a connection may make at once", metavar="N", least=20)
    slow_for: float = setting(
        10.0, "seconds that a connection which asks too much is read more slowly", metavar="SECONDS", least=0
    )
    refusals: int = setting(60, "times a minute that a connection may ask too much", metavar="N", least=1)
    address_rate: float = setting(1_000.0, "moves from one address in a second", metavar="N", least=1)
    address_burst: int = setting(10_000, "moves from one address at once", metavar="N", least=100)
    sessions: int = setting(20_000, "new players in 10 minutes", metavar="N", least=1)
    sessions_per_address: int = setting(300, "new players from one address in 10 minutes", metavar="N", least=1)
    guesses_per_address: int = setting(
        20, "passphrases tried from one address at a room in 10 minutes", metavar="N", least=1
    )
    guesses_per_room: int = setting(200, "passphrases tried at a room in 10 minutes", metavar="N", least=1)
    guesses_waiting: int = setting(64, "passphrases that wait to be looked at", metavar="N", least=1)
    bad_frames: int = setting(
        20, "frames that can't be read which a connection may send in a minute", metavar="N", least=0
    )
    control_frames: int = setting(
        600, "WebSocket pings, pongs and parts of messages of a connection in a minute", metavar="N", least=60
    )
    hello_timeout: float = setting(10.0, "seconds in which a client has to say who it is", metavar="SECONDS", least=0.1)
    backlog: int = setting(512, "frames that wait for a client before it is cut", metavar="N", least=16)
    late_backlog: int = setting(
        64, "frames that wait for a spectator before it skips to the newest boards", metavar="N", least=1
    )
    actions_per_race: int = setting(10_000, "moves of a player in a race", metavar="N", least=1)


class Bucket:
    """A token bucket: ``rate`` tokens a second, ``burst`` at the most; time is an argument."""

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = float(burst)
        self._then = now

    def take(self, now: float, tokens: float = 1) -> float:
        """Take tokens, lent ones too; returns the seconds until those are paid back, 0 when there were enough."""
        self._fill(now)
        self._tokens -= tokens
        return max(0.0, -self._tokens / self._rate)

    def spend(self, now: float, tokens: float = 1) -> float:
        """Take tokens if there are enough; returns the seconds until there are, 0 when they were taken."""
        self._fill(now)
        missing = tokens - self._tokens
        if missing <= 0:
            self._tokens -= tokens
        return max(0.0, missing / self._rate)

    def give(self, tokens: float) -> None:
        """Take back that tokens were taken."""
        self._tokens += tokens

    def _fill(self, now: float) -> None:
        self._tokens = min(self._burst, self._tokens + self._rate * max(0.0, now - self._then))
        self._then = now


class Pace:
    """How fast one connection may ask: at once up to its burst, then more slowly, and after a while of that not at all."""

    def __init__(self, limits: Limits, now: float) -> None:
        self._asked = Bucket(limits.rate, limits.burst, now)
        self._slowed = Bucket(_PARDON, limits.slow_for, now)
        self._refused = Bucket(limits.refusals / 60, limits.refusals, now)

    def ask(self, now: float, cost: int) -> float:
        """Seconds to wait before a request is looked at. Raises Refused when too much has been asked for too long."""
        wait = self._asked.take(now, cost)
        if wait and (again := self._slowed.spend(now, wait)):
            self._asked.give(cost)
            raise _too_much("Too much is asked over this connection", min(wait, again))
        return wait

    def charge(self, now: float, cost: float) -> None:
        """Take what a request that is done has cost beside, lending what there isn't: those after it come later."""
        self._asked.take(now, cost)

    def refused(self, now: float) -> bool:
        """Note that a request was refused for its being too much; whether that is no mistake any more, but a flood."""
        return self._refused.take(now) > 0


class Quotas:
    """What may be asked from one address, over all of its connections to this node, and how many players may begin here."""

    def __init__(self, limits: Limits) -> None:
        self._all_sessions = Bucket(limits.sessions / WINDOW, limits.sessions, 0.0)
        self._requests = _Buckets(limits.address_rate, limits.address_burst)
        self._rooms = _Buckets(limits.rooms_per_address / WINDOW, limits.rooms_per_address)
        self._sessions = _Buckets(limits.sessions_per_address / WINDOW, limits.sessions_per_address)

    def ask(self, network: str, now: float, cost: int) -> None:
        """Take what a request costs. Raises Refused."""
        if again := self._requests.spend(network, now, cost):
            raise _too_much("Too much is asked from your address", again)

    def charge(self, network: str, now: float, cost: float) -> None:
        """Take what a request that is done has cost beside, lending what there isn't."""
        self._requests.take(network, now, cost)

    def open_room(self, network: str, now: float, cost: int = 1) -> None:
        """Take of the rooms that may be opened. Raises Refused."""
        if again := self._rooms.spend(network, now, cost):
            raise _too_much("Too many rooms were opened from your address", again)

    def begin_session(self, network: str, now: float) -> None:
        """Take one of the sessions that may begin. Raises Refused."""
        if again := self._sessions.spend(network, now):
            raise _too_much("Too many new players come from your address", again)
        if again := self._all_sessions.spend(now):
            raise _too_much("Too many new players come just now", again)


class _Buckets:
    """A bucket for each address that asked of late, all of the same size."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def spend(self, network: str, now: float, tokens: float = 1) -> float:
        """As ``Bucket.spend``, from the bucket of an address."""
        return self._bucket(network, now).spend(now, tokens)

    def take(self, network: str, now: float, tokens: float) -> None:
        """As ``Bucket.take``, from the bucket of an address."""
        self._bucket(network, now).take(now, tokens)

    def _bucket(self, network: str, now: float) -> Bucket:
        bucket = self._buckets.pop(network, None) or Bucket(self._rate, self._burst, now)
        self._buckets[network] = bucket
        if len(self._buckets) > _MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return bucket


def _too_much(what: str, again: float) -> Refused:
    wait = max(_SOONEST, round(again, 1))
    return Refused("rate_limited", f"{what}: try again in {in_words(wait)}", retry_after=wait)


def in_words(seconds: float) -> str:
    """A time to wait, as a sentence says it."""
    if seconds <= 1:
        return "a second"
    return f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"
