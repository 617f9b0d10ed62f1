"""The server and the door as processes: start-up errors, and what a stopped or killed server loses."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from samedeal.protocol.messages import Notice
from samedeal.protocol_codes import CloseCode
from tests.end_to_end.processes import Programs
from tests.end_to_end.releases import ROOT
from tests.server.client import Client
from tests.server.plain_http import ask
from tests.server.races import finish, race
from tests.server.redis_kinds import free_port

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the servers are stopped by signals")


async def test_startup_error_is_a_sentence(programs: Programs) -> None:
    """``tests/server/test_startup_errors.py`` has all of them."""
    failed = await programs.start("-m", "samedeal_server", "--redis", "redis://127.0.0.1:1", "--log-style", "json")
    assert await failed.exit_code() == 1
    *logged, last = failed.text.strip().splitlines()
    assert last.startswith("samedeal-server: redis_unreachable: ")
    assert "Traceback" not in last
    assert [(event["level"], event["code"]) for event in map(json.loads, logged) if event["event"] == "failed"] == [
        ("error", "redis_unreachable")
    ]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
async def test_stopped_or_killed_embedded_redis_loses_no_acked_move(programs: Programs, end: signal.Signals) -> None:
    """Invariant: acknowledged moves are as durable as the settings say. With ``always``, an acked move is on disk."""
    options = ("--durability", "always", "--data", str(programs.home / "data"))
    url, first = await programs.server(*options)
    (ana,) = await race(url, names=["ana"])
    await ana.acts(30)
    first.signal(end)
    if end is signal.SIGINT:
        assert (await ana.until(Notice)).code == "draining"
        assert await ana.closed() == CloseCode.RESTART
    assert await first.exit_code() == (0 if end is signal.SIGINT else -end)
    assert "Traceback" not in first.text
    url, _ = await programs.server(*options)
    again = await Client.hello(url, "back", ana.session)
    again.continue_with(ana)
    await again.join(ana.room, revision=30)
    assert again.play.revision == 30
    await again.acts(5)
    assert (await finish(again)).standings[0].moves == 35


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_node_whose_package_is_replaced_drains(programs: Programs, tmp_path: Path, workers: str) -> None:
    """It exits with an error, so that systemd starts the new release."""
    packages = tmp_path / "packages"
    for root, name in (("shared", "samedeal"), ("server", "samedeal_server")):
        shutil.copytree(ROOT / root / name, packages / name)
    url, node = await programs.server("--data", str(tmp_path / "data"), "--workers", workers, packages=packages)
    client = await Client.hello(url)
    (packages / "samedeal" / "__init__.py").unlink()  # half of an upgrade
    assert (await client.until(Notice)).code == "draining"
    assert await client.closed() == CloseCode.RESTART
    assert await node.exit_code() == 1
    assert "package_changed" in node.text
    assert "Traceback" not in node.text


_HOMELESS = """
import os, pwd
from samedeal_client import cli

def find_nobody(uid):
    raise KeyError(uid)

os.environ.pop("HOME")
pwd.getpwuid = find_nobody
raise SystemExit(cli.main())
"""
"""Runs samedeal as a user without an entry in the list of users, such as a dynamic one of systemd."""


async def test_door_with_a_directory_needs_no_home(programs: Programs) -> None:
    pytest.importorskip("asyncssh")
    port, data = str(free_port()), str(programs.home / "door")
    ports = ("--host", "127.0.0.1", "--port", "0", "--health-port", port)
    door = await programs.start("-c", _HOMELESS, "door", "ws://127.0.0.1:1", "--data", data, *ports)
    await door.expect("Ready")
    while door.process.returncode is None:
        with suppress(OSError):
            if (await ask(f"http://127.0.0.1:{port}", "/healthz")).status == 200:
                break
        await asyncio.sleep(0)
    assert door.process.returncode is None, door.text
