"""The door of a node: sockets before their handshake is done and below their messages, and who is let in."""

from __future__ import annotations

import http
import ipaddress
import time
from collections import Counter
from collections.abc import Collection
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from websockets.asyncio.server import Server, ServerConnection
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

from samedeal.names import printable
from samedeal.protocol.messages import Close
from samedeal_server.limits import Bucket, Limits
from samedeal_server.logs import Seldom
from samedeal_server.metrics import Metrics
from samedeal_server.proxies import FORWARDED, Proxies

LARGEST_REQUEST: Final = 16 * 1024
"""Bytes of a handshake; browsers and proxies send a few hundred to a few thousand."""

_PARTING: Final = 2.0
"""Seconds in which a client has to go whose close was answered, or who was sent away for what it did."""

_COME_BACK: Final = "5"
"""Seconds after which who finds no room may come again."""

_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}

_log: structlog.stdlib.BoundLogger = structlog.get_logger("door")


class Door:
    """Who is let in, and how many. ``origins`` are those of pages that may connect beside the server's own, or ``*``."""

    def __init__(
        self,
        limits: Limits,
        metrics: Metrics,
        origins: Collection[str] = (),
        trusted_proxies: Collection[str] = (),
    ) -> None:
        self.limits = limits
        self._proxies = Proxies(trusted_proxies)
        self.refused = metrics.handshakes_refused
        self._seldom = Seldom(_log)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)
        self._knocking: dict[ServerConnection, str] = {}
        self._knocks: Counter[str] = Counter()
        self._inside: Counter[str] = Counter()

    def address(self, socket: ServerConnection) -> str:
        """The address of a client, for the log; "local" where it is on this machine's own kind of socket."""
        peer = _peer(socket)
        return peer if socket.request is None else self._proxies.client(peer, socket.request.headers.get_all(FORWARDED))

    # ---------------------------------------------------------------- handshakes

    def knock(self, socket: Socket) -> None:
        """Take a connection that has not said yet what it wants; where too many have not, the oldest one gives way."""
        network = network_of(self.address(socket))
        self._knocking[socket] = network
        self._knocks[network] += 1
        if len(self._knocking) > self.limits.handshakes:
            self._give_way(next(iter(self._knocking)), network)
        elif self._knocks[network] > self.limits.connections_per_address and not self._proxies.trusts(_peer(socket)):
            self._give_way(next(each for each, its in self._knocking.items() if its == network), network)

    def _give_way(self, socket: ServerConnection, network: str) -> None:
        self.done(socket)
        socket.transport.abort()
        self.refused["crowded"].inc()
        self._seldom.info("turned_away", "crowded", network=network, handshakes=len(self._knocking))

    def done(self, socket: ServerConnection) -> bool:
        """Count a connection no more that has said what it wants, or is gone; whether it was counted until now."""
        network = self._knocking.pop(socket, None)
        if network is not None:
            _less(self._knocks, network)
        return network is not None

    def refuse(self, socket: ServerConnection, request: Request, inside: int) -> Response | None:
        """The answer to a handshake that is not let in, None for one that is; ``inside`` is how many are."""
        origins = request.headers.get_all("Origin")
        if any(not self._allows(origin, request.headers.get_all("Host")) for origin in origins):
            told = printable(origins[0], 100)
            self.turn_away("origin", socket, origin=told)
            return socket.respond(
                http.HTTPStatus.FORBIDDEN,
                f"This server takes no connections from pages of {told}: its host may allow them with --origins.\n",
            )
        if inside >= self.limits.connections:
            self.turn_away("full", socket)
            return busy(socket, http.HTTPStatus.SERVICE_UNAVAILABLE, "This server is full: try again later.")
        if self._inside[network_of(self.address(socket))] >= self.limits.connections_per_address:
            self.turn_away("address", socket)
            return busy(socket, http.HTTPStatus.TOO_MANY_REQUESTS, "Too many connections from your address.")
        return None

    def turn_away(self, reason: str, socket: ServerConnection, **fields: object) -> None:
        """Count a connection that is not let in, and log it now and then."""
        self.refused[reason].inc()
        self._seldom.info("turned_away", reason, address=self.address(socket), **fields)

    def _allows(self, origin: str, hosts: list[str]) -> bool:
        if "*" in self._origins or origin.lower() in self._origins:
            return True
        return len(hosts) == 1 and is_same_host(origin, hosts[0])

    # ---------------------------------------------------------------- inside

    def enter(self, network: str) -> None:
        """Count a connection that is in."""
        self._inside[network] += 1

    def leave(self, network: str) -> None:
        """Take back an ``enter``."""
        _less(self._inside, network)


