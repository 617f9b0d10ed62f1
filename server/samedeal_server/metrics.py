"""What a node counts and measures of itself, for Prometheus: every metric there is, with its name, unit and meaning.

Each node has a registry of its own, and no metric or label value depends on a card, a seed, a name or an address. Counters,
histograms and gauges are of one node: sum them over nodes. ``samedeal_rooms`` alone is of all nodes together, as each reads
it from Redis: take the ``max`` of it.
"""

from __future__ import annotations

import platform
from typing import Final

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Gauge,
    GCCollector,
    Info,
    ProcessCollector,
    generate_latest,
)

import samedeal
from samedeal.games import GAMES
from samedeal.protocol.messages import SUBPROTOCOL
from samedeal_server.counting import Count, Counts, Spread

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST

KINDS: Final = ("racing", "watching", "lobby")
"""Of connections: with a seat, watching, and neither."""

PHASES: Final = ("open", "countdown", "racing", "finished")

_FAST: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_COALESCED: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """The metrics of one node."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry(auto_describe=True)
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)

        def counter(name: str, words: str) -> Count:
            return Counts(registry, name, words, (), [()])[()]

        def labelled(name: str, words: str, label: str, *values: str) -> Counts:
            return Counts(registry, name, words, [label], values)

        def gauge(name: str, words: str, *labels: str) -> Gauge:
            return Gauge(name, words, labels, registry=registry)

        def histogram(name: str, words: str, bounds: tuple[float, ...]) -> Spread:
            return Spread(registry, name, words, bounds)

        Info("samedeal_build", "Version of this node, of its protocol and of its Python.", registry=registry).info(
            {
                "version": samedeal.__version__,
                "protocol": SUBPROTOCOL,
                "python": platform.python_version(),
            }
        )

        # Connections
        self.connections = gauge(
            "samedeal_connections", "Connections by kind: with a seat (racing), watching, or neither (lobby).", "kind"
        )
        self.opened = counter("samedeal_connections_opened_total", "Connections that were taken.")
        self.closed = labelled(
            "samedeal_connections_closed_total",
            "Connections that ended, by why: the close code's name, 'lost' without one, 'other' for a code of no name.",
            "why",
            *(
                "normal",
                "lost",
                "restart",
                "slow",
                "silent",
                "taken_over",
                "bad_frames",
                "banned",
                "version",
                "flood",
                "other",
            ),
        )
        self.handshakes_refused = labelled(
            "samedeal_handshakes_refused_total",
            "Connections that were turned away before they spoke, by reason: malformed are those that made no handshake, "
            "silent those that sent nothing at all, as some load balancers' checks do.",
            "reason",
            *("draining", "full", "address", "origin", "crowded", "version", "malformed", "silent"),
        )
        self.frames_waiting = gauge("samedeal_frames_waiting", "Frames that wait to be sent, over all connections.")
        self.frames_waiting_most = gauge(
            "samedeal_frames_waiting_most", "Frames that wait to be sent to the connection with the most of them."
        )
        self.slow_cut = counter("samedeal_slow_clients_cut_total", "Clients that were cut for reading too slowly.")
        self.skipped = counter(
            "samedeal_spectators_skipped_total", "Times a spectator fell behind and skipped to the newest boards."
        )

        # Requests and moves
        self.requests = labelled("samedeal_requests_total", "Requests that could be read, by type of message.", "type")
        self.refusals = labelled("samedeal_refusals_total", "Requests that were refused, by code.", "code")
        self.throttled = counter(
            "samedeal_throttled_total", "Requests that had to wait because their client asks too much."
        )
        self.moves = labelled(
            "samedeal_moves_total",
            "Moves and undos by outcome: ok, again (sent twice, counted once), recovered (lost by Redis after the ack and "
            "given back), or the code of the refusal.",
            "outcome",
            *("ok", "again", "recovered", "illegal", "stale", "fenced", "not_racing", "time_up", "done", "unavailable"),
        )
        self.ack = histogram(
            "samedeal_ack_seconds", "From a move's frame being read to its ack being written to the socket.", _FAST
        )
        self.faults = counter(
            "samedeal_faults_total", "Mistakes of the server itself; each is logged with event 'fault'. Should be 0."
        )

        # Redis
        self.batch = histogram(
            "samedeal_commit_batch_moves", "Moves that travelled to Redis together in one batch.", _SIZES
        )
        self.commit = histogram(
            "samedeal_commit_seconds", "From a batch of moves being sent to Redis to its answer.", _FAST
        )
        self.redis = histogram(
            "samedeal_redis_seconds", "From any question to Redis being sent to the first answer to it.", _FAST
        )
        self.redis_errors = labelled(
            "samedeal_redis_errors_total",
            "What went wrong with Redis: no connection (connect), one that broke (lost), no answer in time (timeout), "
            "a refusal such as READONLY or OOM (refused).",
            "kind",
            *("connect", "lost", "timeout", "refused"),
        )
        self.redis_up = gauge("samedeal_redis_up", "1 while Redis answers this node, 0 while it is away.")
        self.redis_up.set(1)

        # Rooms and races
        self.rooms = gauge(
            "samedeal_rooms",
            "Rooms of all nodes by game and phase, as this node last read them from Redis, at most a minute ago: "
            "take the max over nodes, not the sum.",
            "game",
            "phase",
        )
        for game in GAMES:
            for phase in PHASES:
                self.rooms.labels(game, phase).set(0)
        self.rooms_followed = gauge(
            "samedeal_rooms_followed", "Rooms that somebody is in, or watches, through this node."
        )
        self.races = Counts(
            registry,
            "samedeal_races_total",
            "Races by game and what became of them: opened, countdown, racing, finished, closed, rematch. Each change is "
            "counted once, by the node that made it.",
            ("game", "change"),
        )
        self.fan_out = histogram(
            "samedeal_fan_out_lag_seconds",
            "From an event's time on the clock of Redis to its being told to those in the room. Rivals' counts are told "
            "ten times a second at the most, which is in it.",
            _COALESCED,
        )

        # The node
        self.loop_lag = histogram(
            "samedeal_event_loop_lag_seconds", "How late the event loop wakes what asked to be woken.", _FAST
        )
        self.draining = gauge("samedeal_draining", "1 while this node sends its clients elsewhere.")
        self.certificate_ends = gauge(
            "samedeal_tls_certificate_end_timestamp_seconds",
            "When the certificate in use ends, in seconds since 1970; 0 without TLS.",
        )
        self.reloads = labelled(
            "samedeal_reloads_total", "Times the settings were read again, by result.", "result", "done", "failed"
        )

    def text(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self.registry)
