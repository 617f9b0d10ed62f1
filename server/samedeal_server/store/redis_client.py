"""The client of a single Redis. The client of a cluster has the same methods."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from redis.asyncio import ConnectionPool, Redis
from redis.exceptions import RedisError, ResponseError

from samedeal_server.errors import StoreRejected, StoreUnavailable
from samedeal_server.store.address import Host
from samedeal_server.store.availability import RedisAvailability
from samedeal_server.store.shared_connection import SharedConnection

REPLICATION_TIMEOUT: Final = 2.0
"""Timeout, in seconds, for replicas to acknowledge a write.

It must be well below the timeout for an answer of Redis.
"""

Argument = str | bytes | int | float


class RedisCommand(NamedTuple):
    """A command for Redis. A cluster executes the command on the primary that has the slot of ``key``."""

    key: str
    arguments: tuple[Argument, ...]

    @property
    def keys(self) -> tuple[Argument, ...]:
        """All keys of the command. A script may have several keys, and any other command has only ``key``."""
        name, *words = self.arguments
        return tuple(words[2 : 2 + int(words[1])]) if name in ("EVAL", "EVALSHA") else (self.key,)


def command(name: str, key: str, *arguments: Argument) -> RedisCommand:
    """Make a command whose first argument is its only key."""
    return RedisCommand(key, (name, key, *arguments))


def with_followers(commands: Sequence[RedisCommand], failed: Collection[int]) -> list[int]:
    """Return the indexes of the failed commands and of all later commands with the same keys, in order.

    If a command is sent again, later commands with the same keys must follow it. Otherwise the commits of a player
    would be executed out of order.
    """
    blocked: set[tuple[Argument, ...]] = set()
    found = []
    for i, each in enumerate(commands):
        if i in failed:
            blocked.add(each.keys)
        if each.keys in blocked:
            found.append(i)
    return found


class TooFewReplicas(RedisError):
    """Failure of a write because too few replicas acknowledged it in time. The write may not survive a failover."""


def unavailable(error: Exception) -> StoreUnavailable:
    """Convert an error of the Redis client.

    Return StoreRejected if Redis answered with the error, otherwise StoreUnavailable.
    """
    kind = StoreRejected if isinstance(error, ResponseError) else StoreUnavailable
    converted = kind(str(error) or type(error).__name__)
    converted.__cause__ = error
    return converted


@contextmanager
def converted_errors() -> Iterator[None]:
    """Replace an error of the Redis client in the ``with`` block by the error that ``unavailable()`` returns for it."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise unavailable(error) from error


class PrimaryClient(Redis):
    """A client of one Redis, or of the primary that Sentinels name.

    ``where`` is the address as error messages show it, without a password. ``replicas`` is the number of replicas that
    must acknowledge a durable write.
    """

    def __init__(self, pool: ConnectionPool, where: str, availability: RedisAvailability, replicas: int = 0) -> None:
        super().__init__(connection_pool=pool)
        self.auto_close_connection_pool = True
        self.where = where
        self.availability = availability
        self.replicas = replicas
        self._shared = SharedConnection(pool, where, availability)
        self._converters = dict(self.response_callbacks)  # redis-py's own mapping ignores case, which takes time

    async def try_execute(self, commands: Sequence[RedisCommand], *, durable: bool = False) -> list[Any]:
        """Execute commands. Return for each command its answer, or the RedisError or OSError with which it failed.

        If ``durable`` is true, wait until the required replicas have acknowledged the writes. If too few replicas do so
        in time, TooFewReplicas replaces each answer. Each command may run more than once.
        """
        try:
            return await self.send_batch([each.arguments for each in commands], durable=durable)
        except (RedisError, OSError) as error:
            return [error] * len(commands)

    async def send_batch(self, commands: Sequence[tuple[Argument, ...]], *, durable: bool = False) -> list[Any]:
        """Send commands over one connection.

        Return in order the answer to each command, or the error that Redis answered. Raise RedisError or OSError if the
        connection fails. ``try_execute`` explains ``durable``.
        """
        if durable and self.replicas > 0:
            return await self._send_replicated(commands)
        answers = await self._shared.send_batch(commands)
        return [self._convert(str(name), answer) for (name, *_), answer in zip(commands, answers, strict=True)]

    def _convert(self, name: str, answer: Any) -> Any:
        """Return the reply to the command ``name`` as the type that redis-py would return."""
        convert = self._converters.get(name)
        return answer if convert is None or isinstance(answer, Exception) else convert(answer)

    async def _send_replicated(self, commands: Sequence[tuple[Argument, ...]]) -> list[Any]:
        """Send commands and Redis's WAIT over a connection that nothing else uses, and return the answers.

        WAIT blocks its connection until the replicas acknowledge the writes.
        """
        async with self.pipeline(transaction=False) as pipe:
            for arguments in commands:
                pipe.execute_command(*arguments)
            pipe.execute_command("WAIT", self.replicas, int(1000 * REPLICATION_TIMEOUT))
            answers: list[Any] = list(await pipe.execute(raise_on_error=False))
        acknowledged = answers.pop()
        if isinstance(acknowledged, Exception) or acknowledged < self.replicas:
            message = f"{acknowledged} of {self.replicas} replicas acknowledged a write"
            return [each if isinstance(each, Exception) else TooFewReplicas(message) for each in answers]
        return answers

    async def aclose(self, close_connection_pool: bool | None = None) -> None:  # noqa: FBT001  # as redis-py has it
        """Close all connections."""
        await self._shared.aclose()
        await super().aclose(close_connection_pool)

    async def primaries(self) -> list[PrimaryClient]:
        """Return a client for each primary. Raise RedisError or OSError if no primary is found."""
        return [self]

    async def variants(self, key: str) -> dict[str, str]:
        """Return for the address of each primary a key that is stored on this primary."""
        return {self.where: key}

    def primary_for(self, key: str) -> Host | None:  # noqa: ARG002  # as in ClusterClient
        """Return the address of the primary that has a key or a channel.

        Return None if the primary is unknown, or if Redis is not a cluster.
        """
        return None

    def listener(self, primary: Host | None = None) -> Redis:  # noqa: ARG002  # as in ClusterClient
        """Create a client for announcements, with its own connection. The caller closes the client.

        The connection leads to ``primary``. If ``primary`` is None, the connection leads to any server. On the shared
        connection, announcements would be mistaken for answers to commands.
        """
        pool = self.connection_pool
        return Redis.from_pool(ConnectionPool(pool.connection_class, **pool.connection_kwargs))
