"""Writing and reading of backups. A backup is a file with all data of a server.

The first line of the file holds the version of the format. The records follow. The file ends with the SHA-256 of
everything before it. A record is a length (4 bytes, big-endian) followed by that many bytes of msgpack. The file
contains the seeds of running races, the hashes of sessions and passphrases, and the key for receipts.

A backup is made while the server runs. All keys of a room are read at the same moment, and no room depends on another
one. Sessions are read after the rooms, so that the session of every player in a room is included.
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
from samedeal_server.store.dump import DumpedKey, KeyDump
from samedeal_server.store.store import Store

FIRST_LINE: Final = b"samedeal backup 1\n"
_LENGTH_BYTES: Final = 4
_DIGEST_BYTES: Final = 32
_MAX_RECORD: Final = 1 << 29
"""Maximum size of a record, in bytes. Redis allows no larger values."""

_READ_SIZE: Final = 1 << 20


class Head(Struct, frozen=True, tag=True):
    """The first record of a backup: the versions of server and Redis, and the time in milliseconds since 1970."""

    server: str
    redis: str
    made: int


class Tail(Struct, frozen=True, tag=True):
    """The last record of a backup: the numbers of keys, rooms and sessions in it."""

    keys: int
    rooms: int
    sessions: int


BackupRecord = Head | DumpedKey | Tail


class Writer:
    """Writes a backup of a store.

    ``size``, ``rooms`` and ``sessions`` are final once ``parts`` has yielded all parts.
    """

    def __init__(self, store: Store) -> None:
        self.size = 0
        self.rooms = 0
        self.sessions = 0
        self._store = store
        self._keys = 0
        self._hash = hashlib.sha256()

    @property
    def digest(self) -> bytes:
        """The SHA-256 of everything so far: at the end of the backup, of all that is before it, and then of the backup.

        The receiver compares it with the hash of the received parts.
        """
        return self._hash.digest()

    async def parts(self, part_size: int) -> AsyncGenerator[bytes, None]:
        """Yield the backup in parts of ``part_size`` bytes. The last part may be smaller."""
        pending = bytearray()
        async for data in self._content():
            self.size += len(data)
            self._hash.update(data)
            pending += data
            while len(pending) >= part_size:
                yield bytes(pending[:part_size])
                del pending[:part_size]
        if pending:
            yield bytes(pending)

    async def _content(self) -> AsyncIterator[bytes]:
        dump = KeyDump(self._store)
        yield FIRST_LINE
        yield _framed(Head(f"samedeal {samedeal.__version__}", await dump.redis_version(), await self._store.now()))
        for key in await dump.indexes():
            yield self._framed_key(key)
        async for room in dump.rooms():
            self.rooms += 1
            for key in room:
                yield self._framed_key(key)
        async for key in dump.other_keys():
            self.sessions += key.is_session
            yield self._framed_key(key)
        yield _framed(Tail(self._keys, self.rooms, self.sessions))
        yield self.digest

    def _framed_key(self, key: DumpedKey) -> bytes:
        self._keys += 1
        return _framed(key)


def _framed(record: BackupRecord) -> bytes:
    packed = pack(record)
    return len(packed).to_bytes(_LENGTH_BYTES, "big") + packed


def read(path: Path) -> Iterator[BackupRecord]:
    """Check the whole backup file, and then yield its records: a Head, all keys, and a Tail.

    Raise StartupError ``bad_backup`` if the file is not a backup, comes from a later version, or is damaged.
    """
    try:
        with path.open("rb") as file:
            end = _check(file, path)
            file.seek(len(FIRST_LINE))
            while file.tell() < end:
                yield _record(file, end, path)
    except OSError as error:
        raise StartupError("unreadable_backup", path=path, reason=error.strerror) from None


def _check(file: BinaryIO, path: Path) -> int:
    """Check the format and the digest of a file. Return the offset at which the records end."""
    first = file.readline(100)
    if first != FIRST_LINE:
        if first.startswith(b"samedeal backup "):
            raise StartupError("later_backup", path=path)
        raise StartupError("no_backup", path=path)
    end = path.stat().st_size - _DIGEST_BYTES
    content = hashlib.sha256(first)
    left = end - len(first)
    while left > 0 and (data := file.read(min(left, _READ_SIZE))):
        content.update(data)
        left -= len(data)
    if left or file.read(_DIGEST_BYTES) != content.digest():
        raise StartupError("bad_backup", path=path)
    return end


def _record(file: BinaryIO, end: int, path: Path) -> BackupRecord:
    length = int.from_bytes(file.read(_LENGTH_BYTES), "big")
    if length > min(_MAX_RECORD, end - file.tell()):
        raise StartupError("bad_backup", path=path)
    kind: Any = BackupRecord
    try:
        record: BackupRecord = unpack(file.read(length), kind)
    except ValueError:
        raise StartupError("later_backup", path=path) from None
    return record
