"""What a door keeps of the keys that have logged in, in a directory for each of them.

The name of the directory is a MAC of the key, made with a secret of the door. So two doors can't compare their visitors,
and nobody can tell from the directories who has been here.
"""

from __future__ import annotations

import hmac
import os
import secrets
import shutil
import time
from base64 import b64decode
from binascii import Error
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from samedeal_link.errors import Failure
from samedeal_link.machine.paths import make_private_directory, write_new, write_private

KEPT_FOR: Final = 366 * 24 * 3600
"""Time, in seconds, after which a key that has not come back is forgotten."""

_KEPT_RECORDS: Final = 50
"""Maximum number of records that are kept of a key."""

_HISTORY_BYTES: Final = 256 * 1024
"""Maximum size of a key's history. The oldest races are dropped first."""


def fingerprint(public_key: bytes) -> str:
    """Return the fingerprint of a public key in binary form, in hexadecimal."""
    return sha256(public_key).hexdigest()


def read_fingerprint(text: str) -> str:
    """Return the fingerprint in a text: ``SHA256:...`` as ssh-keygen prints it, or a line of a public key.

    Raise Failure for any other text.
    """
    words = text.split()
    try:
        if words and words[0].startswith("SHA256:"):
            digest = b64decode(words[0].removeprefix("SHA256:") + "=", validate=True)
            if len(digest) == sha256().digest_size:
                return digest.hex()
        elif len(words) > 1:
            return fingerprint(b64decode(words[1], validate=True))
    except (Error, ValueError):
        pass
    raise Failure("This is not a key. Give a public key, or its fingerprint as ssh-keygen -l prints it: SHA256:...", 2)


class Identities:
    """The directories of the keys, in ``directory``."""

    def __init__(self, directory: Path) -> None:
        self._keys = directory / "keys"
        make_private_directory(self._keys)
        write_new(directory / "secret", secrets.token_hex(32))
        self._secret = bytes.fromhex((directory / "secret").read_text(encoding="ascii"))

    def identity(self, key: str) -> str:
        """Return the name under which the key with this fingerprint is kept."""
        return hmac.new(self._secret, key.encode(), sha256).hexdigest()[:40]

    def home(self, identity: str) -> Path:
        """Return the directory of an identity, and note the visit."""
        home = self._keys / identity
        home.mkdir(exist_ok=True, mode=0o700)
        os.utime(home)
        return home

    @contextmanager
    def visit(self, identity: str) -> Iterator[Path]:
        """Yield the directory of an identity, or one for a guest, which is removed afterwards. Raise OSError."""
        if identity:
            yield self.home(identity)
        else:
            with TemporaryDirectory(prefix="guest-", dir=self._keys.parent, ignore_cleanup_errors=True) as home:
                yield Path(home)

    def forget(self, identity: str) -> bool:
        """Forget an identity. Return whether it was known."""
        known = (self._keys / identity).is_dir()
        shutil.rmtree(self._keys / identity, ignore_errors=True)
        return known

    def clean(self, most: int) -> None:
        """Forget all keys that have not come back for ``KEPT_FOR``, and the oldest ones above ``most``.

        Also remove the directories of guests that an earlier process has left. Other workers may do the same meanwhile.
        """
        visits = _visits(self._keys.iterdir())
        for number, (visit, path) in enumerate(visits):
            if number >= most or visit < time.time() - KEPT_FOR:
                shutil.rmtree(path, ignore_errors=True)
        for visit, path in _visits(self._keys.parent.glob("guest-*")):
            if visit < time.time() - 24 * 3600:
                shutil.rmtree(path, ignore_errors=True)


def _visits(paths: Iterable[Path]) -> list[tuple[float, Path]]:
    """Return the directories that are still there, the last visited first, with the times of these visits."""
    visits: list[tuple[float, Path]] = []
    for path in paths:
        with suppress(FileNotFoundError):
            visits.append((path.stat().st_mtime, path))
    return sorted(visits, reverse=True)


def trim(home: Path) -> None:
    """Drop the oldest records and past races of an identity, if there are too many."""
    with suppress(OSError):
        records = sorted((home / "records").iterdir(), key=lambda path: path.stat().st_mtime)
        for path in records[:-_KEPT_RECORDS]:
            path.unlink()
    history = home / "history.jsonl"
    with suppress(OSError):
        if history.stat().st_size > _HISTORY_BYTES:
            newest = history.read_bytes()[-_HISTORY_BYTES // 2 :].partition(b"\n")[2]
            write_private(history, newest.decode("utf-8", "replace"))
