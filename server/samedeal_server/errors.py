"""Errors of a node: it cannot start or continue, or Redis is unavailable."""

from __future__ import annotations

from enum import StrEnum


class StartupCode(StrEnum):
    """The codes of the reasons why a node cannot start or continue."""

    WORKER_FAILED = "worker_failed"
    """A worker process could not start."""

    REDIS_MISSING = "redis_missing"
    """No redis-server or valkey-server was found, or ``SAMEDEAL_REDIS_SERVER`` names neither."""

    REDIS_FAILED = "redis_failed"
    """The embedded Redis exited."""

    DISK_FULL = "disk_full"
    """The disk with the data directory is full."""

    DATA_CORRUPT = "data_corrupt"
    """The embedded Redis cannot load its data."""

    DATA_IN_USE = "data_in_use"
    """Another server uses the data directory."""

    DATA_UNWRITABLE = "data_unwritable"
    """The data directory is not writable."""

    REDIS_UNREACHABLE = "redis_unreachable"
    """No Redis answers at the address."""

    REDIS_TOO_OLD = "redis_too_old"
    """Redis is older than 6.2, or older than its data."""

    REDIS_READONLY = "redis_readonly"
    """Redis rejects writes."""

    REDIS_REPLICAS = "redis_replicas"
    """Redis has fewer replicas than the number that must confirm each move."""

    REDIS_EVICTS = "redis_evicts"
    """Redis evicts keys when it is full."""

    STORE_NEWER = "store_newer"
    """A newer version of Samedeal has used this Redis, and this version cannot read its data."""

    STORE_OLDER = "store_older"
    """An older version of Samedeal has used this Redis, and this version cannot read its data."""

    BAD_REDIS_URL = "bad_redis_url"
    """The URL of Redis is malformed."""

    PORT_IN_USE = "port_in_use"
    """Another program listens on the port."""

    CANNOT_LISTEN = "cannot_listen"
    """The node cannot listen on the address."""

    BAD_CERTIFICATE = "bad_certificate"
    """The certificate or its key cannot be used."""

    BAD_ADMIN_TOKEN = "bad_admin_token"  # noqa: S105  # a code, not a token
    """The operators' token cannot be read, is configured twice, or is too short."""

    BAD_HOOK_SECRET = "bad_hook_secret"  # noqa: S105  # a code, not a secret
    """The secret of the hooks cannot be read, is configured twice, or is too short."""

    BAD_GAME = "bad_game"
    """A file in the directory of further games does not describe games, or cannot be read."""

    BAD_BACKUP = "bad_backup"
    """The file is not a backup, or is incomplete or damaged."""

    NOT_EMPTY = "not_empty"
    """A backup is to be restored into a Redis that is not empty."""

    NODES_RUNNING = "nodes_running"
    """A backup is to be restored into a Redis on which nodes are still running."""


class StartupError(Exception):
    """Error of a node that cannot start or continue. The message tells the user what happened and what to do."""

    def __init__(self, code: StartupCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class StoreUnavailable(Exception):
    """Error of a command to Redis: Redis is unreachable, timed out, or answered with an error.

    The command may still have taken effect. ``__cause__`` is the error of the Redis client.
    """


class StoreRejected(StoreUnavailable):
    """Error of a command that Redis has answered with an error."""
