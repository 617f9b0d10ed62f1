"""Tests of the embedded Redis, with real processes that are killed."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from samedeal_server.embedded_redis import binary, server
from samedeal_server.embedded_redis.binary import RedisRelease, find_redis_binary
from samedeal_server.embedded_redis.server import Durability, EmbeddedRedis
from tests.child_processes import is_alive
from tests.golden.golden_files import assert_answers
from tests.server.expected_errors import refused
from tests.server.redis_programs import write_program, write_redis
from tests.server.waiting import until


@asynccontextmanager
async def redis_in(data: Path, durability: Durability = "always") -> AsyncIterator[Redis]:
    """Run an embedded Redis and yield a client of it."""
    async with EmbeddedRedis(data, durability) as url, Redis.from_url(url) as redis:
        yield redis


async def start_error(data: Path, code: str) -> str:
    """Check that an embedded Redis does not start, with a code, and return the sentence."""
    with refused(code) as caught:
        await EmbeddedRedis(data, lock_timeout=0.1).start()
    return str(caught.value)


async def processes_of(redis: Redis) -> tuple[int, int]:
    """Return the process ids of a Redis and of its guard, which is its parent."""
    process = int((await redis.info("server"))["process_id"])
    return process, parent_of(process)


def parent_of(process: int) -> int:
    stat = Path(f"/proc/{process}/stat")
    if stat.exists():
        return int(stat.read_text().rpartition(")")[2].split()[1])
    parent = subprocess.run(["ps", "-o", "ppid=", "-p", str(process)], capture_output=True, text=True, check=True)
    return int(parent.stdout)


def append_only_file(data: Path) -> Path:
    """Return the file with the latest writes."""
    return next(iter(data.glob("appendonlydir/*.incr.aof")), data / "appendonly.aof")


@pytest.mark.parametrize(
    ("durability", "name"), [("always", "with space %41 # ünï"), ("everysec", '"quoted" \\ # \n ' + "long" * 30)]
)
async def test_data_survives_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durability: Durability, name: str
) -> None:
    """The directories of the data and of the socket may have any name. A long log is rotated."""
    temporary, data = tmp_path / name, tmp_path / name / "data"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    async with redis_in(data, durability) as redis:
        await redis.set("move", "3 5")
        assert (await redis.config_get("appendfsync"))["appendfsync"] == durability
        process, guard = await processes_of(redis)
    assert not is_alive(process)
    assert not is_alive(guard)
    (data / "redis.log").write_bytes(b"x" * 1_000_001)
    async with redis_in(data, durability) as redis:
        assert await redis.get("move") == b"3 5"
        assert (data / "redis.log").stat().st_size < 100_000
        assert (data / "redis.log.1").stat().st_size == 1_000_001
    assert list(temporary.iterdir()) == [data]


async def test_data_is_private_to_the_user(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with redis_in(data) as redis:
        await redis.set("seed", "1")
        socket = Path(redis.connection_pool.connection_kwargs["path"])
        paths = [data, *data.rglob("*"), socket, socket.parent]
        assert len(paths) >= 6
        for path in paths:
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
        assert (await redis.config_get("port"))["port"] == "0"
        assert (data / "written-by").read_text() == f"{find_redis_binary().release}\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux signals a process when its parent is killed")
async def test_directory_is_locked_while_redis_runs(tmp_path: Path) -> None:
    async with redis_in(tmp_path) as redis:
        process, guard = await processes_of(redis)
        os.kill(process, signal.SIGSTOP)
        os.kill(guard, signal.SIGKILL)
    try:
        await start_error(tmp_path, "data_in_use")
    finally:
        os.kill(process, signal.SIGCONT)
    async with redis_in(tmp_path) as redis:
        assert not is_alive(process)
        assert await redis.ping()


async def test_ctrl_c_does_not_stop_redis(tmp_path: Path) -> None:
    async with redis_in(tmp_path) as redis:
        process, guard = await processes_of(redis)
        assert os.getsid(process) == os.getsid(guard) != os.getsid(0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(guard, number)
        await redis.set("move", "3 5")
        assert (is_alive(guard), await processes_of(redis)) == (True, (process, guard))


@pytest.mark.parametrize("while_spawning", [False, True])
async def test_cancelled_start_leaves_nothing(
    tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch, while_spawning: bool
) -> None:
    # This Redis never answers. It writes its process id to a file and sleeps.
    write_redis(programs / "redis-server", f"echo $$ > '{tmp_path}/started'\nexec /bin/sleep 600")
    started = tmp_path / "started"
    data = tmp_path / "data"
    spawn, spawned = asyncio.create_subprocess_exec, asyncio.Event()
    if not while_spawning:
        spawned.set()

    async def spawn_slowly(*command: Any, **options: Any) -> Any:
        process = await spawn(*command, **options)
        await spawned.wait()
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", spawn_slowly)
    starting = asyncio.create_task(EmbeddedRedis(data).start())
    await until(lambda: started.exists() and bool(started.read_text().strip()))
    starting.cancel()
    asyncio.get_running_loop().call_soon(spawned.set)
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert not is_alive(int(started.read_text()))


async def test_damage_is_reported_with_a_repair_command(tmp_path: Path) -> None:
    async with redis_in(tmp_path) as redis:
        for number in range(20):
            await redis.set(f"move:{number}", "3 5")
    file = append_only_file(tmp_path)
    whole = file.read_bytes()
    middle = whole.index(b"*3", len(whole) // 2)
    damaged = whole[:middle] + b"\0damage\0" + whole[middle:]
    file.write_bytes(damaged)

    sentence = await start_error(tmp_path, "data_corrupt")
    assert file.read_bytes() == damaged

    command = next(line.strip() for line in sentence.splitlines() if "--fix" in line)
    repair = await asyncio.to_thread(
        subprocess.run, command, shell=True, input="y\n", capture_output=True, text=True, check=False
    )
    assert repair.returncode == 0, repair
    async with redis_in(tmp_path) as redis:
        assert await redis.get("move:0") == b"3 5"
        assert await redis.get("move:19") is None


async def test_full_disk_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit on the size of files stands in for a full disk: Redis sees a short write."""
    real = find_redis_binary().path
    limited = write_program(
        tmp_path / "redis-server",
        f"[ $1 = --version ] && exec '{real}' --version\nulimit -f 128\ntrap '' XFSZ\nexec '{real}' \"$@\"",
    )
    monkeypatch.setenv(binary.BINARY_VARIABLE, str(limited))
    embedded = EmbeddedRedis(tmp_path / "data")
    async with embedded as url, Redis.from_url(url) as redis:
        with suppress(RedisError):
            for number in range(100):
                await redis.set(f"move:{number}", "x" * 10_000)
        with refused("disk_full"):
            await embedded.raise_on_exit()
    monkeypatch.setattr(server, "MIN_FREE_SPACE", 2**62)
    assert str(tmp_path) in await start_error(tmp_path / "data", "disk_full")


