"""Log lines about a node at a limit: one when it begins to refuse clients, and one when it no longer does."""

from __future__ import annotations

from typing import Final

from samedeal_server.loop_timers import Alarm, Timers
from samedeal_server.telemetry.events import LogEvent, get_logger

CALM_TIME: Final = 60.0
"""Time, in seconds, without a refusal after which a node counts as no longer full."""

_log = get_logger()


class FullnessLog:
    """Log lines about clients that are refused because of one limit. ``setting`` is the name of the limit."""

    def __init__(self, timers: Timers, setting: str) -> None:
        self._timers = timers
        self._setting = setting
        self._refused = 0
        self._began_at = self._refused_at = 0.0
        self._alarm = Alarm(timers, self._on_alarm)

    def refuse(self, limit: int) -> None:
        """Count a refusal because of ``limit``. Log it if no other refusal came in the last ``CALM_TIME`` seconds."""
        self._refused += 1
        self._refused_at = self._timers.monotonic()
        if not self._alarm.is_set:
            self._began_at = self._refused_at
            self._alarm.set(CALM_TIME)
            _log.warning(LogEvent.SERVER_FULL, setting=self._setting, limit=limit)

    def _on_alarm(self) -> None:
        calm = self._timers.monotonic() - self._refused_at
        if calm < CALM_TIME:
            self._alarm.set(CALM_TIME - calm)
            return
        seconds = round(self._refused_at - self._began_at, 1)
        _log.info(LogEvent.SERVER_NOT_FULL, setting=self._setting, refused=self._refused, seconds=seconds)
        self._refused = 0
