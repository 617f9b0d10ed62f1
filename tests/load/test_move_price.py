"""A short run of the benchmark of moves. ``make bench`` runs the long one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.bench import move_price
from tests.bench.move_price import Scenario, main


@pytest.mark.skipif(sys.platform != "linux", reason="CPU time is read from /proc")
async def test_benchmark_of_moves_reports_every_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(move_price, "SCENARIOS", (Scenario("few", 4, 20.0),))
    monkeypatch.setattr(move_price, "_IDLE", 20)
    await main(["--rounds", "2", "--seconds", "0.5", "--json", str(tmp_path / "prices.json")])
    found = json.loads((tmp_path / "prices.json").read_text())
    (price,) = found["prices"]
    rounds = [*price["server"], *price["echo"]]
    assert len(rounds) == 4
    assert all(each["load"]["moves"] > 0 and each["cpu"] > 0 for each in rounds)
    assert found["idle_memory_kB"]
    assert all(micros > 0 for micros in found["stages_us"].values())
