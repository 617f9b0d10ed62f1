"""A real terminal, tmux's, in which programs are started, typed at and read back."""

from __future__ import annotations

import asyncio
import contextlib
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

DEADLINE = 20.0


class Terminal:
    """A window of tmux. ``text`` is what is in it now, wrapped lines as one."""

    def __init__(self, home: Path, environment: Mapping[str, str]) -> None:
        self._home = home
        self._environment = environment
        self._opened = 0

    def open(self, size: tuple[int, int], *command: str) -> None:
        """Open a window in which a command runs; it stays when the command has ended, whose code is then in it."""
        self.close()
        self._opened += 1
        shell = f'{shlex.join(command)}; echo "code $?"; stty -a; exec cat'
        self._run("new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), shell)

    def close(self) -> None:
        if self._opened:
            self._run("kill-server")

    def type(self, *keys: str) -> None:
        """Type keys, by tmux's names of them, all at once."""
        self._run("send-keys", *keys)

    def resize(self, width: int, height: int) -> None:
        self._run("resize-window", "-x", str(width), "-y", str(height))

    @property
    def text(self) -> str:
        return self._run("capture-pane", "-p", "-J")

    def program(self, name: str) -> int:
        """The process id of the program that runs in the window."""
        shell = self._run("list-panes", "-F", "#{pane_pid}").strip()
        for child in Path(f"/proc/{shell}/task/{shell}/children").read_text(encoding="ascii").split():
            if name in Path(f"/proc/{child}/cmdline").read_text(encoding="utf-8"):
                return int(child)
        raise AssertionError(f"{name} does not run in the window:\n{self.text}")

    async def says(self, pattern: str, deadline: float = DEADLINE) -> re.Match[str]:
        """Wait for a text to be in the window."""
        compiled = re.compile(pattern, re.MULTILINE)
        for _ in range(int(deadline / 0.02)):
            if match := compiled.search(self.text):
                return match
            await asyncio.sleep(0.02)
        raise AssertionError(f"{pattern!r} is not in:\n{self.text}")

    async def says_no_more(self, pattern: str, deadline: float = DEADLINE) -> None:
        """Wait for a text to be gone from the window."""
        compiled = re.compile(pattern, re.MULTILINE)
        for _ in range(int(deadline / 0.02)):
            if not compiled.search(self.text):
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"{pattern!r} is still in:\n{self.text}")

    def _run(self, *arguments: str) -> str:
        tmux = ["tmux", "-S", str(self._home / f"tmux{self._opened}"), "-f", "/dev/null"]
        done = subprocess.run(
            [*tmux, *arguments], check=True, capture_output=True, encoding="utf-8", env=self._environment
        )
        return done.stdout


@contextlib.contextmanager
def terminal_in(home: Path, environment: Mapping[str, str]) -> Iterator[Terminal]:
    terminal = Terminal(home, environment)
    try:
        yield terminal
    finally:
        terminal.close()
