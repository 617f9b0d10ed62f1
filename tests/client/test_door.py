"""The parts of the door that need no connection."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from unittest.mock import AsyncMock, Mock

import asyncssh
import pytest

from samedeal_client.commands.arguments import error_report
from samedeal_client.menus.start_menu import enter_arguments
from samedeal_door import connections
from samedeal_door import door as door_module
from samedeal_door.connections import ChannelSession, DoorServer, _Variables
from samedeal_door.door import Door, dns_record, load_host_key, serve_door
from samedeal_door.identities import KEPT_FOR, Identities, fingerprint, read_fingerprint, trim
from samedeal_door.limits import DoorLimits, Rates, network_of, session_refusal
from samedeal_door.proxy_header import read_proxy_header
from samedeal_door.session import _MOST_WAITING, Lines, SessionRequest, SessionTerminal, _arguments
from samedeal_link.errors import Failure
from samedeal_link.machine.terminal import use_terminal
from samedeal_link.solving.solver_process import SolverProcess
from tests.golden.golden_files import assert_answered, assert_answers
from tests.server.waiting import TIMEOUT, until

SERVER = "play.example.org"


def arguments_of(heading: str, question: str) -> str:
    """The command that typed words become at a door, or in a dialog of the start screen."""
    try:
        if heading == "The door":
            return " ".join(_arguments(question.split(), SERVER, plain=False)) or "(start screen)"
        command, _, rest = question.partition(", last server ")
        server, _, typed = rest.partition(": ")
        return " ".join(enter_arguments(command, typed, server.strip("-")))
    except Failure as error:
        return str(error)


def test_words_become_arguments_as_the_page_says() -> None:
    assert_answers("arguments", arguments_of)


def test_identity_is_bound_to_door_and_key(tmp_path: Path) -> None:
    one, same, other = (Identities(tmp_path / name) for name in ("one", "one", "other"))
    key = asyncssh.generate_private_key("ssh-ed25519")
    found = fingerprint(key.public_data)
    assert one.identity(found) == same.identity(found) != other.identity(found)
    assert one.identity(found) not in (found, found[:40])
    assert read_fingerprint(key.get_fingerprint()) == found
    assert read_fingerprint(key.export_public_key().decode()) == found
    for text in ("", "ana", "SHA256:abc", "ssh-ed25519 ???"):
        with pytest.raises(Failure):
            read_fingerprint(text)


def test_keys_are_forgotten_after_a_year_or_when_there_are_too_many(tmp_path: Path) -> None:
    identities = Identities(tmp_path)
    for number in range(5):
        visited = time.time() - number * KEPT_FOR / 3.5
        os.utime(identities.home(str(number)), (visited, visited))
    with identities.visit("") as left_over, identities.visit("") as guest:
        os.utime(left_over, (0, 0))
        identities.clean(3)
        assert (left_over.exists(), guest.exists()) == (False, True)
    assert not guest.exists()
    assert sorted(path.name for path in (tmp_path / "keys").iterdir()) == ["0", "1", "2"]
    identities.clean(100)
    assert identities.forget("1")
    assert not identities.forget("1")
    assert [path.name for path in (tmp_path / "keys").iterdir() if path.name != "0"] == ["2"]


def test_keys_that_another_worker_forgets_meanwhile_are_no_error(tmp_path: Path) -> None:
    identities = Identities(tmp_path)
    identities.home("0")
    for gone in (tmp_path / "keys" / "1", tmp_path / "guest-1"):
        gone.symlink_to(tmp_path / "nowhere")  # it is listed, and has no time of a visit
    identities.clean(0)
    assert not (tmp_path / "keys" / "0").exists()


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(SERVER, tmp_path, DoorLimits(), AsyncMock())


async def test_sweeps_go_on_after_an_error(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise no idle session would end any more."""
    monkeypatch.setattr(door_module, "_SWEEP_TIME", 0.0)
    monkeypatch.setattr(door.identities, "clean", Mock(side_effect=PermissionError))
    session = Mock()
    with door.open_session(session):
        sweeping = asyncio.create_task(door._sweep())
        await until(lambda: session.stop_if_idle.call_count > 2)
        sweeping.cancel()


