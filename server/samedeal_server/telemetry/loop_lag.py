"""Measurement of the delay with which the event loop wakes tasks."""

from __future__ import annotations

import asyncio
from typing import Final

from samedeal_server.telemetry.metrics import Metrics

_SAMPLE_INTERVAL: Final = 0.25
"""Interval, in seconds, between two measurements."""


async def measure_loop_lag(metrics: Metrics) -> None:
    """Measure the delay of the event loop at intervals and record it in the metrics, until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + _SAMPLE_INTERVAL
        await asyncio.sleep(_SAMPLE_INTERVAL)
        metrics.event_loop_lag_seconds.observe(max(0.0, loop.time() - due))
