"""Sessions and passphrases: who may act for whom."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Final

from samedeal.errors import Refused
from samedeal_server.store.redis import Store

_SCRYPT: Final = {"n": 1 << 13, "r": 8, "p": 1, "dklen": 32}


@dataclass(frozen=True)
class Session:
    """A player, and the token that proves it. The store keeps only the token's hash."""

    player: str
    token: str


async def begin(store: Store, token: str) -> Session:
    """Go on with the session of a token, or begin a new one when it is empty.

    Raises Refused when the token is of no session that is kept.
    """
    if token:
        player = await store.session(_hash(token))
        if player is None:
            raise Refused("no_session", "This session is no more: say hello without one to begin anew")
        return Session(player, token)
    session = Session(secrets.token_hex(6), secrets.token_urlsafe(32))
    await store.keep_session(_hash(session.token), session.player)
    return session


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def hash_passphrase(passphrase: str, salt: bytes) -> bytes:
    """The scrypt hash of a passphrase: tens of milliseconds, so call it off the event loop."""
    return hashlib.scrypt(passphrase.encode(), salt=salt, **_SCRYPT)


def opens(passphrase: str, salt: bytes, hashed: bytes) -> bool:
    """Whether a passphrase is the right one, compared in constant time; as slow as ``hash_passphrase``."""
    return hmac.compare_digest(hash_passphrase(passphrase, salt), hashed)
