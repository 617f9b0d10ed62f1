"""Telling a hook the news of public races, once over all nodes, and again for a while if that fails.

The news waits in the store, which keeps a bounded number. Nothing else waits for a hook.
"""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from samedeal_server.config.hook_addresses import HookAddress
from samedeal_server.hooks.hook_messages import message
from samedeal_server.loop_timers import LOOP_TIMERS, Timers
from samedeal_server.races.public_facts import RaceNews
from samedeal_server.store.news import NewsId
from samedeal_server.store.store import Store
from samedeal_server.telemetry.events import LogEvent, get_logger
from samedeal_server.telemetry.metrics import Metrics

INTERVAL: Final = 1.0
"""Interval, in seconds, at which a node looks for news that no node has taken."""

TIMEOUT: Final = 10.0
"""Timeout, in seconds, for a hook to answer."""

WAITS: Final = (1, 2, 4, 8, 16, 32, 60)
"""Times, in seconds, to wait before each further attempt. After the last one the news is dropped."""

ABANDONED: Final = 600_000
"""Time, in milliseconds, after which another node tells the news that a node has taken. All attempts take less."""

STALE: Final = 900_000
"""Age, in milliseconds, at which news is dropped: nobody wants to hear that a race was about to start."""

_TOLD: Final = ("opened", "finished")
"""The news that hooks are told. That a race starts is of no use to somebody who was not asked to join before."""

_TEMPORARY: Final = (408, 425, 429)
"""The HTTP statuses below 500 with which a hook asks for another attempt."""

_log = get_logger()


@dataclass
class HookSender:
    """Tells one hook the news. ``page`` and ``secret`` are those of ``hook_messages.message``."""

    store: Store
    node: str
    metrics: Metrics
    address: HookAddress
    page: str
    secret: str
    timers: Timers = LOOP_TIMERS

    @property
    def _group(self) -> str:
        return hashlib.sha256(repr(self.address).encode()).hexdigest()[:16]

    @cached_property
    def _tls(self) -> ssl.SSLContext | None:
        return ssl.create_default_context() if self.address.is_tls else None

    async def run(self, guard: Callable[[Awaitable[object]], Awaitable[None]]) -> None:
        """Tell the hook all news until cancelled. ``guard`` logs errors."""
        while True:
            await guard(self.tell_waiting())
            await self.timers.sleep(INTERVAL)

    async def tell_waiting(self) -> None:
        """Tell the hook all news that no node has taken. Raise StoreUnavailable if Redis fails."""
        while taken := await self.store.news.take(self._group, self.node, ABANDONED):
            id_, news = taken
            if news.event in _TOLD:
                await self._tell(id_, news)
            await self.store.news.done(self._group, id_)

    async def _tell(self, id_: NewsId, news: RaceNews) -> None:
        headers, body = message(self.address, news, self.page, self.secret)
        headers["X-Samedeal-Delivery"] = str(id_)
        error = "the news was too old"
        for wait in (0, *WAITS):
            await self.timers.sleep(wait)
            if await self.store.now() - news.time > STALE:
                break
            error, is_final = await self._post(headers, body)
            if not error:
                self.metrics.hooks["told"].inc()
                return
            self.metrics.hooks["failed"].inc()
            if is_final:
                break
        self.metrics.hooks["dropped"].inc()
        _log.warning(LogEvent.HOOK_FAILED, host=self.address.host, news=news.event, room=news.room.room, error=error)

    async def _post(self, headers: dict[str, str], body: bytes) -> tuple[str, bool]:
        """Send a request. Return what went wrong, or an empty text, and whether another attempt is of no use."""
        try:
            async with asyncio.timeout(TIMEOUT):
                status = await self._status(headers, body)
        except TimeoutError:
            return f"no answer within {TIMEOUT:g} seconds", False
        except (OSError, ValueError, IndexError) as error:
            return str(error) or type(error).__name__, False
        if 300 <= status < 400:
            return f"HTTP status {status}: name the address to which it redirects", True
        return "" if status < 300 else f"HTTP status {status}", status < 500 and status not in _TEMPORARY

    async def _status(self, headers: dict[str, str], body: bytes) -> int:
        """Send a request over a new connection, and return the HTTP status of the answer."""
        to = self.address
        named = {
            "Host": to.named_host,
            "User-Agent": "samedeal",
            "Content-Length": str(len(body)),
            "Connection": "close",
        }
        lines = [f"POST {to.target} HTTP/1.1", *(f"{name}: {value}" for name, value in (named | headers).items())]
        reader, writer = await asyncio.open_connection(to.host, to.port, ssl=self._tls)
        try:
            writer.write("\r\n".join([*lines, "", ""]).encode() + body)
            return int((await reader.readline()).split()[1])
        finally:
            writer.transport.abort()
