"""Diagnosis of the connection to a server, step by step. After a failed step the diagnosis ends."""

from __future__ import annotations

import asyncio
import socket
import ssl
import statistics
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed
from websockets.proxy import get_proxy
from websockets.uri import parse_uri

from samedeal.errors import MalformedFrame
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import SUBPROTOCOL, Ping, Pong
from samedeal.terminal_text import printable
from samedeal_client.net.address import ServerAddress, is_loopback_url
from samedeal_client.net.dial import CannotConnect, certificate_advice, dial
from samedeal_client.net.sanitize import decode_sanitized
from samedeal_client.text.doctor_results import Finding, Severity, fail, ok, warn

STEP_TIMEOUT: Final = 5.0
"""Timeout, in seconds, for each step of the check before the WebSocket handshake, and for each ping."""

PINGS: Final = 5
SLOW_PING: Final = 250
"""Median round trip, in milliseconds, above which the player is warned."""

MAX_CLOCK_ERROR: Final = 120
"""Error of the local clock, in seconds, above which the player is warned. Certificates depend on the local clock."""

_EXPIRES_SOON: Final = 14
"""Number of days before the expiry of a certificate at which warnings begin."""


class Endpoint(NamedTuple):
    """A host with a port."""

    host: str
    port: int


def endpoint_of(address: ServerAddress) -> Endpoint:
    """Return the host and port of an address."""
    return Endpoint(address.host, address.port)


async def diagnose(address: ServerAddress) -> AsyncIterator[Finding]:
    """Check the connection to a server step by step, and yield a finding for each step. Stop after a failed step."""
    proxy = None if is_loopback_url(address.url) else get_proxy(parse_uri(address.url))
    if proxy is not None:
        yield ok("proxy", f"the connection goes through {urlsplit(proxy).hostname}, as this machine is configured")
    else:
        steps = [
            check_name(address),
            check_port(address),
            check_tls(address) if address.encrypted else check_no_tls(address),
        ]
        for number, step in enumerate(steps):
            finding = await step
            yield finding
            if finding.severity is Severity.FAIL:
                for rest in steps[number + 1 :]:
                    rest.close()
                return
    async for finding in _server(address):
        yield finding


async def check_name(address: ServerAddress) -> Finding:
    """Check that the host name has an address."""
    end = endpoint_of(address)
    try:
        async with asyncio.timeout(STEP_TIMEOUT):
            found = await asyncio.get_running_loop().getaddrinfo(end.host, end.port, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError):
        return fail("name", f"{end.host} has no address", "check its spelling and your network connection")
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    more = f" and {len(addresses) - 3} more" if len(addresses) > 3 else ""
    return ok("name", f"{end.host} is {', '.join(addresses[:3])}{more}")


async def check_port(address: ServerAddress) -> Finding:
    """Check that something listens at the port."""
    end = endpoint_of(address)
    began = time.monotonic()
    try:
        async with asyncio.timeout(STEP_TIMEOUT):
            _, writer = await asyncio.open_connection(end.host, end.port)
    except TimeoutError:
        return fail(
            "port",
            f"no answer from port {end.port} of {end.host} within {STEP_TIMEOUT:g} s",
            "a firewall may block the connection; ask the server's operator, or try another network",
        )
    except ConnectionRefusedError:
        others = "" if is_loopback_url(address.url) else ", and it needs --host all to accept other machines"
        return fail(
            "port",
            f"nothing listens at port {end.port} of {end.host}",
            f"check the port and that the server is running; samedeal serve starts one{others}",
        )
    except OSError as error:
        return fail(
            "port", f"cannot reach port {end.port} of {end.host}: {_reason(error)}", "check your network connection"
        )
    took = round(1000 * (time.monotonic() - began))
    writer.transport.abort()
    return ok("port", f"port {end.port} accepted a connection within {took} ms")


