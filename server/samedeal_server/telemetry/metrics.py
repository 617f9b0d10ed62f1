"""The metrics of a node for Prometheus, each with its name, unit and meaning.

Each node has its own registry. Label values are never cards, seeds, names or addresses. To get the value of a counter,
histogram or gauge for the whole server, add up the values of all nodes. ``samedeal_rooms`` is an exception: each node
reads it from Redis, where it already covers all nodes. Take its ``max`` instead.
"""

from __future__ import annotations

import platform
from typing import Final

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
from samedeal.games import GAMES
from samedeal.protocol.messages import SUBPROTOCOL
from samedeal_server.telemetry.metric_types import Histogram, LabelledCounter

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST

KINDS: Final = ("racing", "watching", "lobby")
"""The kinds of connections: with a seat, watching a room, and in no room."""

PHASES: Final = ("open", "countdown", "racing", "finished")

_LATENCIES: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_COALESCED_LATENCIES: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_BATCH_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)

disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no types for it


class Metrics:
    """The metrics of one node."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry(auto_describe=True)
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)

        def counter(name: str, description: str) -> Counter:
            return Counter(f"samedeal_{name}", description, registry=registry)

        def labelled(name: str, description: str, label: str, *values: str) -> LabelledCounter:
            return LabelledCounter(registry, f"samedeal_{name}", description, (label,), *values)

        def gauge(name: str, description: str, *labels: str) -> Gauge:
            return Gauge(f"samedeal_{name}", description, labels, registry=registry)

        def histogram(name: str, description: str, bounds: tuple[float, ...]) -> Histogram:
            return Histogram(registry, f"samedeal_{name}", description, bounds)

        Info("samedeal_build", "Version of this node, of its protocol and of its Python.", registry=registry).info(
            {"version": samedeal.__version__, "protocol": SUBPROTOCOL, "python": platform.python_version()}
        )

        # Connections
        self.connections = gauge(
            "connections", "Connections by kind: with a seat (racing), watching, or neither (lobby).", "kind"
        )
        self.opened = counter("connections_opened", "Connections that were accepted.")
        self.closed = labelled(
            "connections_closed",
            "Connections that ended, by reason: the name of the close code, 'lost' without one, 'other' for any other code.",
            "reason",
            *("normal", "lost", "restart", "slow", "silent", "taken_over"),
            *("bad_frames", "banned", "version", "flood", "other"),
        )
        self.handshakes_refused = labelled(
            "handshakes_refused",
            "Connections that were rejected before their first message, by reason. malformed: the handshake was invalid. "
            "silent: nothing was sent, as some load balancers' checks do.",
            "reason",
            *("draining", "full", "address", "origin", "too_many_handshakes", "version", "malformed", "silent"),
        )
        self.frames_queued = gauge("frames_queued", "Frames queued for all connections.")
        self.frames_queued_max = gauge("frames_queued_max", "Frames queued for the connection with the longest queue.")
        self.slow_disconnected = counter(
            "slow_clients_disconnected", "Clients that were disconnected for reading too slowly."
        )
        self.skipped = counter("spectators_skipped", "Times a spectator fell behind and skipped to the newest boards.")

        self.news_listeners = gauge("news_listeners", "Programs that listen to the news of public races on this node.")

        self.hooks = labelled(
            "hooks",
            "Requests to hooks by outcome: told, or failed; and news that was dropped because all attempts failed.",
            "outcome",
            *("told", "failed", "dropped"),
        )

        # Requests and moves
        self.requests = labelled("requests", "Well-formed requests, by type of message.", "type")
        self.refusals = labelled("refusals", "Refused requests, by code.", "code", "server_full")
        self.moves = labelled(
            "moves",
            "Moves and undos by outcome: ok, repeated (a duplicate, applied once), recovered (lost by Redis after the ack "
            "and sent again by the client), or the code of the refusal.",
            "outcome",
            *("ok", "repeated", "recovered"),
            *("illegal", "stale", "fenced", "not_racing", "time_up", "already_finished", "unavailable"),
        )
        self.ack = histogram(
            "ack_seconds", "Time from reading a move's frame to writing its ack to the socket.", _LATENCIES
        )
        self.faults = counter("faults", "Faults of the server. Each is logged as event 'fault'. Should be 0.")

        # Redis
        self.batch = histogram("commit_batch_moves", "Moves sent to Redis in one batch.", _BATCH_SIZES)
        self.commit = histogram(
            "commit_seconds", "Time from sending a batch of moves to Redis to its answer.", _LATENCIES
        )
        self.redis = histogram(
            "redis_seconds", "Time from sending any command to Redis to its first answer.", _LATENCIES
        )
        self.redis_errors = labelled(
            "redis_errors",
            "Errors of Redis: it could not be connected to (connect), a connection broke (lost), no answer came in time "
            "(timeout), or it answered with an error such as READONLY or OOM (refused).",
            "kind",
            *("connect", "lost", "timeout", "refused"),
        )
        self.redis_up = gauge("redis_up", "1 while Redis answers this node, 0 while it is unavailable.")
        self.redis_up.set(1)

        # Rooms and races
        self.rooms = gauge(
            "rooms",
            "Rooms of all nodes by game and phase, as this node last read them from Redis, at most a minute ago. "
            "Take the max over nodes, not the sum.",
            *("game", "phase"),
        )
        for game in GAMES:
            for phase in PHASES:
                self.rooms.labels(game, phase).set(0)
        self.races = LabelledCounter(
            registry,
            "samedeal_races",
            "Races by game and change: opened, countdown, racing, finished, closed, rematch. Each change is counted "
            "once, by the node that made it.",
            ("game", "change"),
        )
        self.records = labelled(
            "records",
            "Records of finished races that this node built, by outcome: kept, or too_large for a record.",
            "outcome",
            *("kept", "too_large"),
        )
        self.fan_out = histogram(
            "fan_out_lag_seconds",
            "Time from an event, on the clock of Redis, to its broadcast to the room. Rivals' progress is broadcast at most "
            "ten times a second, which is included.",
            _COALESCED_LATENCIES,
        )

        # Operators
        self.admin_logins_failed = labelled(
            "admin_logins_failed",
            "Connections of operators that were rejected before they had logged in, by reason as in the event "
            "'admin_login_failed'.",
            "reason",
            *("bad_token", "too_many_tries", "too_many_connections"),
        )

        # The node
        self.loop_lag = histogram("event_loop_lag_seconds", "Delay of timers of the event loop.", _LATENCIES)
        self.certificate_expiry = gauge(
            "tls_certificate_expiry_timestamp_seconds",
            "Expiry of the certificate in use, in seconds since 1970. 0 without TLS.",
        )
        self.reloads = labelled("reloads", "Reloads of the settings, by result.", "result", "done", "failed")

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self.registry)
