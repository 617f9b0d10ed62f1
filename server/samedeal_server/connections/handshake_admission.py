"""Admission of connections, before and during the WebSocket handshake."""

from __future__ import annotations

import http
import ipaddress
from collections import Counter
from collections.abc import Collection
from dataclasses import InitVar, dataclass, field
from typing import Final
from urllib.parse import urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from samedeal.terminal_text import printable
from samedeal_server.config.addresses import is_loopback, parse_address
from samedeal_server.config.limits import LiveLimits, Networks
from samedeal_server.config.token_buckets import NETWORK_FACTORS, decrement
from samedeal_server.config.trusted_proxies import FORWARDED, TrustedProxies
from samedeal_server.telemetry.logger import get_logger
from samedeal_server.telemetry.logs import ThrottledLog
from samedeal_server.telemetry.metrics import Metrics

RETRY_AFTER: Final = "5"
"""Value, in seconds, of the header Retry-After for clients that are rejected for now."""

_MAX_ORIGIN_WIDTH: Final = 100

_ORIGIN_HELP: Final = "a proxy must pass Host and be in --trusted-proxies, and --origins admits other pages"

_IPV6_PREFIXES: Final = (64, 56, 48)

_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}

_log = get_logger()


@dataclass(eq=False, repr=False)
class HandshakeAdmission:
    """Decides which connections are admitted, and counts the connections of each network.

    ``origins`` holds the origins of web pages that may connect in addition to the server's own page, or ``*`` for all
    pages. ``public_url`` is the address for players if it differs from the address of this machine.
    """

    limits: LiveLimits
    metrics: InitVar[Metrics]
    origins: InitVar[Collection[str]] = ()
    trusted_proxies: InitVar[Collection[str]] = ()
    public_url: InitVar[str] = ""
    pending: dict[ServerConnection, Networks] = field(default_factory=dict)
    open_by_network: Counter[str] = field(default_factory=Counter)
    _pending_by_network: Counter[str] = field(default_factory=Counter)
    _warned_of_proxy: bool = False

    def __post_init__(
        self, metrics: Metrics, origins: Collection[str], trusted_proxies: Collection[str], public_url: str
    ) -> None:
        self.refused = metrics.handshakes_refused
        self._proxies = TrustedProxies(trusted_proxies)
        self._throttled_log = ThrottledLog(_log)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)
        self._public_host = urlsplit(public_url.lower()).hostname

    def address(self, socket: ServerConnection) -> str:
        """Return the address of a client.

        If the client connects through trusted proxies, return the address that the proxies report. The address of a
        client on a Unix socket is ``local``.
        """
        peer = peer_of(socket)
        return peer if socket.request is None else self._proxies.client(peer, socket.request.headers.get_all(FORWARDED))

    def is_encrypted(self, socket: ServerConnection, request: Request) -> bool:
        """Return whether a client uses TLS, with this node or with a trusted proxy."""
        if socket.transport.get_extra_info("sslcontext") is not None:
            return True
        return self._proxies.trusts(peer_of(socket)) and request.headers.get_all("X-Forwarded-Proto") == ["https"]

    def prefix(self, socket: ServerConnection, request: Request) -> str:
        """Return the path that a trusted proxy says that it has removed, or an empty string."""
        return "".join(request.headers.get_all("X-Forwarded-Prefix")) if self._proxies.trusts(peer_of(socket)) else ""

    def track_pending(self, socket: ServerConnection) -> None:
        """Count a connection as pending: its handshake is not complete.

        If too many connections are pending, in total or from one network, abort the oldest of them.
        """
        networks = networks_of(self.address(socket))
        self.pending[socket] = networks
        self._pending_by_network.update(networks)
        if len(self.pending) > self.limits.current.handshakes:
            self._evict_pending(next(iter(self.pending)), networks[0])
        elif not self._proxies.trusts(peer_of(socket)):
            for network, limit in self._connection_limits(networks):
                if self._pending_by_network[network] > limit:
                    oldest = next(pending for pending, its_own in self.pending.items() if network in its_own)
                    self._evict_pending(oldest, network)

    def _connection_limits(self, networks: Networks) -> list[tuple[str, int]]:
        """Return each network of an address, and the maximum number of connections from the network."""
        limit = self.limits.current.connections_per_address
        return [(network, factor * limit) for network, factor in zip(networks, NETWORK_FACTORS, strict=False)]

    def _evict_pending(self, socket: ServerConnection, network: str) -> None:
        self.done(socket)
        socket.transport.abort()
        self.refused["too_many_handshakes"].inc()
        self._throttled_log.info(
            "handshake_rejected", "too_many_handshakes", network=network, handshakes=len(self.pending)
        )

    def done(self, socket: ServerConnection) -> bool:
        """Stop counting a connection as pending. Return False if it was not counted."""
        networks = self.pending.pop(socket, None)
        if networks is not None:
            decrement(self._pending_by_network, networks)
        return networks is not None

    def refuse_origin(self, socket: ServerConnection, request: Request) -> Response | None:
        """Return the response that rejects a web page whose origin may not connect, or None if it may connect."""
        origins = request.headers.get_all("Origin")
        if all(self._allows(origin, request.headers.get_all("Host"), peer_of(socket)) for origin in origins):
            return None
        origin = printable(origins[0], _MAX_ORIGIN_WIDTH)
        self.reject("origin", socket, origin=origin, help=_ORIGIN_HELP)
        sentence = f"This server accepts no connections from pages of {origin}. Tell its operator: {_ORIGIN_HELP}.\n"
        return socket.respond(http.HTTPStatus.FORBIDDEN, sentence)

    def refuse_excess(self, socket: ServerConnection, request: Request, count: int) -> Response | None:
        """Return the response that rejects a handshake because there are too many connections.

        Return None if the connection may be opened. ``count`` is the number of open connections to this node that count
        towards the limit.
        """
        self._warn_if_ignored(request, peer_of(socket))
        if count >= (limit := self.limits.current.connections):
            self._throttled_log.warning("server_full", "limit-connections", limit=limit)
            self.reject("full", socket)
            return busy(socket, http.HTTPStatus.SERVICE_UNAVAILABLE, "This server is full. Try again later.")
        networks = networks_of(self.address(socket))
        if any(self.open_by_network[network] >= limit for network, limit in self._connection_limits(networks)):
            self.reject("address", socket)
            return busy(
                socket,
                http.HTTPStatus.TOO_MANY_REQUESTS,
                "Too many connections are open from your address. Close one, or try again later.",
            )
        return None

    def _warn_if_ignored(self, request: Request, peer: str) -> None:
        """Warn once if a peer that is not a trusted proxy sends ``X-Forwarded-For``.

        The peer may be a proxy that was not configured.
        """
        if self._warned_of_proxy or FORWARDED not in request.headers or self._proxies.trusts(peer):
            return
        self._warned_of_proxy = True
        _log.warning(
            "forwarded_for_ignored",
            address=peer,
            help="if this is a proxy, name it with --trusted-proxies; until then all its clients count as one",
        )

    def reject(self, reason: str, socket: ServerConnection, **fields: object) -> None:
        """Count a rejected connection.

        Log the rejection, unless another one with the same reason was logged recently.
        """
        self.refused[reason].inc()
        self._throttled_log.info("handshake_rejected", reason, address=self.address(socket), **fields)

    def opened(self, networks: Networks) -> None:
        """Count an open connection in each of the networks that contain its address."""
        self.open_by_network.update(networks)

    def closed(self, networks: Networks) -> None:
        """Stop counting a connection in each of these networks, because it has closed."""
        decrement(self.open_by_network, networks)

    def _allows(self, origin: str, hosts: list[str], peer: str) -> bool:
        if "*" in self._origins or origin.lower() in self._origins:
            return True
        if len(hosts) != 1 or not is_same_host(origin, hosts[0]):
            return False
        # A foreign page can let its own name lead to this machine (DNS rebinding), and would be of the same host then.
        host = urlsplit(origin).hostname
        is_own_host = host in ("localhost", self._public_host) or is_loopback(host or "")
        return not is_loopback(peer) or self._proxies.trusts(peer) or is_own_host


