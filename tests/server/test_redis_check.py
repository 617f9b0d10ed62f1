"""A named Redis that will not do: each way it can't, told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from samedeal_server.embedded import EmbeddedRedis
from samedeal_server.errors import StartupError
from samedeal_server.redis_check import check_redis
from samedeal_server.store.connect import connect


@pytest_asyncio.fixture
async def own_url(tmp_path: Path) -> AsyncIterator[str]:
    """The URL of a Redis whose settings a test may spoil."""
    async with EmbeddedRedis(tmp_path, "everysec") as url:
        yield url


@asynccontextmanager
async def answering(answers: dict[bytes, bytes]) -> AsyncIterator[str]:
    """The URL of something that answers these commands, as a Redis that knows no others; b"" never answers."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                words = []
                for _ in range(int(line[1:])):
                    size = int((await reader.readline())[1:])
                    words.append((await reader.readexactly(size + 2))[:-2].upper())
                answer = answers.get(words[0], b"-ERR unknown command `%s`, with args beginning with: \r\n" % words[0])
                if not answer:
                    await reader.read()
                writer.write(answer)
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"


def information(**fields: str) -> bytes:
    """What a Redis answers to INFO."""
    text = "# Server\r\n" + "".join(f"{name}:{value}\r\n" for name, value in fields.items())
    return f"${len(text)}\r\n{text}\r\n".encode()


HELLO = b"%1\r\n$5\r\nproto\r\n:3\r\n"


async def refusal(url: str, code: str) -> str:
    """The sentence with which a Redis is refused."""
    async with connect(url) as client:
        with pytest.raises(StartupError) as refused:
            await check_redis(client)
    assert refused.value.code == code, refused.value
    return str(refused.value)


async def test_a_real_one_will_do(redis_url: str) -> None:
    async with connect(redis_url) as client:
        await check_redis(client)


@pytest.mark.parametrize(
    "fields",
    [
        {"redis_version": "6.2.0"},
        {"redis_version": "8.0.2"},
        {"redis_version": "255.255.255"},
        {"redis_version": "7.2.4", "server_name": "valkey", "valkey_version": "8.1.1"},
        {"redis_version": "1.0.0", "server_name": "valkey"},
    ],
    ids=lambda fields: " ".join(fields.values()),
)
async def test_new_enough(fields: dict[str, str]) -> None:
    async with (
        answering({b"HELLO": HELLO, b"INFO": information(**fields), b"SET": b"+OK\r\n", b"CLIENT": b"+OK\r\n"}) as url,
        connect(url) as client,
    ):
        await check_redis(client)


@pytest.mark.parametrize("fields", [{"redis_version": "6.0.16"}, {"redis_version": "2.8.1"}, {"uptime": "1"}], ids=str)
async def test_too_old(fields: dict[str, str]) -> None:
    async with answering({b"HELLO": HELLO, b"INFO": information(**fields), b"CLIENT": b"+OK\r\n"}) as url:
        sentence = await refusal(url, "redis_too_old")
    assert fields.get("redis_version", "no known version") in sentence
    assert "6.2 or newer" in sentence


async def test_too_old_to_be_greeted() -> None:
    async with answering({b"INFO": information(redis_version="5.0.14")}) as url:
        assert "6.2 or newer" in await refusal(url, "redis_too_old")


async def test_nobody_there() -> None:
    async with answering({}) as url:
        pass
    sentence = await refusal(url, "redis_unreachable")
    assert url.removeprefix("redis://").removesuffix("/0") in sentence
    assert "--redis" in sentence


async def test_no_socket(tmp_path: Path) -> None:
    assert str(tmp_path / "none.sock") in await refusal(f"unix://{tmp_path}/none.sock", "redis_unreachable")


async def test_no_host() -> None:
    assert "nowhere.invalid" in await refusal("redis://nowhere.invalid:6379/0", "redis_unreachable")


async def test_something_else_there() -> None:
    async with answering({b"HELLO": b"HTTP/1.1 400 Bad Request\r\n\r\n"}) as url:
        await refusal(url, "redis_unreachable")


async def test_one_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samedeal_server.redis_check._PATIENCE", 0.2)
    async with answering({b"HELLO": b""}) as url:
        assert "took too long" in await refusal(url, "redis_unreachable")


async def test_one_that_is_loading() -> None:
    async with answering({b"HELLO": HELLO, b"INFO": b"-LOADING Redis is loading the dataset in memory\r\n"}) as url:
        assert "still loading" in await refusal(url, "redis_unreachable")


async def test_a_wrong_password_is_told_without_it(own_url: str) -> None:
    async with Redis.from_url(own_url) as redis:
        await redis.config_set("requirepass", "right")
    assert "password" in await refusal(own_url, "redis_unreachable")
    sentence = await refusal(own_url.replace("unix://", "unix://:hunter2@"), "redis_unreachable")
    assert "password" in sentence
    assert "hunter2" not in sentence


async def test_a_replica(own_url: str) -> None:
    async with Redis.from_url(own_url) as redis:
        await redis.replicaof("127.0.0.1", "1")
    assert "primary" in await refusal(own_url, "redis_readonly")


async def test_a_full_one(own_url: str) -> None:
    async with Redis.from_url(own_url) as redis:
        await redis.config_set("maxmemory", 1)
    assert "maxmemory" in await refusal(own_url, "redis_readonly")


async def test_a_user_without_rights(own_url: str) -> None:
    async with Redis.from_url(own_url) as redis:
        await redis.acl_setuser(
            "guest", enabled=True, passwords="+guest", commands=["+info", "+hello", "+set"], keys=["other:*"]
        )
    sentence = await refusal(own_url.replace("unix://", "unix://guest:guest@"), "redis_readonly")
    assert "samedeal:*" in sentence


@pytest.mark.parametrize(
    ("mode", "scheme", "sentence"),
    [
        ("cluster", "redis", "write --redis cluster://"),
        ("sentinel", "redis", "write --redis sentinel://"),
        ("standalone", "cluster", "write --redis redis://"),
    ],
)
async def test_one_of_another_kind(mode: str, scheme: str, sentence: str) -> None:
    answers = {b"HELLO": HELLO, b"CLIENT": b"+OK\r\n", b"INFO": information(redis_version="7.0.0", redis_mode=mode)}
    answers[b"CLUSTER"] = b"-ERR This instance has cluster support disabled\r\n"
    async with answering(answers) as url:
        assert sentence in await refusal(url.replace("redis", scheme), "bad_redis_url")


async def test_no_sentinel() -> None:
    async with answering({}) as url:
        pass
    assert "names that primary" in await refusal(
        url.replace("redis", "sentinel").removesuffix("0") + "cards", "redis_unreachable"
    )


async def test_no_node_of_a_cluster() -> None:
    async with answering({}) as url:
        pass
    sentence = await refusal(url.replace("redis", "cluster"), "redis_unreachable")
    assert url.removeprefix("redis://").removesuffix("/0") in sentence
