"""Tests of the notifications to a service manager such as systemd."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path

import pytest

from samedeal_server.process import sd_notify


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> socket.socket:
    """The socket of a service manager."""
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind(str(tmp_path / "notify"))
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    return receiver


async def test_node_notifies_ready_once_and_watchdog_often(redis_url: str, manager: socket.socket) -> None:
    node = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "samedeal_server", "--port", "0", "--redis", redis_url, "--log-level", "error"),
        env={**os.environ, "SAMEDEAL_DEBUG": "", "WATCHDOG_USEC": "100000"},
    )
    try:
        with manager:
            manager.settimeout(30)
            received = [await asyncio.to_thread(manager.recv, 100) for _ in range(5)]
        assert received.count(b"READY=1") == 1
        assert received.count(b"WATCHDOG=1") == 4
    finally:
        node.terminate()
        assert await node.wait() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has abstract socket names")
def test_abstract_socket_is_notified(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(f"\0samedeal-test-{os.getpid()}")
        receiver.settimeout(10)
        monkeypatch.setenv("NOTIFY_SOCKET", f"@samedeal-test-{os.getpid()}")
        sd_notify.notify("READY=1")
        assert receiver.recv(100) == b"READY=1"


def test_watchdog_timeout_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    own = str(os.getpid())
    cases = (("", None, 0), ("30000000", None, 30), ("30000000", own, 30), ("30000000", "1", 0), ("soon", None, 0))
    for microseconds, process, seconds in cases:
        monkeypatch.setenv("WATCHDOG_USEC", microseconds)
        monkeypatch.delenv("WATCHDOG_PID", raising=False)
        if process is not None:
            monkeypatch.setenv("WATCHDOG_PID", process)
        assert sd_notify.watchdog_timeout() == seconds
