"""Whether a Redis that was named will do."""

from __future__ import annotations

import asyncio
import re
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

from samedeal_server.errors import StartupError
from samedeal_server.redis_binary import OLDEST_REDIS
from samedeal_server.store import keys
from samedeal_server.store.cluster import Cluster
from samedeal_server.store.database import Command, Demoted, OneRedis, TooFewReplicas

_PATIENCE: Final = 10.0
_HELLO_UNKNOWN: Final = re.compile(r"unknown command\W+HELLO", re.IGNORECASE)
"""How a Redis before 6.0 greets a client that speaks the newer protocol."""


async def check_redis(client: OneRedis | Cluster) -> None:
    """Ask a Redis, or each primary of a cluster, whether it is new enough, and have a write kept as moves are.

    Raises StartupError ``redis_unreachable``, ``redis_too_old``, ``redis_readonly``, ``redis_replicas`` or
    ``bad_redis_url``. No password is in its sentence.
    """
    where = client.where
    try:
        async with asyncio.timeout(_PATIENCE):
            for one in await client.primaries():
                info = await one.info("server")
                _check_version(info, one.where)
                _check_mode(info, client)
            (answer,) = await client.attempt([Command(keys.PROBE, ("SET", keys.PROBE, "1", "PX", 1000))], kept=True)
            if isinstance(answer, Exception):
                raise answer
    except (RedisError, OSError) as error:
        raise _refusal(error, where) from None


def _check_mode(info: dict[str, Any], client: OneRedis | Cluster) -> None:
    mode = str(info.get("redis_mode", ""))
    if mode == "cluster" and not isinstance(client, Cluster):
        sentence = f"The Redis at {client.where} is one of a cluster: write --redis cluster://HOST:PORT"
        raise StartupError("bad_redis_url", sentence)
    if mode == "sentinel":
        sentence = (
            f"At {client.where} is a Sentinel: write --redis sentinel://HOST:PORT/PRIMARY, with the name of the primary"
        )
        raise StartupError("bad_redis_url", sentence)


def _refusal(error: RedisError | OSError, where: str) -> StartupError:
    said = str(error) or ("it took too long" if isinstance(error, TimeoutError) else type(error).__name__)
    if _HELLO_UNKNOWN.search(said):
        return _too_old("older than 6", where)
    if isinstance(error, BusyLoadingError):
        return StartupError(
            "redis_unreachable", f"The Redis at {where} is still loading its data: try again when it is done"
        )
    if isinstance(error, AuthenticationError) or "already authenticated" in said:
        # A Redis that was greeted without a password says so in a sentence of its own, not as an AuthenticationError.
        return StartupError(
            "redis_unreachable",
            f"The Redis at {where} wants another user or password ({said}): write them into the address, "
            "--redis redis://USER:PASSWORD@HOST:PORT/0",
        )
    if "cluster support disabled" in said:
        return StartupError("bad_redis_url", f"The Redis at {where} is no cluster: write --redis redis://HOST:PORT/0")
    if isinstance(error, MasterNotFoundError):
        return StartupError(
            "redis_unreachable",
            f"No Sentinel at {where} names that primary as one that is up: start what does not run, or correct --redis",
        )
    if isinstance(error, ClusterDownError):
        return StartupError(
            "redis_unreachable", f"The cluster at {where} is not whole ({said}): see that a primary serves each slot"
        )
    if isinstance(error, TooFewReplicas):
        return StartupError(
            "redis_replicas",
            f"The Redis at {where} has too few replicas ({said}): connect as many as --replicas says, or lower it",
        )
    if isinstance(error, NoPermissionError):
        return StartupError(
            "redis_readonly", f"The Redis at {where} allows this user too little ({said}): give it rights on samedeal:*"
        )
    if isinstance(error, ResponseError | Demoted):
        return StartupError(
            "redis_readonly",
            f"The Redis at {where} takes no writes ({said}): name its primary with --redis, or repair it",
        )
    return StartupError("redis_unreachable", f"No Redis answers at {where} ({said}): start it, or correct --redis")


def _check_version(info: dict[str, Any], where: str) -> None:
    """Valkey calls itself a Redis of the version that it was forked from, and is always new enough."""
    if "valkey_version" in info or info.get("server_name") == "valkey":
        return
    version = str(info.get("redis_version", ""))
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers and (int(numbers[1]), int(numbers[2])) >= OLDEST_REDIS:
        return
    raise _too_old(version or "of no known version", where)


def _too_old(version: str, where: str) -> StartupError:
    oldest = ".".join(map(str, OLDEST_REDIS))
    return StartupError(
        "redis_too_old",
        f"The Redis at {where} is {version}, and Samedeal needs {oldest} or newer, or Valkey: "
        "update it, or name another with --redis",
    )
