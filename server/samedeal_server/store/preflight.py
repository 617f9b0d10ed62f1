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
from samedeal_server.errors import StartupCode, StartupError
from samedeal_server.store import keys
from samedeal_server.store.data_loss_risk import evicting_policy
from samedeal_server.store.redis_client import RedisCommand, TooFewReplicas
from samedeal_server.store.redis_cluster import ClusterClient, RedisClient
from samedeal_server.store.shared_connection import PrimaryDemoted

ANSWER_TIMEOUT: Final = 10.0
"""Timeout, in seconds, for the answers of Redis to all checks together."""

_CONNECT_PREFIX: Final = re.compile(r"^Error -?\d+ connecting to \S+ ")
"""A pattern for the start of redis-py's message about a failure to connect. The start repeats the address."""

_EXPLANATIONS: Final[Mapping[StartupCode, Mapping[str | type[Exception], str]]] = {
    StartupCode.BAD_REDIS_URL: {
        "cluster support disabled": "The Redis at {where} is not a cluster. Write --redis redis://HOST:PORT/0.",
        r"unknown command\W+SENTINEL": "The Redis at {where} is not a Sentinel. Write --redis redis://HOST:PORT/0.",
        "DB index is out of range": "The Redis at {where} has no database of this number. "
        "Correct the number after the last / in --redis.",
    },
    StartupCode.REDIS_UNREACHABLE: {
        BusyLoadingError: "The Redis at {where} is still loading its data. Try again later.",
        **dict.fromkeys(
            (
                AuthenticationError,
                "already authenticated",
            ),  # if a password is missing, it is not an AuthenticationError
            "The Redis at {where} rejects the user or the password ({reason}). "
            "Write both into the address: --redis redis://USER:PASSWORD@HOST:PORT/0.",
        ),
        MasterNotFoundError: "No primary was found at {where} ({reason}). "
        "Start the primary, or correct its name in --redis.",
        ClusterDownError: "The cluster at {where} does not serve all slots ({reason}). "
        "Make sure that each slot has a primary.",
    },
    StartupCode.REDIS_REPLICAS: {
        TooFewReplicas: "The Redis at {where} has too few replicas ({reason}). Connect more replicas, or lower --replicas."
    },
    StartupCode.REDIS_READONLY: {
        NoPermissionError: "The user lacks permissions on the Redis at {where} ({reason}). "
        "Grant it all commands on the keys samedeal:*.",
        **dict.fromkeys(
            (ResponseError, PrimaryDemoted),
            "The Redis at {where} rejects writes ({reason}). "
            "Pass the address of its primary with --redis, or make this Redis writable.",
        ),
    },
}
"""What to tell about an error of the Redis client: the first sentence whose key is its class, or is found in its message."""


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
    sentence, mode = "", str(info.get("redis_mode", ""))
    if mode == "cluster" and not isinstance(client, ClusterClient):
        sentence = f"The Redis at {client.where} belongs to a cluster. Write --redis cluster://HOST:PORT."
    elif mode == "sentinel":
        sentence = f"The server at {client.where} is a Sentinel. "
        sentence += "Write --redis sentinel://HOST:PORT/PRIMARY with the name of the primary."
    if sentence:
        raise StartupError(StartupCode.BAD_REDIS_URL, sentence)


def check_eviction(info: dict[str, Any], where: str) -> None:
    """Raise StartupError if the Redis at ``where`` evicts keys when it is full."""
    if policy := evicting_policy(info):
        raise StartupError(
            StartupCode.REDIS_EVICTS,
            f"The Redis at {where} evicts keys when it is full (maxmemory-policy {policy}), so races would be lost. "
            "Set maxmemory-policy to noeviction, or use another Redis with --redis.",
        )


def explain_failure(error: RedisError | OSError, where: str) -> StartupError:
    """Convert an error of the Redis client to a StartupError that says why the Redis at ``where`` cannot be used."""
    reason = _CONNECT_PREFIX.sub("", str(error)).rstrip(".") or (
        "timed out" if isinstance(error, TimeoutError) else type(error).__name__
    )
    if re.search(r"unknown command\W+HELLO", reason, re.IGNORECASE):  # which redis-py sends, and Redis has since 6.0
        return _too_old("is older than version 6.2", where)
    for code, sentences in _EXPLANATIONS.items():
        for sign, sentence in sentences.items():
            if re.search(sign, reason, re.IGNORECASE) if isinstance(sign, str) else isinstance(error, sign):
                return StartupError(code, sentence.format(where=where, reason=reason))
    return StartupError(
        StartupCode.REDIS_UNREACHABLE, f"No Redis answers at {where} ({reason}). Start it, or correct --redis."
    )


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
    oldest = ".".join(map(str, OLDEST_REDIS))
    return StartupError(
        StartupCode.REDIS_TOO_OLD,
        f"The Redis at {where} {problem}. Update it to {oldest} or newer, or use another one with --redis.",
    )