async def test_door_without_its_sweeps_ends(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then another worker takes over."""
    monkeypatch.setattr(door, "_sweep", AsyncMock(side_effect=RuntimeError))
    with pytest.raises(RuntimeError):
        async with asyncio.timeout(TIMEOUT):
            await door.run([], None)


async def test_session_that_cannot_begin_is_released(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise it would count among those of its key until the door is restarted."""
    monkeypatch.setattr(door.identities, "home", Mock(side_effect=OSError(28, "No space left on device")))
    channel = Mock(write_stderr=Mock(side_effect=BrokenPipeError))
    session = ChannelSession(door, Mock(identity="a key", connection=Mock(address="192.0.2.7")))
    session.connection_made(channel)
    session.session_started()
    await session.ended.wait()
    await until(lambda: channel.exit.called)
    channel.exit.assert_called_once_with(1)
    assert door.players == []


def test_what_is_kept_of_a_key_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "records").mkdir()
    for number in range(60):
        (tmp_path / "records" / f"{number}.txt").touch()
        os.utime(tmp_path / "records" / f"{number}.txt", (number, number))
    (tmp_path / "history.jsonl").write_text("".join(f"{number:099}\n" for number in range(4000)))
    trim(tmp_path)
    assert {int(path.stem) for path in (tmp_path / "records").iterdir()} == set(range(10, 60))
    lines = (tmp_path / "history.jsonl").read_text().splitlines()
    assert (lines[-1], {len(line) for line in lines}) == (f"{3999:099}", {99})
    assert len(lines) < 2000


async def typed_lines(*, terminal: bool, typed: str) -> tuple[list[str], str, int]:
    """Return the lines that somebody types, what is shown of them, and how often they were interrupted."""
    shown: list[str] = []
    interrupts: list[None] = []
    lines = Lines(Mock(), shown.append if terminal else None, lambda: interrupts.append(None))
    lines._wanted = True
    lines.feed(typed)
    lines._lines.feed_eof()
    return [line.decode().rstrip("\n") async for line in lines._lines], "".join(shown), len(interrupts)


async def test_typed_lines_can_be_edited() -> None:
    assert await typed_lines(terminal=True, typed="ab\x7fc\r") == (["ac"], "ab\b \bc\r\n", 0)
    assert await typed_lines(terminal=True, typed="\x7fabc\x15d\r") == (["d"], "abc" + "\b \b" * 3 + "d\r\n", 0)
    assert await typed_lines(terminal=True, typed="\x1b[Aa\x1b[<0;1;1Mb\x1bOP\x03\r") == (["ab"], "ab\r\n", 1)
    assert await typed_lines(terminal=False, typed="one\ntwo\nthree") == (["one", "two"], "", 0)
    assert (await typed_lines(terminal=True, typed="x" * 5000 + "\r"))[0] == ["x" * 1000]


async def test_input_for_screens_is_no_line() -> None:
    lines = Lines(Mock(), pytest.fail, pytest.fail)
    lines.feed("q\r")
    lines.end()
    assert await lines.read_line() is None


def test_only_harmless_variables_are_kept() -> None:
    sent: dict[bytes, bytes] = _Variables()
    for name in (b"LANG", b"LC_ALL", b"COLORTERM", b"NO_COLOR", b"LD_PRELOAD", b"HOME", b"SAMEDEAL_DEBUG", b"\xff"):
        sent[name] = b"x"
    sent[b"LC_LONG"] = b"x" * 1000
    assert set(sent) == {b"LANG", b"LC_ALL", b"COLORTERM", b"NO_COLOR"}
    for number in range(1000):
        sent[b"LC_%d" % number] = b""
    assert len(sent) == 50


def test_sessions_are_counted_by_address_and_key() -> None:
    limits = DoorLimits(sessions=4, per_address=2, per_key=1)

    def refused(players: str, newcomer: str) -> str:
        return session_refusal(limits, [(each[0], each[1:]) for each in players.split()], newcomer[0], newcomer[1:])

    assert not refused("", "ak")
    assert "this key" in refused("ak", "bk")
    assert "your address" in refused("ak a", "a")
    assert not refused("ak a b", "b")
    assert "full" in refused("ak a b bl", "cm")


def test_ipv6_addresses_of_one_user_count_as_one() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1") != network_of("2001:db8:0:1::1")
    assert network_of("192.0.2.7") == "192.0.2.7"


def test_connections_of_an_address_are_counted_by_the_minute() -> None:
    rates = Rates(2)
    assert [rates.allows("a", 100.0) for _ in range(3)] == [True, True, False]
    assert rates.allows("b", 101.0)
    assert rates.allows("a", 161.0)


def login(directory: Path) -> tuple[DoorServer, Mock]:
    """A login, and the parts of a door that it uses."""
    parts = Mock(limits=DoorLimits(offered_keys=2), identities=Identities(directory), session=None)
    server = DoorServer(parts)
    server.connection_made(parts)
    return server, parts


