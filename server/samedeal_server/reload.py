"""Settings that are read again while a node runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

import structlog

from samedeal_server.config import Config
from samedeal_server.metrics import Metrics
from samedeal_server.settings import BadSetting

CHANGEABLE: Final = frozenset({"limits", "log_level"})
"""The settings that are taken while a node runs, besides the files of its certificate."""

_FIXED: Final = frozenset({"limits.handshake_timeout"})

_log: structlog.stdlib.BoundLogger = structlog.get_logger("reload")


class Reload:
    """Reads the settings again, and has those taken that can be; what can't is said, and what is no good changes nothing.

    ``read`` raises BadSetting; ``take`` is told the settings to run by from then on.
    """

    def __init__(
        self, config: Config, read: Callable[[], Config], take: Callable[[Config], None], metrics: Metrics
    ) -> None:
        self._config = config
        self._read = read
        self._take = take
        self._metrics = metrics

    def __call__(self) -> None:
        """Read them again."""
        try:
            found = self._read()
        except BadSetting as error:
            self._metrics.reloads["failed"].inc()
            _log.error("reload_failed", error=str(error), kept="the settings as they were")
            return
        changed = _changed(self._config, found)
        fixed = [name for name in changed if name.partition(".")[0] not in CHANGEABLE or name in _FIXED]
        taken = [name for name in changed if name not in fixed]
        if fixed:
            _log.warning("reload_needs_restart", settings=fixed)
        self._config = dataclasses.replace(self._config, **{name: getattr(found, name) for name in CHANGEABLE})
        self._take(self._config)
        self._metrics.reloads["done"].inc()
        _log.info("reloaded", settings=taken)


def _changed(before: Config, after: Config) -> list[str]:
    """The names of settings that differ, those of sections after a dot; no values, which may be secret."""
    names = []
    for field in dataclasses.fields(before):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if dataclasses.is_dataclass(old):
            names += [
                f"{field.name}.{each.name}"
                for each in dataclasses.fields(old)
                if getattr(old, each.name) != getattr(new, each.name)
            ]
        elif old != new:
            names.append(field.name)
    return names