def program_of(programs: Path, name: str, release: str, says: str = "") -> Path:
    """Write a program that reports a release such as ``Valkey 9.0``, and when it should run ``says`` something and ends."""
    said = release.replace(" ", " server v=") + ".1 sha=0"
    return write_program(programs / name, f"if [ $1 = --version ]; then echo '{said}'; exit; fi\necho '{says}'\nexit 3")


def test_program_is_chosen_by_its_version_and_the_data(programs: Path) -> None:
    """The first of two that is new enough, but rather one that reads what the program in the heading has written."""

    def answer(writer: str, question: str) -> str:
        for name, release in zip(("redis-server", "valkey-server"), question.split(" | "), strict=True):
            (programs / name).unlink(missing_ok=True)
            if release != "none":
                program_of(programs, name, release)
        return str(find_redis_binary(RedisRelease.parse(writer)).release)

    assert_answers("redis_programs", answer)


@pytest.mark.parametrize(
    ("release", "file", "content"),
    [
        ("Redis 6.2", "appendonlydir/appendonly.aof.manifest", b""),
        ("Redis 7.0", "written-by", b"Valkey 9.0\n"),
        ("Redis 7.0", "appendonlydir/appendonly.aof.1.base.rdb", b"VALKEY080\xfa"),
    ],
    ids=["of a newer Redis", "of Valkey", "a snapshot of Valkey"],
)
async def test_data_of_another_program_are_not_called_damaged(
    tmp_path: Path, programs: Path, release: str, file: str, content: bytes
) -> None:
    program_of(
        programs, "redis-server", release, says="Wrong signature trying to load DB from file, AOF loading aborted"
    )
    (tmp_path / "appendonlydir").mkdir()
    (tmp_path / file).write_bytes(content)
    assert "damaged" not in (await start_error(tmp_path, "redis_too_old")).replace("not damaged", "")


@pytest.mark.parametrize("obstacle", ["above/data", "above", "above/data/lock/", "above/data/redis.log/"])
async def test_unwritable_directory_is_refused(tmp_path: Path, obstacle: str) -> None:
    """The obstacle is a file, or a directory if its name ends in a slash."""
    there = tmp_path / obstacle
    if obstacle.endswith("/"):
        there.mkdir(parents=True)
    else:
        there.parent.mkdir(exist_ok=True)
        there.write_text("")
    data = tmp_path / "above" / "data"
    assert str(data) in await start_error(data, "data_unwritable")
