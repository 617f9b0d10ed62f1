"""The connection that all batches of a node share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis
from redis.exceptions import TimeoutError as NoAnswer

from samedeal_server.store import shared_connection
from samedeal_server.store.connect import connect
from samedeal_server.store.redis_client import PrimaryClient


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[PrimaryClient]:
    async with connect(redis_url) as redis:
        assert isinstance(redis, PrimaryClient)
        yield redis


async def test_batches_get_their_own_answers(client: PrimaryClient) -> None:
    batches = [[("ECHO", f"{number} {part}") for part in range(number % 4)] for number in range(40)]
    answers = await asyncio.gather(*(client.send_batch(batch) for batch in batches))
    assert answers == [[text.encode() for _, text in batch] for batch in batches]


async def test_answer_that_nobody_awaits_is_dropped(client: PrimaryClient) -> None:
    await client.send_batch([("ECHO", "before")])
    given_up = asyncio.create_task(client.send_batch([("ECHO", "given up")]))
    await asyncio.sleep(0)
    given_up.cancel()
    assert await client.send_batch([("ECHO", "after")]) == [b"after"]
    assert given_up.cancelled()


async def test_failed_command_fails_no_other_of_its_batch(client: PrimaryClient) -> None:
    first, failed, last = await client.send_batch([("ECHO", "a"), ("NO-SUCH-COMMAND",), ("ECHO", "b")])
    assert (first, last) == (b"a", b"b")
    assert "unknown command" in str(failed)


async def test_lost_connection_is_replaced(client: PrimaryClient, redis_url: str) -> None:
    (number,) = await client.send_batch([("CLIENT", "ID")])
    async with Redis.from_url(redis_url) as other:
        await other.client_kill_filter(_id=number)
    sent_at_once = [client.send_batch([("ECHO", str(at))]) for at in range(3)]
    assert await asyncio.gather(*sent_at_once) == [[b"0"], [b"1"], [b"2"]]
    assert await client.send_batch([("CLIENT", "ID")]) != [number]


async def test_answers_are_converted_as_redis_py_does(client: PrimaryClient) -> None:
    await client.send_batch([("XADD", "log", "1-0", "field", "value")])
    ((seconds, microseconds),), ((entry,),) = [
        await client.send_batch([command]) for command in (("TIME",), ("XRANGE", "log", "-", "+"))
    ]
    assert (type(seconds), type(microseconds)) == (int, int)
    assert entry == (b"1-0", {b"field": b"value"})


async def test_timeout_for_answers_can_be_set_in_the_address(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_connection, "ANSWER_TIMEOUT", 1000.0)
    async with asyncio.timeout(60), connect(f"{redis_url}?socket_timeout=1") as redis:
        assert isinstance(redis, PrimaryClient)
        with pytest.raises(NoAnswer):
            await redis.send_batch([("BLPOP", "nothing", 0)])
        assert await redis.send_batch([("ECHO", "a")]) == [b"a"]
