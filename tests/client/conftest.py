"""Fixtures for the tests of the client."""

from __future__ import annotations

from itertools import count
from typing import Final

import pytest

from tests.textual_internals import share_parsed_css

_HOMES: Final = count(1)

share_parsed_css()


@pytest.fixture(autouse=True)
def _no_files_of_the_user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test its own history, settings and records, apart from those of the person who runs the tests.

    The client makes the folders when it writes. Most tests write nothing, and making folders for all of them takes long.
    """
    home = tmp_path_factory.getbasetemp() / f"home-{next(_HOMES)}"
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
