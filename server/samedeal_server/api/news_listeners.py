"""Listeners to the news of public races, over server-sent events.

A listener is an HTTP client whose response does not end. The node reads the stream of news about once a second, so that
each listener gets the news of all nodes. A client that reconnects says which news it had last, and gets the rest.
"""

from __future__ import annotations

import http
from collections import Counter
from typing import Final

import msgspec
from websockets.datastructures import Headers
from websockets.http11 import Response

from samedeal.errors import RequestRefused
from samedeal_server.connections.client_socket import ClientSocket
from samedeal_server.errors import StoreUnavailable
from samedeal_server.rooms.registry import RoomRegistry
from samedeal_server.store.news import NewsId

INTERVAL: Final = 1.0
"""Interval, in seconds, at which the node reads the news."""

_ROUNDS_PER_COMMENT: Final = 15
"""Number of intervals between comments, which keep proxies from closing the connection of a listener."""

MAX_UNSENT: Final = 64 * 1024
"""Maximum number of bytes that wait for a listener when there is more. A slower listener is disconnected."""

_NETWORKS: Final = 20
"""The part of all listeners, as 1 in this number, that a network may have."""

_UNKNOWN: Final = NewsId(1 << 62, 0)
"""The position of a new listener until it is known which news is the newest."""

_HEAD: Final = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # nginx would wait for more news before it sends any
    "X-Content-Type-Options": "nosniff",
    "Connection": "close",
}


class StreamHead(Response):
    """The response to a listener, without its end.

    Its code is that of a successful handshake, so that the WebSocket library leaves the connection open and calls the
    function that serves connections. The client gets 200. ``last`` is the id of the news that the client had last, and
    ``network`` the largest network of its address that has limits.
    """

    def __init__(self, last: NewsId | None, network: str) -> None:
        super().__init__(http.HTTPStatus.SWITCHING_PROTOCOLS.value, http.HTTPStatus.OK.phrase, Headers(_HEAD))
        self.last = last
        self.network = network

    def serialize(self) -> bytes:
        """Return the response as it is sent."""
        return b"HTTP/1.1 200 OK\r\n" + self.headers.serialize()


class NewsListeners:
    """All listeners of a node, which their networks share.

    ``positions`` has the id of the news that each listener had last, in the order in which they came.
    """

    def __init__(self, rooms: RoomRegistry) -> None:
        self._rooms = rooms
        self._news = rooms.store.news
        self.positions: dict[ClientSocket, NewsId] = {}
        self._networks: dict[ClientSocket, str] = {}

    def admit(self, method: str, last: NewsId | None, network: str) -> Response:
        """Return the response to a new listener from a network. ``last`` is the id of the news that it had last.

        If the node is full, the newest listener of the network with the most of them gives way, unless the new one's
        network would then have as many.
        """
        if method == "HEAD":
            return Response(http.HTTPStatus.OK.value, http.HTTPStatus.OK.phrase, Headers(_HEAD))
        most, counts = self._rooms.limits.listeners, Counter(self._networks.values())
        if counts[network] >= max(1, most // _NETWORKS):
            raise RequestRefused(
                "server_full", "Too many programs at your address listen to the news. Try again later."
            )
        if len(self.positions) >= most:
            largest, count = counts.most_common(1)[0] if counts else ("", 0)
            if counts[network] + 1 >= count:
                raise RequestRefused(
                    "server_full", "Too many programs listen to the news of this server. Try again later."
                )
            newest = next(socket for socket in reversed(self._networks) if self._networks[socket] == largest)
            self._remove(newest)
            newest.transport.close()
        return StreamHead(last, network)

    async def serve(self, socket: ClientSocket, head: StreamHead) -> None:
        """Send news to a listener until it disconnects."""
        socket.stop_keepalive()
        try:
            self.positions[socket] = head.last or _UNKNOWN  # counted at once
            self._networks[socket] = head.network
            if head.last is None:
                newest = await self._news.newest()
                if socket in self.positions:
                    self.positions[socket] = newest
            socket.transport.write(b"retry: 3000\n\n")
            await socket.wait_closed()
        except StoreUnavailable:
            socket.transport.close()
        finally:
            self._remove(socket)

    def _remove(self, socket: ClientSocket) -> None:
        self.positions.pop(socket, None)
        self._networks.pop(socket, None)

    def close(self) -> None:
        """Disconnect all listeners, because the node is stopping. They reconnect."""
        for socket in self.positions:
            socket.transport.close()

    async def run(self) -> None:
        """Send news to all listeners until cancelled."""
        rounds = 0
        while True:
            await self._rooms.timers.sleep(INTERVAL)
            rounds += 1
            if self.positions:
                await self._rooms.background.guard(self._send_new(with_comment=rounds % _ROUNDS_PER_COMMENT == 0))

    async def _send_new(self, *, with_comment: bool) -> None:
        news = await self._news.after(min(self.positions.values()))
        events = [
            (id_, f"id: {id_}\nevent: {each.event}\ndata: ".encode() + msgspec.json.encode(each) + b"\n\n")
            for id_, each in news
        ]
        for socket, last in list(self.positions.items()):
            unsent = b"".join(event for id_, event in events if id_ > last)
            if with_comment:
                unsent += b":\n\n"
            if events:
                self.positions[socket] = max(last, events[-1][0])
            if socket.transport.get_write_buffer_size() > MAX_UNSENT:
                self._rooms.metrics.slow_clients_disconnected.inc()
                socket.transport.abort()
            elif unsent:
                socket.transport.write(unsent)
