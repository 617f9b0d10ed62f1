"""Short runs of the parts of the report of ``make bench``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.bench import __main__ as report
from tests.bench.global_keys import global_key_costs
from tests.bench.move_price import Scenario
from tests.bench.move_stages import stage_times

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="CPU time is read from /proc")


async def test_benchmark_reports_every_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "SCENARIOS", (Scenario("few", 4, 20.0),))
    json_file = tmp_path / "build" / "prices.json"
    await report.main(["--rounds", "2", "--seconds", "0.2", "--only", "few", "--json", str(json_file)])
    (price,) = json.loads(json_file.read_text())["prices"]
    rounds = [*price["server"], *price["echo"]]
    assert len(rounds) == 4
    assert all(each["load"]["moves"] > 0 and each["cpu"] > 0 for each in rounds)


async def test_changes_of_a_race_cost_global_keys() -> None:
    found = {cost.key: cost for cost in await global_key_costs(races=1, idle_seconds=1, repeated=100)}
    for key in ("rooms", "listed", "due", "records", "news"):
        assert found[key].race_commands > 1
        assert found[key].race_cost > 0


def test_every_stage_takes_time() -> None:
    assert all(micros > 0 for micros in stage_times(tries=1).values())
