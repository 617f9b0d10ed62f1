"""The supervisor that started this process, if it is one that wants to know how that went, as systemd does (sd_notify)."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress


def tell(news: str) -> None:
    """Tell it, as in ``READY=1``; without one that asked to be told, or with one that has gone, nothing happens."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address.startswith(("/", "@")) and hasattr(socket, "AF_UNIX"):
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as way:
            way.connect(address.replace("@", "\0", 1) if address[0] == "@" else address)
            way.sendall(news.encode())


def patience() -> float:
    """Seconds within which it wants to hear again and again that this process lives; 0 where it does not."""
    asked = os.environ.get("WATCHDOG_USEC", "")
    meant = os.environ.get("WATCHDOG_PID") in (None, str(os.getpid()))
    return int(asked) / 1e6 if meant and asked.isdecimal() else 0.0


async def reassure(within: float) -> None:
    """Tell it so, in good time, for as long as the event loop turns."""
    while True:
        tell("WATCHDOG=1")
        await asyncio.sleep(within / 3)
