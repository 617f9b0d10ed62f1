"""Token buckets that enforce rate limits, on connections and on networks."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable
from typing import Final

from samedeal.errors import RequestRefused
from samedeal.protocol_codes import RefusalCode
from samedeal_server.config.limits import Limits, Networks

WINDOW: Final = 600
"""Time, in seconds, over which new rooms, new sessions and wrong passphrases are counted."""

MAX_NETWORKS: Final = 20_000
"""Maximum number of networks that have a bucket. The bucket of a further network replaces the least recently used one."""

NETWORK_FACTORS: Final = (1, 4, 16)
"""Factors by which the limit on one address is multiplied for its networks.

The networks of an IPv6 address are its /64, its /56 and its /48. An IPv4 address has only the first factor.
"""

_DELAY_RECOVERY: Final = 0.5
"""Rate, in seconds per second, at which a connection regains its allowance for delays (``Limits.slow_for``)."""

_MIN_RETRY_AFTER: Final = 1.0
"""Minimum time, in seconds, after which a refused client is told to retry."""

BURST: Final = 1.0
"""Time, in seconds, from the first refusal of a burst, in which further ones do not count.

The client may have sent those requests before it read the first refusal. A pause of half this time ends a burst.
"""


class Bucket:
    """A token bucket that gains ``rate`` tokens per second and holds at most ``burst`` tokens.

    Methods get the current time, in seconds, as an argument.
    """

    __slots__ = ("_burst", "_filled_at", "_rate", "_tokens")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._tokens = self._burst
        self._filled_at = now

    def charge(self, now: float, tokens: float = 1) -> float:
        """Take ``tokens`` even if the bucket holds fewer.

        Return the seconds until the bucket is no longer in debt, or 0.
        """
        self._fill(now)
        self._tokens -= tokens
        return -self._tokens / self._rate if self._tokens < 0 else 0.0

    def try_take(self, now: float, tokens: float = 1) -> float:
        """Take ``tokens`` and return 0 if the bucket holds enough.

        Otherwise return the seconds until it holds enough.
        """
        self._fill(now)
        if self._tokens < tokens:
            return (tokens - self._tokens) / self._rate
        self._tokens -= tokens
        return 0.0

    def refund(self, tokens: float) -> None:
        """Put ``tokens`` back into the bucket."""
        self._tokens += tokens

    def _fill(self, now: float) -> None:
        if self._tokens < self._burst and now > self._filled_at:
            tokens = self._tokens + self._rate * (now - self._filled_at)
            self._tokens = min(self._burst, tokens)
        self._filled_at = now


class Pace:
    """The rate limit of one connection. Requests that exceed the rate are delayed.

    They are refused if the connection has already been delayed for too long.
    """

    def __init__(self, limits: Limits, now: float) -> None:
        self._requests_bucket = Bucket(limits.rate, limits.burst, now)
        self._delays = Bucket(_DELAY_RECOVERY, limits.slow_for, now)
        self._refusals = Bucket(limits.refusals / 60, limits.refusals, now)
        self._burst_began = self._refused_at = float("-inf")

    def admit(self, now: float, cost: int) -> float:
        """Charge for a request. Return the seconds by which the request must be delayed.

        Raise RequestRefused if the connection has already been delayed for too long.
        """
        delay = self._requests_bucket.charge(now, cost)
        # While the request is delayed, the allowance for delays recovers a little. Charge that share too.
        if delay and (retry_after := self._delays.try_take(now, delay * (1 + _DELAY_RECOVERY))):
            self._requests_bucket.refund(cost)
            raise rate_limited("Too many requests over this connection.", min(delay, retry_after))
        return delay

    def charge(self, now: float, cost: float) -> None:
        """Charge for additional work that an earlier request has caused. The next requests are delayed accordingly."""
        self._requests_bucket.charge(now, cost)

    def refused(self, now: float) -> bool:
        """Count a burst of requests that were refused because of their rate, or a request after the time of a burst.

        Return whether the connection must now be closed.
        """
        is_first = now - self._refused_at > BURST / 2
        self._refused_at = now
        if is_first:
            self._burst_began = now
        elif now - self._burst_began < BURST:
            return False
        return self._refusals.charge(now) > 0


class NetworkLimit:
    """A rate limit on each network. ``reason`` is what a client is told that exceeds it.

    Only networks that were active recently have a bucket.
    """

    def __init__(self, rate: float, burst: float, reason: str = "") -> None:
        self._rate = rate
        self._burst = burst
        self._reason = reason
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, networks: Networks, now: float, tokens: float = 1) -> None:
        """Take ``tokens`` from the bucket of each network. If not all hold enough, take none, and raise RequestRefused."""
        if len(networks) == 1:  # an IPv4 address
            retry_after = self._bucket(networks[0], NETWORK_FACTORS[0], now).try_take(now, tokens)
        else:
            buckets = self._of(networks, now)
            waits = [bucket.try_take(now, tokens) for bucket in buckets]
            retry_after = max(waits)
            for bucket, wait in zip(buckets, waits, strict=True):
                if retry_after and not wait:
                    bucket.refund(tokens)
        if retry_after:
            raise rate_limited(self._reason, retry_after)

    def charge(self, networks: Networks, now: float, tokens: float = 1) -> float:
        """Take ``tokens`` from the bucket of each network, even if a bucket holds fewer.

        Return the seconds until no bucket is in debt, or 0.
        """
        return max(bucket.charge(now, tokens) for bucket in self._of(networks, now))

    def _of(self, networks: Networks, now: float) -> list[Bucket]:
        return [self._bucket(network, factor, now) for network, factor in zip(networks, NETWORK_FACTORS, strict=False)]

    def _bucket(self, network: str, factor: int, now: float) -> Bucket:
        bucket = self._buckets.get(network)
        if bucket is None:
            bucket = self._buckets[network] = Bucket(factor * self._rate, factor * self._burst, now)
            if len(self._buckets) > MAX_NETWORKS:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(network)
        return bucket


class Quotas:
    """The rate limits on requests, new rooms and new players from one address, and on new players of this node."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.requests = NetworkLimit(limits.address_rate, limits.address_burst, "Too many requests from your address.")
        rooms, sessions = limits.rooms_per_address, limits.sessions_per_address
        self.rooms = NetworkLimit(rooms / WINDOW, rooms, "Too many rooms were opened from your address.")
        self._sessions = NetworkLimit(sessions / WINDOW, sessions, "Too many new players from your address.")
        self._all_sessions = Bucket(limits.sessions / WINDOW, limits.sessions, 0.0)

    def begin_session(self, networks: Networks, now: float) -> None:
        """Charge an address and this node for a new player. Raise RequestRefused if either has too many new players."""
        if retry_after := self._all_sessions.try_take(now):
            raise rate_limited("Too many new players at the moment.", retry_after)
        try:
            self._sessions.take(networks, now)
        except RequestRefused:
            self._all_sessions.refund(1)
            raise


def decrement(counts: Counter[str], networks: Iterable[str]) -> None:
    """Count each of the networks once less, and forget those with nothing left."""
    for network in networks:
        counts[network] -= 1
        if not counts[network]:
            del counts[network]


def rate_limited(reason: str, retry_after: float) -> RequestRefused:
    """Refusal because a rate is exceeded. ``retry_after`` is the time to wait, in seconds, which the sentence repeats."""
    wait = max(_MIN_RETRY_AFTER, round(retry_after, 1))
    return RequestRefused(RefusalCode.RATE_LIMITED, f"{reason} Try again in {_wait_text(wait)}.", retry_after=wait)


def _wait_text(seconds: float) -> str:
    """Return the text for a time, given in seconds, that a player must wait."""
    if seconds <= 1:
        return "a second"
    return f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"
