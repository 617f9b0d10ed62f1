"""Passphrases of private rooms. They are hashed slowly and compared in constant time, and guesses are limited."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from samedeal.sentences import refused
from samedeal.terminal_text import normalized
from samedeal_server.config.limits import Limits
from samedeal_server.config.token_buckets import WINDOW, decrement, rate_limited
from samedeal_server.store.clock import StoreClock
from samedeal_server.store.store import RoomSecret, Store
from samedeal_server.tasks import uninterrupted

_SCRYPT: Final = {"n": 1 << 13, "r": 8, "p": 1, "dklen": 32}

_CONCURRENT: Final = 2
"""Maximum number of passphrases that are hashed at the same time. Each keeps a core busy for tens of milliseconds.

A caller that is cancelled waits until its thread ends, so that no more threads run at once.
"""

_SALT_BYTES: Final = 16


class Passphrases:
    """Hashes and checks passphrases on this node. Redis counts the guesses of all nodes together."""

    def __init__(self, store: Store, clock: StoreClock) -> None:
        self._store = store
        self._clock = clock
        self._slots = asyncio.Semaphore(_CONCURRENT)
        self._waiting_by_network = Counter[str]()

    @property
    def waiting(self) -> int:
        """The number of passphrases that are being hashed or wait to be hashed."""
        return self._waiting_by_network.total()

    async def lock(self, passphrase: str, network: str, limits: Limits) -> tuple[bytes, bytes]:
        """Return a new salt and the hash of a passphrase. The hash of an empty passphrase is empty.

        Raise RequestRefused if too many passphrases wait to be hashed. Raise MalformedText if ``passphrase`` consists
        of spaces.
        """
        salt = secrets.token_bytes(_SALT_BYTES)
        if not passphrase:
            return salt, b""
        if not normalized(passphrase):
            raise refused("blank_passphrase")
        async with self._hashing_turn(network, limits):
            return salt, await uninterrupted(asyncio.to_thread(hashed, passphrase, salt))

    async def check(self, room: str, secret: RoomSecret, passphrase: str, network: str, limits: Limits) -> None:
        """Raise RequestRefused if a passphrase is wrong, or if it cannot be checked now.

        It cannot be checked if too many wrong passphrases were tried for the room, or if too many wait to be hashed. A
        guess is counted before it is compared. If it is correct, it is subtracted from the count again.
        """
        if not passphrase:
            raise refused("bad_passphrase")
        async with self._hashing_turn(network, limits):
            window, elapsed = divmod(self._clock.now() // 1000, WINDOW)
            if not await self._store.guesses.add(
                room, network, window, limits.guesses_per_address, limits.guesses_per_room
            ):
                raise rate_limited("Too many wrong passphrases were tried for this room.", WINDOW - elapsed)
            given = await uninterrupted(asyncio.to_thread(hashed, passphrase, secret.salt))
        if not hmac.compare_digest(given, secret.hash):
            raise refused("bad_passphrase")
        await self._store.guesses.remove(room, network, window)

    @asynccontextmanager
    async def _hashing_turn(self, network: str, limits: Limits) -> AsyncIterator[None]:
        """Wait for a turn to hash a passphrase. The turn lasts until the ``with`` block ends.

        Raise RequestRefused if too many passphrases already wait, in total or from ``network``.
        """
        waiting = self._waiting_by_network
        if self.waiting >= limits.guesses_waiting or waiting[network] >= limits.guesses_waiting_per_address:
            raise rate_limited("The server is checking many passphrases.", 1)
        waiting[network] += 1
        try:
            async with self._slots:
                yield
        finally:
            decrement(waiting, (network,))


def hashed(passphrase: str, salt: bytes) -> bytes:
    """Return the hash of a passphrase after normalizing it.

    Call this function in a thread: it takes tens of milliseconds.
    """
    return hashlib.scrypt(normalized(passphrase).encode(), salt=salt, **_SCRYPT)
