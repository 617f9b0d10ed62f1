"""The check of a configured Redis before a node starts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any, Final

from redis.asyncio.sentinel import MasterNotFoundError
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    NoPermissionError,
    RedisError,
    ResponseError,
)

from samedeal_server.embedded_redis.binary import OLDEST_REDIS
from samedeal_server.errors import StartupError
from samedeal_server.store import keys
from samedeal_server.store.data_loss_risk import evicting_policy
from samedeal_server.store.redis_client import RedisCommand, TooFewReplicas
from samedeal_server.store.redis_cluster import ClusterClient, RedisClient
from samedeal_server.store.shared_connection import PrimaryDemoted

ANSWER_TIMEOUT: Final = 10.0
"""Timeout, in seconds, for the answers of Redis to all checks together."""

_CONNECT_PREFIX: Final = re.compile(r"^Error -?\d+ connecting to \S+ ")
"""A pattern for the start of redis-py's message about a failure to connect. The start repeats the address."""

_EXPLANATIONS: Final[Mapping[str | type[Exception], str]] = {
    "cluster support disabled": "not_a_cluster",
    r"unknown command\W+SENTINEL": "not_a_sentinel",
    "DB index is out of range": "no_such_database",
    BusyLoadingError: "redis_loads",
    AuthenticationError: "redis_rejects_login",
    "already authenticated": "redis_rejects_login",  # if a password is missing, it is not an AuthenticationError
    MasterNotFoundError: "no_primary",
    ClusterDownError: "cluster_down",
    TooFewReplicas: "redis_replicas",
    NoPermissionError: "no_permission",
    ResponseError: "redis_readonly",
    PrimaryDemoted: "redis_readonly",
}
"""The name of the error for an error of the Redis client: the first one whose key is its class, or is in its message."""


async def check_redis(client: RedisClient, answer_timeout: float = ANSWER_TIMEOUT) -> None:
    """Check the version, the eviction policy and the durable writes of Redis, or of each primary of a cluster.

    Raise StartupError ``redis_unreachable``, ``redis_too_old``, ``redis_evicts``, ``redis_readonly``,
    ``redis_replicas`` or ``bad_redis_url`` if Redis cannot be used. No message contains a password.
    """
    where = client.where
    try:
        async with asyncio.timeout(answer_timeout):
            for primary in await client.primaries():
                info = await primary.info()
                _check_version(info, primary.where)
                _check_mode(info, client)
                check_eviction(info, primary.where)
            (answer,) = await client.try_execute(
                [RedisCommand(keys.PROBE, ("SET", keys.PROBE, "1", "PX", 1000))], durable=True
            )
            if isinstance(answer, Exception):
                raise answer
    except (RedisError, OSError) as error:
        raise explain_failure(error, where) from None


def _check_mode(info: dict[str, Any], client: RedisClient) -> None:
    mode = str(info.get("redis_mode", ""))
    if mode == "cluster" and not isinstance(client, ClusterClient):
        raise StartupError("belongs_to_a_cluster", where=client.where)
    if mode == "sentinel":
        raise StartupError("is_a_sentinel", where=client.where)


def check_eviction(info: dict[str, Any], where: str) -> None:
    """Raise StartupError if the Redis at ``where`` evicts keys when it is full."""
    if policy := evicting_policy(info):
        raise StartupError("redis_evicts", where=where, policy=policy)


def explain_failure(error: RedisError | OSError, where: str) -> StartupError:
    """Convert an error of the Redis client to a StartupError that says why the Redis at ``where`` cannot be used."""
    reason = _CONNECT_PREFIX.sub("", str(error)).rstrip(".") or (
        "timed out" if isinstance(error, TimeoutError) else type(error).__name__
    )
    if re.search(r"unknown command\W+HELLO", reason, re.IGNORECASE):  # which redis-py sends, and Redis has since 6.0
        return _too_old("is older than version 6.2", where)
    for sign, name in _EXPLANATIONS.items():
        if re.search(sign, reason, re.IGNORECASE) if isinstance(sign, str) else isinstance(error, sign):
            return StartupError(name, where=where, reason=reason)
    return StartupError("redis_unreachable", where=where, reason=reason)


def _check_version(info: dict[str, Any], where: str) -> None:
    """Raise StartupError if Redis is too old. Valkey is always new enough, whatever version it reports."""
    if "valkey_version" in info or info.get("server_name") == "valkey":
        return
    version = str(info.get("redis_version", ""))
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers and (int(numbers[1]), int(numbers[2])) >= OLDEST_REDIS:
        return
    raise _too_old(f"has version {version}" if version else "does not report its version", where)


def _too_old(problem: str, where: str) -> StartupError:
    return StartupError("redis_too_old", where=where, problem=problem, oldest=".".join(map(str, OLDEST_REDIS)))
