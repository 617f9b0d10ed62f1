"""The alerts in promtool: each fires when it should, and none fires on a calm day."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.introspection import DEPLOY
from tests.programs import needs

ALERTS = DEPLOY / "monitoring" / "alerts.yaml"

NODE = "job='samedeal',instance='one'"

DAYS = tomllib.loads((Path(__file__).parent / "alert_days.toml").read_text())
TROUBLE, CALM = ({name: row[day] for name, row in DAYS.items() if day in row} for day in ("trouble", "calm"))


def series(day: dict[str, str]) -> list[dict[str, str]]:
    found = []
    for name, values in day.items():
        bare, _, labels = name.rstrip("}").partition("{")
        if not bare.endswith("_bucket"):
            place = labels if "job=" in labels else ",".join(filter(None, (NODE, labels)))
            found.append({"series": f"{bare}{{{place}}}", "values": values})
            continue
        for bound in (*(0.0025, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0), float("inf")):
            within = "0+10x300" if bound >= float(values) else "0x300"
            shown = "+Inf" if bound == float("inf") else str(bound)
            found.append({"series": f"{bare}{{{NODE},le='{shown}'}}", "values": within})
    return found


def trial(day: dict[str, str], minutes: list[int], alerts: list[str]) -> dict[str, Any]:
    """A test for promtool: exactly these alerts fire at some minutes of a day."""
    wanted = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in alerts]
    query = 'count by (alertname) (ALERTS{alertstate="firing"})'
    asked = [{"expr": query, "eval_time": f"{minute}m", "exp_samples": wanted} for minute in minutes]
    return {"interval": "15s", "input_series": series(day), "promql_expr_test": asked}


def check(trials: list[dict[str, Any]], file: Path) -> None:
    file.write_text(json.dumps({"rule_files": [str(ALERTS)], "evaluation_interval": "15s", "tests": trials}))
    done = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs("promtool")
@pytest.mark.parametrize("day", [TROUBLE, CALM], ids=["trouble", "calm"])
def test_alerts_fire_only_in_trouble(day: dict[str, str], tmp_path: Path) -> None:
    names = sorted(rule["alert"] for rule in yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"])
    minutes, fire = ([74], names) if day is TROUBLE else ([20, 38, 39, 40, 51, 74], [])
    check([trial(day, minutes, fire)], tmp_path / "trial.json")  # JSON is valid YAML


@needs("promtool")
def test_one_cause_fires_only_its_own_alerts(tmp_path: Path) -> None:
    days = [({**CALM, name: row["trouble"]}, row["fires"]) for name, row in DAYS.items() if "fires" in row]
    check(
        [trial(day, [74], [f"Samedeal{name}" for name in fire.split()]) for day, fire in days], tmp_path / "trial.json"
    )
