"""``samedeal admin`` against real servers, and backups."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import structlog

from samedeal.errors import SamedealError
from samedeal.protocol.messages import Notice
from samedeal.protocol_codes import CloseCode
from samedeal_client.cli import parser
from samedeal_client.commands.arguments import error_report
from samedeal_link.connection.address import parse_address
from samedeal_link.connection.dial import CannotConnect
from samedeal_link.errors import Failure
from samedeal_operate.commands.admin import perform
from tests.end_to_end.processes import Programs
from tests.golden.golden_files import assert_sentences
from tests.server.live_nodes import serving
from tests.server.races import seated

TOKEN = "the token of these tests"


@pytest.fixture
def token_file(tmp_path: Path) -> str:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    return str(path)


class AdminCommand:
    """Runs ``samedeal admin`` in this process, on a node that accepts operators."""

    def __init__(self, url: str, token_file: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.url = url
        self._token_file = token_file
        self._capsys = capsys

    async def run(self, *words: str, code: int = 0) -> str:
        """Run an action, check its exit code, and return its output."""
        self._capsys.readouterr()
        try:
            exit_code = await self.perform(*words)
        except SystemExit as usage:
            exit_code = int(str(usage.code))
        except (Failure, CannotConnect, SamedealError, OSError) as error:
            report = error_report(error)
            exit_code = report.code
            print(report)
        printed = self._capsys.readouterr()
        text = printed.out + printed.err
        assert exit_code == code, text
        assert "Internal error" not in text
        return text

    async def perform(self, *words: str) -> int:
        """Run an action and return its exit code. Errors are raised instead of printed."""
        given = parser("admin").parse_args(["admin", self.url, "--token-file", self._token_file, *words])
        return await perform(given, parse_address(given.url), TOKEN)


async def run_samedeal(programs: Programs, *arguments: str, code: int = 0) -> str:
    """Run ``samedeal`` as a child process, and check that it does not print the token."""
    text = await programs.output(*arguments, code=code)
    assert TOKEN not in text
    return text


@pytest.fixture
async def admin(redis_url: str, token_file: str, capsys: pytest.CaptureFixture[str]) -> AsyncIterator[AdminCommand]:
    # The node's log would mix with the output of the command.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    async with serving(redis_url, "n1", token=TOKEN) as node:
        await node.send_heartbeat()
        yield AdminCommand(node.url, token_file, capsys)


async def test_rooms_are_operated_from_the_command_line(admin: AdminCommand) -> None:
    ana, bob = await seated(admin.url, room="friday", players=4)
    assert re.search(r"^rooms 1: 1 open, 0 in countdown", await admin.run("status"), re.MULTILINE)
    assert re.search(r"^friday +Willow +random +open +2/4$", await admin.run("rooms"), re.MULTILINE)
    room = await admin.run("room", "friday")
    assert re.search(rf"^ +1 ana +{ana.player} +0 +0 +0  127\.0\.0\.1 on \S+  host$", room, re.MULTILINE)
    said = [await admin.run("say", "friday", "five minutes")]
    assert (await ana.until(Notice)).message == "five minutes"
    said.append(await admin.run("kick", "friday", "bob"))
    assert (await bob.until(Notice, lambda notice: notice.code != "said")).code == "kicked"
    said.append(await admin.run("ban", bob.player, "--for", "2h", "--reason", "rude"))
    assert await bob.closed() == CloseCode.BANNED
    assert re.search(rf"^{bob.player} +20\S+ \d\d:\d\d UTC +rude$", await admin.run("bans"), re.MULTILINE)
    said.append(await admin.run("unban", bob.player))
    said.append(await admin.run("bans"))
    said.append(await admin.run("close", "friday"))
    await ana.phase("closed")
    said.append(await admin.run("rooms"))
    said.append(await admin.run("drain", code=1))
    said.append(await admin.run("drain", "--yes"))
    assert_sentences("samedeal admin", [text.rstrip("\n").replace(bob.player, "PLAYER") for text in said])


async def test_admin_explains_a_rejected_login(
    admin: AdminCommand, programs: Programs, tmp_path: Path, redis_url: str, token_file: str
) -> None:
    other = tmp_path / "other"
    other.write_text("not the token of these tests")
    missing = str(tmp_path / "missing")

    async def fails(case: str, url: str, token_file: str) -> str:
        words = [word for word in ("admin", url, "status") if word]
        tokens = ["--token-file", token_file] if token_file else []
        text = await run_samedeal(programs, *words, *tokens, code=1 if url else 2)
        return f"{case}\t{text.rstrip().replace(str(tmp_path), 'FOLDER')}"

    said = await asyncio.gather(
        fails("another token", admin.url, str(other)),
        fails("no token", admin.url, ""),
        fails("no such file", admin.url, missing),
        fails("no server", "127.0.0.1:9", token_file),
        fails("no address", "", token_file),
    )
    assert_sentences("samedeal admin: logging in", [*said])


@pytest.mark.parametrize(("typed", "code"), [("\n", 1), ("yes\n", 0)])
async def test_drain_of_the_last_node_asks(
    programs: Programs, redis_url: str, token_file: str, typed: str, code: int
) -> None:
    url, server = await programs.server("--redis", redis_url, "--admin-token-file", token_file)
    drain = await programs.on_terminal("admin", url, "--token-file", token_file, "drain")
    await drain.expect(r"\[y/N\] ")
    assert drain.terminal is not None
    os.write(drain.terminal, typed.encode())
    assert await drain.exit_code() == code
    if code == 0:
        assert await server.exit_code() == 0
    else:
        assert server.process.returncode is None


async def restore(programs: Programs, *arguments: str, code: int = 0) -> str:
    """Run ``samedeal-server restore``, check its exit code, and return its output."""
    program = await programs.start("-m", "samedeal_server", "restore", *arguments)
    assert await program.exit_code() == code, program.text
    assert "Traceback" not in program.text
    return program.text


async def test_backup_and_restore_overwrite_nothing(
    admin: AdminCommand, programs: Programs, tmp_path: Path, redis_url: str
) -> None:
    await seated(admin.url, room="friday")
    file = tmp_path / "all.backup"
    await admin.run("backup", str(file))
    written = file.read_bytes()
    await admin.run("backup", str(file), code=1)
    assert file.read_bytes() == written
    assert file.stat().st_mode & 0o777 == 0o600
    text = await restore(programs, str(file), "--redis", redis_url, "--replace", code=1)
    assert "nodes_running" in text
    empty = ("--data", str(tmp_path / "empty"))
    assert "rooms: 1, sessions: 2" in await restore(programs, str(file), *empty)
    assert "not_empty" in await restore(programs, str(file), *empty, code=1)
    await restore(programs, str(file), *empty, "--replace")
    await admin.run("backup", str(tmp_path))
    kept = [path.name for path in tmp_path.iterdir() if "backup" in path.name]  # noqa: ASYNC240 (a small directory)
    assert re.fullmatch(r"all\.backup samedeal-[0-9-]{15}\.backup", " ".join(sorted(kept)))
