"""The files of an operator: each is what it says it is, and they agree with each other and with the program."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from samedeal_server.config import DEFAULT_PORT, Config
from samedeal_server.settings import read
from tests.deploy.dockerfile import FILE, ROOT, Step, steps
from tests.deploy.real import DEPLOY, SETTINGS, name, texts

PING = 20
"""Seconds between two pings of a node, when nothing else is said."""

DOCKERFILE = list(steps(FILE.read_text()))
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
PROXIES = sorted((DEPLOY / "proxy").iterdir())
UNITS = sorted((DEPLOY / "systemd").iterdir())


def loaded(path: Path) -> Any:
    documents = list(yaml.safe_load_all(path.read_text()))
    return documents[0] if len(documents) == 1 else documents


@pytest.mark.parametrize("path", [path for path in texts() if path.suffix in (".yaml", ".json", ".toml")], ids=name)
def test_every_file_can_be_read(path: Path) -> None:
    text = path.read_text()
    match path.suffix:
        case ".yaml":
            assert loaded(path)
        case ".json":
            assert json.loads(text)
        case _:
            assert tomllib.loads(text)


def does(word: str) -> Iterator[Step]:
    return (step for step in DOCKERFILE if step.word == word)


def environment(steps_: Iterator[Step]) -> dict[str, str]:
    return dict(re.findall(r"(\w+)=(\S+)", " ".join(step.rest for step in steps_)))


def settings_of(variables: dict[str, str]) -> Config:
    """The settings that a node would have with these variables, as it reads them itself."""
    ours = {key: str(value) for key, value in variables.items() if key.startswith("SAMEDEAL_")}
    return read(Config, {}, ours).values


# ---------------------------------------------------------------- the image


def test_what_the_image_copies_is_there_and_not_left_out() -> None:
    rules = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    let_in = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    assert "*" in rules
    copied = {source for step in does("COPY") for source in step.sources}
    assert copied == let_in
    assert all((ROOT / source).exists() for source in copied)


def test_the_image_is_pinned_and_its_packages_by_content() -> None:
    base = next(does("ARG")).rest
    assert re.fullmatch(r"BASE=python:3\.\d+\.\d+-slim-\w+", base)
    lines = (DEPLOY / "requirements.txt").read_text().splitlines()
    wanted = [line for line in lines if line and not line.startswith(("#", " "))]
    assert all(re.match(r"[\w-]+==[\w.]+", line) for line in wanted)
    assert "--require-hashes" in FILE.read_text()


def test_the_pinned_packages_are_those_that_the_server_needs() -> None:
    wanted = re.findall(r"^([\w-]+)>=([\w.]+)", (DEPLOY / "requirements.in").read_text(), re.MULTILINE)
    pinned = dict(re.findall(r"^([\w-]+)==([\w.]+)", (DEPLOY / "requirements.txt").read_text(), re.MULTILINE))
    for package, least in wanted:
        assert tuple(map(int, pinned[package].split("."))) >= tuple(map(int, least.split("."))), package


def test_the_image_runs_a_node_for_all_addresses_as_nobody_special() -> None:
    config = settings_of(environment(step for step in does("ENV")))
    assert config.host == "0.0.0.0"
    assert [step.rest for step in does("VOLUME")] == [str(config.data)]
    assert {int(port) for step in does("EXPOSE") for port in step.words} == {config.port, config.health_port}
    (user,) = does("USER")
    assert user.rest == "10001:10001"
    assert next(does("ENTRYPOINT")).words == ["samedeal-server"]
    (check,) = does("HEALTHCHECK")
    assert f"http://127.0.0.1:{config.health_port}/healthz" in check.rest


# ---------------------------------------------------------------- several containers


def compose_nodes() -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{file}: {service}", row)
        for file in ("compose.yaml", "compose.one.yaml")
        for service, row in loaded(DEPLOY / file)["services"].items()
        if row["image"] == "samedeal"
    ]


@pytest.mark.parametrize(("service", "row"), compose_nodes(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_node_of_a_compose_file_is_the_image_with_settings_that_it_understands(
    service: str, row: dict[str, Any]
) -> None:
    config = settings_of(environment(does("ENV")) | row.get("environment", {}))
    assert (DEPLOY / row["build"]["context"] / row["build"]["dockerfile"]).resolve() == FILE
    assert row["read_only"]
    assert row["cap_drop"] == ["ALL"]
    assert bool(config.redis) != any(str(config.data) in volume for volume in row.get("volumes", ())), service


def test_the_proxy_of_the_compose_file_finds_the_nodes_and_is_believed() -> None:
    compose = loaded(DEPLOY / "compose.yaml")
    caddy = compose["services"]["caddy"]
    nodes = [service for service, row in compose["services"].items() if row["image"] == "samedeal"]
    assert caddy["environment"]["NODES"] == " ".join(f"{node}:{DEFAULT_PORT}" for node in nodes)
    file = (DEPLOY / "proxy" / "Caddyfile").read_text()
    assert set(re.findall(r"\{\$(\w+)", file)) == set(caddy["environment"])
    config = settings_of(environment(does("ENV")) | compose["services"][nodes[0]]["environment"])
    assert config.trusted_proxies == (compose["networks"]["default"]["ipam"]["config"][0]["subnet"],)
    assert {port.split(":")[-1] for port in caddy["ports"]} == {"80", "443", str(DEFAULT_PORT)}
    for volume in caddy["volumes"]:
        source = volume.split(":")[0]
        assert source in compose["volumes"] or (DEPLOY / source).exists()


def test_the_redis_of_the_compose_file_keeps_what_is_acked() -> None:
    command = loaded(DEPLOY / "compose.yaml")["services"]["redis"]["command"]
    given = dict(zip(command[1::2], command[2::2], strict=True))
    assert given["--appendonly"] == "yes"
    assert given["--appendfsync"] == "always"
    assert given["--maxmemory-policy"] == "noeviction"


# ---------------------------------------------------------------- Kubernetes


def test_every_manifest_is_named_or_an_example() -> None:
    named = loaded(DEPLOY / "kubernetes" / "kustomization.yaml")["resources"]
    examples = {"kustomization.yaml", "ingress.yaml", "service-monitor.yaml"}
    assert {path.name for path in MANIFESTS} == {*named, *examples}


def test_the_deployment_runs_the_image_with_settings_that_it_understands() -> None:
    pod = loaded(DEPLOY / "kubernetes" / "deployment.yaml")["spec"]["template"]["spec"]
    (node,) = pod["containers"]
    variables = {row["name"]: row.get("value", "redis://redis:6379/0") for row in node["env"]}
    config = settings_of(environment(does("ENV")) | variables)
    ports = {row["name"]: row["containerPort"] for row in node["ports"]}
    assert ports == {"players": config.port, "health": config.health_port}
    assert pod["securityContext"]["runAsUser"] == 10001
    assert not pod["enableServiceLinks"]
    for probe, path in (("startupProbe", "/healthz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")):
        assert node[probe]["httpGet"] == {"path": path, "port": "health"}
    waits = int(node["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] >= waits + config.drain_delay + 10


def test_services_and_budgets_select_the_pods() -> None:
    template = loaded(DEPLOY / "kubernetes" / "deployment.yaml")["spec"]["template"]
    labels = template["metadata"]["labels"].items()
    ports = {row["name"] for row in template["spec"]["containers"][0]["ports"]}
    services = loaded(DEPLOY / "kubernetes" / "service.yaml")
    for service in services:
        assert service["spec"]["selector"].items() <= labels
        assert {row["targetPort"] for row in service["spec"]["ports"]} <= ports
    budget = loaded(DEPLOY / "kubernetes" / "disruption.yaml")["spec"]
    assert budget["selector"]["matchLabels"].items() <= labels
    backend = loaded(DEPLOY / "kubernetes" / "ingress.yaml")["spec"]["rules"][0]["http"]["paths"][0]["backend"]
    assert backend["service"]["name"] in {service["metadata"]["name"] for service in services}
    monitor = loaded(DEPLOY / "kubernetes" / "service-monitor.yaml")["spec"]
    (watched,) = [
        service
        for service in services
        if monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    ]
    assert monitor["endpoints"][0]["port"] == watched["spec"]["ports"][0]["name"]


# ---------------------------------------------------------------- settings


def test_a_node_understands_the_file_of_settings_and_what_is_left_out_in_it() -> None:
    text = (DEPLOY / "samedeal.toml").read_text()
    config = read(Config, {}, {}, ("samedeal.toml", re.sub(r"^# (\S+ = )", r"\1", text, flags=re.MULTILINE))).values
    assert config.host == "0.0.0.0"
    assert config.public_url == "wss://cards.example.org"


# ---------------------------------------------------------------- systemd, and proxies on the same machine


def unit(path: Path) -> list[tuple[str, str]]:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith(("#", "["))]
    return [(key, value) for key, _, value in (line.partition("=") for line in lines)]


@pytest.mark.parametrize("path", UNITS, ids=name)
def test_a_unit_starts_a_node_with_settings_that_it_has(path: Path) -> None:
    reader = configparser.ConfigParser(strict=False, interpolation=None)
    reader.read_string(path.read_text())
    assert reader.sections() == ["Unit", "Service", "Install"]
    lines = dict(unit(path))
    flags = lines["ExecStart"].split()[1::2]
    assert all(flag in SETTINGS for flag in flags)
    assert lines["KillMode"] == "mixed"
    assert lines["Type"] == "notify"


def test_the_units_are_hardened_alike() -> None:
    one, several = (
        {line for line in unit(path) if not line[0].startswith(("Description", "ExecStart", "StateD", "Environment"))}
        for path in UNITS
    )
    assert one == several


@pytest.mark.parametrize("path", PROXIES, ids=name)
def test_a_proxy_on_the_same_machine_looks_for_the_nodes_where_the_units_have_them(path: Path) -> None:
    start = dict(unit(DEPLOY / "systemd" / "samedeal@.service"))["ExecStart"]
    for instance in "12":
        words = start.replace("%i", instance).split()
        host, port, health = (words[words.index(flag) + 1] for flag in ("--host", "--port", "--health-port"))
        assert f"{host}:{port}" in path.read_text()
        assert f"port {health}\n" in path.read_text() or path.name != "haproxy.cfg"


def test_prometheus_looks_for_the_nodes_where_the_units_have_them() -> None:
    (scrape,) = loaded(DEPLOY / "monitoring" / "prometheus.yaml")["scrape_configs"]
    assert scrape["static_configs"][0]["targets"] == ["127.0.0.1:7901", "127.0.0.1:7902"]
    assert scrape["job_name"] == "samedeal"


@pytest.mark.parametrize("path", PROXIES, ids=name)
def test_a_proxy_takes_players_where_clients_look_for_them(path: Path) -> None:
    text = path.read_text()
    assert str(DEFAULT_PORT) in text
    assert "443" in text or path.name == "Caddyfile"


@pytest.mark.parametrize(
    ("file", "limit"),
    [
        ("nginx.conf", r"proxy_(?:read|send)_timeout (\d+)s;"),
        ("haproxy.cfg", r"timeout tunnel (\d+)s"),
    ],
)
def test_a_proxy_leaves_a_connection_alone_while_its_node_pings(file: str, limit: str) -> None:
    found = re.findall(limit, (DEPLOY / "proxy" / file).read_text())
    assert found
    assert all(int(seconds) > 3 * PING for seconds in found)
