"""Fixtures for the tests of the client."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _no_files_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the history and the settings of the person who runs the tests out of them."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
