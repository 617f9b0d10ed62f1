"""How an operator is let in: with the token that the server was given, and guesses cost time."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Final

from samedeal.errors import Refused
from samedeal_server.config import Config
from samedeal_server.errors import StartupError
from samedeal_server.limits import Bucket

SHORTEST_TOKEN: Final = 16
"""Characters."""

_WRONG_TAKES: Final = 1.0
"""Seconds until a wrong token is answered."""

_GUESSES: Final = 5
_GUESSES_A_SECOND: Final = 0.2
_LONGEST_WAIT: Final = 10.0
_GUESSERS: Final = 4096
"""Networks of addresses of which it is remembered that they guessed."""

_AT_ONCE: Final = 8
"""Connections from one network that have not shown the token."""


def token_of(config: Config) -> str:
    """The operator's token, empty where there is none. Raises StartupError ``bad_admin_token``."""
    token = config.admin_token
    if config.admin_token_file:
        if token:
            raise StartupError("bad_admin_token", "There are two operator's tokens: give --admin-token-file alone")
        try:
            token = Path(config.admin_token_file).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
            sentence = f"The operator's token can't be read from {config.admin_token_file}: {why}"
            raise StartupError("bad_admin_token", sentence) from None
    if (token or config.admin_token_file) and len(token) < SHORTEST_TOKEN:
        raise StartupError(
            "bad_admin_token",
            f"The operator's token has {len(token)} characters: make it {SHORTEST_TOKEN} or more, "
            "as openssl rand -hex 24 does",
        )
    return token


class Denied(Refused):
    """A request that an operator may not make, or that can't be done; the codes are listed in ADMIN.md."""


class Gate:
    """Who may come in: guesses cost time, those from one network of addresses together."""

    def __init__(self, token: str) -> None:
        self._token = _digest(token)
        self._guessers: OrderedDict[str, Bucket] = OrderedDict()
        self._strangers: Counter[str] = Counter()

    def come(self, network: str) -> bool:
        """Count a connection that has not shown the token; False when there are too many from there."""
        if self._strangers[network] >= _AT_ONCE:
            return False
        self._strangers[network] += 1
        return True

    def known(self, network: str) -> None:
        """Count it no more: it has shown the token, or has gone."""
        self._strangers[network] -= 1
        if not self._strangers[network]:
            del self._strangers[network]

    async def open(self, network: str, token: str) -> bool:
        """Whether a token is the right one. Raises Denied for a network from which too many have been tried."""
        bucket = self._guessers.get(network)
        while bucket is not None and (wait := bucket.take(time.monotonic(), 0)):
            if wait > _LONGEST_WAIT:
                raise Denied("too_many_tries", "Too many wrong tokens came from your address: wait", wait)
            await asyncio.sleep(wait)
        if hmac.compare_digest(_digest(token), self._token):
            return True
        bucket = self._guessers.setdefault(network, Bucket(_GUESSES_A_SECOND, _GUESSES, time.monotonic()))
        bucket.take(time.monotonic())
        self._guessers.move_to_end(network)
        if len(self._guessers) > _GUESSERS:
            self._guessers.popitem(last=False)
        await asyncio.sleep(_WRONG_TAKES)
        return False


def _digest(token: str) -> bytes:
    """Of one length whatever the token, so that comparing tells nothing of it."""
    return hashlib.sha256(token.encode()).digest()
