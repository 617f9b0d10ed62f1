"""Measurement of the delay with which the event loop wakes tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from samedeal_server.telemetry.metrics import Metrics

_SAMPLE_INTERVAL: Final = 0.25
"""Interval, in seconds, between two measurements."""

LATE: Final = 0.1
"""The delay, in seconds, with which a node answers noticeably late."""

_LATE_SAMPLES: Final = 20
"""Number of measurements in a row, all late, after which a node has too much to do."""


async def measure_loop_lag(metrics: Metrics, on_overload: Callable[[], None]) -> None:
    """Measure the delay of the event loop at intervals and record it in the metrics, until cancelled.

    Call ``on_overload`` whenever the node has had too much to do for some seconds.
    """
    loop, late = asyncio.get_running_loop(), 0
    while True:
        due = loop.time() + _SAMPLE_INTERVAL
        await asyncio.sleep(_SAMPLE_INTERVAL)
        lag = max(0.0, loop.time() - due)
        metrics.event_loop_lag_seconds.observe(lag)
        late = late + 1 if lag >= LATE else 0
        if late == _LATE_SAMPLES:
            late = 0
            on_overload()
