"""Texts that are kept in this directory, to be read by eye whenever they change."""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).parent


def assert_kept(name: str, text: str) -> None:
    """See to it that a text is the kept one. ``REGENERATE=1 pytest tests/shared`` keeps the new ones instead."""
    path = HERE / name
    if os.environ.get("REGENERATE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text
