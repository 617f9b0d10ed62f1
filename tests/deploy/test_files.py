"""The files in ``deploy/``: they are valid, and agree with each other and with the program."""

from __future__ import annotations

import asyncio
import configparser
import json
import os
import re
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

import samedeal
from samedeal_client.cli import parser as client_parser
from samedeal_server.config.config import DEFAULT_PORT, Config
from samedeal_server.config.setting_sources import read
from samedeal_server.process.listening import ALL_ADDRESSES
from tests.deploy.dockerfile import FILE, ROOT, Step, steps
from tests.deploy.introspection import DEPLOY, SETTINGS, metrics
from tests.server.live_nodes import serving
from tests.server.local_server import local_server

PING = 20
"""Ping interval of a node, in seconds."""

DOCKERFILE = list(steps(FILE.read_text()))
PINNED = ("requirements", "requirements-build")
PROXIES = sorted((DEPLOY / "proxy").iterdir())
UNITS = [DEPLOY / "systemd" / "samedeal.service", DEPLOY / "systemd" / "samedeal@.service"]
DOOR_UNIT = DEPLOY / "systemd" / "samedeal-door.service"
BACKUP_UNIT = DEPLOY / "systemd" / "samedeal-backup.service"
MANIFESTS = sorted((DEPLOY / "kubernetes").iterdir())


def loaded(path: Path) -> Any:
    documents = list(yaml.safe_load_all(path.read_text()))
    return documents[0] if len(documents) == 1 else documents


IMAGE: Final = f"samedeal:{samedeal.__version__}"


def does(word: str) -> Iterator[Step]:
    return (step for step in DOCKERFILE if step.word == word)


def environment(steps_: Iterator[Step]) -> dict[str, str]:
    return dict(re.findall(r"(\w+)=(\S+)", " ".join(step.rest for step in steps_)))


def settings_of(variables: dict[str, str]) -> Config:
    """Read the settings that a node has with these environment variables."""
    ours = {key: str(value) for key, value in variables.items() if key.startswith("SAMEDEAL_")}
    return read(Config, {}, ours).values


def test_image_copies_only_files_that_exist() -> None:
    rules = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    let_in = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    assert "*" in rules
    copied = {source for step in does("COPY") for source in step.sources}
    assert copied == let_in
    assert all((ROOT / source).exists() for source in copied)


def test_image_installs_nothing_without_a_hash() -> None:
    """Packages are installed as wheels, by hash. Only the wheel of Samedeal is built, with these packages."""
    commands = [
        command
        for step in does("RUN")
        for command in step.rest.split(" && ")
        if re.search(r"\bpip ", command.replace("--without-pip", ""))
    ]
    for command in commands:
        offline = "--no-index" in command or {"--no-deps", "--no-build-isolation"} <= set(command.split())
        assert offline or "--only-binary :all: --require-hashes" in command, command
    assert sorted(re.findall(r"--requirement (\S+)\.txt", " ".join(commands))) == sorted(PINNED)


def test_pinned_packages_satisfy_requirements() -> None:
    for name in PINNED:
        wanted = re.findall(r"^([\w-]+)>=([\w.]+)", (DEPLOY / f"{name}.in").read_text(), re.MULTILINE)
        pinned = dict(re.findall(r"^([\w-]+)==([\w.]+)", (DEPLOY / f"{name}.txt").read_text(), re.MULTILINE))
        for package, least in wanted:
            assert tuple(map(int, pinned[package].split("."))) >= tuple(map(int, least.split("."))), package


def test_build_requirements_are_those_of_the_project() -> None:
    required = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    lines = (DEPLOY / "requirements-build.in").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == required


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
async def test_health_check_of_image_follows_the_port(status: int, code: int) -> None:
    """Only the port of the health check varies, and its answer decides."""
    (check,) = does("HEALTHCHECK")
    _, *arguments = json.loads(check.rest.partition(" CMD ")[2])

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        assert request.startswith(b"GET /healthz ")
        writer.write(b"HTTP/1.1 %d OK\r\nContent-Length: 0\r\n\r\n" % status)
        writer.close()

    async with local_server(answer) as port:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, env={"SAMEDEAL_HEALTH_PORT": str(port)}
        )
        assert await process.wait() == code


def compose_nodes() -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{file}: {service}", row)
        for file in ("compose.yaml", "compose.one.yaml")
        for service, row in loaded(DEPLOY / file)["services"].items()
        if row["image"] == IMAGE
    ]


