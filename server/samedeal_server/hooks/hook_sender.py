"""Telling a hook the news of public races or the reports of players, once over all nodes, and again if that fails.

The news waits in the store, which keeps a bounded number. Nothing else waits for a hook.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import samedeal
from samedeal.protocol.admin import ReportLine
from samedeal_server.config.hook_addresses import HookAddress
from samedeal_server.hooks.hook_messages import message
from samedeal_server.loop_timers import LOOP_TIMERS, Timers
from samedeal_server.races.public_facts import RaceNews
from samedeal_server.store.news import NewsId, NewsStore, ReportStore
from samedeal_server.store.store import Store
from samedeal_server.telemetry.logger import get_logger
from samedeal_server.telemetry.metrics import Metrics

INTERVAL: Final = 1.0
"""Interval, in seconds, at which a node looks for news that no node has taken."""

TIMEOUT: Final = 10.0
"""Timeout, in seconds, for a hook to answer."""

WAITS: Final = (1, 2, 4, 8, 16, 32, 60)
"""Times, in seconds, to wait before each further attempt. After the last one the news is dropped.

A hook can ask for a longer wait, up to the last one, with the header Retry-After.
"""

ABANDONED: Final = 600_000
"""Time, in milliseconds, after which another node tells the news that a node has taken. All attempts take less."""

STALE: Final = 900_000
"""Age, in milliseconds, at which news is dropped: nobody wants to hear that a race was about to start."""

_TOLD: Final = ("opened", "finished")
"""The news that hooks are told. That a race starts is of no use to somebody who was not asked to join before."""

_TEMPORARY: Final = (408, 425, 429)
"""The HTTP statuses below 500 with which a hook asks for another attempt."""

_RETRY_AFTER: Final = re.compile(rb"(?i)\nretry-after: *([0-9]{1,6}(?:\.[0-9]{1,6})?)\r")

_log = get_logger()


@dataclass
class HookSender:
    """Tells one hook the news in ``feed``. ``page`` and ``secret`` are those of ``hook_messages.message``."""

    store: Store
    feed: NewsStore | ReportStore
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
        while taken := await self.feed.take(self._group, ABANDONED):
            id_, news = taken
            if isinstance(news, ReportLine) or news.event in _TOLD:
                await self._tell(id_, news)
            await self.feed.done(self._group, id_)

    async def _tell(self, id_: NewsId, news: RaceNews | ReportLine) -> None:
        headers, body = message(self.address, news, self.page, self.secret)
        headers["X-Samedeal-Delivery"] = str(id_)
        error, asked = "the news was too old", 0.0
        for wait in (0, *WAITS):
            await self.timers.sleep(max(wait, min(asked, WAITS[-1])))
            if await self.store.now() - news.time > STALE:
                break
            error, is_final, asked = await self._post(headers, body)
            if not error:
                self.metrics.hooks["told"].inc()
                return
            self.metrics.hooks["failed"].inc()
            if is_final:
                break
        self.metrics.hooks["dropped"].inc()
        event, room = ("report", news.room) if isinstance(news, ReportLine) else (news.event, news.room.room)
        _log.warning("hook_failed", host=self.address.host, news=event, room=room, error=error)

    async def _post(self, headers: dict[str, str], body: bytes) -> tuple[str, bool, float]:
        """Send a request. Return what went wrong, or an empty text, whether another attempt is of no use, and a wait."""
        try:
            async with asyncio.timeout(TIMEOUT):
                status, wait = await self._ask(headers, body)
        except TimeoutError:
            return f"no answer within {TIMEOUT:g} seconds", False, 0.0
        except (OSError, EOFError, ValueError, IndexError, asyncio.LimitOverrunError) as error:
            return str(error) or type(error).__name__, False, 0.0
        if 300 <= status < 400:
            return f"HTTP status {status}: name the address to which it redirects", True, 0.0
        return "" if status < 300 else f"HTTP status {status}", status < 500 and status not in _TEMPORARY, wait

    async def _ask(self, headers: dict[str, str], body: bytes) -> tuple[int, float]:
        """Send a request over a new connection. Return the HTTP status of the answer, and the wait that it asks for."""
        to = self.address
        named = {
            "Host": to.named_host,
            "User-Agent": f"samedeal/{samedeal.__version__}",
            "Content-Length": str(len(body)),
            "Connection": "close",
        }
        lines = [f"POST {to.target} HTTP/1.1", *(f"{name}: {value}" for name, value in (named | headers).items())]
        reader, writer = await asyncio.open_connection(to.host, to.port, ssl=self._tls)
        try:
            writer.write("\r\n".join([*lines, "", ""]).encode() + body)
            head = await reader.readuntil(b"\r\n\r\n")
            asked = _RETRY_AFTER.search(head)
            return int(head.split()[1]), float(asked[1]) if asked else 0.0
        finally:
            writer.transport.abort()