async def check_tls(address: ServerAddress) -> Finding:
    """Check that the connection is encrypted with a trusted certificate."""
    end = endpoint_of(address)
    try:
        async with asyncio.timeout(STEP_TIMEOUT):
            _, writer = await asyncio.open_connection(
                end.host, end.port, ssl=ssl.create_default_context(), server_hostname=end.host
            )
    except ssl.SSLCertVerificationError as error:
        return fail(
            "TLS",
            f"the certificate is not trusted: {error.verify_message}",
            certificate_advice(error),
        )
    except (ssl.SSLError, ConnectionError):
        return fail(
            "TLS",
            f"port {end.port} does not speak TLS",
            f"if the server has no TLS, write ws://{_endpoint_text(end)}; the connection is then not encrypted",
        )
    except TimeoutError:
        return fail("TLS", f"the TLS handshake did not end within {STEP_TIMEOUT:g} s", "check the port")
    except OSError as error:
        return fail("TLS", f"TLS failed: {_reason(error)}", "try again")
    tls = writer.get_extra_info("ssl_object")
    finding = _certificate_finding(tls.version() or "TLS", tls.getpeercert(), time.time())
    writer.transport.abort()
    return finding


def _certificate_finding(version: str, certificate: dict[str, object] | None, now: float) -> Finding:
    expiry = (certificate or {}).get("notAfter")
    if not isinstance(expiry, str):
        return ok("TLS", version)
    expires_at = ssl.cert_time_to_seconds(expiry)
    days = int((expires_at - now) // 86_400)
    day = datetime.fromtimestamp(expires_at, UTC).date().isoformat()
    if days < _EXPIRES_SOON:
        return warn("TLS", f"{version}, but the certificate expires on {day}", "ask the server's operator to renew it")
    return ok("TLS", f"{version}, with a trusted certificate until {day}")


async def check_no_tls(address: ServerAddress) -> Finding:
    """Check that a connection without TLS stays on this machine. Otherwise the finding is a warning."""
    if is_loopback_url(address.url):
        return ok("TLS", "the connection has no TLS; none is needed on this machine")
    return warn("TLS", "no TLS: others on the network can read the connection", "use wss:// outside your own network")


async def _server(address: ServerAddress) -> AsyncIterator[Finding]:
    try:
        connection = await dial(address)
    except CannotConnect as error:
        what, _, advice = str(error).removesuffix(".").rpartition(". ")
        yield fail("server", what, f"{advice[:1].lower()}{advice[1:]}")
        return
    try:
        yield ok("server", f"a Samedeal server that speaks {SUBPROTOCOL}")
        yield await check_ping(connection)
    finally:
        await connection.close()


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
                return fail("ping", "the server sent an unexpected answer", "update this client or the server")
            round_trips.append(1000 * (time.monotonic() - sent))
            ahead = answer.time / 1000 - time.time()
    except (TimeoutError, ConnectionClosed, MalformedFrame) as error:
        reason = printable(str(error)) or f"no answer within {STEP_TIMEOUT:g} s"
        return fail("ping", f"the server stopped answering: {reason}", "try again later; the server may be overloaded")
    median = statistics.median(round_trips)
    result = f"round trip {median:.0f} ms ({min(round_trips):.0f} to {max(round_trips):.0f})"
    if abs(ahead) > MAX_CLOCK_ERROR:
        direction = "behind" if ahead > 0 else "ahead of"
        return warn(
            "ping",
            f"{result}; this machine's clock is {abs(ahead) / 60:.0f} min {direction} the server's",
            "set this machine's clock; races use the server's clock, but certificates depend on yours",
        )
    if median > SLOW_PING:
        return warn("ping", result, "moves are shown at once, but unseen cards are turned up late")
    return ok("ping", result)


def _reason(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__


def _endpoint_text(end: Endpoint) -> str:
    return f"[{end.host}]:{end.port}" if ":" in end.host else f"{end.host}:{end.port}"
