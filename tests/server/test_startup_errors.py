"""The sentences of all errors with which a node does not start, or a backup is not restored."""

from __future__ import annotations

import asyncio
import fcntl
import re
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from redis.asyncio.sentinel import MasterNotFoundError
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    NoPermissionError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from websockets.asyncio.server import serve

import samedeal
from samedeal_server.config.config import Config
from samedeal_server.embedded_redis import binary
from samedeal_server.embedded_redis.binary import RedisBinary, RedisRelease
from samedeal_server.embedded_redis.diagnosis import explain_exit
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.errors import STARTUP_ERRORS, StartupError, StoreRejected, StoreUnavailable
from samedeal_server.operators import backup
from samedeal_server.process.further_games import checked_tides, offer_games
from samedeal_server.process.listening import listening
from samedeal_server.process.open_store import open_store, store_required
from samedeal_server.process.restore import restore
from samedeal_server.process.secret_settings import (
    read_accesses,
    read_admin_token,
    read_hook_secret,
    read_house_key,
)
from samedeal_server.process.tls import Certificate
from samedeal_server.process.workers import started_workers
from samedeal_server.store import keys, preflight, schema
from samedeal_server.store.dump import KeyDump
from samedeal_server.store.preflight import explain_failure
from samedeal_server.store.redis_client import TooFewReplicas
from samedeal_server.telemetry.metrics import Metrics
from tests.golden.golden_files import assert_sentences
from tests.server.live_nodes import NodeMaker, RedisClient
from tests.server.redis_programs import write_program, write_redis

ADDRESS = "redis.example.org:6379"


class Errors:
    """Collects start-up errors."""

    def __init__(self) -> None:
        self.errors: list[StartupError] = []

    def of(self, failing: Callable[..., object], *given: object, **options: object) -> None:
        """Collect the error that a call raises."""
        with pytest.raises(StartupError) as caught:
            failing(*given, **options)
        self.errors.append(caught.value)

    async def add(self, failing: Awaitable[object]) -> None:
        """Collect the error that an awaitable raises."""
        with pytest.raises(StartupError) as caught:
            await failing
        self.errors.append(caught.value)

    def lines(self, *replacements: tuple[str, str]) -> list[str]:
        """Return a line for each error, after replacing texts that differ between machines."""
        lines = [f"{error.code}\t{error}".replace("\n", "\\n") for error in self.errors]
        for text, replacement in replacements:
            lines = [line.replace(text, replacement) for line in lines]
        return lines


async def listen(host: str, port: int) -> None:
    async def serve_nobody(_: object) -> None:
        await asyncio.sleep(0)

    async with listening(partial(serve, serve_nobody), host, port, "--port"):
        pass


async def add_listening_errors(errors: Errors) -> None:
    occupied = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    async with occupied:
        await errors.add(listen("127.0.0.1", occupied.sockets[0].getsockname()[1]))
    await errors.add(listen("192.0.2.1", 7777))


def add_token_errors(errors: Errors, directory: Path) -> None:
    for config in (
        Config(admin_token="short"),
        Config(admin_token="a" * 20, admin_token_file="token"),
        Config(admin_token_file=str(directory / "token")),
    ):
        errors.of(read_admin_token, config)
    errors.of(read_hook_secret, Config(hook_secret="short"))
    (directory / "short").write_text("short")
    for name in ("short", "token"):
        errors.of(read_accesses, Config(moderator_token_file=str(directory / name)))
        errors.of(read_house_key, Config(house_key_file=str(directory / name)))


def add_game_errors(errors: Errors, directory: Path) -> None:
    games = directory / "games"
    games.mkdir()
    for text in (None, b'title = "House"\ndecks = 3', b"\xff", b"#" * 9_000):
        if text is not None:
            (games / "house.toml").write_bytes(text)
        errors.of(offer_games, games)
    (games / "house.toml").unlink()
    (games / "house.toml").mkdir()
    errors.of(offer_games, games)
    errors.of(checked_tides, ["12:00 willow", "20:00 chess"])


def add_backup_errors(errors: Errors, directory: Path) -> None:
    (directory / "other").write_bytes(b"something else\n")
    (directory / "later").write_bytes(b"samedeal backup 2\n")
    (directory / "damaged").write_bytes(backup.FIRST_LINE + b"x" * 40)
    for name in ("missing", "other", "later", "damaged"):
        errors.of(next, backup.read(directory / name))


def add_redis_errors(errors: Errors) -> None:
    failures: list[RedisError | OSError] = [
        BusyLoadingError("Redis is loading the dataset in memory"),
        AuthenticationError("invalid username-password pair"),
        ResponseError("This instance has cluster support disabled"),
        MasterNotFoundError("no Sentinel names a running primary 'cards'"),
        ClusterDownError("CLUSTERDOWN Hash slot not served"),
        TooFewReplicas("1 of 2 replicas acknowledged a write"),
        NoPermissionError("this user has no permissions to access one of the keys"),
        ReadOnlyError("You can't write against a read only replica."),
        ResponseError("unknown command `HELLO`"),
        ResponseError("unknown command 'SENTINEL', with args beginning with: 'MASTERS' "),
        ResponseError("DB index is out of range"),
        RedisConnectionError("Error 111 connecting to redis.example.org:6379. Connection refused."),
        TimeoutError(),
    ]
    errors.errors += [explain_failure(failure, ADDRESS) for failure in failures]
    errors.of(preflight.check_eviction, {"maxmemory_policy": "allkeys-lru", "maxmemory": 1_000_000}, ADDRESS)
    with pytest.raises(StartupError) as caught, store_required():
        raise StoreUnavailable("Connection reset by peer")
    errors.errors.append(caught.value)


