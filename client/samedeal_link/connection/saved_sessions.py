"""Session tokens by server and name. With a session token a player returns to a seat.

The tokens are kept in the state directory, in the file ``sessions.json``, which only its owner can read::

    {"version": 1, "sessions": {"ws://localhost:7777": {"ana": {"session": "...", "used": 1790000000, "room": "friday"}}}}

``room`` is the room of the unfinished race in which the player last had a seat, or its standing series, as
``s/friday``.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from samedeal.options import LONGEST_PERIOD
from samedeal_link.connection.address import ServerAddress, is_loopback_url
from samedeal_link.connection.kept_seat import KeptSeat
from samedeal_link.machine.paths import open_private, read_saved, state_home, tell_unsaved, write_private
from samedeal_link.machine.terminal import terminal

_MAX_SESSIONS: Final = 500
"""Maximum number of sessions kept. The least recently used are dropped first."""

SEAT_TIME: Final = 24 * 3600 + LONGEST_PERIOD
"""Time, in seconds, for which a seat is offered to a player who has not returned to it.

It is a day more than from one race of a standing series to the next.
"""


class MemorySessions:
    """Sessions that are lost when the process ends."""

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str], tuple[str, str]] = {}

    def session(self, url: str, name: str) -> str:
        """Return the session for a server and a name, or an empty string if there is none."""
        return self._sessions.get((url, name), ("", ""))[0]

    def room(self, url: str, name: str) -> str:
        """Return the room that was saved with a session, or an empty string if there is none."""
        return self._sessions.get((url, name), ("", ""))[1]

    def keep(self, url: str, name: str, session: str, room: str = "") -> None:
        """Save a session and the room of the player's seat."""
        self._sessions[url, name] = (session, room)


class _SavedSession(Struct, frozen=True):
    session: str
    used: int
    room: str = ""


class _File(Struct, frozen=True):
    sessions: dict[str, dict[str, _SavedSession]]
    version: Literal[1] = 1


class FileSessions:
    """Sessions in a file. Errors of the file do not stop the game, but the player is told."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_home() / "sessions.json"

    def session(self, url: str, name: str) -> str:
        """Return the session for a server and a name.

        If there is none, look at the sessions for this name on other servers, as far as the server at ``url`` may see
        them. Return the newest of these, or an empty string.
        """
        sessions = self._read()
        if name in sessions.get(url, {}):
            return sessions[url][name].session
        shown = [names[name] for issuer, names in sessions.items() if name in names and _may_see(url, issuer)]
        return max(shown, key=lambda saved: saved.used).session if shown else ""

    def room(self, url: str, name: str) -> str:
        """Return the room that was saved with a session, or an empty string if there is none."""
        saved = self._read().get(url, {}).get(name)
        return saved.room if saved is not None else ""

    def kept_seat(self) -> KeptSeat | None:
        """Return the seat that was used last, under any name.

        Return None if no seat was used in the last ``SEAT_TIME`` seconds.
        """
        seats = [
            (saved.used, KeptSeat(url, name, saved.room))
            for url, names in self._read().items()
            for name, saved in names.items()
            if saved.room and saved.used > time.time() - SEAT_TIME
        ]
        return max(seats)[1] if seats else None

    def forget_seat(self, seat: KeptSeat) -> None:
        """Forget the seat, but keep the session."""
        self.keep(seat.url, seat.name, self.session(seat.url, seat.name))

    def keep(self, url: str, name: str, session: str, room: str = "") -> None:
        """Save a session and the room of the player's seat."""
        unsaved, saved = terminal().unsaved, _SavedSession(session, int(time.time()), room)
        own = {**unsaved.kept.get(self.path, {}), (url, name): saved}
        try:
            with unsaved.keeping(self.path, own), self._locked():
                sessions = self._read()
                sessions.setdefault(url, {})[name] = saved
                self._write(sessions)
        except OSError as error:
            tell_unsaved(error)

    def _read(self) -> dict[str, dict[str, _SavedSession]]:
        """Return the sessions in the file, and those that should be there."""
        file = read_saved(self.path, _File)
        sessions = file.sessions if file is not None else {}
        for (url, name), saved in terminal().unsaved.kept.get(self.path, {}).items():
            sessions.setdefault(url, {})[name] = saved
        return sessions

    def _write(self, sessions: dict[str, dict[str, _SavedSession]]) -> None:
        newest = sorted(
            ((kept.used, url, name) for url in sessions for name, kept in sessions[url].items()), reverse=True
        )
        kept: dict[str, dict[str, _SavedSession]] = {}
        for _, url, name in newest[:_MAX_SESSIONS]:
            kept.setdefault(url, {})[name] = sessions[url][name]
        file = msgspec.json.encode(_File(kept))
        write_private(self.path, msgspec.json.format(file, indent=1).decode() + "\n")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the file, so that clients that start together don't overwrite each other's sessions."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open_private(self.path.with_suffix(".lock"), "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def are_saved() -> bool:
    """Return whether the next program finds the sessions of this one."""
    return FileSessions().path not in terminal().unsaved.kept


SessionStore: TypeAlias = MemorySessions | FileSessions
"""The saved sessions that a link uses."""


def _may_see(url: str, issuer: str) -> bool:
    """Return whether the server at ``url`` may see a session of the server at ``issuer``.

    Both servers must have the same host and the same port. Only on this machine the ports may differ, because local
    nodes that share their rooms have different ports. A session that was issued over TLS is never sent without TLS.
    """
    server, issued = ServerAddress(url), ServerAddress(issuer)
    same_endpoint = server.host == issued.host and (server.port == issued.port or is_loopback_url(url))
    return same_endpoint and (server.encrypted or not issued.encrypted)
