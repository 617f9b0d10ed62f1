"""Passphrases of private rooms: hashed slowly, compared in constant time, with a limit on guesses."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from samedeal.terminal_text import normalized
from samedeal_server.config.limits import Limits
from samedeal_server.config.token_buckets import WINDOW, wait_text
from samedeal_server.races import refusals
from samedeal_server.store.clock import StoreClock
from samedeal_server.store.store import RoomSecret, Store

_SCRYPT: Final = {"n": 1 << 13, "r": 8, "p": 1, "dklen": 32}

_CONCURRENT: Final = 2
"""Passphrases that are hashed at the same time. Each keeps a core busy for tens of milliseconds."""

_SALT_BYTES: Final = 16


class Passphrases:
    """Hashes and checks passphrases on one node. Guesses are counted in the store, for all nodes together."""

    def __init__(self, store: Store, clock: StoreClock) -> None:
        self._store = store
        self._clock = clock
        self._slots = asyncio.Semaphore(_CONCURRENT)
        self._waiting_by_network = Counter[str]()

    @property
    def waiting(self) -> int:
        """The number of passphrases that are being hashed or wait for it."""
        return self._waiting_by_network.total()

    async def lock(self, passphrase: str, network: str, limits: Limits) -> tuple[bytes, bytes]:
        """Return a new salt and the hash of a passphrase. The hash of an empty passphrase is empty.

        Raises RequestRefused if too many passphrases wait to be hashed, and MalformedText if ``passphrase`` is blank.
        """
        salt = secrets.token_bytes(_SALT_BYTES)
        if not passphrase:
            return salt, b""
        if not normalized(passphrase):
            raise refusals.blank_passphrase()
        async with self._slot(network, limits):
            return salt, await _hash_in_thread(passphrase, salt)

    async def check(self, room: str, secret: RoomSecret, passphrase: str, network: str, limits: Limits) -> None:
        """Raise RequestRefused if a passphrase is wrong, or if too many wrong ones were tried before.

        A guess is counted before it is compared. A correct guess is subtracted again.
        """
        if not passphrase:
            raise refusals.bad_passphrase()
        async with self._slot(network, limits):
            window, elapsed = divmod(self._clock.now() // 1000, WINDOW)
            if not await self._store.guesses.add(
                room, network, window, limits.guesses_per_address, limits.guesses_per_room
            ):
                wait = WINDOW - elapsed
                raise refusals.too_many_guesses(wait_text(wait), wait)
            given = await _hash_in_thread(passphrase, secret.salt)
        if not hmac.compare_digest(given, secret.hash):
            raise refusals.bad_passphrase()
        await self._store.guesses.remove(room, network, window)

    @asynccontextmanager
    async def _slot(self, network: str, limits: Limits) -> AsyncIterator[None]:
        """Wait until a passphrase may be hashed. Raises RequestRefused if too many wait here or from ``network``."""
        waiting = self._waiting_by_network
        if self.waiting >= limits.guesses_waiting or waiting[network] >= limits.guesses_waiting_per_address:
            raise refusals.passphrases_busy()
        waiting[network] += 1
        try:
            async with self._slots:
                yield
        finally:
            waiting[network] -= 1
            if not waiting[network]:
                del waiting[network]


async def _hash_in_thread(passphrase: str, salt: bytes) -> bytes:
    """Hash a passphrase in a thread. If cancelled, wait for the thread all the same, since it keeps a core busy."""
    hashing = asyncio.create_task(asyncio.to_thread(hashed, passphrase, salt))
    try:
        return await asyncio.shield(hashing)
    finally:
        await asyncio.wait((hashing,))


def hashed(passphrase: str, salt: bytes) -> bytes:
    """Hash a passphrase in its normal form. This takes tens of milliseconds, so call it in a thread."""
    return hashlib.scrypt(normalized(passphrase).encode(), salt=salt, **_SCRYPT)
