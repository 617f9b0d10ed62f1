"""Tests of the check of a configured Redis: which are accepted, and with which code the others are refused."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.errors import StartupError, StoreUnavailable
from samedeal_server.store.connect import connect
from samedeal_server.store.preflight import ANSWER_TIMEOUT, check_redis
from samedeal_server.store.store import Store
from samedeal_server.telemetry.metrics import Metrics
from tests.golden.golden_files import assert_answered, values_on
from tests.server.expected_errors import refused
from tests.server.live_nodes import RedisClient
from tests.server.local_server import local_server


@pytest.fixture
async def redis_url(tmp_path: Path) -> AsyncIterator[str]:
    """The URL of a Redis whose settings the test may change."""
    async with EmbeddedRedis(tmp_path, "everysec") as url:
        yield url


@asynccontextmanager
async def answering(answers: dict[bytes, bytes]) -> AsyncIterator[str]:
    """Yield the URL of a server that knows only these commands. It never answers a command whose answer is empty."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            words = []
            for _ in range(int(line[1:])):
                size = int((await reader.readline())[1:])
                words.append((await reader.readexactly(size + 2))[:-2].upper())
            answer = answers.get(words[0], b"-ERR unknown command `%s`, with args beginning with: \r\n" % words[0])
            if not answer:
                await reader.read()
            writer.write(answer)

    async with local_server(serve) as port:
        yield f"redis://127.0.0.1:{port}/0"


def info_answer(**fields: str) -> bytes:
    """Return the answer of a Redis to INFO."""
    text = "# Server\r\n" + "".join(f"{name}:{value}\r\n" for name, value in fields.items())
    return f"${len(text)}\r\n{text}\r\n".encode()


def info(**fields: str) -> dict[bytes, bytes]:
    """What a Redis answers that has these fields."""
    return {b"HELLO": HELLO, b"INFO": info_answer(**fields), b"SET": b"+OK\r\n", b"CLIENT": b"+OK\r\n"}


HELLO = b"%1\r\n$5\r\nproto\r\n:3\r\n"
LOADING = b"-LOADING Redis is loading the dataset in memory\r\n"


async def refusal(url: str, code: str, answer_timeout: float = ANSWER_TIMEOUT) -> str:
    """Check that a Redis is refused with a code, and return the sentence."""
    async with connect(url) as client:
        with refused(code) as caught:
            await check_redis(client, answer_timeout)
    return str(caught.value)


async def test_versions_and_answers_are_accepted_or_refused() -> None:
    known = {name: value for name, value in globals().items() if name.isupper() or name.startswith("info")}
    given = values_on("redis_answers", known)

    async def answer(_: str, question: str) -> str:
        answers = given[question]
        async with answering(answers) as url, connect(url) as client:
            try:
                await check_redis(client, 0.2 if b"" in answers.values() else ANSWER_TIMEOUT)
            except StartupError as error:
                at, reason = url.removeprefix("redis://").removesuffix("/0"), r"\(.*\)"
                return f"{error.code}: {re.sub(reason, '(why)', str(error))}".replace(at, "HOST")
            return "accepted"

    await assert_answered("redis_answers", answer)


async def test_address_without_redis_is_unreachable() -> None:
    for url, named in [
        ("redis://127.0.0.1:PORT/0", "127.0.0.1:PORT"),
        ("sentinel://127.0.0.1:PORT/cards", ""),
        ("cluster://127.0.0.1:PORT/0", "127.0.0.1:PORT"),
        ("redis://nowhere.invalid:6379/0", "nowhere.invalid"),
        ("unix:///nowhere/none.sock", "/nowhere/none.sock"),
    ]:
        async with answering({}) as listening:
            port = listening.rpartition(":")[2].removesuffix("/0")
        assert named.replace("PORT", port) in await refusal(url.replace("PORT", port), "redis_unreachable")


async def test_redis_that_loads_its_data_is_unavailable() -> None:
    """A Redis that was restarted answers the first command of a new connection like this."""
    async with answering({b"HELLO": HELLO, b"TIME": LOADING}) as url, connect(url) as client:
        with pytest.raises(StoreUnavailable, match="loading"):
            await Store(client, Metrics()).now()


async def test_wrong_password_is_not_repeated(redis_url: str, redis: RedisClient) -> None:
    await redis.config_set("requirepass", "right")
    await refusal(redis_url, "redis_unreachable")
    assert "hunter2" not in await refusal(redis_url.replace("unix://", "unix://:hunter2@"), "redis_unreachable")


@pytest.mark.parametrize("command", [("REPLICAOF", "127.0.0.1", "1"), ("CONFIG", "SET", "maxmemory", "1")])
async def test_replica_or_full_redis_is_readonly(redis_url: str, redis: RedisClient, command: tuple[str, ...]) -> None:
    await redis.execute_command(*command)
    await refusal(redis_url, "redis_readonly")


async def test_evicting_redis_is_refused(redis_url: str, redis: RedisClient) -> None:
    for policy in ("allkeys-lru", "volatile-lru", "volatile-ttl"):
        await redis.config_set("maxmemory-policy", policy)
        async with connect(redis_url) as client:
            await check_redis(client)  # without a limit on its memory it evicts nothing
        await redis.config_set("maxmemory", "1gb")
        assert policy in await refusal(redis_url, "redis_evicts")
        await redis.config_set("maxmemory", 0)


async def test_redis_that_forbids_config_is_checked(redis_url: str, redis: RedisClient) -> None:
    hosted = redis_url.replace("unix://", "unix://hosted:hosted@")
    allowed = {"categories": ["+@all"], "commands": ["-config"], "keys": ["*"], "channels": ["*"]}
    await redis.acl_setuser("hosted", enabled=True, passwords="+hosted", **allowed)
    async with connect(hosted) as client:
        await check_redis(client)
    await redis.config_set("maxmemory-policy", "allkeys-lru")
    await redis.config_set("maxmemory", "1gb")
    await refusal(hosted, "redis_evicts")
