"""The client's directories, according to the XDG base directory specification, and safe writing of files in them."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from samedeal_client.terminal import terminal


def state_home() -> Path:
    """Return the directory for state that survives a restart, such as sessions."""
    return terminal().directory("XDG_STATE_HOME", ".local/state")


def config_home() -> Path:
    """Return the directory for settings, such as key bindings."""
    return terminal().directory("XDG_CONFIG_HOME", ".config")


def data_home() -> Path:
    """Return the directory for data, such as records."""
    return terminal().directory("XDG_DATA_HOME", ".local/share")


def write_new(path: Path, text: str) -> bool:
    """Write a new file that only its owner can read. If the file already exists, leave it alone and return False.

    Raise OSError if writing fails.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with path.open("x", encoding="utf-8") as file:
            path.chmod(0o600)
            file.write(text)
    except FileExistsError:
        return False
    return True


def write_private(path: Path, text: str) -> None:
    """Replace a file atomically by a file that only its owner can read. Raise OSError if writing fails."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
