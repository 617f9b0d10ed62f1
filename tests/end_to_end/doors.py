"""A door process, and OpenSSH's own programs, with which people come in."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import termios
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from tests.child_processes import kill_and_wait, send_signal
from tests.end_to_end.processes import start_on_terminal
from tests.server.waiting import until

_DOOR = """
import asyncio, sys
from prometheus_client import Gauge
from samedeal_client import cli
from samedeal_client.commands import rules
from samedeal_door import connections, door
from samedeal_client.full_screen.screens.lobby import LobbyScreen

class Door(door.Door):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        Gauge("samedeal_door_tasks", "Tasks", registry=self.metrics.registry).set_function(
            lambda: len(asyncio.all_tasks())
        )

def fail(*_):
    raise ZeroDivisionError("on purpose")

door.Door = Door
connections._KEEPALIVE = 2.0
if "--crashes" in sys.argv:
    sys.argv.remove("--crashes")
    rules.run = fail
    LobbyScreen.action_history = fail
raise SystemExit(cli.main())
"""
"""Runs samedeal. The door has one more metric, and soon notices that ssh is gone.

With ``--crashes``, the command rules and the history of the lobby fail.
"""


class Door:
    """A running door. ``port`` is its port."""

    def __init__(self, process: subprocess.Popen[str], port: int, health: int, log: Path) -> None:
        self.process = process
        self.port = port
        self._health = health
        self._log = log

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    @property
    def is_healthy(self) -> bool:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self._health}/healthz"):
            return True
        return False

    @property
    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    @property
    def workers(self) -> list[int]:
        """The process ids of the workers, the oldest first."""
        process = self.process.pid
        return sorted(map(int, Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()))

    def behind(self, port: int) -> Door:
        """The same door at another port."""
        return Door(self.process, port, self._health, self._log)

    def metric(self, name: str, worker: int = 0) -> float:
        with urllib.request.urlopen(f"http://127.0.0.1:{self._health + worker}/metrics", timeout=30) as answer:
            text = answer.read().decode()
        match = re.search(rf"^samedeal_door_{re.escape(name)} (\S+)$", text, re.MULTILINE)
        assert match is not None, text
        return float(match[1])


@contextlib.contextmanager
def door_to(server: str, home: Path, port: int, health: int, *options: str) -> Iterator[Door]:
    """Run a door to a server. What it keeps is in ``home``."""
    command = [sys.executable, "-c", _DOOR, "door", server, "--host", "127.0.0.1", "--port", str(port)]
    command += ["--health-port", str(health), "--data", str(home / "door"), *options]
    log = home / "door.log"
    with (
        log.open("a", encoding="utf-8") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            found = re.search(r"ssh -p (\d+)", process.stdout.readline())
            assert found is not None, log.read_text(encoding="utf-8")
            while not process.stdout.readline().startswith("Ready"):
                assert process.poll() is None, log.read_text(encoding="utf-8")
            door = Door(process, int(found[1]), health, log)
            while not door.is_healthy:
                assert process.poll() is None, log.read_text(encoding="utf-8")
                time.sleep(0.02)
            yield door
        finally:
            process.kill()


def key_in(home: Path, name: str) -> Path:
    """Return a new private key."""
    path = home / name
    if not path.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return path


def ssh(program: str, door: Door, key: Path | None, *arguments: str) -> list[str]:
    """Return the command line of ssh, sftp or scp for a door, with a key or as a guest."""
    options = {
        "UserKnownHostsFile": "/dev/null",
        "StrictHostKeyChecking": "no",
        "LogLevel": "ERROR",
        "IdentitiesOnly": "yes",
        "IdentityAgent": "none",
        "IdentityFile": str(key) if key is not None else "none",
    }
    given = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    port = "-p" if program == "ssh" else "-P"
    return [program, "-F", "none", *given, port, str(door.port), *arguments]


class Visitor:
    """A guest's ssh on a terminal of its own. ``text`` is what it has shown."""

    def __init__(self, process: asyncio.subprocess.Process, terminal: int) -> None:
        self.process = process
        self.terminal = terminal
        self.text = ""
        asyncio.get_running_loop().add_reader(terminal, self._read)

    @classmethod
    async def open(cls, door: Door, *words: str) -> Self:
        return cls(*await start_on_terminal(*ssh("ssh", door, None, *words)))

    def _read(self) -> None:
        try:
            text = os.read(self.terminal, 65536).decode(errors="replace")
        except OSError:
            self.read_no_more()
            return
        self.text += text
        if "\x1b]11;?" in text:
            self.type("\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?62c")

    async def wait_for(self, text: str) -> None:
        try:
            await until(lambda: text in self.text)
        except TimeoutError:
            raise AssertionError(f"{text!r} is not shown: {self.text!r}") from None

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def resize(self, width: int, height: int) -> None:
        termios.tcsetwinsize(self.terminal, (height, width))

    def signal(self, number: signal.Signals) -> None:
        send_signal(self.process, number)

    def read_no_more(self) -> None:
        asyncio.get_running_loop().remove_reader(self.terminal)

    def close_terminal(self) -> None:
        if self.terminal >= 0:
            self.read_no_more()
            os.close(self.terminal)
            self.terminal = -1

    async def end(self) -> None:
        """Wait until ssh has ended, which is killed if it still runs."""
        await kill_and_wait(self.process)
        self.close_terminal()
