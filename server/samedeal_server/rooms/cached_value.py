"""What is read from the store at most once a second, however many clients ask for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from samedeal_server.loop_timers import Timers
from samedeal_server.tasks import retrieve_error

MAX_LISTED: Final = 100
"""Maximum number of entries in a list for players."""

LIST_LIFETIME: Final = 1.0
"""Time, in seconds, for which a list is cached. Reading 100 rooms costs a node as much as several moves."""

_Value = TypeVar("_Value")


@dataclass(eq=False, repr=False)
class CachedValue(Generic[_Value]):
    """What ``read`` returns, cached for ``lifetime`` seconds."""

    _read: Callable[[], Coroutine[Any, Any, _Value]]
    _timers: Timers
    _lifetime: float = LIST_LIFETIME
    _reading: asyncio.Task[_Value] | None = None
    _read_at: float = 0.0

    async def get(self) -> _Value:
        """Return the cached value, or read a new one if the cached one is too old.

        Raise StoreUnavailable if Redis fails.
        """
        now = self._timers.monotonic()
        reading = self._reading
        if reading is None or (reading.done() and (reading.exception() or now >= self._read_at + self._lifetime)):
            self._read_at = now
            self._reading = reading = asyncio.create_task(self._read())
            reading.add_done_callback(retrieve_error)
        return await asyncio.shield(reading)
