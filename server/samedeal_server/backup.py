"""A backup: one file with everything that a server needs to go on, made while it runs, and how it is read again.

The file is a first line that names its version; records, each its length (4 bytes, the highest first) and msgpack; and the
SHA-256 of all that. It holds the seeds of races that are under way, the hashes of sessions and passphrases, and the key of
receipts.

What is in it was so at one moment for each room, not for all rooms at once: no room depends on another. Sessions are read
after the rooms, so that every player in a room has theirs.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from msgspec import Struct

import samedeal
from samedeal.protocol.codec import pack, unpack
from samedeal_server.errors import StartupError
from samedeal_server.store.copies import Copies, Copy
from samedeal_server.store.redis import Store

FIRST_LINE: Final = b"samedeal backup 1\n"
_LENGTH: Final = 4
_DIGEST: Final = 32
_LARGEST: Final = 1 << 29
"""Bytes of one record; Redis keeps no value that is larger."""


class Head(Struct, frozen=True, tag=True):
    """The first record: what made the backup, of which Redis, and when (milliseconds)."""

    server: str
    redis: str
    made: int


class Tail(Struct, frozen=True, tag=True):
    """The last record: how much there is."""

    keys: int
    rooms: int
    sessions: int


Record = Head | Copy | Tail
Records = Iterator[Record]


class Writer:
    """Makes a backup of a store; what it counts is whole once all parts were taken."""

    def __init__(self, store: Store) -> None:
        self.size = 0
        self.rooms = 0
        self.sessions = 0
        self._store = store
        self._keys = 0
        self._hash = hashlib.sha256()

    @property
    def digest(self) -> bytes:
        """The SHA-256 of the whole file so far, as who receives it can compute it."""
        return self._hash.digest()

    async def parts(self, largest: int) -> AsyncGenerator[bytes, None]:
        """The bytes of the file, in parts of a size but for the last one, which is smaller."""
        waiting = bytearray()
        content = hashlib.sha256()
        async for data in self._records():
            content.update(data)
            waiting += data
            while len(waiting) >= largest:
                yield self._counted(bytes(waiting[:largest]))
                del waiting[:largest]
        yield self._counted(bytes(waiting) + content.digest())

    def _counted(self, data: bytes) -> bytes:
        self.size += len(data)
        self._hash.update(data)
        return data

    async def _records(self) -> AsyncIterator[bytes]:
        copies = Copies(self._store)
        yield FIRST_LINE
        yield _framed(Head(f"samedeal {samedeal.__version__}", await copies.redis_version(), await self._store.now()))
        for copy in await copies.indexes():
            yield self._kept(copy)
        async for room in copies.rooms():
            self.rooms += 1
            for copy in room:
                yield self._kept(copy)
        async for copy in copies.others():
            self.sessions += copy.is_session
            yield self._kept(copy)
        yield _framed(Tail(self._keys, self.rooms, self.sessions))

    def _kept(self, copy: Copy) -> bytes:
        self._keys += 1
        return _framed(copy)


def _framed(record: Record) -> bytes:
    packed = pack(record)
    return len(packed).to_bytes(_LENGTH, "big") + packed


# ---------------------------------------------------------------- reading


def read(path: Path) -> Records:
    """The records of a backup, which is looked through whole before the first one comes.

    Raises StartupError ``bad_backup`` for a file that is none, is of a later version, or is not whole.
    """
    try:
        with path.open("rb") as file:
            end = _check(file, path)
            file.seek(len(FIRST_LINE))
            while file.tell() < end:
                yield _record(file, end, path)
    except OSError as error:
        raise StartupError("bad_backup", f"The backup {path} can't be read: {error.strerror}") from None


def _check(file: BinaryIO, path: Path) -> int:
    """Where the records end."""
    first = file.readline(100)
    if first != FIRST_LINE:
        what = (
            "was made by a later version: restore it with that" if first.startswith(b"samedeal backup ") else "is none"
        )
        raise StartupError("bad_backup", f"{path} is not a backup that can be restored here: it {what}")
    end = path.stat().st_size - _DIGEST
    content = hashlib.sha256(first)
    left = end - len(first)
    while left > 0 and (data := file.read(min(left, 1 << 20))):
        content.update(data)
        left -= len(data)
    if left or file.read(_DIGEST) != content.digest():
        raise _damaged(path)
    return end


def _record(file: BinaryIO, end: int, path: Path) -> Record:
    length = int.from_bytes(file.read(_LENGTH), "big")
    if length > min(_LARGEST, end - file.tell()):
        raise _damaged(path)
    kind: Any = Record
    try:
        record: Record = unpack(file.read(length), kind)
    except ValueError:
        raise _damaged(path) from None
    return record


def _damaged(path: Path) -> StartupError:
    return StartupError("bad_backup", f"The backup {path} is not whole, or was changed: take another one")
