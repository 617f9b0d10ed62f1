"""One Redis as the store asks it: commands with the key that they go by, answered in their order, kept by replicas first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol

from redis.asyncio import ConnectionPool, Redis
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import RedisError

WAIT_AT_MOST: Final = 2.0
"""Seconds that replicas have to take what was written; well below what a connection waits for an answer."""

Word = str | bytes | int | float


class Command(NamedTuple):
    """Words for Redis, and the key whose place they go to: with a cluster, the primary that has its slot."""

    key: str
    words: tuple[Word, ...]


def on(name: str, key: str, *words: Word) -> Command:
    """A command that is about one key."""
    return Command(key, (name, key, *words))


class TooFewReplicas(RedisError):
    """It was written, and too few replicas have said in time that they have it: whether it stays is not known."""


class Demoted(LostConnection):
    """The Redis at the other end takes no writes: it was made a replica, or has always been one."""


class Database(Protocol):
    """What the store stands on: one Redis, or a cluster. ``replicas`` of a primary must have what is to be kept."""

    @property
    def replicas(self) -> int:
        """How many."""

    async def attempt(self, commands: Sequence[Command], *, kept: bool = False) -> list[Any]:
        """Send commands; returns for each its answer, or the RedisError or OSError that came in its place.

        With ``kept`` what they wrote has been taken by as many replicas as are asked for, or the error is TooFewReplicas.
        Each command may be run twice.
        """

    async def primaries(self) -> list[OneRedis]:
        """Those that have all keys among them. Raises RedisError or OSError when it is not known which they are."""

    def listener(self) -> Redis:
        """A client, to be closed, over which what is announced anywhere is heard. No command is ever sent over it."""


class OneRedis(Redis):
    """A Redis, or the primary that Sentinels name. ``where`` says which."""

    def __init__(self, pool: ConnectionPool, where: str, replicas: int = 0) -> None:
        super().__init__(connection_pool=pool)
        self.auto_close_connection_pool = True
        self.where = where
        self._replicas = replicas

    @property
    def replicas(self) -> int:
        """As Database says."""
        return self._replicas

    async def attempt(self, commands: Sequence[Command], *, kept: bool = False) -> list[Any]:
        """As Database says."""
        try:
            return await self.send([each.words for each in commands], kept=kept)
        except (RedisError, OSError) as error:
            return [error] * len(commands)

    async def send(self, commands: Sequence[tuple[Word, ...]], *, kept: bool = False) -> list[Any]:
        """Send commands over one connection, with an error in the place of each that failed; raises if none arrived."""
        wait = kept and self.replicas > 0
        async with self.pipeline(transaction=False) as pipe:
            for words in commands:
                pipe.execute_command(*words)
            if wait:
                pipe.execute_command("WAIT", self.replicas, int(1000 * WAIT_AT_MOST))
            answers: list[Any] = list(await pipe.execute(raise_on_error=False))
        if wait:
            have = answers.pop()
            if isinstance(have, Exception) or have < self.replicas:
                told = f"{have} of {self.replicas} replicas have taken it"
                return [each if isinstance(each, Exception) else TooFewReplicas(told) for each in answers]
        return answers

    async def primaries(self) -> list[OneRedis]:
        """As Database says."""
        return [self]

    def listener(self) -> Redis:
        """As Database says."""
        pool = self.connection_pool
        return Redis.from_pool(ConnectionPool(pool.connection_class, **pool.connection_kwargs))
