"""Sessions: who may act for whom."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, replace

from samedeal.errors import Refused
from samedeal_server.store.redis import Store


@dataclass(frozen=True)
class Session:
    """A player, and the token that proves it, of which the store keeps a hash alone; ``kept`` says whether for long."""

    player: str
    token: str
    kept: bool


async def begin(store: Store, token: str) -> Session:
    """Go on with the session of a token, or begin a new one when it is empty.

    Raises Refused when the token is of no session that is kept.
    """
    if token:
        found = await store.session(_hash(token))
        if found is None:
            raise Refused("no_session", "This session is no more: say hello without one to begin anew")
        player, kept = found
        return Session(player, token, kept)
    session = Session(secrets.token_hex(6), secrets.token_urlsafe(32), kept=False)
    await store.keep_session(_hash(session.token), session.player, long=False)
    return session


async def keep(store: Store, session: Session) -> Session:
    """Have a session be kept for long, from the first time on that its player is in a room."""
    if not session.kept:
        await store.keep_session(_hash(session.token), session.player, long=True)
    return replace(session, kept=True)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
