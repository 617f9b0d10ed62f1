"""Diagnosis of the connection to a server, step by step. After a failed step the diagnosis ends."""

from __future__ import annotations

import asyncio
import ssl
import statistics
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed
from websockets.proxy import get_proxy
from websockets.uri import parse_uri

from samedeal.errors import MalformedFrame
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import SUBPROTOCOL, Ping, Pong
from samedeal.terminal_text import printable
from samedeal_link.connection.address import ServerAddress, is_loopback_url
from samedeal_link.connection.dial import CannotConnect, dial
from samedeal_link.connection.sanitize import decode_sanitized
from samedeal_operate.doctor_results import Finding, found

STEP_TIMEOUT: Final = 5.0
"""Timeout, in seconds, for each ping."""

PINGS: Final = 5
SLOW_PING: Final = 250
"""Median round trip, in milliseconds, above which the player is warned."""

MAX_CLOCK_ERROR: Final = 120
"""Error of the local clock, in seconds, above which the player is warned. Certificates depend on the local clock."""

_EXPIRES_SOON: Final = 14 * 86_400
"""Time, in seconds, before the expiry of a certificate at which warnings begin."""


async def diagnose(address: ServerAddress) -> AsyncIterator[Finding]:
    """Check the connection to a server step by step, and yield a finding for each step. Stop after a failed step."""
    proxy = None if is_loopback_url(address.url) else get_proxy(parse_uri(address.url))
    if proxy is not None:
        yield found("proxy", host=urlsplit(proxy).hostname)
    try:
        connection = await dial(address)
    except CannotConnect as error:
        what, _, advice = str(error).removesuffix(".").rpartition(". ")
        yield found("no_server", problem=what, advice=f"{advice[:1].lower()}{advice[1:]}")
        return
    try:
        yield check_encryption(address, connection.transport.get_extra_info("ssl_object"), time.time())
        yield found("server", protocol=SUBPROTOCOL)
        yield await check_ping(connection)
    finally:
        await connection.close()


def check_encryption(address: ServerAddress, tls: ssl.SSLObject | None, now: float) -> Finding:
    """Check that nobody else can read a connection, and that the certificate of the server is valid for a while."""
    if tls is None and is_loopback_url(address.url):
        return found("no_tls_needed")
    if tls is None:
        return found("no_tls")
    version, certificate = tls.version(), tls.getpeercert() or {}
    expires_at = ssl.cert_time_to_seconds(str(certificate["notAfter"]))
    day = datetime.fromtimestamp(expires_at, UTC).date().isoformat()
    if expires_at - now < _EXPIRES_SOON:
        return found("certificate_expires", tls=version, day=day)
    return found("certificate", tls=version, day=day)


async def check_ping(connection: ClientConnection) -> Finding:
    """Measure the round trip, and how far the clocks of this machine and of the server differ."""
    round_trips: list[float] = []
    ahead = 0.0
    try:
        for number in range(PINGS):
            sent = time.monotonic()
            async with asyncio.timeout(STEP_TIMEOUT):
                await connection.send(encode(Ping(id=number)))
                answer = decode_sanitized(await connection.recv())
            if not isinstance(answer, Pong):
                return found("unexpected_answer")
            round_trips.append(1000 * (time.monotonic() - sent))
            ahead = answer.time / 1000 - time.time()
    except (TimeoutError, ConnectionClosed, MalformedFrame) as error:
        reason = printable(str(error)) or f"no answer within {STEP_TIMEOUT:g} s"
        return found("no_answer", reason=reason)
    median = statistics.median(round_trips)
    ping = f"round trip {median:.0f} ms ({min(round_trips):.0f} to {max(round_trips):.0f})"
    if abs(ahead) > MAX_CLOCK_ERROR:
        direction = "behind" if ahead > 0 else "ahead of"
        return found("wrong_clock", ping=ping, minutes=abs(ahead) / 60, direction=direction)
    return found("slow", ping=ping) if median > SLOW_PING else found("fast", ping=ping)
