"""The way to a server, step by step: each check is one step, and the first that fails is the last."""

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
from samedeal.names import printable
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import SUBPROTOCOL, Ping, Pong
from samedeal_client.net.address import Address, is_loopback_url
from samedeal_client.net.dial import CannotConnect, dial, own_authority
from samedeal_client.net.hearing import hear
from samedeal_client.text.findings import Finding, Verdict, fail, ok, warn

PATIENCE: Final = 5.0
"""Seconds for each step."""

PINGS: Final = 5
SLOW: Final = 250
"""Milliseconds of a round trip from which on a race feels late."""

CLOCK_ASKEW: Final = 120
"""Seconds by which one's clock may be wrong before it is worth a word; certificates go by it."""

_EXPIRES_SOON: Final = 14


class End(NamedTuple):
    """A host and a port."""

    host: str
    port: int


def end_of(address: Address) -> End:
    """Where an address leads."""
    parts = urlsplit(address.url)
    return End(parts.hostname or "", parts.port or (443 if address.encrypted else 80))


async def way(address: Address) -> AsyncIterator[Finding]:
    """Go the way to a server, and say of each step how it went."""
    proxy = None if is_loopback_url(address.url) else get_proxy(parse_uri(address.url))
    if proxy is not None:
        yield ok("proxy", f"the way goes through {urlsplit(proxy).hostname}, as this machine's settings wish")
    else:
        steps = [names(address), port(address), certificate(address) if address.encrypted else in_clear(address)]
        for number, step in enumerate(steps):
            finding = await step
            yield finding
            if finding.verdict is Verdict.FAIL:
                for rest in steps[number + 1 :]:
                    rest.close()
                return
    async for finding in _server(address):
        yield finding


async def names(address: Address) -> Finding:
    """Whether the host's name has an address."""
    end = end_of(address)
    try:
        async with asyncio.timeout(PATIENCE):
            found = await asyncio.get_running_loop().getaddrinfo(end.host, end.port, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError):
        return fail(
            "name", f"{end.host} has no address", "check how it is written, and that this machine is on the network"
        )
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    more = f" and {len(addresses) - 3} more" if len(addresses) > 3 else ""
    return ok("name", f"{end.host} is {', '.join(addresses[:3])}{more}")


async def port(address: Address) -> Finding:
    """Whether anything listens there."""
    end = end_of(address)
    began = time.monotonic()
    try:
        async with asyncio.timeout(PATIENCE):
            _, writer = await asyncio.open_connection(end.host, end.port)
    except TimeoutError:
        return fail(
            "port",
            f"no answer from port {end.port} of {end.host} within {PATIENCE:g} s",
            "a firewall may be in the way: on the server's side, in between, or here",
        )
    except ConnectionRefusedError:
        others = "" if is_loopback_url(address.url) else "; for other machines it is started with --host 0.0.0.0"
        return fail(
            "port",
            f"nothing listens at port {end.port} of {end.host}",
            f"is the server running, and is that its port? samedeal serve starts one{others}",
        )
    except OSError as error:
        return fail("port", f"port {end.port} of {end.host} can't be reached: {_why(error)}", "check the network")
    took = round(1000 * (time.monotonic() - began))
    writer.transport.abort()
    return ok("port", f"port {end.port} answers, in {took} ms")


async def certificate(address: Address) -> Finding:
    """Whether the connection is encrypted with a certificate that is trusted here."""
    end = end_of(address)
    try:
        async with asyncio.timeout(PATIENCE):
            _, writer = await asyncio.open_connection(
                end.host, end.port, ssl=ssl.create_default_context(), server_hostname=end.host
            )
    except ssl.SSLCertVerificationError as error:
        return fail(
            "TLS",
            f"the certificate is not trusted: {error.verify_message}{own_authority(error)}",
            "check the address and this machine's clock; the server's owner may have to renew the certificate",
        )
    except (ssl.SSLError, ConnectionError):
        return fail(
            "TLS",
            f"port {end.port} does not speak TLS",
            f"if the server has none, write ws://{_written(end)}; what is sent can then be read on the way",
        )
    except TimeoutError:
        return fail("TLS", f"no TLS within {PATIENCE:g} s", f"is {end.port} the right port?")
    except OSError as error:
        return fail("TLS", f"TLS fails: {_why(error)}", "try again")
    tls = writer.get_extra_info("ssl_object")
    told = _told_of(tls.version() or "TLS", tls.getpeercert(), time.time())
    writer.transport.abort()
    return told


def _told_of(version: str, certified: dict[str, object] | None, now: float) -> Finding:
    ends = (certified or {}).get("notAfter")
    if not isinstance(ends, str):
        return ok("TLS", version)
    at = ssl.cert_time_to_seconds(ends)
    days = int((at - now) // 86_400)
    day = datetime.fromtimestamp(at, UTC).date().isoformat()
    if days < _EXPIRES_SOON:
        return warn("TLS", f"{version}, but the certificate ends on {day}", "tell the server's owner to renew it")
    return ok("TLS", f"{version}, a trusted certificate until {day}")


async def in_clear(address: Address) -> Finding:
    """That a connection without TLS is one."""
    if is_loopback_url(address.url):
        return ok("TLS", "none, and none needed: the server is on this machine")
    return warn("TLS", "none: what is sent can be read on the way", "in one's own network that may do; else use wss://")


async def _server(address: Address) -> AsyncIterator[Finding]:
    try:
        connection = await dial(address)
    except CannotConnect as error:
        yield fail("server", str(error), "check the address, and that client and server are of the same age")
        return
    try:
        yield ok("server", f"a Samedeal server, which speaks {SUBPROTOCOL}")
        yield await ping(connection)
    finally:
        await connection.close()


async def ping(connection: ClientConnection) -> Finding:
    """How long the way is, there and back, and whether the clocks agree."""
    trips: list[float] = []
    ahead = 0.0
    try:
        for number in range(PINGS):
            sent = time.monotonic()
            async with asyncio.timeout(PATIENCE):
                await connection.send(encode(Ping(id=number)))
                answer = hear(await connection.recv())
            if not isinstance(answer, Pong):
                return fail("ping", "the server answers something else", "update this client, or the server")
            trips.append(1000 * (time.monotonic() - sent))
            ahead = answer.time / 1000 - time.time()
    except (TimeoutError, ConnectionClosed, MalformedFrame) as error:
        why = printable(str(error)) or f"no answer within {PATIENCE:g} s"
        return fail("ping", f"the server says hello and then nothing: {why}", "try again; the server may be overloaded")
    median = statistics.median(trips)
    said = f"{median:.0f} ms there and back ({min(trips):.0f} to {max(trips):.0f})"
    if abs(ahead) > CLOCK_ASKEW:
        askew = "behind" if ahead > 0 else "ahead of"
        return warn(
            "ping",
            f"{said}; this machine's clock is {abs(ahead) / 60:.0f} min {askew} the server's",
            "races go by the server's clock all the same; set yours, certificates go by it",
        )
    if median > SLOW:
        return warn("ping", said, "moves show at once all the same, but for cards that are turned up")
    return ok("ping", said)


def _why(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__


def _written(end: End) -> str:
    return f"[{end.host}]:{end.port}" if ":" in end.host else f"{end.host}:{end.port}"
