"""The door, with OpenSSH's own client in a real terminal, and with many clients at once."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import re
import shlex
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import chain, cycle
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from websockets.asyncio.server import ServerConnection, serve

from samedeal.options import Options
from tests.end_to_end.doors import Door, Visitor, door_to, key_in, ssh
from tests.end_to_end.live_server import friend, until_racing, until_room
from tests.end_to_end.proxy import Proxy
from tests.end_to_end.terminal import Terminal, keys_of
from tests.golden.golden_files import assert_answers
from tests.programs import needs
from tests.server.redis_kinds import free_port
from tests.server.waiting import until
from tests.shared.playouts import won_record

pytestmark = [
    needs("ssh", "ssh-keygen", "tmux"),
    pytest.mark.xdist_group("door"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("door")


@pytest.fixture(scope="module")
def door(server_process: str, home: Path) -> Iterator[Door]:
    """A door to the server, some of whose screens crash."""
    limits = {"per-key": 2, "per-address": 50, "logins": 20, "logins-per-address": 30, "login-time": 10, "rate": 1000}
    options = [word for name, limit in limits.items() for word in (f"--limit-{name}", str(limit))]
    with door_to(server_process, home, 0, free_port(), "--crashes", *options) as running:
        yield running


def run(*command: str, typed: str = "") -> tuple[int, str]:
    """Run a program to its end, and return its exit code and its output with errors."""
    done = subprocess.run(
        command, input=typed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout


async def test_race_over_ssh_survives_a_killed_door_and_is_found_elsewhere(
    terminal: Terminal, server: str, tmp_path: Path
) -> None:
    """Somebody with only ssh wins a race, although the door dies, and finds the history from another machine."""
    record, key, port, health = won_record("willow"), key_in(tmp_path, "key"), free_port(), free_port()
    keys = keys_of(record)
    with door_to(server, tmp_path, port, health) as first:
        terminal.open(
            (80, 24),
            *ssh("ssh", first, key, "-t", "ana@127.0.0.1", "new", "--game", "willow", "--deal", str(record.deal)),
            *("--undo", "off", "--room", "friday", "--countdown", "1"),
        )
        await terminal.wait_for(r"What is your name \[ana\]\?")
        await terminal.type_until("room friday", "Zoe", "BSpace", "Enter")
        await terminal.wait_for("Zo +host, you")
        await terminal.type_until(r"Q♣\S* +9♦", "Enter")
        await terminal.type_until("/52 +10 moves .*●", *chain(*keys[:10]))
        first.process.kill()
        await terminal.wait_for("code 255")
    with door_to(server, tmp_path, port, health) as second:
        terminal.open((80, 24), *ssh("ssh", second, key, "-t", "other@127.0.0.1"))
        await terminal.wait_for("Your seat +in friday")
        await terminal.type_until("/52 +10 moves .*●", "b")
        terminal.resize(120, 40)
        await terminal.type_until(r"1 +Zo \(you\) +52/52", *chain(*keys[10:]))
        await terminal.type_until("S A M E D E A L", "C-q")
        await terminal.draw_over_foreign_output()
        row = next(row for row, line in enumerate(terminal.text.splitlines(), 1) if "q  Quit" in line)
        await terminal.type_until("code 0", "-l", f"\x1b[<0;6;{row}M\x1b[<0;6;{row}m")
        await terminal.wait_for(" icanon")
        terminal.type("-l", f"\x1b[<0;6;{row}M")  # the mouse and the alternate screen are off: cat shows what is typed
        await terminal.wait_for(r"\^\[\[<0;6")
        assert "Samedeal #1 Willow" in run(*ssh("ssh", second, key, "-T", "x@127.0.0.1", "history"))[1]
        stranger = run(*ssh("ssh", second, key_in(tmp_path, "other"), "-T", "x@127.0.0.1", "history"))[1]
        assert "No races yet" in stranger
        assert "deleted" in run(*ssh("ssh", second, key, "-T", "x@127.0.0.1", "forget"))[1]
        assert "No races yet" in run(*ssh("ssh", second, key, "-T", "x@127.0.0.1", "history"))[1]
        assert not [path for path in (tmp_path / "door").iterdir() if path.name.startswith("guest-")]


def test_nothing_but_races_is_behind_the_door(door: Door, home: Path) -> None:
    def answer(_: str, question: str) -> str:
        program, *arguments = shlex.split(question)
        done, output = run(*ssh(program, door, key_in(home, "key"), *arguments))
        assert "Traceback" not in output
        return str(done)

    assert_answers("door", answer)


async def test_plain_client_plays_without_a_terminal(door: Door, server: str) -> None:
    """A guest without a key plays line by line, as a script would."""
    async with friend(server) as host:
        await host.join(await host.rooms.create(Options(games=("klondike",), countdown=0, deal="#7"), "friday"))
        command = ssh("ssh", door, None, "-T", "bo@127.0.0.1", "friday")
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdin is not None
        await until_room(host, lambda room: len(room.players) == 2)
        await host.rooms.start()
        await until_racing(host)
        process.stdin.write(b"draw\nresign\n")
        await host.rooms.resign()
        output = (await process.communicate())[0].decode()
    assert process.returncode == 0
    assert "\x1b" not in output
    assert "resigned" in output


_connections: list[asyncssh.SSHClientConnection] = []


@pytest.fixture(autouse=True)
async def _disconnected() -> AsyncIterator[None]:
    """Close all connections at the end of a test."""
    yield
    while _connections:
        connection = _connections.pop()
        connection.abort()
        await connection.wait_closed()
    await asyncio.sleep(0)


Client = tuple[asyncssh.SSHClientConnection, asyncssh.SSHClientChannel[str], "Screen"]


class Screen(asyncssh.SSHClientSession[str]):
    """What a session has sent."""

    def __init__(self) -> None:
        self.text = ""
        self.closed = False

    def data_received(self, data: str, datatype: object) -> None:
        self.text += data

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True


async def connected(key: asyncssh.SSHKey | None = None, **where: Any) -> asyncssh.SSHClientConnection:
    """Connect with a key, which is a new one unless it is given."""
    keys = [key or asyncssh.generate_private_key("ssh-ed25519")]
    connection = await asyncssh.connect(
        **where, known_hosts=None, config=None, username="ana", client_keys=keys, agent_path=None
    )
    _connections.append(connection)
    return connection


async def client(door: Door, command: str | None, key: asyncssh.SSHKey | None = None, window: int = 2**20) -> Client:
    """Open a session with a terminal, and wait until its screen or question is there."""
    connection = await connected(key, host="127.0.0.1", port=door.port)
    screen = Screen()
    channel, _ = await connection.create_session(
        lambda: screen, command, term_type="xterm-256color", term_size=(100, 40), request_pty="force", window=window
    )
    await until(lambda: bool(screen.text) or screen.closed)
    return connection, channel, screen


async def enter(opened: Client) -> None:
    """Answer the questions about the name and the background, and wait for the first screen."""
    _, channel, screen = opened
    channel.write("\r")
    await until(lambda: "\x1b]11;?" in screen.text)
    channel.write("\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?62c")
    await until(lambda: "F1" in screen.text or "Quit" in screen.text)


async def test_crash_of_a_session_touches_no_other(door: Door) -> None:
    faults = door.metric("faults_total")
    bystander, crashing = await client(door, None), await client(door, "join")
    for each in (bystander, crashing):
        await enter(each)
    crashing[1].write("h")
    await until(lambda: crashing[2].closed)
    assert "Samedeal crashed" in crashing[2].text
    assert "\x1b[?1049l" in crashing[2].text.rpartition("crashed")[0]
    await until(lambda: door.metric("sessions") == 1)
    assert door.metric("faults_total") == faults + 1
    seen = len(bystander[2].text)
    bystander[1].write("s")
    await until(lambda: "Bell" in bystander[2].text[seen:])
    bystander[0].abort()
    await until(lambda: door.metric("sessions") == 0)


PLACES: dict[str, tuple[tuple[str, ...], str]] = {
    "the question": (("-t", "ana@127.0.0.1"), "What is your name"),
    "the lobby": (("-t", "ana@127.0.0.1", "join", "--name", "ana"), "F1"),
    "the race": (("-t", "ana@127.0.0.1", "new --name ana --deal 7 --players 1 --start full --countdown 0"), "left"),
    "lines": (("-T", "ana@127.0.0.1", "new", "--name", "ana"), "Room"),
}
"""Where somebody is: what was typed, and what is then shown. A fifth place is the login."""

GUESTS = 'logged_in_total{kind="guest"}'


def stop(visitor: Visitor, _: Proxy) -> None:
    visitor.signal(signal.SIGSTOP)
    visitor.resize(90, 30)


def read_no_more(visitor: Visitor, _: Proxy) -> None:
    visitor.read_no_more()
    for width in range(90, 100):
        visitor.resize(width, 30)


def resize_and_kill(visitor: Visitor, _: Proxy) -> None:
    visitor.resize(80, 24)
    visitor.signal(signal.SIGKILL)


WAYS: dict[str, Callable[[Visitor, Proxy], object]] = {
    "ssh is killed": lambda one, _: one.signal(signal.SIGKILL),
    "ssh is terminated": lambda one, _: one.signal(signal.SIGTERM),
    "ssh hangs up": lambda one, _: one.signal(signal.SIGHUP),
    "the terminal is closed": lambda one, _: one.close_terminal(),
    "ssh is stopped, and killed later": stop,
    "nothing is read any more": read_no_more,
    "ssh is killed while the window is resized": resize_and_kill,
    "the connection is half closed": lambda _, proxy: proxy.close_half(),
    "the connection is reset": lambda _, proxy: proxy.reset(),
    "no answer comes through any more": lambda _, proxy: proxy.drop_answers(),
}


async def test_ugly_ends_leave_nothing_behind(door: Door, home: Path) -> None:
    """Sessions that end in every way leave no session, task, file, connection and counter.

    Each way is tried in the login and in one of the places, all of them at once.
    """
    await until(lambda: door.metric("sessions") + door.metric("logins") == 0)
    before, guests, log = (door.metric("tasks"), door.open_files), door.metric(GUESTS), door.log
    async with contextlib.AsyncExitStack() as stack:

        async def visit(end: Callable[[Visitor, Proxy], object], words: tuple[str, ...], shown: str) -> None:
            proxy = await stack.enter_async_context(Proxy(f"tcp://127.0.0.1:{door.port}"))
            visitor = await Visitor.open(door.behind(proxy.port), *words)
            stack.push_async_callback(visitor.end)
            await visitor.wait_for(shown)
            proxy.drop_answers()
            late = await Visitor.open(door.behind(proxy.port), "ana@127.0.0.1")
            stack.push_async_callback(late.end)
            await until(lambda: len(proxy.connections) == 2)
            for each in (visitor, late):
                end(each, proxy)
            for each in (visitor, late) if end in (stop, read_no_more) else ():
                each.signal(signal.SIGKILL)

        ways = zip(WAYS.values(), cycle(PLACES.values()), strict=False)
        await asyncio.gather(*(visit(end, *place) for end, place in ways))
        await until(lambda: door.metric("sessions") + door.metric("logins") == 0)
        await until(lambda: door.metric("tasks") <= before[0] and door.open_files <= before[1])
    assert door.metric(GUESTS) == guests + len(WAYS)
    assert not list((home / "door").glob("guest-*"))
    assert door.log == log


async def test_crash_of_a_command_is_reported_and_logged(door: Door, home: Path) -> None:
    code, output = await asyncio.to_thread(run, *ssh("ssh", door, key_in(home, "key"), "-T", "a@127.0.0.1", "rules"))
    assert (code, "Samedeal crashed" in output) == (1, True)
    assert "on purpose" in door.log


def width_drawn(text: str) -> int:
    """Return the last column in which something was drawn."""
    x = last = 0
    for token in re.finditer(r"\x1b\[\d+;(\d+)H|\x1b\[(\d*)C|\x1b\[[\d;?<>=$]*[a-zA-Z]|([^\x1b\r\n])", text):
        column, steps, char = token.groups()
        x = int(column) if column else x + int(steps or 1) if steps is not None else x + (char is not None)
        last = max(last, x - 1 if char is not None else 0)
    return last


async def test_slow_reader_gets_the_newest_screen(door: Door) -> None:
    """While a user reads nothing, frames are dropped. Afterwards the user sees what is there."""
    _, channel, screen = opened = await client(door, None, window=2**14)
    await enter(opened)
    channel.pause_reading()
    before = door.metric("dropped_frames_total")
    for width in itertools.cycle((100, 101)):
        if door.metric("dropped_frames_total") > before:
            break
        channel.change_terminal_size(width, 40)
        await asyncio.sleep(0.02)
    before = door.metric("dropped_frames_total")
    channel.change_terminal_size(133, 40)
    await until(lambda: door.metric("dropped_frames_total") > before)
    before = door.metric("dropped_frames_total")
    channel.write("s")  # the settings are drawn after everything else, and nothing of it is sent
    await until(lambda: door.metric("dropped_frames_total") > before)
    channel.resume_reading()
    await until(lambda: width_drawn(screen.text) > 101)
    await until(lambda: "Bell" in screen.text)
    channel.write("\x11")
    await until(lambda: screen.closed)


async def test_connections_that_never_log_in_keep_nobody_out(door: Door, home: Path) -> None:
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(socket.create_connection(("127.0.0.1", door.port))) for _ in range(300)]
        code, _ = await asyncio.to_thread(run, *ssh("ssh", door, key_in(home, "key"), "-T", "a@127.0.0.1", "help"))
        assert code == 0
        assert len(idle) == 300
        assert door.metric("logins") <= 20
        await until(lambda: door.metric('refused_total{what="connection"}') >= 280)


async def test_server_learns_the_address_behind_a_load_balancer(home: Path, tmp_path: Path) -> None:
    """The address in the PROXY header reaches the server, for its limits, and a connection without one is closed."""
    addresses: list[str | None] = []

    async def note(connection: ServerConnection) -> None:
        assert connection.request is not None
        addresses.append(connection.request.headers.get("X-Forwarded-For"))

    async with serve(note, "127.0.0.1", 0) as server:
        address = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with door_to(address, tmp_path, 0, free_port(), "--proxy-protocol", "127.0.0.0/8") as door:
            begun = socket.create_connection(("127.0.0.1", door.port))
            begun.sendall(b"PROXY TCP4 192.0.2.7 192.0.2.1 5 22\r\n")
            done = await (await connected(sock=begun)).run("rooms")
            assert (done.exit_status, addresses.pop()) == (1, "192.0.2.7")
            code, _ = await asyncio.to_thread(run, *ssh("ssh", door, key_in(home, "key"), "-T", "a@127.0.0.1", "help"))
            assert code == 255


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
async def test_workers_share_the_port_and_are_replaced(server: str, tmp_path: Path, end: signal.Signals) -> None:
    """The sessions of a worker survive the death of another one. All are told when the door stops or is killed."""
    with door_to(server, tmp_path, 0, free_port(), "--workers", "2", "--limit-per-address", "100") as door:
        opened: list[Client] = []
        while not (door.metric("sessions") and door.metric("sessions", worker=1)):
            opened.append(await client(door, None))
        killed = door.workers[0]
        os.kill(killed, signal.SIGKILL)
        await until(lambda: len(door.workers) == 2 and killed not in door.workers)
        await until(lambda: any(screen.closed for _, _, screen in opened))
        kept = [each for each in opened if not each[2].closed]
        await enter(kept[0])
        workers = door.workers
        door.process.send_signal(end)
        await until(lambda: all(screen.closed for _, _, screen in opened))
        assert {channel.get_exit_status() for _, channel, _ in kept} == {75}
        restored = kept[0][2].text.rpartition("\x1b[?1049l")[2].strip()
        assert restored.startswith("\x1b[?25h")
        assert "type the same ssh command again" in restored
        await until(lambda: not any(Path(f"/proc/{worker}/fd").exists() for worker in workers))
        assert await asyncio.to_thread(door.process.wait, 20) == (0 if end == signal.SIGTERM else -end)
