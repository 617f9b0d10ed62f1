"""An operator's command line against real servers, and a race that goes on from a backup."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import structlog

from samedeal.deal import commitment
from samedeal.errors import SamedealError
from samedeal.protocol.messages import BoardState, Close, Done, Held, Notice, Recover, Resign, Start
from samedeal_client.cli import parser
from samedeal_client.commands.admin import look_after
from samedeal_client.commands.common import sentence_of
from samedeal_client.net.address import parse_address
from samedeal_client.net.dial import CannotConnect
from samedeal_client.running import Failure
from tests.end_to_end.processes import Program, Programs
from tests.end_to_end.terminal import Terminal, terminal_in
from tests.server.client import Client
from tests.server.conftest import serving

TOKEN = "the token of these tests"


@pytest.fixture
def token_file(tmp_path: Path) -> str:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    return str(path)


class Here:
    """A node in this process that operators may come to, and the command that they look after it with."""

    def __init__(self, url: str, token_file: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.url = url
        self._token_file = token_file
        self._capsys = capsys

    async def says(self, *words: str, code: int = 0) -> str:
        """What ``samedeal admin URL`` prints, which ends with a code."""
        self._capsys.readouterr()
        try:
            given = parser("admin").parse_args(["admin", self.url, "--token-file", self._token_file, *words])
            got = await look_after(given, parse_address(given.url), TOKEN)
        except SystemExit as usage:
            got = int(str(usage.code))
        except (Failure, CannotConnect, SamedealError, OSError) as error:
            told = sentence_of(error)
            assert told is not None
            got = told.code
            print(told.text)
        said = self._capsys.readouterr()
        text = said.out + said.err
        assert got == code, text
        assert "a mistake of this program" not in text
        return text


async def said(programs: Programs, *arguments: str, code: int = 0) -> str:
    """What the command ``samedeal`` says as a program of its own."""
    program = await programs.samedeal(*arguments)
    assert program.process.stdin is not None
    program.process.stdin.close()
    assert await program.ends() == code, program.text
    assert "Traceback" not in program.text
    assert TOKEN not in program.text
    return program.text


@pytest.fixture
async def here(redis_url: str, token_file: str, capsys: pytest.CaptureFixture[str]) -> AsyncIterator[Here]:
    # What a node logs would stand between what a command prints.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        async with serving(redis_url, "n1", token=TOKEN) as node:
            await node.roster.beat()
            yield Here(node.url, token_file, capsys)
    finally:
        structlog.reset_defaults()


# ---------------------------------------------------------------- the command line


async def test_a_room_is_looked_after_from_the_command_line(here: Here) -> None:
    ana, bob = await Client.hello(here.url, "ana"), await Client.hello(here.url, "bob")
    await ana.create("friday", players=4)
    await ana.join("friday")
    await bob.join("friday")
    assert re.search(r"^rooms 1: 1 open, 0 in countdown", await here.says("status"), re.MULTILINE)
    assert re.search(r"^friday +Willow +random +open +2/4$", await here.says("rooms"), re.MULTILINE)
    room = await here.says("room", "friday")
    assert re.search(rf"^ +1 ana +{ana.player} +0 +0 +0  127\.0\.0\.1 by \S+  host$", room, re.MULTILINE)
    assert await here.says("say", "friday", "five minutes") == "Said to those in friday\n"
    assert (await ana.until(Notice)).message == "five minutes"
    assert await here.says("kick", "friday", "bob") == "bob is out of friday\n"
    assert (await bob.until(Notice, lambda notice: notice.code != "said")).code == "kicked"
    assert await here.says("ban", bob.player, "--for", "2h", "--reason", "rude") == f"{bob.player} is banned\n"
    assert await bob.closed() == Close.BANNED
    assert re.search(rf"^{bob.player} +20\S+ \d\d:\d\d UTC +rude$", await here.says("bans"), re.MULTILINE)
    assert await here.says("unban", bob.player) == f"{bob.player} is not banned any more\n"
    assert await here.says("bans") == "Nobody is banned\n"
    assert await here.says("close", "friday") == "friday is closed\n"
    await ana.phase("closed")
    assert await here.says("rooms") == "There are no rooms\n"
    assert await here.says("drain") == "n1 drains\n"


async def test_scripts_are_given_json(here: Here) -> None:
    ana = await Client.hello(here.url, "ana")
    await ana.create("friday")
    await ana.join("friday")
    await here.says("ban", "203.0.113.0/24")
    status, rooms, room, bans = [
        json.loads(await here.says(*words, "--json")) for words in (["status"], ["rooms"], ["room", "friday"], ["bans"])
    ]
    assert [node["address"] for node in status["nodes"]] == [here.url]
    assert rooms["rooms"][0]["room"] == "friday"
    assert len(bytes.fromhex(room["state"]["commitment"])) == 32
    assert room["state"]["seed"] == ""
    assert bans["bans"][0]["who"] == "203.0.113.0/24"


async def test_a_banned_player_is_told_why_by_their_client(here: Here, programs: Programs) -> None:
    await here.says("ban", "127.0.0.1", "--reason", "too many bots")
    text = await said(programs, "join", here.url, "friday", "--name", "ana", code=1)
    assert text == "samedeal: You are banned from this server for good: too many bots\n"


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("kick", "nowhere", "ana"), 1, "There is no room 'nowhere'"),
        (("ban", "somebody"), 1, "is no player and no address"),
        (("ban", "203.0.113.7", "--for", "soon"), 2, "'soon' is no time: write 30s, 10m, 1h, 7d or 2w"),
        (("ban", "203.0.113.7", "--for", "9999w"), 2, "is too long: leave it out"),
        (("say", "one", "two", "three"), 2, "Put the text in quotes"),
        (("say", "x" * 400), 2, "it has 400 characters: 300 at the most"),
        (("drain", "elsewhere"), 1, "is not the name of one node: there are n1"),
        (("backup", "/nowhere/at/all"), 1, "/nowhere/at/all.part: No such file or directory"),
        (("dance",), 2, "invalid choice: 'dance'"),
        ((), 2, "required: ACTION"),
    ],
)
async def test_what_can_t_be_done_is_told_in_a_sentence(
    here: Here, words: tuple[str, ...], code: int, sentence: str
) -> None:
    assert sentence in await here.says(*words, code=code)


async def test_who_is_not_let_in_is_told_why(
    here: Here, programs: Programs, tmp_path: Path, redis_url: str, token_file: str
) -> None:
    other = tmp_path / "other"
    other.write_text("not the token of these tests")
    missing = str(tmp_path / "missing")

    async def fails(url: str, token_file: str, pattern: str) -> None:
        words = [word for word in ("admin", url, "status") if word]
        tokens = ["--token-file", token_file] if token_file else []
        text = await said(programs, *words, *tokens, code=1 if url else 2)
        assert re.fullmatch(rf"samedeal: {pattern}\n", text), text

    await asyncio.gather(
        fails(here.url, str(other), "That is not this server's token"),
        fails(here.url, "", "Give the server's token: in SAMEDEAL_ADMIN_TOKEN, or .*"),
        fails(here.url, missing, r"\S+missing: No such file or directory"),
        fails("127.0.0.1:9", token_file, "Nothing listens at .*"),
        fails("", token_file, "Name the server: samedeal admin URL status, or set SAMEDEAL_ADMIN_URL"),
    )


async def test_a_server_without_a_token_lets_nobody_in(
    here: Here, redis_url: str, token_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serving(redis_url, "n2") as node:
        text = await Here(node.url, token_file, capsys).says("status", code=1)
    assert re.fullmatch(r"\S+ lets no operator in: start its nodes with a token[^\n]+\n", text)


@pytest.mark.parametrize(
    ("token", "sentence"), [("short", "has 5 characters: make it 16 or more"), (None, "can't be read from")]
)
async def test_a_server_with_a_token_that_is_no_good_does_not_start(
    programs: Programs, tmp_path: Path, token: str | None, sentence: str
) -> None:
    path = tmp_path / "token"
    if token is not None:
        path.write_text(token)
    server = await programs.start("-m", "samedeal_server", "--port", "0", "--admin-token-file", str(path))
    assert await server.ends() == 1
    assert sentence in server.text


# ---------------------------------------------------------------- top


@pytest.fixture
def terminal(programs: Programs, tmp_path: Path) -> Iterator[Terminal]:
    environment = {**programs.environment, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    with terminal_in(tmp_path, environment) as opened:
        yield opened


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is the terminal of this test")
async def test_top_shows_a_server_live_through_its_restart_and_leaves_the_terminal_as_it_was(
    programs: Programs, terminal: Terminal, redis_url: str, token_file: str
) -> None:
    url, server = await programs.server(redis_url, more=("--admin-token-file", token_file))
    command = [sys.executable, "-m", "samedeal_client", "admin", url, "top", "--every", "1"]
    terminal.open((80, 24), *command, "--token-file", token_file)
    await terminal.says(r"^nodes 1 +connections 0 ")
    await terminal.says(r"^rooms 0: 0 open")
    await terminal.says(r"^q quits")
    assert all(len(line) <= 80 for line in terminal.text.splitlines())
    ana = await Client.hello(url, "ana")
    await ana.create("friday")
    await ana.join("friday")
    await terminal.says(r"^nodes 1 +connections 1 +players 1 ")
    terminal.resize(60, 12)
    await terminal.says(r"^q quits")
    server.process.kill()
    await server.ends()
    await terminal.says(r"Nothing listens at|has closed the connection")
    await programs.server(redis_url, int(url.rpartition(":")[2]), more=("--admin-token-file", token_file))
    terminal.resize(80, 24)
    await terminal.says(r"^nodes [12] (.*\n)+q quits")  # the one that was killed is named for a while
    terminal.type("q")
    await terminal.says(r"^code 0")
    assert "nodes" not in terminal.text
    assert re.search(r"(?<!-)\bicanon\b", terminal.text)
    assert re.search(r"(?<!-)\becho\b", terminal.text)


async def test_top_in_a_pipe_is_one_reading(here: Here) -> None:
    assert (await here.says("top")).startswith("nodes 1 ")


# ---------------------------------------------------------------- backup and restore


async def a_server(programs: Programs, data: Path, token_file: str) -> tuple[str, Program]:
    """A server with a Redis of its own."""
    program = await programs.start(
        *("-m", "samedeal_server", "--data", str(data), "--port", "0", "--announce", "--log-level", "warning"),
        *("--admin-token-file", token_file),
    )
    return (await program.says(r"listening on (\S+)"))[1], program


async def restored(programs: Programs, *arguments: str, code: int = 0) -> str:
    program = await programs.start("-m", "samedeal_server", "restore", *arguments)
    assert await program.ends() == code, program.text
    assert "Traceback" not in program.text
    return program.text


async def back(client: Client, url: str) -> Client:
    """The player with the same session elsewhere, in their seat, with the board as it is there."""
    again = await Client.hello(url, "back", client.session)
    assert again.player == client.player
    await again.join("friday")
    await again.until(BoardState)
    return again


async def test_races_go_on_from_a_backup(programs: Programs, tmp_path: Path, token_file: str) -> None:
    """Backed up while they are under way, restored into another, empty Redis, and finished there."""
    url, server = await a_server(programs, tmp_path / "one", token_file)
    ana, bob = await Client.hello(url, "ana"), await Client.hello(url, "bob")
    await ana.create("private", passphrase="open sesame")
    await ana.create("friday", games=("athena",))
    for client in (ana, bob):
        await client.join("friday")
    await ana.want(Done, Start)
    for client in (ana, bob):
        await client.dealt()
    await ana.acts(12)
    await bob.acts(7)
    operator = ("admin", url, "--token-file", token_file)
    await said(programs, *operator, "ban", "203.0.113.7", "--reason", "before")
    file = tmp_path / "samedeal.backup"
    text = await said(programs, *operator, "backup", str(file))
    assert text.startswith(f"{file}: rooms: 2, sessions: 2, size: ")
    assert file.stat().st_mode & 0o777 == 0o600
    boards = [client.play.board.state_hash() for client in (ana, bob) if client.play]
    await ana.acts(2)  # which are not in it
    lost = [await bob.act("draw") for _ in range(2)]
    server.process.kill()
    await server.ends()

    two = str(tmp_path / "two")
    told = await restored(programs, str(file), "--data", two)
    assert told == "Restored: rooms: 2, sessions: 2. Start the nodes, and races go on.\n"
    url, server = await a_server(programs, tmp_path / "two", token_file)
    ana, bob = await back(ana, url), await back(bob, url)
    assert [client.play.revision for client in (ana, bob) if client.play] == [12, 7]
    assert [client.play.board.state_hash() for client in (ana, bob) if client.play] == boards
    held = tuple(Held(id=acked.to, action="draw", at=acked.at) for acked in lost)
    await bob.want(Done, Recover, revision=7, held=held, receipt=lost[-1].receipt)
    bob = await back(bob, url)
    assert bob.play
    assert bob.play.board.state_hash() == lost[-1].hash
    for client in (ana, bob):
        await client.acts(4, seed=4)
        await client.want(Done, Resign)
    ended = await bob.phase("finished")
    assert {(line.name, line.moves) for line in ended.standings} == {("ana", 16), ("bob", 13)}
    assert commitment(ended.seed) == ended.commitment
    operator = ("admin", url, "--token-file", token_file)
    assert "before" in await said(programs, *operator, "bans")
    assert re.search(r"^private .* passphrase", await said(programs, *operator, "rooms"), re.MULTILINE)

    server.process.terminate()
    assert await server.ends() == 0
    assert "not_empty" in await restored(programs, str(file), "--data", two, code=1)
    await restored(programs, str(file), "--data", two, "--replace")


async def test_a_backup_is_written_over_nothing_and_restored_under_no_node_that_runs(
    here: Here, programs: Programs, tmp_path: Path, redis_url: str
) -> None:
    file = tmp_path / "all.backup"
    await here.says("backup", str(file))
    assert "is there already" in await here.says("backup", str(file), code=1)
    text = await restored(programs, str(file), "--redis", redis_url, "--replace", code=1)
    assert "nodes_running" in text
    await here.says("backup", str(tmp_path))
    assert len(sorted(tmp_path.glob("samedeal-*.backup"))) == 1  # noqa: ASYNC240 (a look at a directory of this test)
    assert not sorted(tmp_path.glob("*.part"))  # noqa: ASYNC240 (as above)
