"""Settings that are read again while a node runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from samedeal_server.config import Config
from samedeal_server.limits import Limits
from samedeal_server.metrics import Metrics
from samedeal_server.reload import CHANGEABLE, Reload
from samedeal_server.settings import BadSetting


class Reloaded:
    """A node's settings, those that it finds, and what came of reading them."""

    def __init__(self, config: Config) -> None:
        self.found: Config | BadSetting = config
        self.taken = config
        self.metrics = Metrics()
        self._reload = Reload(config, self._read, self._take, self.metrics)

    def _read(self) -> Config:
        if isinstance(self.found, BadSetting):
            raise self.found
        return self.found

    def _take(self, config: Config) -> None:
        self.taken = config

    def reload(self) -> list[tuple[object, object]]:
        with structlog.testing.capture_logs() as events:
            self._reload()
        return [(event["event"], event.get("settings", event.get("error"))) for event in events]


def test_what_can_be_taken_is() -> None:
    node = Reloaded(Config())
    node.found = Config(log_level="debug", limits=Limits(rooms=7, rate=9.0))
    assert node.reload() == [("reloaded", ["log_level", "limits.rooms", "limits.rate"])]
    assert node.taken == node.found
    assert node.reload() == [("reloaded", [])]


def test_what_cannot_is_named_and_left() -> None:
    node = Reloaded(Config())
    node.found = Config(port=1, redis="redis://u:sesam@h", limits=Limits(rooms=7, handshake_timeout=3))
    assert node.reload() == [
        ("reload_needs_restart", ["port", "redis", "limits.handshake_timeout"]),
        ("reloaded", ["limits.rooms"]),
    ]
    assert node.taken == replace(Config(), limits=node.found.limits)


def test_what_is_broken_changes_nothing() -> None:
    node = Reloaded(Config())
    node.found = BadSetting("samedeal.toml is no TOML")
    assert node.reload() == [("reload_failed", "samedeal.toml is no TOML")]
    assert node.taken == Config()
    counted = [
        node.metrics.registry.get_sample_value("samedeal_reloads_total", {"result": r}) for r in ("failed", "done")
    ]
    assert counted == [1, 0]


@pytest.mark.parametrize("name", sorted(CHANGEABLE))
def test_what_is_said_to_change_is_a_setting(name: str) -> None:
    assert hasattr(Config(data=Path()), name)
