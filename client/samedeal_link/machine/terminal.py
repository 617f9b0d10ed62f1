"""What surrounds a client: where it reads and draws, its environment, and the directories in which it keeps its data.

A client that has a process to itself takes them from this process. A session of the door has its own.
"""

from __future__ import annotations

import getpass
import os
import sys
import termios
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TextIO

from samedeal_link.machine.unsaved import Unsaved

CRASHED: Final = "Samedeal crashed, and its operator can see why. Your seat is kept: come in again."
"""What players are told if a crash is reported to somebody else (``Terminal.on_crash``)."""


class LineSource(Protocol):
    """Lines of input."""

    async def read_line(self) -> str | None:
        """Wait for the next line and return it without its line end. Return None at the end of the input."""
        ...


class Background(NamedTuple):
    """What a terminal has answered about its background. ``slow`` tells whether the answer took long."""

    dark: bool
    slow: bool


class Terminal:
    """The terminal of this process, with the environment and the directories of its user.

    ``driver`` is the class of Textual's driver, or None for the usual one. ``lines`` is the input, if it is not that of the
    process. If ``background`` is None, the terminal must be asked. ``run_command`` runs another command of the client, if
    none is to be started as a process, and ``ask_secret`` asks for a secret between two apps. ``on_crash`` reports the
    exception that is being handled to somebody else than the player.
    """

    driver: type[Any] | None = None
    lines: LineSource | None = None
    background: Background | None = None
    run_command: Callable[[Sequence[str]], Awaitable[int]] | None = None
    ask_secret: Callable[[str], Awaitable[str]] | None = None
    on_crash: Callable[[], None] | None = None
    solvers: AbstractAsyncContextManager[None] = nullcontext()
    """Entered by whoever starts a process that solves deals."""
    only_server = ""
    """The only server that the client may connect to, as the player would type it. Empty if it may be any."""
    public_url = ""
    """The address of that server for other players, if it differs."""
    headers: Mapping[str, str] = {}
    """Headers for the handshake with a server."""
    owns_process = True
    """Whether the process belongs to one client, which may then start others, stop, and handle signals."""

    @cached_property
    def unsaved(self) -> Unsaved:
        """What could not be written to files."""
        return Unsaved()

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables."""
        return os.environ

    @property
    def output(self) -> TextIO:
        """The stream for output."""
        return sys.stdout

    @property
    def errors(self) -> TextIO:
        """The stream for errors and warnings."""
        return sys.stderr

    @property
    def reads_keyboard(self) -> bool:
        """Whether the input comes from a terminal."""
        return sys.stdin is not None and sys.stdin.isatty()

    @property
    def is_interactive(self) -> bool:
        """Whether input and output are both a terminal."""
        return self.reads_keyboard and sys.stdout.isatty()

    @property
    def user(self) -> str:
        """The login name. Raise OSError, KeyError or ImportError if there is none."""
        return getpass.getuser()

    def width(self) -> int:
        """Return the width of the output, in columns, or 0 if it has none."""
        return os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else 0

    def directory(self, variable: str, default: str) -> Path:
        """Return the client's directory in the one that a variable of the XDG specification names."""
        configured = self.environment.get(variable, "")
        base = Path(configured) if Path(configured).is_absolute() else _home() / default
        return base / "samedeal"

    def shown_path(self, path: Path) -> str:
        """Return a path as text, with ``~`` for the home directory."""
        return f"~/{path.relative_to(_home())}" if path.is_relative_to(_home()) else str(path)

    @contextmanager
    def without_echo(self) -> Iterator[None]:
        """Switch off the echo of the keyboard inside the context."""
        keyboard = sys.stdin.fileno()
        before = termios.tcgetattr(keyboard)
        without_echo = [*before]
        without_echo[3] = before[3] & ~termios.ECHO | termios.ECHONL
        termios.tcsetattr(keyboard, termios.TCSADRAIN, without_echo)
        try:
            yield
        finally:
            termios.tcsetattr(keyboard, termios.TCSADRAIN, before)

    def on_stop(self, stop: Callable[[int], None]) -> AbstractContextManager[None]:  # noqa: ARG002 (for the door)
        """Call ``stop`` with an exit code if a client that does not own its process has to end."""
        return nullcontext()


_CURRENT: ContextVar[Terminal] = ContextVar("terminal", default=Terminal())  # noqa: B039 (its state is that of the process)


def _home() -> Path:
    """Return the home directory. For a user without one, such as a system service, it does not exist."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def terminal() -> Terminal:
    """Return the terminal of the client that is running."""
    return _CURRENT.get()


def use_terminal(session: Terminal) -> None:
    """Let the client that runs in this task, and in the tasks that it starts, use a terminal of its own."""
    _CURRENT.set(session)
