"""The sessions of players. With the token of a session, a client proves which player it is."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, replace
from typing import Final

from samedeal.sentences import refused
from samedeal_server.store import keys
from samedeal_server.store.command_executor import StorePart
from samedeal_server.store.redis_client import command
from samedeal_server.store.schema import reading

SESSION_LIFETIME: Final = 60 * 86_400
"""Lifetime, in seconds, of an unused session."""

CODE_LIFETIME: Final = 600
"""Time, in seconds, in which another device has to use the code with which a player goes on there."""

_PLAYER_BYTES: Final = 10
"""Number of random bytes in a player's id.

This is enough that nobody can guess an id, and that no two players ever get the same one.
"""

GUEST_LIFETIME: Final = 3_600
"""Lifetime, in seconds, of an unused session whose player has never entered a room."""


@dataclass(frozen=True)
class Session:
    """A player's session. ``extended`` is true once the player has entered a room."""

    player: str
    token: str
    extended: bool


class Sessions(StorePart):
    """The sessions of all players.

    Redis holds only hashes of the tokens.
    """

    async def begin(self, token: str) -> Session:
        """Resume the session with this token. If ``token`` is empty, begin a new session for a new player.

        If it is the code of another device, begin a new session of the same player. Raise RequestRefused ``no_session`` if
        the token is unknown.
        """
        if token:
            return await self._resume(token)
        session = Session(secrets.token_hex(_PLAYER_BYTES), secrets.token_urlsafe(32), extended=False)
        await self._executor.execute(
            command("SET", keys.guest(_hash(session.token)), session.player, "EX", GUEST_LIFETIME), durable=True
        )
        return session

    async def extend(self, session: Session) -> Session:
        """Give a session its full lifetime, because its player enters a room. Return the extended session."""
        if not session.extended:
            await self._executor.execute(
                command("SET", keys.session(_hash(session.token)), session.player, "EX", SESSION_LIFETIME), durable=True
            )
        return replace(session, extended=True)

    async def move(self, player: str) -> str:
        """Return a code with which another device can begin a session of this player, once."""
        code = secrets.token_urlsafe(16)  # short, so that the QR code is small
        await self._executor.execute(
            command("SET", keys.moving(_hash(code)), player, "EX", CODE_LIFETIME), durable=True
        )
        return code

    async def _resume(self, token: str) -> Session:
        player, guest, moved = await self._executor.execute(
            command("GETEX", keys.session(_hash(token)), "EX", SESSION_LIFETIME),
            command("GETEX", keys.guest(_hash(token)), "EX", GUEST_LIFETIME),
            command("GETDEL", keys.moving(_hash(token))),
        )
        known = player or guest or moved
        if known is None:
            raise refused("no_session")
        with reading():
            session = Session(known.decode(), token, extended=player is not None)
        return session if moved is None else await self.extend(replace(session, token=secrets.token_urlsafe(32)))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
