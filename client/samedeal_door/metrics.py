"""The metrics of a door for Prometheus. Label values are never keys, names or addresses."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Final

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

_LAGS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)

_LAG_INTERVAL: Final = 0.25


class DoorMetrics:
    """The metrics of one process."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry(auto_describe=True)
        ProcessCollector(registry=registry)
        self.sessions = Gauge("samedeal_door_sessions", "Sessions that are open", registry=registry)
        self.connections = Gauge("samedeal_door_logins", "Connections that have not logged in", registry=registry)
        self.full = Gauge("samedeal_door_full", "Share of the limit of sessions that is used", registry=registry)
        self.dropped = Counter(
            "samedeal_door_dropped_frames", "Frames that were not sent to slow readers", registry=registry
        )
        self.faults = Counter("samedeal_door_faults", "Sessions that ended with a fault", registry=registry)
        self.lag = Histogram(
            "samedeal_door_loop_lag_seconds", "How late the event loop is", registry=registry, buckets=_LAGS
        )
        self.logins = Counter("samedeal_door_logged_in", "Logins", ("kind",), registry=registry)
        self.refused = Counter("samedeal_door_refused", "What was refused", ("what",), registry=registry)
        for kind in ("key", "guest"):
            self.logins.labels(kind)
        for what in ("connection", "rate", "keys", "sessions", "subsystem"):
            self.refused.labels(what)

    async def measure_lag(self) -> None:
        """Measure how late the event loop is, until the task is cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _LAG_INTERVAL
            await asyncio.sleep(_LAG_INTERVAL)
            self.lag.observe(max(loop.time() - due, 0.0))

    def answer(self, connection: ServerConnection, request: Request, *, stopping: bool) -> Response:
        """Answer a request for ``/healthz``, ``/readyz`` or ``/metrics``."""
        match request.path:
            case "/metrics":
                response = connection.respond(HTTPStatus.OK, generate_latest(self.registry).decode())
                del response.headers["Content-Type"]
                response.headers["Content-Type"] = CONTENT_TYPE_LATEST
                return response
            case "/readyz" if stopping:
                return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "This door is stopping.\n")
            case "/healthz" | "/readyz":
                return connection.respond(HTTPStatus.OK, "ok\n")
            case _:
                return connection.respond(HTTPStatus.NOT_FOUND, "Ask for /healthz, /readyz or /metrics.\n")
