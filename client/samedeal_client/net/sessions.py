"""Sessions that outlive the client: by server and name, the secret that gives a player the same seat again.

They are kept in ``sessions.json`` in the state directory, readable by its owner only::

    {"version": 1, "sessions": {"ws://localhost:7777": {"ana": {"session": "...", "used": 1790000000}}}}
"""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from samedeal_client.places import state_home, write_private

_MOST: Final = 500
_VERSION: Final = 1


class Sessions(Protocol):
    """What a link asks for the session to go on with, and tells the one it was given."""

    def session(self, url: str, name: str) -> str:
        """The session kept for a server and a name, or empty."""
        ...

    def keep(self, url: str, name: str, session: str) -> None:
        """Keep a session."""
        ...


class BriefSessions:
    """Sessions that end with the process, as bots' do."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], str] = {}

    def session(self, url: str, name: str) -> str:
        """The session kept for a server and a name, or empty."""
        return self._kept.get((url, name), "")

    def keep(self, url: str, name: str, session: str) -> None:
        """Keep a session."""
        self._kept[url, name] = session


class _Kept(Struct, frozen=True):
    session: str
    used: int


class _File(Struct, frozen=True):
    version: int
    sessions: dict[str, dict[str, _Kept]]


class KeptSessions:
    """Sessions in a file. What goes wrong with the file is told to ``warn`` as a sentence, and the game goes on."""

    def __init__(self, warn: Callable[[str], None], path: Path | None = None) -> None:
        self._path = path or state_home() / "sessions.json"
        self._warn = warn

    def session(self, url: str, name: str) -> str:
        """The session kept for a server and a name, else the newest for the name on another port of the host, or empty.

        Nodes that share their rooms share their sessions too; a host that was not given a session is never shown it.
        """
        sessions = self._read()
        if name in sessions.get(url, {}):
            return sessions[url][name].session
        host = urlsplit(url).hostname
        near = [names[name] for other, names in sessions.items() if urlsplit(other).hostname == host and name in names]
        return max(near, key=lambda kept: kept.used).session if near else ""

    def keep(self, url: str, name: str, session: str) -> None:
        """Keep a session, and let the oldest go where there are very many."""
        try:
            with self._locked():
                sessions = self._read()
                sessions.setdefault(url, {})[name] = _Kept(session, int(time.time()))
                self._write(sessions)
        except OSError as error:
            self._warn(
                f"The session can't be kept in {self._path} ({error.strerror}): "
                "after a restart of this program your seat can't be taken again"
            )

    def _read(self) -> dict[str, dict[str, _Kept]]:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            self._warn(f"The sessions in {self._path} can't be read ({error.strerror}): going on with a new one")
            return {}
        try:
            file = msgspec.json.decode(data, type=_File)
        except ValueError:
            file = None
        if file is None or file.version != _VERSION:
            self._set_aside()
            return {}
        return file.sessions

    def _set_aside(self) -> None:
        aside = self._path.with_name(f"{self._path.name}.damaged")
        try:
            self._path.replace(aside)
        except OSError as error:
            self._warn(
                f"{self._path} can't be understood, nor moved away ({error.strerror}): going on with a new session"
            )
        else:
            self._warn(f"{self._path} can't be understood and is now {aside.name}: going on with a new session")

    def _write(self, sessions: dict[str, dict[str, _Kept]]) -> None:
        newest = sorted(
            ((kept.used, url, name) for url in sessions for name, kept in sessions[url].items()), reverse=True
        )
        file: dict[str, dict[str, dict[str, str | int]]] = {}
        for _, url, name in newest[:_MOST]:
            kept = sessions[url][name]
            file.setdefault(url, {})[name] = {"session": kept.session, "used": kept.used}
        write_private(
            self._path, json.dumps({"version": _VERSION, "sessions": file}, indent=1, ensure_ascii=False) + "\n"
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time, so that clients started together don't lose each other's sessions."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._path.with_suffix(".lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
