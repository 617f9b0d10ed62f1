"""Notifications to the service manager that started this process, such as systemd (see sd_notify(3))."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress


def notify(state: str) -> None:
    """Send a state such as ``READY=1`` to the service manager. Do nothing if there is no service manager."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address.startswith(("/", "@")) and hasattr(socket, "AF_UNIX"):
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
            connection.connect(address.replace("@", "\0", 1) if address[0] == "@" else address)
            connection.sendall(state.encode())


def watchdog_timeout() -> float:
    """Return the watchdog timeout of the service manager, in seconds. Return 0 if no watchdog watches this process."""
    timeout = os.environ.get("WATCHDOG_USEC", "")
    for_this_process = os.environ.get("WATCHDOG_PID") in (None, str(os.getpid()))
    return int(timeout) / 1e6 if for_this_process and timeout.isdecimal() else 0.0


async def watchdog_loop(watchdog_seconds: float) -> None:
    """Notify the watchdog three times in each ``watchdog_seconds``, until cancelled.

    If the event loop is blocked, the notifications stop, and the service manager restarts the process.
    """
    while True:
        notify("WATCHDOG=1")
        await asyncio.sleep(watchdog_seconds / 3)
