"""Where the client keeps its files, after the XDG base directory specification; and how it writes them."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile


def state_home() -> Path:
    """The directory for what a restart needs: sessions."""
    return _home("XDG_STATE_HOME", ".local/state")


def config_home() -> Path:
    """The directory for what a player sets: keys."""
    return _home("XDG_CONFIG_HOME", ".config")


def data_home() -> Path:
    """The directory for what a player keeps: records."""
    return _home("XDG_DATA_HOME", ".local/share")


def _home(variable: str, default: str) -> Path:
    named = os.environ.get(variable, "")
    base = Path(named) if Path(named).is_absolute() else Path.home() / default
    return base / "samedeal"


def write_new(path: Path, text: str) -> bool:
    """Put a text in a file that is not there yet, readable by its owner only: whether it was not there. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with path.open("x", encoding="utf-8") as file:
            path.chmod(0o600)
            file.write(text)
    except FileExistsError:
        return False
    return True


def write_private(path: Path, text: str) -> None:
    """Put a text in the place of a file, whole or not at all, readable by its owner only. Raises OSError."""
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
