"""Everything that files and pages for operators name exists: settings, variables, metrics, commands, links."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import yaml

from samedeal.protocol.messages import SUBPROTOCOL
from samedeal_client.cli import COMMANDS, expand
from samedeal_client.cli import parser as client_parser
from samedeal_server.cli import parser as server_parser
from samedeal_server.process.restore import parser as restore_parser
from tests.deploy.introspection import (
    DEPLOY,
    FLAGS,
    GUIDE,
    ROOT,
    SERVER_FLAGS,
    VARIABLES,
    anchors,
    metrics,
    pages,
    shell_lines,
    texts,
    without_blocks,
)

SERIES = metrics()

OTHER_FLAGS = {
    "Dockerfile": "apt, pip, groupadd, useradd and install have flags of their own",
    "compose.yaml": "so have docker and valkey-server",
    "compose.one.yaml": "so has docker",
    "redis.yaml": "so has valkey-server",
    "kustomization.yaml": "so has kubectl",
    "requirements.in": "so has uv",
}
"""Files that contain flags of other programs, and whose."""

ELSEWHERE = {"up", "process_start_time_seconds", "process_open_fds", "process_max_fds", "process_cpu_seconds_total"}
ELSEWHERE |= {"process_resident_memory_bytes"}
ELSEWHERE |= {"redis_memory_used_bytes", "redis_memory_max_bytes", "redis_connected_slaves", "redis_instance_info"}
ELSEWHERE |= {"node_filesystem_avail_bytes", "node_filesystem_size_bytes"}
"""Series that are not Samedeal's: those of Prometheus, of every process on Linux, of redis_exporter and node_exporter."""

SCRAPED = {"job", "instance", "le", "fstype", "role"}
"""Labels that a scrape adds, the label of histogram buckets, and those of the exporters."""

OTHER_COMMANDS = {
    *("apt", "chmod", "chown", "cp", "curl", "docker", "echo", "export", "git", "groupadd", "install", "kubectl"),
    *("ln", "python", "sysctl"),
    *("mkdir", "mv", "openssl", "pip", "pipx", "printf", "promtool", "python3", "redis-cli", "ssh", "systemctl"),
    *("rm", "tee", "touch", "uv", "uvx", "valkey-cli"),
}


def test_variables_and_flags_are_settings() -> None:
    for path in texts():
        text = path.read_text()
        named = set(re.findall(r"\bSAMEDEAL_[A-Z_]*[A-Z]\b", text))
        if path.name == "deployment.yaml":
            named.discard("SAMEDEAL_SERVICE_HOST")  # set by Kubernetes, mentioned in a comment
        assert named <= VARIABLES, path
        if path.suffix == ".md":
            text = "\n".join(re.findall(r"`(--?[^`]+|samedeal[^`]*)`", without_blocks(text)))
        if path.name not in OTHER_FLAGS:
            assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= FLAGS, path


def test_command_lines_of_page_parse() -> None:
    for page in [ROOT / "README.md", GUIDE]:
        for line in shell_lines(page):
            for command in re.split(r"\s(?:&&|\|\||\|)\s|;\s", re.sub(r"\s#.*", "", line)):
                _understood(command)


def _understood(command: str) -> None:
    words = shlex.split(command, comments=True)
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words.pop(0)
    if words[:1] == ["sudo"]:
        words = [word for word in words[1:] if word not in ("-u", "samedeal")]
    assert words, command
    program = Path(words[0]).name
    if program == "samedeal-server" and words[1:2] == ["restore"]:
        restore_parser().parse_args(words[2:])
    elif program == "samedeal-server" or (program == "samedeal" and words[1] == "serve"):
        given = words[1 if program == "samedeal-server" else 2 :]
        assert {word for word in given if word.startswith("--")} <= SERVER_FLAGS, command
        server_parser().parse_args(given)
    elif program == "samedeal":
        assert words[1] in COMMANDS, command
        shown = {"GAME": "willow", "LEVEL": "greedy"}
        client_parser(words[1]).parse_args(expand([shown.get(word.strip("[]"), word) for word in words[1:]]))
    elif program == "make":
        targets = {word for word in words[1:] if not re.match(r"-|[A-Z]+=", word)}
        assert targets <= set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)), command
    else:
        assert program in OTHER_COMMANDS, command


def test_links_of_pages_resolve_and_the_subprotocol_is_current() -> None:
    for page in pages():
        assert set(re.findall(r"\bsamedeal\.v\d+\b", page.read_text())) <= {SUBPROTOCOL}, page
        for link in re.findall(r"\]\(([^)\s]+)\)", without_blocks(page.read_text())):
            if link.startswith(("https://", "http://")):
                continue
            file, _, anchor = link.partition("#")
            target = (page.parent / file) if file else page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


def _alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((DEPLOY / "monitoring" / "alerts.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def _dashboard() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((DEPLOY / "monitoring" / "dashboard.json").read_text())
    return read


def _queries() -> list[str]:
    dashboard = _dashboard()
    shown = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    asked = [each["query"]["query"] for each in dashboard["templating"]["list"] if each["type"] == "query"]
    marked = [each["expr"] for each in dashboard["annotations"]["list"]]
    return [*(rule["expr"] for rule in _alerts()), *shown, *asked, *marked]


def test_query_uses_existing_series_and_labels() -> None:
    for query in _queries():
        named = re.findall(r"\b((?:samedeal|process|redis|node)_\w+|up)\b(?:\{([^}]*)\})?", query)
        assert named, query
        labels: set[str] = set()
        for series, selector in named:
            assert series in SERIES or series in ELSEWHERE, series
            known = SERIES[series].labels if series in SERIES else frozenset()
            assert set(re.findall(r"(\w+)\s*(?:=|!=|=~|!~)\"", selector)) <= known | SCRAPED, query
            labels |= known
        for grouping in re.findall(r"\b(?:by|without) \(([^)]*)\)", query):
            assert {label.strip() for label in grouping.split(",")} <= labels | SCRAPED, query
        assert query.count("(") == query.count(")")


def test_named_metrics_and_queried_label_values_exist() -> None:
    for path in (GUIDE, DEPLOY / "monitoring" / "alerts.yaml"):
        assert set(re.findall(r"\bsamedeal_[a-z_]+[a-z]\b", path.read_text())) <= set(SERIES), path
    given = {(label, value) for family in metrics_families() for sample in family for label, value in sample}
    for query in _queries():
        for label, value in re.findall(r"(\w+)=\"([a-z_]+)\"", query):
            assert label in SCRAPED or (label, value) in given, query


def metrics_families() -> list[list[list[tuple[str, str]]]]:
    from samedeal_server.telemetry.metrics import Metrics

    return [[list(sample.labels.items()) for sample in family.samples] for family in Metrics().registry.collect()]


def test_guide_explains_exactly_the_alerts() -> None:
    alerts = {rule["alert"] for rule in _alerts()}
    for rule in _alerts():
        file, _, anchor = rule["annotations"]["runbook"].partition("#")
        assert ROOT / file == GUIDE
        assert anchor == rule["alert"].lower()
    assert alerts == set(re.findall(r"^#+ (Samedeal\w+)$", GUIDE.read_text(), re.MULTILINE))
