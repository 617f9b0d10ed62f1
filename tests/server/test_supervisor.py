"""What a supervisor in the manner of systemd is told."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path

import pytest

from samedeal_server import supervisor


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> socket.socket:
    """Where the supervisor listens."""
    place = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    place.bind(str(tmp_path / "notify"))
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    return place


async def test_a_node_says_that_it_is_ready_once_clients_can_come_and_again_and_again_that_it_lives(
    redis_url: str, told: socket.socket
) -> None:
    node = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "samedeal_server", "--port", "0", "--redis", redis_url, "--log-level", "error"),
        env={**os.environ, "SAMEDEAL_DEBUG": "", "WATCHDOG_USEC": "100000"},
    )
    try:
        with told:
            told.settimeout(30)
            heard = [await asyncio.to_thread(told.recv, 100) for _ in range(5)]
        assert heard.count(b"READY=1") == 1
        assert heard.count(b"WATCHDOG=1") == 4
    finally:
        node.terminate()
        assert await node.wait() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="names of sockets that are in no directory are of Linux")
def test_a_socket_may_have_an_abstract_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as place:
        place.bind(f"\0samedeal-test-{os.getpid()}")
        place.settimeout(10)
        monkeypatch.setenv("NOTIFY_SOCKET", f"@samedeal-test-{os.getpid()}")
        supervisor.tell("READY=1")
        assert place.recv(100) == b"READY=1"


@pytest.mark.parametrize("place", ["", "/nowhere/notify", "vsock:2:1"])
def test_where_nobody_listens_nothing_happens(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", place)
    supervisor.tell("READY=1")


@pytest.mark.parametrize(
    ("asked", "of", "seconds"),
    [
        ("", None, 0.0),
        ("30000000", None, 30.0),
        ("30000000", "ourselves", 30.0),
        ("30000000", "1", 0.0),
        ("soon", None, 0.0),
    ],
)
def test_who_is_asked_for_signs_of_life(
    asked: str, of: str | None, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", asked)
    monkeypatch.delenv("WATCHDOG_PID", raising=False)
    if of is not None:
        monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()) if of == "ourselves" else of)
    assert supervisor.patience() == seconds
