"""The connection to Redis."""

from __future__ import annotations

import time
from typing import Any, Final

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import BusyLoadingError, NoScriptError, RedisError, ResponseError
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import TimeoutError as NoAnswer

from samedeal_server.metrics import Metrics
from samedeal_server.store.pulse import Pulse

_CONNECTIONS: Final = 64
_CONNECT_TIMEOUT: Final = 2.0
_ANSWER_TIMEOUT: Final = 5.0


def connect(url: str, pulse: Pulse | None = None) -> Redis:
    """A client of the Redis at a URL, which tells ``pulse`` how it goes; raises ValueError for one that is none.

    A command is tried once more when its connection turns out to be dead: every script may be run twice.
    """
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=_CONNECTIONS,
        timeout=_ANSWER_TIMEOUT,
        socket_connect_timeout=_CONNECT_TIMEOUT,
        socket_timeout=_ANSWER_TIMEOUT,
        retry=Retry(NoBackoff(), 1),
    )
    pool.connection_class = _telling(pool.connection_class, pulse or Pulse(Metrics()))
    return Redis.from_pool(pool)


def _telling(kind: Any, pulse: Pulse) -> Any:
    """A kind of connections, but that tell of a dead one as redis-py expects it: so that it is replaced, and asked again."""

    class Telling(kind):  # type: ignore[misc]  # which kind it is, TCP, TLS or a Unix socket, the address says
        asked = 0.0
        greeting = False

        async def connect_check_health(self, *args: Any, **options: Any) -> None:
            self.greeting = True
            try:
                await super().connect_check_health(*args, **options)
            except (RedisError, OSError) as error:
                pulse.failed("connect", error)
                raise
            finally:
                self.greeting = False

        async def send_packed_command(self, *args: Any, **options: Any) -> None:
            self.asked = time.perf_counter()
            try:
                await super().send_packed_command(*args, **options)
            except RuntimeError as error:  # what uvloop says of a connection that the other end has reset
                raise LostConnection(str(error)) from error

        async def read_response(self, *args: Any, **options: Any) -> Any:
            if self.greeting:  # what an older Redis doesn't know is passed over there
                return await super().read_response(*args, **options)
            try:
                answer = await super().read_response(*args, **options)
            except (NoAnswer, BusyLoadingError) as error:
                pulse.failed("timeout", error)
                raise
            except LostConnection as error:
                pulse.failed("lost", error)
                raise
            except ResponseError as error:
                self._answered()
                if not isinstance(error, NoScriptError):
                    pulse.failed("refused", error)
                raise
            if answer is not None:  # a subscriber that hears nothing for a while has not been answered
                self._answered()
            return answer

        def _answered(self) -> None:
            asked, self.asked = self.asked, 0.0
            if asked or pulse.away:
                pulse.answered(asked and time.perf_counter() - asked)

    return Telling
