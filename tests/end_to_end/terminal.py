"""A real terminal, run by tmux: tests start programs in it, type keys and read the screen."""

from __future__ import annotations

import asyncio
import contextlib
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from samedeal.moves import Move
from samedeal.record import Record
from tests.client.typed_moves import keys_for
from tests.end_to_end.processes import DEADLINE


class Terminal:
    """A tmux window. ``text`` is the text that it shows, with wrapped lines joined."""

    def __init__(self, home: Path, environment: Mapping[str, str]) -> None:
        self._home = home
        self._environment = environment
        self._opened = 0
        self._is_open = False

    def open(self, size: tuple[int, int], *command: str) -> None:
        """Run a command in a new window. When the command ends, the window stays open and shows the exit code."""
        self.close()
        self._opened += 1
        self._is_open = True
        shell = f'{shlex.join(command)}; echo "code $?"; stty -a; exec cat'
        self._run("new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), shell)

    def close(self) -> None:
        """Close the window, if one is open."""
        if self._is_open:
            self._is_open = False
            self._run("kill-server")

    def type(self, *keys: str) -> None:
        """Type keys, by their names for tmux or for the client, all at once."""
        self._run("send-keys", *("Space" if key == "space" else key for key in keys))

    async def type_until(self, pattern: str, *keys: str) -> None:
        """Type keys, and wait until the window shows a text that matches a pattern."""
        self.type(*keys)
        await self.wait_for(pattern)

    def resize(self, width: int, height: int) -> None:
        self._run("resize-window", "-x", str(width), "-y", str(height))

    @property
    def text(self) -> str:
        return self._run("capture-pane", "-p", "-J")

    def show(self, variable: str) -> str:
        """Return a variable of tmux."""
        return self._run("display-message", "-p", f"#{{{variable}}}").strip()

    async def draw_over_foreign_output(self) -> None:
        """Write on the screen, as another program does, and wait until Ctrl+L has drawn over it."""
        self._write("\x1b[2;1Hforeign\x1b[22;30Hforeign")
        await self.wait_for("foreign")
        self.type("C-l")
        await self.wait_until_gone("foreign")

    def foreground(self) -> int:
        """Return the id of the group of processes in the foreground of the shell in the window."""
        return int(Path(f"/proc/{self.process_id('bash')}/stat").read_text(encoding="ascii").split()[7])

    def process_id(self, name: str) -> int:
        """Return the process id of the program that runs in the window."""
        shell = self.show("pane_pid")
        for child in Path(f"/proc/{shell}/task/{shell}/children").read_text(encoding="ascii").split():
            if name in Path(f"/proc/{child}/cmdline").read_text(encoding="utf-8"):
                return int(child)
        raise AssertionError(f"{name} is not running in the window:\n{self.text}")

    async def wait_for(self, pattern: str, deadline: float = DEADLINE) -> re.Match[str]:
        """Wait until the window shows a text that matches a pattern."""
        compiled = re.compile(pattern, re.MULTILINE)
        for _ in range(int(deadline / 0.05)):  # each look starts a program
            if match := compiled.search(self.text):
                return match
            await asyncio.sleep(0.05)
        raise AssertionError(f"{pattern!r} is not shown:\n{self.text}")

    async def wait_until_gone(self, pattern: str) -> None:
        """Wait until the window shows no text that matches a pattern."""
        await self.wait_for(rf"\A(?![\s\S]*{pattern})")

    def _write(self, text: str) -> None:
        Path(self.show("pane_tty")).write_text(text, encoding="utf-8")

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


def keys_of(record: Record) -> list[list[str]]:
    """Return the keys for each move of a player's record."""
    (player,) = record.players
    plays = zip(player.actions, record.plays(player), strict=False)
    return [keys_for(Move.parse(action), play.board) for (_, action), play in plays]
