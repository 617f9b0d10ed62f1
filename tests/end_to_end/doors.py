"""A door process, and OpenSSH's own programs, with which people come in."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

needs_ssh = shutil.which("ssh") is not None and shutil.which("ssh-keygen") is not None

_DOOR = """
import sys
from samedeal_client import cli
from samedeal_client.commands import rules
from samedeal_client.screens.lobby import LobbyScreen

def fail(*_):
    raise ZeroDivisionError("on purpose")

if "--crashes" in sys.argv:
    sys.argv.remove("--crashes")
    rules.run = fail
    LobbyScreen.action_history = fail
raise SystemExit(cli.main())
"""
"""Runs samedeal. With ``--crashes``, the command rules and the history of the lobby fail."""


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

    def metric(self, name: str) -> float:
        with urllib.request.urlopen(f"http://127.0.0.1:{self._health}/metrics", timeout=10) as answer:
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
            yield Door(process, int(found[1]), health, log)
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
