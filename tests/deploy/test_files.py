"""The files in ``deploy/``: they are valid, and agree with each other and with the program."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from samedeal_client.cli import parser as client_parser
from samedeal_server.config.config import Config
from samedeal_server.config.setting_sources import read
from samedeal_server.process.listening import ALL_ADDRESSES
from tests.deploy.dockerfile import FILE, ROOT, Step, steps
from tests.deploy.introspection import DEPLOY, metrics
from tests.server.live_nodes import serving
from tests.server.local_server import local_server

PING = 20
"""Ping interval of a node, in seconds."""

DOCKERFILE = list(steps(FILE.read_text()))
PINNED = ("requirements", "requirements-build")
UNITS = [DEPLOY / "systemd" / "samedeal.service", DEPLOY / "systemd" / "samedeal@.service"]
DOOR_UNIT = DEPLOY / "systemd" / "samedeal-door.service"
BACKUP_UNIT = DEPLOY / "systemd" / "samedeal-backup.service"
MANIFESTS = sorted((DEPLOY / "kubernetes").iterdir())


def loaded(path: Path) -> Any:
    documents = list(yaml.safe_load_all(path.read_text()))
    return documents[0] if len(documents) == 1 else documents


def does(word: str) -> Iterator[Step]:
    return (step for step in DOCKERFILE if step.word == word)


def environment(steps_: Iterator[Step]) -> dict[str, str]:
    return dict(re.findall(r"(\w+)=(\S+)", " ".join(step.rest for step in steps_)))


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


def test_guide_installs_no_package_from_an_index() -> None:
    """Samedeal is in no package index, so another package of its name could be installed."""
    for page in (ROOT / "README.md", DEPLOY / "README.md"):
        assert not re.search(r"(?:pip|pipx|uv tool) install [^\n#]*\bsamedeal(?![/\w.-])", page.read_text())