def test_compose_node_uses_image_and_known_settings() -> None:
    for service, row in compose_nodes():
        config = settings_of(environment(does("ENV")) | row.get("environment", {}))
        assert (DEPLOY / row["build"]["context"] / row["build"]["dockerfile"]).resolve() == FILE
        assert row["read_only"]
        assert row["cap_drop"] == ["ALL"]
        assert bool(config.redis) != any(str(config.data) in volume for volume in row.get("volumes", ())), service


def test_compose_proxy_reaches_nodes_and_is_trusted() -> None:
    compose = loaded(DEPLOY / "compose.yaml")
    caddy = compose["services"]["caddy"]
    ours = {service: row for service, row in compose["services"].items() if row["image"] == IMAGE}
    nodes = [service for service, row in ours.items() if "entrypoint" not in row]
    assert all(row["networks"]["default"]["aliases"] == ["nodes"] for row in (ours[node] for node in nodes))
    assert f"ws://nodes:{DEFAULT_PORT}" in ours["door"]["entrypoint"]
    assert caddy["environment"]["NODES"] == " ".join(f"{node}:{DEFAULT_PORT}" for node in nodes)
    file = (DEPLOY / "proxy" / "Caddyfile").read_text()
    assert set(re.findall(r"\{\$(\w+)", file)) == set(caddy["environment"])
    config = settings_of(environment(does("ENV")) | compose["services"][nodes[0]]["environment"])
    assert config.trusted_proxies == (compose["networks"]["default"]["ipam"]["config"][0]["subnet"],)
    assert {port.split(":")[-1] for port in caddy["ports"]} == {"80", "443", str(DEFAULT_PORT)}
    for volume in caddy["volumes"]:
        source = volume.split(":")[0]
        assert source in compose["volumes"] or (DEPLOY / source).exists()


def test_deployments_name_this_release() -> None:
    (image,) = loaded(DEPLOY / "kubernetes" / "kustomization.yaml")["images"]
    assert (image["name"], image["newTag"]) == ("samedeal", samedeal.__version__)
    for file in ("compose.yaml", "compose.one.yaml"):
        rows = loaded(DEPLOY / file)["services"].values()
        assert all(row["logging"]["options"]["max-size"] for row in rows), "logs are bounded"
        assert all(row["image"] == IMAGE for row in rows if "build" in row)


