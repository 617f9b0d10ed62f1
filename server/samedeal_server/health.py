"""The listener for those who look after a node, apart from the one for players: is it alive, is it ready, how does it do.

``/healthz`` answers while the process does, ``/readyz`` says whether clients should be sent here, ``/metrics`` is for
Prometheus. It takes any number of odd requests: the library reads them, and what is no HTTP is turned away.
"""

from __future__ import annotations

import asyncio
import http
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from redis.exceptions import RedisError
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from samedeal_server.gateway import Gateway
from samedeal_server.listening import listening, written
from samedeal_server.metrics import CONTENT_TYPE
from samedeal_server.tasks import end

PATIENCE: Final = 2.0
"""Seconds that Redis has to answer before a node counts as not ready."""

_TEXT: Final = "text/plain; charset=utf-8"
_SLOWEST: Final = 5.0
"""Seconds that who asks has for the question."""


class Health:
    """What a node says of itself to those who look after it."""

    def __init__(self, gateway: Gateway) -> None:
        self.leaving = False
        self._gateway = gateway
        self._probe: asyncio.Task[str] | None = None
        self._lacking = ""

    async def not_ready(self) -> str:
        """Why no clients should be sent here, in a sentence; empty when they should."""
        if self.leaving or self._gateway.draining:
            return "This node is stopping: send nobody here"
        probe = self._probe
        if probe is None or probe.done():
            self._probe = probe = asyncio.create_task(self._gateway.rooms.store.probe())
        done, _ = await asyncio.wait((probe,), timeout=PATIENCE)
        if not done:
            return f"Redis has not answered for {PATIENCE:g} seconds"
        error = probe.exception()
        if isinstance(error, (RedisError, OSError)):
            return f"Redis does not take what is written: {str(error) or type(error).__name__}"
        if error is not None:
            raise error
        self._lacking = probe.result()
        return ""

    async def answer(self, _socket: ServerConnection, request: Request) -> Response:
        """The answer to a request."""
        method = getattr(request, "method", "GET")
        if method not in ("GET", "HEAD"):
            return _response(http.HTTPStatus.METHOD_NOT_ALLOWED, "Only GET and HEAD are answered here")
        response = await self._page(request.path.partition("?")[0])
        if method == "HEAD":
            response.body = b""
        return response

    async def _page(self, path: str) -> Response:
        match path:
            case "/healthz":
                return _response(http.HTTPStatus.OK, "This node is alive")
            case "/readyz":
                why = await self.not_ready()
                if why:
                    return _response(http.HTTPStatus.SERVICE_UNAVAILABLE, why)
                lacking = self._lacking and f", but for rooms on a part of Redis that takes no writes: {self._lacking}"
                return _response(http.HTTPStatus.OK, f"This node takes clients{lacking}")
            case "/metrics":
                self._gateway.take_stock()
                return _response(http.HTTPStatus.OK, self._gateway.metrics.text(), CONTENT_TYPE)
        return _response(http.HTTPStatus.NOT_FOUND, "There are /healthz, /readyz and /metrics here")

    @asynccontextmanager
    async def listen(self, host: str, port: int) -> AsyncIterator[str]:
        """Answer on an address; gives it as a URL. Raises StartupError."""
        server = serve(
            _nobody,
            host,
            port,
            process_request=self.answer,
            open_timeout=_SLOWEST,
            close_timeout=1,
            server_header=None,
            logger=logging.getLogger("samedeal.health"),
        )
        try:
            async with listening(server, host, port, "--health-port") as number:
                yield f"http://{written(host)}:{number}"
        finally:
            if self._probe is not None:
                await end([self._probe])


async def _nobody(socket: ServerConnection) -> None:
    """Every request is answered before it could become a connection."""


def _response(status: http.HTTPStatus, body: str | bytes, kind: str = _TEXT) -> Response:
    data = body if isinstance(body, bytes) else f"{body}\n".encode()
    headers = Headers(
        [
            ("Content-Type", kind),
            ("Content-Length", str(len(data))),
            ("Cache-Control", "no-store"),
            ("Connection", "close"),
        ]
    )
    return Response(status.value, status.phrase, headers, data)
