"""Reloading of the settings while a node runs."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Final

from samedeal_server.config.config import Config
from samedeal_server.config.setting_sources import InvalidSetting, table
from samedeal_server.errors import StartupError
from samedeal_server.telemetry.logger import get_logger
from samedeal_server.telemetry.metrics import Metrics

RELOADABLE: Final = frozenset(
    ("limits", "log_level", "admin_token", "admin_token_file", "moderator_token_file", "moderator_requests")
)
"""The settings that can change while a node runs.

A reload also reads the files of the certificate and of the tokens again.
"""

_log = get_logger()


async def reload_on_request(
    requested: asyncio.Event,
    config: Config,
    read: Callable[[], Config],
    apply: Callable[[Config], bool],
    metrics: Metrics,
) -> None:
    """Read the settings again and apply those that can change, each time the event ``requested`` is set.

    If other settings have changed, they are only logged. If a setting is invalid, nothing is applied. ``read`` returns
    the new settings, or raises InvalidSetting. ``apply`` applies settings, and returns False if it has counted a failed
    reload. It raises StartupError, and applies nothing, if a token cannot be used.
    """
    while True:
        await requested.wait()
        requested.clear()
        try:
            new = read()
            changed = [row.field for row in table(Config) if row.value_in(config) != row.value_in(new)]
            fixed = [name for name in changed if name.partition(".")[0] not in RELOADABLE]
            if fixed:
                _log.warning("reload_needs_restart", settings=fixed)
            config = dataclasses.replace(config, **{name: getattr(new, name) for name in RELOADABLE})
            if apply(config):
                metrics.reloads["done"].inc()
            _log.info("reloaded", settings=[name for name in changed if name not in fixed])
        except (InvalidSetting, StartupError) as error:
            metrics.reloads["failed"].inc()
            _log.error("reload_failed", error=str(error))
        except Exception:  # noqa: BLE001  # a fault here must not stop the node; it is logged with its traceback
            metrics.faults.inc()
            _log.exception("fault")
