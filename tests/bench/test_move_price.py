"""The price of a move, as a table."""

from __future__ import annotations

import sys

import pytest

from tests.bench.move_price import main


@pytest.mark.skipif(sys.platform != "linux", reason="CPU time is read from /proc")
async def test_move_price() -> None:
    print()
    await main([])
