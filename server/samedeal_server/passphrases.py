"""The passphrases of private rooms: hashed slowly, compared in constant time, and not to be guessed at any rate."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from typing import Final

from samedeal.errors import Refused
from samedeal_server.clock import Clock
from samedeal_server.limits import WINDOW, Limits, in_words
from samedeal_server.store.redis import Secret, Store

_SCRYPT: Final = {"n": 1 << 13, "r": 8, "p": 1, "dklen": 32}

_AT_ONCE: Final = 2
"""Passphrases that are hashed at once; each keeps a core busy for tens of milliseconds."""

_SALT_BYTES: Final = 16


class Passphrases:
    """What hashes and tries passphrases for one node; tries are counted for all nodes together, in the store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._waiting = 0

    async def lock(self, passphrase: str, limits: Limits) -> tuple[bytes, bytes]:
        """A salt and the hash of a passphrase, which is empty for an empty one. Raises Refused when too many wait."""
        salt = secrets.token_bytes(_SALT_BYTES)
        return salt, await self._hash(passphrase, salt, limits) if passphrase else b""

    async def check(self, room: str, secret: Secret, passphrase: str, network: str, limits: Limits) -> None:
        """Raises Refused unless a passphrase opens a room; who tries too many has to wait, with the right one too."""
        wrong = Refused("bad_passphrase", "This room is private, and that is not its passphrase")
        if not passphrase:
            raise wrong
        window, passed = divmod(self._clock.now() // 1000, WINDOW)
        of_address, of_all = await self._store.count_guess(room, network, window)
        if of_address > limits.guesses_per_address or of_all > limits.guesses_per_room:
            left = WINDOW - passed
            raise Refused(
                "rate_limited",
                f"Too many passphrases were tried at this room: try again in {in_words(left)}",
                retry_after=left,
            )
        if not hmac.compare_digest(await self._hash(passphrase, secret.salt, limits), secret.hash):
            raise wrong
        await self._store.take_back_guess(room, network, window)

    async def _hash(self, passphrase: str, salt: bytes, limits: Limits) -> bytes:
        if self._waiting >= limits.guesses_waiting:
            raise Refused("rate_limited", "Many try passphrases just now: try again in a second", retry_after=1)
        self._waiting += 1
        try:
            async with self._turns:
                return await asyncio.to_thread(hashed, passphrase, salt)
        finally:
            self._waiting -= 1


def hashed(passphrase: str, salt: bytes) -> bytes:
    """The hash of a passphrase; it takes tens of milliseconds, so call it off the event loop."""
    return hashlib.scrypt(passphrase.encode(), salt=salt, **_SCRYPT)
