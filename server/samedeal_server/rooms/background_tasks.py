"""Work that a node does in the background. An error in it is logged, so that other work is not affected."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from samedeal.errors import RequestRefused
from samedeal_server.errors import StoreUnavailable
from samedeal_server.tasks import cancel_and_wait
from samedeal_server.telemetry.logger import get_logger
from samedeal_server.telemetry.metrics import Metrics

_log = get_logger()


class BackgroundTasks:
    """The tasks that a node runs in the background."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self.tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Run ``work`` in the background.

        An error is logged, and ``work`` is not run again. The next tick, poll or refresh of the room makes up for it.
        """
        task = asyncio.create_task(self._run(work))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _run(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        await self.guard(work())

    async def guard(self, work: Awaitable[object]) -> None:
        """Wait for ``work``, and log its error instead of raising it."""
        try:
            await work
        except RequestRefused as refusal:
            _log.debug("request_refused", code=refusal.code)
        except StoreUnavailable as error:
            _log.debug("redis_error", error=str(error))
        except Exception:  # noqa: BLE001  # a mistake in one room must not end the other rooms; it is logged in full
            self._metrics.faults.inc()
            _log.exception("fault")

    async def stop(self) -> None:
        """Cancel all tasks and wait until they have ended. Call this method before the store is closed."""
        await cancel_and_wait(self.tasks)