async def test_guest_who_has_shown_a_key_is_not_its_owner(tmp_path: Path) -> None:
    """Anybody can show a public key. Only a signature with it counts, and that ends the login."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    guest, _ = login(tmp_path)
    assert guest.validate_public_key("ana", key)
    assert guest.get_kbdint_challenge("ana", "", "") == ("", "", "", [])
    guest.auth_completed()
    assert guest.identity == ""
    owner, parts = login(tmp_path)
    assert owner.validate_public_key("ana", key)
    owner.auth_completed()
    assert owner.identity == parts.identities.identity(fingerprint(key.public_data))


async def test_connection_that_offers_many_keys_is_closed(tmp_path: Path) -> None:
    server, parts = login(tmp_path)
    key = asyncssh.generate_private_key("ssh-ed25519")
    assert [server.validate_public_key("ana", key) for _ in range(5)] == [True] * 4 + [False]
    assert parts.abort.called


@pytest.mark.parametrize(("session", "aborted"), [(None, True), (False, True), (True, False)])
async def test_connection_without_a_client_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, session: bool | None, aborted: bool
) -> None:
    """A channel in which nothing runs holds it no longer than no channel."""
    monkeypatch.setattr(connections, "_START_TIME", 0)
    server, parts = login(tmp_path)
    parts.session = None if session is None else Mock(has_begun=session)
    server.auth_completed()
    checked = asyncio.Event()
    asyncio.get_running_loop().call_later(0, checked.set)  # after the check
    await checked.wait()
    assert parts.abort.called == aborted


async def test_proxy_header_is_read_and_nothing_more() -> None:
    async def answer(_: str, question: str) -> str:
        """The address that a header names, and what is read after it, or the error."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            theirs.sendall(eval(question))
            theirs.shutdown(socket.SHUT_WR)
            try:
                return f"{await read_proxy_header(ours, 'peer')}, then {ours.recv(100)!r}"
            except ValueError as error:
                return str(error)

    await assert_answered("proxy_headers", answer)


def test_host_key_is_kept_and_has_a_dns_record(tmp_path: Path) -> None:
    key = load_host_key(tmp_path)
    assert load_host_key(tmp_path) == key
    assert (tmp_path / "host_key").stat().st_mode & 0o077 == 0
    digest = sha256(key.public_data)
    assert dns_record("play.example.org", key) == f"play.example.org. IN SSHFP 4 2 {digest.hexdigest()}"
    assert key.get_fingerprint() == f"SHA256:{b64encode(digest.digest()).decode().rstrip('=')}"


def test_apps_do_not_decide_how_tasks_of_the_door_begin() -> None:
    """Textual wants them all to begin at once, which asyncssh does not expect."""

    async def run(*_: object) -> None:
        loop = asyncio.get_running_loop()
        loop.set_task_factory(Mock())
        assert loop.get_task_factory() is None

    serve_door(Mock(run=run), [], None)


def session_terminal(home: Path, size: tuple[int, int]) -> tuple[SessionTerminal, list[str]]:
    """The terminal of a session, and what is written to its channel, of which nothing is read."""
    written: list[str] = []
    channel = Mock(write=written.append, write_stderr=written.append)
    channel.get_write_buffer_size = lambda: sum(map(len, written))
    request = SessionRequest("ana", "", size, {})
    return SessionTerminal(channel, request, home, "192.0.2.7", Mock(server="localhost", public_url="")), written


async def test_lines_that_nobody_reads_do_not_pile_up(tmp_path: Path) -> None:
    terminal, written = session_terminal(tmp_path, (0, 0))
    for _ in range(3 * _MOST_WAITING // 1000):
        terminal.output.write("x" * 1000)
        terminal.errors.write("x" * 1000)
    assert len("".join(written)) == _MOST_WAITING


async def test_many_sizes_in_a_row_are_drawn_once(tmp_path: Path) -> None:
    """To send a size costs a user nothing, and to draw in it costs the door much."""
    terminal, _ = session_terminal(tmp_path, (80, 24))
    drawn = asyncio.Event()
    driver = Mock(resized=Mock(side_effect=drawn.set))
    terminal.drivers.append(driver)
    for width in range(1000):
        terminal.resized(width, 40)
    await drawn.wait()
    drawn.clear()
    terminal.resized(10**9, -1)
    await drawn.wait()
    assert (driver.resized.call_count, terminal.size) == (2, (1000, 1))


async def test_failure_does_not_tell_the_directories_of_the_door(tmp_path: Path) -> None:
    use_terminal(session_terminal(tmp_path, (80, 24))[0])
    report = error_report(OSError(28, "No space left on device", str(tmp_path / "history.jsonl")))
    assert str(report) == "history.jsonl: No space left on device."


async def test_sessions_solve_deals_in_turn(tmp_path: Path) -> None:
    """A solver is a process. If each of many players started one at the end of a race, the machine would stand still."""
    terminal, _ = session_terminal(tmp_path, (80, 24))
    terminal.solvers = asyncio.Semaphore(1)
    use_terminal(terminal)
    async with SolverProcess():
        second = asyncio.create_task(SolverProcess().__aenter__())
        await asyncio.sleep(0)
        assert terminal.solvers.locked()
        assert not second.done()
    await second
