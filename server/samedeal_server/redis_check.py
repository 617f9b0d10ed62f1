"""Whether a Redis that was named will do."""

from __future__ import annotations

import asyncio
import re
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, BusyLoadingError, NoPermissionError, RedisError, ResponseError

from samedeal_server.errors import StartupError
from samedeal_server.redis_binary import OLDEST_REDIS
from samedeal_server.store import keys

_PATIENCE: Final = 10.0
_HELLO_UNKNOWN: Final = re.compile(r"unknown command\W+HELLO", re.IGNORECASE)
"""How a Redis before 6.0 greets a client that speaks the newer protocol."""


async def check_redis(client: Redis) -> None:
    """Ask a Redis whether it is new enough and takes writes.

    Raises StartupError ``redis_unreachable``, ``redis_too_old`` or ``redis_readonly``. No password is in its sentence.
    """
    where = _where(client)
    try:
        async with asyncio.timeout(_PATIENCE):
            info = await client.info("server")
            _check_version(info, where)
            await client.set(keys.PROBE, b"1", px=1000)
    except (RedisError, OSError) as error:
        raise _refusal(error, where) from None


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
    if isinstance(error, NoPermissionError):
        return StartupError(
            "redis_readonly", f"The Redis at {where} allows this user too little ({said}): give it rights on samedeal:*"
        )
    if isinstance(error, ResponseError):
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


def _where(client: Redis) -> str:
    to = client.connection_pool.connection_kwargs
    if "path" in to:
        return str(to["path"])
    return f"{to.get('host', 'localhost')}:{to.get('port', 6379)}"
