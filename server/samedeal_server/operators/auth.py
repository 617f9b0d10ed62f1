"""The authentication of operators and moderators, each with one shared token.

A wrong token delays the next attempts from the same network.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from samedeal.sentences import refused
from samedeal_server.config.token_buckets import NetworkLimit, decrement

WRONG_TOKEN_DELAY: Final = 1.0
"""Delay, in seconds, before a wrong token is answered."""

WRONG_TOKENS_AT_ONCE: Final = 5
"""Number of wrong tokens that a network can send before its further tokens must wait."""

WRONG_TOKENS_PER_SECOND: Final = 0.2
"""Number of tokens per second that are compared for a network that must wait."""

MAX_WAIT: Final = 10.0
"""Maximum time, in seconds, for which a token waits to be compared.

A token that would wait longer is refused at once.
"""

MAX_UNAUTHENTICATED: Final = 8
"""Maximum number of unauthenticated connections from one network."""


OPERATOR: Final = "operator"
MODERATOR: Final = "moderator"
"""The roles of those who log in."""


@dataclass(frozen=True, slots=True)
class Access:
    """What a token with this ``digest`` allows: ``requests`` for a ``role``."""

    role: str
    digest: bytes
    requests: frozenset[str]


class TokenAuthenticator:
    """Checks the tokens of operators. A wrong token delays the next attempts from the same network.

    ``accesses`` are what the tokens allow. They can change, and then connections with older tokens may do nothing more.
    """

    def __init__(self, accesses: Sequence[Access]) -> None:
        self.accesses = accesses
        # A network waits while its bucket is below 0. The bucket starts at one less than WRONG_TOKENS_AT_ONCE, so that
        # number of wrong tokens brings it to -1.
        self._wrong_tokens = NetworkLimit(WRONG_TOKENS_PER_SECOND, WRONG_TOKENS_AT_ONCE - 1)
        self._unauthenticated: Counter[str] = Counter()

    def try_acquire(self, network: str) -> bool:
        """Count an unauthenticated connection.

        Return False if the network already has the maximum number of such connections.
        """
        if self._unauthenticated[network] >= MAX_UNAUTHENTICATED:
            return False
        self._unauthenticated[network] += 1
        return True

    def release(self, network: str) -> None:
        """Stop counting an unauthenticated connection, because it has authenticated or ended."""
        decrement(self._unauthenticated, (network,))

    async def authenticate(self, network: str, token: str) -> Access | None:
        """Return what a token allows, or None if it is wrong. The answer to a wrong token is delayed.

        After several wrong tokens from ``network``, every answer to ``network`` is delayed. Raise RequestRefused if
        that delay would be too long.
        """
        while wait := self._wrong_tokens.charge((network,), time.monotonic(), 0):
            if wait > MAX_WAIT:
                raise refused("too_many_tries", retry_after=wait)
            await asyncio.sleep(wait)
        hashed = digest(token)
        for access in self.accesses:
            if hmac.compare_digest(hashed, access.digest):
                return access
        self._wrong_tokens.charge((network,), time.monotonic())
        await asyncio.sleep(WRONG_TOKEN_DELAY)
        return None


def digest(token: str) -> bytes:
    """Hash a token.

    All digests have the same length. Comparing digests therefore does not reveal the length of the token.
    """
    return hashlib.sha256(token.encode()).digest()