class Socket(ServerConnection):
    """A connection that is bounded below its messages: in what it sends before and beside them."""

    def __init__(self, door: Door, protocol: ServerProtocol, server: Server, **options: Any) -> None:
        super().__init__(protocol, server, **options)
        self.peer = ""
        self._door = door
        self._asked = 0
        self._floods = False
        self._ends = False
        most = door.limits.control_frames
        self._frames = Bucket(most / 60, most, time.monotonic())

    def connection_made(self, transport: Any) -> None:
        """Count it among those that have not said yet what they want."""
        super().connection_made(transport)
        self.peer = _peer(self)  # nobody tells when it is gone
        self._door.knock(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it no more."""
        if self._door.done(self):
            error = self.protocol.handshake_exc
            if self.request is None and not self._asked:
                self._door.refused["silent"].inc()  # as the checks of load balancers are
            elif self.request is None or error is not None:
                cause = (error and error.__cause__) or error or "it ended half-way"
                self._door.turn_away("malformed", self, error=str(cause))
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes, but before there was a handshake no more than one has; who ought to go is cut in a while."""
        if self.request is None:
            self._asked += len(data)
            if self._asked > LARGEST_REQUEST:
                status = http.HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
                self.transport.write(self.respond(status, "That is too long for a handshake.\n").serialize())
                self.transport.close()
                return
        super().data_received(data)
        if self.protocol.close_sent is not None and not self._ends:
            self._ends = True
            self.loop.call_later(_PARTING, self.transport.abort)

    def process_event(self, event: Any) -> None:
        """Count what the library answers, or holds, without asking anybody; whole messages are paced by who reads them."""
        whole = isinstance(event, Frame) and event.fin and event.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CLOSE)
        if isinstance(event, Frame) and not whole and self._frames.take(time.monotonic()):
            self._floods = True
            if self.protocol.close_sent is None:
                self.protocol.fail(Close.FLOOD, "too many control frames, or parts of messages")
                self.send_data()
        if not self._floods:
            super().process_event(event)


def busy(socket: ServerConnection, status: http.HTTPStatus, sentence: str) -> Response:
    """The answer to a handshake that may be let in later."""
    response = socket.respond(status, f"{sentence}\n")
    response.headers["Retry-After"] = _COME_BACK
    return response


def network_of(address: str) -> str:
    """What is counted as one address: itself, or of IPv6 the network of 64 bits, which one customer has whole."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False))


def is_same_host(origin: str, host: str) -> bool:
    """Whether a browser's page came from the host, and port, that it connects to."""
    try:
        page = urlsplit(origin.lower())
        server = urlsplit(f"{page.scheme}://{host.lower()}")
        port = _PORTS.get(page.scheme)
        return bool(page.hostname) and (page.hostname, page.port or port) == (server.hostname, server.port or port)
    except ValueError:
        return False


def _peer(socket: ServerConnection) -> str:
    """The address that a connection comes from, which may be a proxy's."""
    if isinstance(socket, Socket) and socket.peer:
        return socket.peer
    try:
        peer = socket.remote_address
    except ValueError:  # what uvloop says when it is gone already
        return "gone"
    return str(peer[0]) if isinstance(peer, tuple) else "local"


def _less(counter: Counter[str], network: str) -> None:
    counter[network] -= 1
    if not counter[network]:
        del counter[network]
