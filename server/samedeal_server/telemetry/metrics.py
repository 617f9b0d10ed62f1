"""The metrics of a node for Prometheus. ``metrics.toml`` has the name, the unit and the meaning of each.

Each node has its own registry. Label values are never cards, seeds, names or addresses. To get the value of a counter,
histogram or gauge for the whole server, add up the values of all nodes. ``samedeal_rooms`` is an exception: each node
reads it from Redis, where it already covers all nodes. Take its ``max`` instead.
"""

from __future__ import annotations

import platform
from itertools import product
from typing import Final, get_type_hints

from msgspec import Struct
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Info,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

import samedeal
from samedeal.data_files import read_data
from samedeal.games import GAMES
from samedeal.protocol.messages import SUBPROTOCOL
from samedeal_server.telemetry.metric_types import Histogram, LabelledCounter

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST

KINDS: Final = ("racing", "watching", "lobby")
"""The kinds of connections: with a seat, watching a room, and in no room."""

PHASES: Final = ("open", "countdown", "racing", "finished")

disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no types for it


class _Row(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of ``metrics.toml``."""

    help: str
    labels: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    bounds: tuple[float, ...] = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


_ROWS: Final = read_data("samedeal_server.telemetry", "metrics.toml", dict[str, _Row])


class Metrics:
    """The metrics of one node."""

    connections: Gauge
    connections_opened: Counter
    connections_closed: LabelledCounter
    handshakes_refused: LabelledCounter
    frames_queued: Gauge
    frames_queued_max: Gauge
    slow_clients_disconnected: Counter
    spectators_skipped: Counter
    news_listeners: Gauge
    hooks: LabelledCounter
    refusals: LabelledCounter
    moves: LabelledCounter
    ack_seconds: Histogram
    faults: Counter
    commit_batch_moves: Histogram
    commit_seconds: Histogram
    redis_seconds: Histogram
    redis_errors: LabelledCounter
    redis_up: Gauge
    backup_timestamp_seconds: Gauge
    redis_replicas: Gauge
    rooms: Gauge
    records: LabelledCounter
    oldest_deal_search_seconds: Gauge
    solver_up: Gauge
    fan_out_lag_seconds: Histogram
    admin_logins_failed: LabelledCounter
    event_loop_lag_seconds: Histogram
    tls_certificate_expiry_timestamp_seconds: Gauge
    reloads: LabelledCounter

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry(auto_describe=True)
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)
        Info("samedeal_build", "Version of this node, of its protocol and of its Python.", registry=registry).info(
            {"version": samedeal.__version__, "protocol": SUBPROTOCOL, "python": platform.python_version()}
        )
        for name, kind in get_type_hints(Metrics).items():
            row = _ROWS[name]
            described = f"samedeal_{name}", row.help
            if kind is Histogram:
                setattr(self, name, Histogram(registry, *described, row.bounds))
            elif kind is LabelledCounter:
                setattr(self, name, LabelledCounter(registry, *described, row.labels[0], row.values))
            else:
                setattr(self, name, kind(*described, row.labels, registry=registry))
        self.redis_up.set(1)
        self.solver_up.set(1)
        for game, phase in product(GAMES, PHASES):
            self.rooms.labels(game, phase).set(0)

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self.registry)
