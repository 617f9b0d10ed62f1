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


async def test_a_node_says_that_it_is_ready_once_clients_can_come(redis_url: str, told: socket.socket) -> None:
    node = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "samedeal_server", "--port", "0", "--redis", redis_url, "--log-level", "error"),
        env={**os.environ, "SAMEDEAL_DEBUG": ""},
    )
    try:
        with told:
            told.settimeout(30)
            assert await asyncio.to_thread(told.recv, 100) == b"READY=1"
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