def test_deployment_uses_image_and_known_settings() -> None:
    pod = loaded(DEPLOY / "kubernetes" / "deployment.yaml")["spec"]["template"]["spec"]
    (node,) = pod["containers"]
    variables = {row["name"]: row.get("value", "redis://redis:6379/0") for row in node["env"]}
    assert {row["valueFrom"]["secretKeyRef"]["key"] for row in node["env"] if "valueFrom" in row} == {
        "redis",
        "admin-token",
    }
    config = settings_of(environment(does("ENV")) | variables)
    ports = {row["name"]: row["containerPort"] for row in node["ports"]}
    assert ports == {"players": config.port, "health": config.health_port}
    assert pod["securityContext"]["runAsUser"] == 10001
    assert not pod["enableServiceLinks"]
    for probe, path in (("startupProbe", "/healthz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")):
        assert node[probe]["httpGet"] == {"path": path, "port": "health"}
    waits = int(node["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] >= waits + config.drain_delay + 10


NAME: Final = "app.kubernetes.io/name"


def manifests() -> tuple[dict[str, Any], dict[str, Any]]:
    """The pods of the manifests by their label, and the services by their name."""
    rows = [row for path in MANIFESTS for row in yaml.safe_load_all(path.read_text())]
    owners = [row["spec"].get("jobTemplate", row)["spec"] for row in rows if "spec" in row]
    pods = [owner["template"] for owner in owners if "template" in owner]
    services = {row["metadata"]["name"]: row["spec"] for row in rows if row["kind"] == "Service"}
    return {pod["metadata"]["labels"][NAME]: pod["spec"] for pod in pods}, services


def test_manifests_name_services_ports_and_pods_that_exist() -> None:
    pods, services = manifests()
    ports = {
        name: {value for port in pod["containers"][0].get("ports", ()) for value in port.values()}
        for name, pod in pods.items()
    }
    for service in services.values():
        assert {port["targetPort"] for port in service["ports"]} <= ports[service["selector"][NAME]]
    text = "".join(path.read_text() for path in MANIFESTS)
    asked = re.findall(r"(?:ws|redis)://(?::\w+@)?([\w-]+):(\d+)", text)
    asked += re.findall(r"backendRefs:\s+- name: (\S+)\s+port: (\d+)", text)
    assert {name for name, _ in asked} == {"samedeal", "samedeal-redis"}
    for name, number in asked:
        assert int(number) in [port["port"] for port in services[name]["ports"]]
    for policy in loaded(DEPLOY / "kubernetes" / "network-policy.yaml"):
        assert {*re.findall(r"samedeal(?:-\w+)*", str(policy))} <= {*pods}
        name = policy["spec"]["podSelector"]["matchLabels"][NAME]
        assert {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]} <= ports[name]
    scaler = loaded(DEPLOY / "kubernetes" / "autoscaler.yaml")["spec"]
    assert scaler["scaleTargetRef"]["name"] in pods
    assert scaler["metrics"][0]["pods"]["metric"]["name"] in metrics()


def test_manifests_use_the_secret_that_is_made() -> None:
    text = "".join(path.read_text() for path in MANIFESTS)
    assert {*re.findall(r"key: ([a-z-]+)\n", text)} == {*re.findall(r"--from-literal=([\w-]+)=", text)}


def test_job_writes_backups_to_its_volume() -> None:
    (job,) = manifests()[0]["samedeal-backup"]["containers"]
    assert job["command"] == ["sh", "-c"]
    writing, deleting = (command.split() for command in job["args"][0].split(" && "))
    given = client_parser("admin").parse_args(writing[1:])
    assert {str(given.path), deleting[1]} == {mount["mountPath"] for mount in job["volumeMounts"]}
    assert [*writing[:2], deleting[0]] == ["samedeal", "admin", "find"]


def test_alerts_ask_for_the_job_of_each_scrape() -> None:
    """Prometheus takes the job from its configuration. The Prometheus Operator takes it from a label of the Service."""
    scrape, *_ = loaded(DEPLOY / "monitoring" / "prometheus.yaml")["scrape_configs"]
    monitor = loaded(DEPLOY / "kubernetes" / "service-monitor.yaml")["spec"]
    selected = monitor["selector"]["matchLabels"].items()
    (service,) = [
        service["metadata"]
        for service in loaded(DEPLOY / "kubernetes" / "service.yaml")
        if selected <= service["metadata"]["labels"].items()
    ]
    job = service["labels"].get(monitor.get("jobLabel"), service["name"])
    queries = (DEPLOY / "monitoring" / "alerts.yaml").read_text() + (
        DEPLOY / "monitoring" / "dashboard.json"
    ).read_text()
    asked = set(re.findall(r'job=\\?"(\w+)\\?"', queries))
    assert asked == {job} == {scrape["job_name"]}


def test_settings_file_and_its_examples_are_valid() -> None:
    text = (DEPLOY / "samedeal.toml").read_text()
    config = read(Config, {}, {}, ("samedeal.toml", re.sub(r"^# (\S+ = )", r"\1", text, flags=re.MULTILINE))).values
    assert config.host == ALL_ADDRESSES
    assert config.public_url == "wss://cards.example.org"


def test_guide_makes_the_files_that_units_read_for_their_group() -> None:
    guide = (DEPLOY / "README.md").read_text()
    groups = {value for path in UNITS for key, value in unit(path) if key == "SupplementaryGroups"}
    assert groups == set(re.findall(r"sudo groupadd --force (\S+)", guide))
    made = set(re.findall(rf"install .*--group {groups.pop()} \S+ /etc/samedeal/(\S+)", guide))
    config = read(Config, {}, {}, ("samedeal.toml", (DEPLOY / "samedeal.toml").read_text())).values
    assert {Path(config.admin_token_file).name, "tls/fullchain.pem", "tls/privkey.pem"} == made
    assert dict(unit(BACKUP_UNIT))["LoadCredential"] == f"admin-token:{config.admin_token_file}"


def unit(path: Path) -> list[tuple[str, str]]:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith(("#", "["))]
    return [(key, value) for key, _, value in (line.partition("=") for line in lines)]


def test_unit_uses_known_settings() -> None:
    for path in UNITS:
        reader = configparser.ConfigParser(strict=False, interpolation=None)
        reader.read_string(path.read_text())
        assert reader.sections() == ["Unit", "Service", "Install"]
        lines = dict(unit(path))
        flags = lines["ExecStart"].split()[1::2]
        assert all(flag in SETTINGS for flag in flags)
        assert lines["KillMode"] == "mixed"
        assert lines["Type"] == "notify"