def busy(socket: ServerConnection, status: http.HTTPStatus, sentence: str) -> Response:
    """Return the response to a handshake that is rejected for now. The client may retry later."""
    response = socket.respond(status, f"{sentence}\n")
    response.headers["Retry-After"] = RETRY_AFTER
    return response


def networks_of(address: str) -> Networks:
    """Return the networks that contain an address and have rate limits, the smallest first.

    An IPv4 address is a network of its own. An IPv6 address belongs to a /64 (usually one host), a /56 (often one home)
    and a /48 (often one server or organization).
    """
    parsed = parse_address(address)
    if not isinstance(parsed, ipaddress.IPv6Address):
        return (str(parsed or address),)
    return tuple(str(ipaddress.ip_network((parsed, prefix), strict=False)) for prefix in _IPV6_PREFIXES)


def is_own_page(request: Request) -> bool:
    """Return whether a request comes from a web page of the host and port that it goes to."""
    origins, hosts = request.headers.get_all("Origin"), request.headers.get_all("Host")
    return len(origins) == len(hosts) == 1 and is_same_host(origins[0], hosts[0])


def is_same_host(origin: str, host: str) -> bool:
    """Return whether a web page connects to the host and port that it was loaded from.

    ``origin`` and ``host`` are the headers Origin and Host of the page's request.
    """
    try:
        page = urlsplit(origin.lower())
        server = urlsplit(f"{page.scheme}://{host.lower()}")
        port = _PORTS.get(page.scheme)
        return bool(page.hostname) and (page.hostname, page.port or port) == (server.hostname, server.port or port)
    except ValueError:
        return False


def peer_of(socket: ServerConnection) -> str:
    """Return the address that a connection comes from. If the client uses a proxy, this is the address of the proxy."""
    if known := getattr(socket, "peer", ""):
        return str(known)
    try:
        peer = socket.remote_address
    except ValueError:  # raised under uvloop once the connection is lost
        return "gone"
    if not isinstance(peer, tuple):
        return "local"
    host = str(peer[0])
    return host.removeprefix("::ffff:") if "." in host else host  # an IPv4 client of a socket for IPv4 and IPv6
