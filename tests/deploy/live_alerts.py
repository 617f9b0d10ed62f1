"""The alerts in promtool: each fires when it should, and none fires on a calm day."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.introspection import DEPLOY
from tests.programs import needs

ALERTS = DEPLOY / "monitoring" / "alerts.yaml"

NODE = "job='samedeal',instance='one'"

DAYS = {
    "up": ("0x300", "1x300"),
    "up{job='samedeal-door'}": ("0x300", "1x300"),
    "samedeal_door_full": ("1x300", "0.5x300"),
    "samedeal_door_loop_lag_seconds_bucket": ("0.25", "0.0025"),
    "samedeal_door_faults_total": ("0+1x300", "0x300"),
    "process_start_time_seconds": ("1+15x300", "1x150 2x149"),
    "process_open_fds": ("90x300", "20x300"),
    "process_max_fds": ("100x300", "100x300"),
    "samedeal_redis_up": ("0x300", "1x150 0 1x148"),
    "samedeal_solver_up": ("0x300", "1x150 0 1x148"),
    "samedeal_oldest_deal_search_seconds": ("0+15x300", "0x150 15 30 45 0x146"),
    "samedeal_redis_errors_total{kind='refused'}": ("0+1x300", "0x150 8x150"),
    "samedeal_moves_total{outcome='unavailable'}": ("0+1x300", "0x150 8x150"),
    "samedeal_redis_replicas": ("2x300", "2x300"),
    "samedeal_backup_timestamp_seconds": ("-200000x300", "0x300"),
    "redis_connected_slaves{job='redis',instance='primary'}": ("1x300", "2x150 1 2x148"),
    "redis_connected_slaves{job='redis',instance='replica'}": ("0x300", "0x300"),
    "redis_instance_info{job='redis',instance='primary',role='master'}": ("1x300", "1x300"),
    "redis_instance_info{job='redis',instance='replica',role='slave'}": ("1x300", "1x300"),
    "redis_memory_used_bytes{job='redis',instance='primary'}": ("90x300", "70x300"),
    "redis_memory_max_bytes{job='redis',instance='primary'}": ("100x300", "100x300"),
    "redis_memory_used_bytes{job='redis',instance='unbounded'}": ("70x300", "70x300"),
    "redis_memory_max_bytes{job='redis',instance='unbounded'}": ("0x300", "0x300"),
    "node_filesystem_avail_bytes{job='machines',fstype='ext4'}": ("10x300", "50-0.01x300"),
    "node_filesystem_size_bytes{job='machines',fstype='ext4'}": ("100x300", "100x300"),
    "node_filesystem_avail_bytes{job='machines',fstype='tmpfs'}": ("1x300", "1x300"),
    "node_filesystem_size_bytes{job='machines',fstype='tmpfs'}": ("100x300", "100x300"),
    "samedeal_handshakes_refused_total{reason='full'}": ("0+1x300", "0x150 8x150"),
    "samedeal_handshakes_refused_total{reason='address'}": ("0+2x300", "3x300"),
    "samedeal_refusals_total{code='server_full'}": ("0+1x300", "0x150 8x150"),
    "samedeal_admin_logins_failed_total{reason='bad_token'}": ("0+1x300", "0x150 3x150"),
    "samedeal_slow_clients_disconnected_total": ("0+1x300", "0x200 1x99"),
    "samedeal_faults_total": ("0+1x300", "0x300"),
    "samedeal_reloads_total{result='failed'}": ("0+1x300", "1x300"),
    "samedeal_tls_certificate_expiry_timestamp_seconds": ("600000x300", "9000000x300"),
    "samedeal_tls_certificate_expiry_timestamp_seconds{job='samedeal',instance='two'}": ("1x300", "9000000x300"),
    "samedeal_redis_seconds_bucket": ("0.25", "0.025"),
    "samedeal_ack_seconds_bucket": ("0.5", "0.05"),
    "samedeal_event_loop_lag_seconds_bucket": ("0.25", "0.0025"),
    "samedeal_fan_out_lag_seconds_bucket": ("5.0", "0.25"),
    "samedeal_redis_errors_total{kind='lost'}": ("", "0+1x300"),
}
"""What happens on a bad day and on a calm one, with four samples a minute. The value of a histogram is its only bucket."""
TROUBLE, CALM = ({name: each[day] for name, each in DAYS.items() if each[day]} for day in (0, 1))


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


CAUSES = {
    "up": "NobodyConnects NodeDown",
    "samedeal_redis_up": "NobodyConnects RedisDown",
    "samedeal_handshakes_refused_total{reason='full'}": "Full NobodyConnects",
    "samedeal_tls_certificate_expiry_timestamp_seconds{job='samedeal',instance='two'}": "CertificateExpired",
    "samedeal_solver_up": "NobodyStarts SolverBroken",
    "samedeal_oldest_deal_search_seconds": "NobodyStarts SearchSlow",
    "samedeal_refusals_total{code='server_full'}": "NobodyStarts RoomsFull",
    "samedeal_ack_seconds_bucket": "AcksSlow",
    "samedeal_moves_total{outcome='unavailable'}": "AcksSlow",
    "samedeal_redis_errors_total{kind='refused'}": "RedisErrors",
    "redis_connected_slaves{job='redis',instance='primary'}": "ReplicasLow",
    "redis_memory_used_bytes{job='redis',instance='primary'}": "RedisMemoryLow",
    "node_filesystem_avail_bytes{job='machines',fstype='ext4'}": "DiskLow",
    "samedeal_backup_timestamp_seconds": "BackupOld",
    "samedeal_reloads_total{result='failed'}": "ReloadFailed",
    "up{job='samedeal-door'}": "DoorDown NoDoor",
}
"""The alerts that fire if only one thing goes wrong, by its series."""


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
    days = [({**CALM, name: TROUBLE[name]}, alerts) for name, alerts in CAUSES.items()]
    check(
        [trial(day, [74], [f"Samedeal{name}" for name in fire.split()]) for day, fire in days], tmp_path / "trial.json"
    )