def test_units_have_the_same_hardening() -> None:
    one, several = (
        {line for line in unit(path) if not line[0].startswith(("Description", "ExecStart", "StateD", "Environment"))}
        for path in UNITS
    )
    assert one == several


def test_other_unit_is_as_restricted_as_a_node() -> None:
    for path in [BACKUP_UNIT, DOOR_UNIT]:
        restrictions = {
            line for line in unit(UNITS[0]) if line[0].startswith(("Private", "Protect", "Restrict", "System"))
        }
        assert restrictions <= set(unit(path))


def test_commands_of_doors_parse() -> None:
    pod = loaded(DEPLOY / "kubernetes" / "door.yaml")[1]["spec"]["template"]["spec"]["containers"][0]
    commands = [
        dict(unit(DOOR_UNIT))["ExecStart"].split(),
        loaded(DEPLOY / "compose.yaml")["services"]["door"]["entrypoint"],
        [*pod["command"], *pod["args"]],
    ]
    for _, *arguments in commands:
        assert client_parser("door").parse_args(arguments).data


async def test_backup_unit_writes_a_backup_and_deletes_old_ones(redis_url: str, tmp_path: Path) -> None:
    token = "the token of this test"
    lines = dict(unit(BACKUP_UNIT))
    directory = tmp_path / "private"
    directory.mkdir()
    (tmp_path / lines["StateDirectory"]).symlink_to(directory)  # as systemd does for a dynamic user
    for days in (13, 16):
        (directory / f"samedeal-{days}.backup").touch()
        os.utime(directory / f"samedeal-{days}.backup", (time.time() - 86_400 * days,) * 2)
    (tmp_path / lines["LoadCredential"].partition(":")[0]).write_text(token)
    (directory / "notes").touch()
    os.utime(directory / "notes", (0, 0))
    async with serving(redis_url, "n1", token=token) as node:
        environment = {**os.environ, "SAMEDEAL_ADMIN_URL": node.url}
        for command in (lines["ExecStart"], lines["ExecStartPost"]):
            words = command.replace("%S", str(tmp_path)).replace("%d", str(tmp_path)).split()
            samedeal = (sys.executable, "-m", "samedeal_client")
            program = samedeal if words[0] == "/opt/samedeal/bin/samedeal" else (words[0],)
            process = await asyncio.create_subprocess_exec(*program, *words[1:], env=environment)
            assert await process.wait() == 0
    names = {path.name for path in directory.iterdir()}
    assert names >= {"notes", "samedeal-13.backup"}
    assert "samedeal-16.backup" not in names
    assert len(names) == 3


def test_proxy_uses_the_ports_of_the_units() -> None:
    for path in PROXIES:
        assert str(DEFAULT_PORT) in path.read_text()
        assert "443" in path.read_text() or path.name == "Caddyfile"
        start = dict(unit(DEPLOY / "systemd" / "samedeal@.service"))["ExecStart"]
        for instance in ("01", "02"):
            words = start.replace("%i", instance).split()
            host, port, health = (words[words.index(flag) + 1] for flag in ("--host", "--port", "--health-port"))
            assert f"{host}:{port}" in path.read_text()
            assert f"port {health}\n" in path.read_text() or path.name != "haproxy.cfg"


def test_guide_installs_each_release_beside_the_others() -> None:
    """A node that runs must not find another release in its directory. The units start what the link points to."""
    guide = (DEPLOY / "README.md").read_text()
    installed = re.findall(r"(/opt/\S+)/bin/pip install", guide)
    assert (
        installed == re.findall(r"python3 -m venv (\S+)", guide) == re.findall(r"ln -sfn (\S+) /opt/samedeal\n", guide)
    )
    assert installed == [f"/opt/samedeal-{samedeal.__version__}", "/opt/samedeal-NEXT"]
    for unit in (DEPLOY / "systemd").glob("*.service"):
        assert "ExecStart=/opt/samedeal/bin/" in unit.read_text()


def test_guide_installs_no_package_from_an_index() -> None:
    """Samedeal is in no package index, so another package of its name could be installed."""
    for page in (ROOT / "README.md", DEPLOY / "README.md"):
        assert not re.search(r"(?:pip|pipx|uv tool) install [^\n#]*\bsamedeal(?![/\w.-])", page.read_text())
