"""Files of which nobody may see a part."""

from __future__ import annotations

import os
from pathlib import Path
from unittest.mock import Mock

import pytest

from samedeal_link.machine import paths
from samedeal_link.machine.paths import open_private, write_new


def test_new_file_appears_with_its_whole_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers that start at the same time would otherwise read an empty secret."""
    path = tmp_path / "new" / "secret"
    seen: list[bool] = []
    monkeypatch.setattr(
        paths, "open_private", Mock(side_effect=AssertionError)
    )  # with it, the file would be empty first
    monkeypatch.setattr(os, "fsync", lambda _: seen.append(path.exists()))
    assert write_new(path, "first")
    assert not write_new(path, "second")
    assert seen == [False, True]
    assert path.read_text() == "first"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [*path.parent.iterdir()] == [path]


def test_file_that_others_can_read_becomes_private(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.touch(0o644)
    open_private(path, "ab").close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_file_that_cannot_be_written_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        write_new(tmp_path / "secret", "\udc80")
    assert not [*tmp_path.iterdir()]


def test_new_file_needs_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    assert write_new(tmp_path / "secret", "first")
    assert not write_new(tmp_path / "secret", "second")
    assert (tmp_path / "secret").read_text() == "first"
