"""The events that a node logs."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol, cast

import structlog


class LogEvent(StrEnum):
    """The names of logged events.

    The section *Logs* of deploy/README.md explains each event except REQUEST_REFUSED, which is logged only at level debug.
    """

    LISTENING = "listening"
    CONNECTED = "connected"
    HELLO = "hello"
    DISCONNECTED = "disconnected"
    REPORTED = "reported"
    ROOM_CREATED = "room_created"
    JOINED = "joined"
    WATCHING = "watching"
    RACE_CHANGED = "race_changed"
    MOVES_RECOVERED = "moves_recovered"
    HANDSHAKE_REJECTED = "handshake_rejected"
    FORWARDED_FOR_IGNORED = "forwarded_for_ignored"
    PACKAGE_CHANGED = "package_changed"
    OTHER_VERSION = "other_version"
    SERVER_FULL = "server_full"
    REQUEST_REFUSED = "request_refused"
    ADMIN_REQUEST = "admin_request"
    ADMIN_LOGIN_FAILED = "admin_login_failed"
    REDIS_DOWN = "redis_down"
    REDIS_UP = "redis_up"
    REDIS_REJECTS = "redis_rejects"
    REDIS_ACCEPTS = "redis_accepts"
    REDIS_UNSAFE = "redis_unsafe"
    REDIS_ERROR = "redis_error"
    SUBSCRIPTION_TIMED_OUT = "subscription_timed_out"
    RELOADED = "reloaded"
    RELOAD_NEEDS_RESTART = "reload_needs_restart"
    RELOAD_FAILED = "reload_failed"
    CERTIFICATE_LOADED = "certificate_loaded"
    CERTIFICATE_REJECTED = "certificate_rejected"
    CERTIFICATE_EXPIRED = "certificate_expired"
    CERTIFICATE_EXPIRES_SOON = "certificate_expires_soon"
    OPEN_FILES_LIMITED = "open_files_limited"
    HOOK_FAILED = "hook_failed"
    STOPPING = "stopping"
    DRAINING = "draining"
    STOPPED = "stopped"
    WORKER_DIED = "worker_died"
    WORKER_HUNG = "worker_hung"
    WORKER_RESTARTED = "worker_restarted"
    HOUSE_DIED = "house_died"
    HOUSE_SAYS = "house_says"
    SOLVER_ENDED = "solver_ended"
    SOLVER_BROKEN = "solver_broken"
    SOLVER_WORKS = "solver_works"
    DEAL_NOT_FOUND = "deal_not_found"
    FAILED = "failed"
    FAULT = "fault"


class EventLog(Protocol):
    """A logger that accepts only the events of ``LogEvent``."""

    def debug(self, event: LogEvent, **fields: object) -> None:
        """Log at level debug."""

    def info(self, event: LogEvent, **fields: object) -> None:
        """Log at level info."""

    def warning(self, event: LogEvent, **fields: object) -> None:
        """Log at level warning."""

    def error(self, event: LogEvent, **fields: object) -> None:
        """Log at level error."""

    def exception(self, event: LogEvent, **fields: object) -> None:
        """Log at level error, with the traceback of the current exception."""

    def bind(self, **fields: object) -> EventLog:
        """Return a logger that adds these fields to every event that it logs."""
        ...


def get_logger() -> EventLog:
    """Return a logger. When ``logs.set_up`` changes the configuration, the logger uses the new one."""
    return cast("EventLog", structlog.get_logger())
