"""The HTTP listener for orchestrators and Prometheus, on a separate port.

``/healthz`` says whether the process is alive, and ``/readyz`` whether it should get new clients. ``/metrics`` is for
Prometheus. The WebSocket library parses the requests, and rejects malformed ones.
"""

from __future__ import annotations

import asyncio
import http
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, NamedTuple

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from samedeal_server.config.config import Config
from samedeal_server.errors import StoreUnavailable
from samedeal_server.gateway.gateway import Gateway
from samedeal_server.process.listening import listening, local_host, port_of, url_host
from samedeal_server.tasks import cancel_and_wait, retrieve_error
from samedeal_server.telemetry.metrics import CONTENT_TYPE

PROBE_TIMEOUT: Final = 2.0
"""Timeout, in seconds, for the answer of Redis to a test write. A node without an answer in time is not ready."""

_TEXT: Final = "text/plain; charset=utf-8"

REQUEST_TIMEOUT: Final = 5.0
"""Timeout, in seconds, for receiving a request."""


class Readiness(NamedTuple):
    """Whether new clients should be sent to a node or server. ``text`` gives the reason.

    If only some rooms are unavailable, ``ready`` is true and ``text`` says so.
    """

    ready: bool
    text: str


class NodeChecks:
    """The state of one node. The node is not ready once ``stop`` is set."""

    def __init__(self, gateway: Gateway, stop: asyncio.Event) -> None:
        self._gateway = gateway
        self._stop = stop
        self._probe: asyncio.Task[str] | None = None

    async def readiness(self) -> Readiness:
        """Find out whether new clients should be sent to this node.

        Redis must accept a test write. Processes of the solver must not have failed, of which one is started for a test now
        and then. Its answer counts the next time, because a busy machine may take seconds for it.
        """
        if self._stop.is_set() or self._gateway.rooms.draining:
            return Readiness(ready=False, text="This node is stopping. Send clients to another one.")
        rooms = self._gateway.rooms
        rooms.background.spawn(rooms.deals.solvers.probe)
        probe = self._probe
        if probe is None or probe.done():
            self._probe = probe = asyncio.create_task(rooms.store.probe())
            probe.add_done_callback(retrieve_error)  # nobody waits any more for one that fails late
        done, _ = await asyncio.wait((probe,), timeout=PROBE_TIMEOUT)
        if not done:
            return Readiness(ready=False, text=f"Redis has not answered for {PROBE_TIMEOUT:g} seconds.")
        error = probe.exception()
        if isinstance(error, StoreUnavailable):
            return Readiness(ready=False, text=f"Redis does not accept writes ({error}).")
        if error is not None:
            raise error
        if fault := rooms.deals.solvers.health.fault:
            return Readiness(ready=False, text=f"The solver cannot run ({fault}), so most races cannot start.")
        text = "This node accepts clients."
        if unwritable := probe.result():
            text += f" Some primaries accept no writes, so their rooms are unavailable: {unwritable}."
        return Readiness(ready=True, text=text)

    async def metrics(self) -> bytes:
        """Return the metrics of this node for Prometheus."""
        self._gateway.update_gauges()
        return self._gateway.metrics.text()

    async def close(self) -> None:
        """Cancel the test write to Redis if it is under way."""
        if self._probe is not None:
            await cancel_and_wait([self._probe])


@asynccontextmanager
async def health_listener(
    config: Config, readiness: Callable[[], Awaitable[Readiness]], metrics: Callable[[], Awaitable[bytes]]
) -> AsyncIterator[str]:
    """Report the state of a node, or of all workers of a server, over HTTP until the block ends. Yield the URL.

    Without the setting for the port, do nothing, and yield an empty text. ``readiness`` finds out whether new clients
    should be sent there, and ``metrics`` returns the metrics for Prometheus. Raise StartupError if the node cannot
    listen on the address.
    """
    if config.health_port is None:
        yield ""
        return

    async def page(path: str) -> Response:
        match path:
            case "/healthz":
                return _response(http.HTTPStatus.OK, "This node is alive.")
            case "/readyz":
                ready, text = await readiness()
                return _response(http.HTTPStatus.OK if ready else http.HTTPStatus.SERVICE_UNAVAILABLE, text)
            case "/metrics":
                return _response(http.HTTPStatus.OK, await metrics(), CONTENT_TYPE)
            case _:
                return _response(http.HTTPStatus.NOT_FOUND, "The paths are /healthz, /readyz and /metrics.")

    async def answer(_socket: ServerConnection, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return _response(http.HTTPStatus.METHOD_NOT_ALLOWED, "Only GET and HEAD are supported.")
        response = await page(request.path.partition("?")[0])
        if request.method == "HEAD":
            response.body = b""
        return response

    start = partial(
        serve,
        _never_called,
        process_request=answer,
        open_timeout=REQUEST_TIMEOUT,
        close_timeout=1,
        server_header=None,
        logger=logging.getLogger("samedeal.health"),
    )
    async with listening(start, config.health_host, config.health_port, "--health-port") as server:
        yield f"http://{url_host(local_host(config.health_host))}:{port_of(server)}"


async def _never_called(socket: ServerConnection) -> None:
    """Do nothing, because every request is answered before it can become a WebSocket connection."""


def _response(status: http.HTTPStatus, body: str | bytes, content_type: str = _TEXT) -> Response:
    data = body if isinstance(body, bytes) else f"{body}\n".encode()
    headers = {"Content-Type": content_type, "Content-Length": str(len(data)), "Cache-Control": "no-store"}
    return Response(status.value, status.phrase, Headers({**headers, "Connection": "close"}), data)
