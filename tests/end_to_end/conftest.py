"""Fixtures for the end-to-end tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.end_to_end.processes import Programs, programs_in


@pytest.fixture
async def programs(tmp_path: Path) -> AsyncIterator[Programs]:
    """Starts programs with a separate home directory."""
    async with programs_in(tmp_path) as started:
        yield started