def add_schema_errors(errors: Errors) -> None:
    time = int(datetime(2026, 11, 21, tzinfo=UTC).timestamp() * 1000)
    for version, release in ((schema.READABLE_VERSIONS[-1] + 1, "7.8.9"), (schema.READABLE_VERSIONS[0] - 1, "0.0.1")):
        errors.of(schema.check_records, [(str(version).encode(), f"{time} {release}".encode())], since=0)


async def add_embedded_redis_errors(
    errors: Errors, directory: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = directory / "data"
    await errors.add(EmbeddedRedis(data).start())
    monkeypatch.setenv(binary.BINARY_VARIABLE, str(directory / "nothing"))
    await errors.add(EmbeddedRedis(data).start())
    monkeypatch.delenv(binary.BINARY_VARIABLE)
    write_redis(programs / "redis-server", "exit 3", version="6.0.16")
    await errors.add(EmbeddedRedis(data).start())
    write_redis(programs / "redis-server", "echo 'an unknown error'\nexit 3")
    await errors.add(EmbeddedRedis(data).start())
    with (data / "lock").open("w") as lock:
        lock.write("4711")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        await errors.add(EmbeddedRedis(data, lock_timeout=0).start())
    (directory / "file").write_text("")
    await errors.add(EmbeddedRedis(directory / "file").start())
    (data / "appendonlydir").mkdir()
    (data / "appendonlydir" / "appendonly.aof.1.incr.aof").write_text("")  # without its manifest
    await errors.add(EmbeddedRedis(data).start())
    write_program(programs / "redis-check-aof", "")
    redis = RedisBinary(programs / "redis-server", RedisRelease(valkey=False, version=(7, 0)))
    for log in (
        "Bad file format reading the append only file appendonly.aof.1.incr.aof",
        "Error reading the RDB preamble of the append only file appendonly.aof.1.base.rdb, AOF loading aborted",
        "Can't handle RDB format version 80",
        "Short write while writing to the AOF file: (nwritten=14, expected=31)",
    ):
        errors.errors.append(explain_exit(directory / "data", redis, 1, log))
    writer = RedisRelease(valkey=True, version=(9, 0))
    errors.errors.append(explain_exit(directory / "data", redis, 1, "Can't handle RDB format version 80", writer))


async def add_restore_errors(
    errors: Errors, directory: Path, node: NodeMaker, redis: RedisClient, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await node()
    await one.send_heartbeat()
    parts = [part async for part in backup.Writer(one.store).parts(1000)]
    path = directory / "backup"
    await asyncio.to_thread(path.write_bytes, b"".join(parts))
    config = Config(redis=url)
    await errors.add(restore(path, config, replace=False))
    await one.stop_tasks()
    await redis.flushall()
    await redis.hset(keys.BANS, "0123456789ab", b"")
    await errors.add(restore(path, config, replace=False))
    for failure in (StoreRejected("DUMP payload version or checksum are wrong"), StoreUnavailable("Connection lost")):

        async def fail(*_: object, failure: Exception = failure) -> None:
            raise failure

        monkeypatch.setattr(KeyDump, "restore", fail)
        await errors.add(restore(path, config, replace=True))


async def test_sentences_of_startup_errors(
    tmp_path: Path,
    node: NodeMaker,
    redis: RedisClient,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    errors = Errors()
    await add_listening_errors(errors)
    add_token_errors(errors, tmp_path)
    add_game_errors(errors, tmp_path)
    await errors.add(started_workers((sys.executable, "-c", ""), 1).__aenter__())
    errors.of(Certificate, tmp_path / "cert.pem", tmp_path / "key.pem", Metrics())
    add_backup_errors(errors, tmp_path)
    await add_restore_errors(errors, tmp_path, node, redis, redis_url, monkeypatch)
    await errors.add(open_store("redis://", 0, Metrics()).__aenter__())
    add_redis_errors(errors)
    add_schema_errors(errors)
    errors.errors.append(StartupError("package_changed"))
    programs = request.getfixturevalue("programs")  # it hides the Redis of the node
    await add_embedded_redis_errors(errors, tmp_path, programs, monkeypatch)
    assert {error.code for error in errors.errors} == {row.code or name for name, row in STARTUP_ERRORS.items()}
    version = (await redis.info("server"))["redis_version"]
    lines = errors.lines((f"{tmp_path}/", ""), (f"Redis {version}", "Redis VERSION"), (samedeal.__version__, "0.1.0"))
    lines = [re.sub(r": (error|could not) .*\. Choose", ": REASON. Choose", line) for line in lines]
    lines = [re.sub(r"Port \d+", "Port 7777", line) for line in lines]
    assert_sentences("start-up", lines)
