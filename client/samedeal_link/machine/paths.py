"""The client's directories, as in the XDG base directory specification, and safe reading and writing of their files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, Literal, TypeVar

import msgspec

from samedeal_link.machine.terminal import terminal

_Content = TypeVar("_Content")


def state_home() -> Path:
    """Return the directory for state that survives a restart, such as sessions."""
    return terminal().directory("XDG_STATE_HOME", ".local/state")


def config_home() -> Path:
    """Return the directory for settings, such as key bindings."""
    return terminal().directory("XDG_CONFIG_HOME", ".config")


def data_home() -> Path:
    """Return the directory for data, such as records."""
    return terminal().directory("XDG_DATA_HOME", ".local/share")


def tell_unsaved(error: OSError) -> None:
    """Tell the player, once for each cause, that the state that should survive a restart is only in memory."""
    place = f" in {terminal().shown_path(state_home())}" if terminal().owns_process else ""
    terminal().unsaved.tell(
        f"Cannot save your seat and your results{place} ({error.strerror}). They are lost when you close this program."
    )


def make_private_directory(path: Path) -> None:
    """Make a directory that only its owner can enter, also if it exists already. Raise OSError if it can't be made."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    _make_private(path, 0o700)


def open_private(path: Path, mode: Literal["a", "ab", "a+b", "xb"]) -> IO[Any]:
    """Open a file that only its owner can read, also if it exists already. Raise OSError if it can't be opened."""
    encoding = None if "b" in mode else "utf-8"
    file: IO[Any] = open(  # noqa: SIM115 (the caller closes it)
        path, mode, encoding=encoding, opener=lambda name, flags: os.open(name, flags, 0o600)
    )
    _make_private(path, 0o600)
    return file


def _make_private(path: Path, mode: int) -> None:
    with suppress(PermissionError):  # it belongs to another user, who lets this one write
        path.chmod(mode)


def write_new(path: Path, text: str) -> bool:
    """Write a new file that only its owner can read. If the file already exists, keep its text and return False.

    The file appears with its whole text, because another process may read it as soon as it is there. Raise OSError if
    writing fails.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.") as whole:
            whole.write(text.encode())
            whole.flush()
            os.fsync(whole.fileno())
            try:
                path.hardlink_to(whole.name)
            except FileExistsError:
                raise
            except OSError:  # some file systems, such as those of phones, have no links
                with open_private(path, "xb") as file:
                    file.write(text.encode())
    except FileExistsError:
        _make_private(path, 0o600)
        return False
    except OSError as error:
        error.filename = str(path)
        raise
    return True


@contextmanager
def private_file(path: Path) -> Iterator[IO[bytes]]:
    """Replace a file atomically by one that only its owner can read, once it has been written inside the context.

    Raise OSError if writing fails.
    """
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(path)
        except BaseException as error:
            if isinstance(error, OSError):
                error.filename = str(path)
            Path(file.name).unlink(missing_ok=True)
            raise


def write_private(path: Path, text: str) -> None:
    """Replace a file by a ``private_file`` with this text. Make its directory first. Raise OSError if writing fails."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with private_file(path) as file:
        file.write(text.encode())


def read_saved(path: Path, kind: type[_Content]) -> _Content | None:
    """Return what a file of this client says in JSON, or None if there is no such file.

    A file that cannot be read, because it is damaged or of another release, is renamed, and the player is told.
    """
    tell = terminal().unsaved.tell
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        tell(f"Cannot read {path} ({error.strerror}).")
    except (ValueError, RecursionError):
        with suppress(OSError):
            path.replace(path.with_name(f"{path.name}.unread"))
            tell(f"{path} is damaged or of another release, and was renamed to {path.name}.unread.")
    return None
