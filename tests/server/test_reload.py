"""Tests of reloading the settings while a node runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from samedeal_server.config.config import Config
from samedeal_server.config.limits import Limits
from samedeal_server.config.setting_sources import InvalidSetting
from samedeal_server.process.reload import RELOADABLE, Reload
from samedeal_server.telemetry.metrics import Metrics


class ReloadedNode:
    """The settings of a node: ``stored`` are read by a reload, ``applied`` are in force."""

    def __init__(self, config: Config) -> None:
        self.stored: Config | InvalidSetting = config
        self.applied = config
        self.metrics = Metrics()
        self._reload = Reload(config, self._read, self._apply, self.metrics)

    def _read(self) -> Config:
        if isinstance(self.stored, InvalidSetting):
            raise self.stored
        return self.stored

    def _apply(self, config: Config) -> None:
        self.applied = config

    def reload(self) -> list[tuple[object, object]]:
        with structlog.testing.capture_logs() as events:
            self._reload()
        return [(event["event"], event.get("settings", event.get("error"))) for event in events]


def test_reloadable_settings_are_applied() -> None:
    node = ReloadedNode(Config())
    node.stored = Config(log_level="debug", limits=Limits(rooms=7, rate=9.0))
    assert node.reload() == [("reloaded", ["log_level", "limits.rooms", "limits.rate"])]
    assert node.applied == node.stored
    assert node.reload() == [("reloaded", [])]


def test_other_settings_need_a_restart() -> None:
    node = ReloadedNode(Config())
    node.stored = Config(port=1, redis="redis://u:sesam@h", limits=Limits(rooms=7))
    assert node.reload() == [
        ("reload_needs_restart", ["port", "redis"]),
        ("reloaded", ["limits.rooms"]),
    ]
    assert node.applied == replace(Config(), limits=Limits(rooms=7))
    assert node.reload() == [
        ("reload_needs_restart", ["port", "redis"]),
        ("reloaded", []),
    ]


def test_invalid_settings_change_nothing() -> None:
    node = ReloadedNode(Config())
    node.stored = InvalidSetting("samedeal.toml is not valid TOML")
    assert node.reload() == [("reload_failed", "samedeal.toml is not valid TOML")]
    assert node.applied == Config()
    counted = [
        node.metrics.registry.get_sample_value("samedeal_reloads_total", {"result": r}) for r in ("failed", "done")
    ]
    assert counted == [1, 0]


@pytest.mark.parametrize("name", sorted(RELOADABLE))
def test_reloadable_names_are_settings(name: str) -> None:
    assert hasattr(Config(data=Path()), name)
