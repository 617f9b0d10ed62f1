"""Reloading of the settings while a node runs."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Final

from samedeal_server.config.config import Config
from samedeal_server.config.setting_sources import InvalidSetting
from samedeal_server.telemetry.events import LogEvent, get_logger
from samedeal_server.telemetry.metrics import Metrics

RELOADABLE: Final = frozenset({"limits", "log_level"})
"""The settings that can change while a node runs. A reload also reads the files of the certificate again."""

_log = get_logger()


class Reload:
    """A function that reads the settings again and applies those that can change.

    If other settings have changed, they are only logged. If a setting is invalid, nothing is applied. ``read`` returns
    the new settings, or raises InvalidSetting. ``apply`` applies settings.
    """

    def __init__(
        self, config: Config, read: Callable[[], Config], apply: Callable[[Config], None], metrics: Metrics
    ) -> None:
        self._config = config
        self._read = read
        self._apply = apply
        self._metrics = metrics

    def __call__(self) -> None:
        """Read the settings again and apply those that can change."""
        try:
            new = self._read()
        except InvalidSetting as error:
            self._metrics.reloads["failed"].inc()
            _log.error(LogEvent.RELOAD_FAILED, error=str(error))
            return
        changed = _changed(self._config, new)
        fixed = [name for name in changed if name.partition(".")[0] not in RELOADABLE]
        applied = [name for name in changed if name not in fixed]
        if fixed:
            _log.warning(LogEvent.RELOAD_NEEDS_RESTART, settings=fixed)
        self._config = dataclasses.replace(self._config, **{name: getattr(new, name) for name in RELOADABLE})
        self._apply(self._config)
        self._metrics.reloads["done"].inc()
        _log.info(LogEvent.RELOADED, settings=applied)


async def reload_on_request(requested: asyncio.Event, reload: Reload, metrics: Metrics) -> None:
    """Call ``reload`` each time the event ``requested`` is set."""
    while True:
        await requested.wait()
        requested.clear()
        try:
            reload()
        except Exception:  # noqa: BLE001  # a fault here must not stop the node; it is logged with its traceback
            metrics.faults.inc()
            _log.exception(LogEvent.FAULT)


def _changed(before: Config, after: Config) -> list[str]:
    """Return the names of the settings that differ, such as ``limits.rate``.

    The values may be secret and are not returned.
    """
    names = []
    for field in dataclasses.fields(before):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if dataclasses.is_dataclass(old):
            names += [
                f"{field.name}.{subfield.name}"
                for subfield in dataclasses.fields(old)
                if getattr(old, subfield.name) != getattr(new, subfield.name)
            ]
        elif old != new:
            names.append(field.name)
    return names
