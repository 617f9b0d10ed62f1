"""Tests of Redis addresses: the parts of valid ones, and the errors of invalid ones."""

from __future__ import annotations

import pytest
from redis.asyncio import SSLConnection, UnixDomainSocketConnection

from samedeal_server.store.address import InvalidRedisAddress, RedisAddress
from samedeal_server.store.connect import connect
from tests.golden.golden_files import assert_sentences


@pytest.mark.parametrize(
    ("url", "hosts", "primary", "options"),
    [
        ("redis://cards", [("cards", 6379)], "", {"db": 0}),
        ("redis://:pa%2Fss@10.0.0.5:6380/3", [("10.0.0.5", 6380)], "", {"db": 3, "password": "pa/ss"}),
        ("redis://[::1]:6379", [("::1", 6379)], "", {"db": 0}),
        ("rediss://cards/0", [("cards", 6379)], "", {"db": 0, "connection_class": SSLConnection}),
        ("unix:///run/redis.sock", [], "", {"path": "/run/redis.sock", "connection_class": UnixDomainSocketConnection}),
        ("sentinel://a,b:26380,[::1]:5/cards", [("a", 26379), ("b", 26380), ("::1", 5)], "cards", {"db": 0}),
        ("sentinel://u:p@a/cards/2", [("a", 26379)], "cards", {"db": 2, "username": "u", "password": "p"}),
        (
            "sentinel://a/cards?ssl=true&sentinel_password=q",
            [("a", 26379)],
            "cards",
            {"db": 0, "connection_class": SSLConnection, "sentinel_password": "q"},
        ),
        ("cluster://a:7000,b:7001", [("a", 7000), ("b", 7001)], "", {"db": 0}),
        ("cluster://:p@a/?ssl=yes", [("a", 6379)], "", {"db": 0, "password": "p", "connection_class": SSLConnection}),
    ],
)
async def test_address_is_parsed(
    url: str, hosts: list[tuple[str, int]], primary: str, options: dict[str, object]
) -> None:
    address = RedisAddress.parse(url)
    assert (list(address.hosts), address.primary, address.options) == (hosts, primary, options)
    await connect(url).aclose()


INVALID_ADDRESSES = [
    *("", "cards:6379", "http://cards", "redis://", "redis://:hunter2@:6379/0", "redis://cards:port/0"),
    *("redis://cards:0/0", "redis://cards:65536/0", "redis://:hun/ter2@cards:6379/0", "redis://cards/hunter2"),
    *("redis://[::1/0", "redis://cards/0?hunter2=1", "redis://cards/0?socket_timeout=hunter2"),
    *("unix://run/redis.sock", "unix://", "sentinel://a:26379,b:26379", "sentinel://a:26379,,b/cards"),
    *("sentinel://a/cards/hunter2", "sentinel://a/cards?hunter2=1", "cluster://a/1", "cluster://a:7000,b:x"),
    "cluster://a?hunter2=1",
]
"""Addresses that cannot be parsed. Each text with "hunter2", even if it is split, stands for a secret."""


def parse_error(url: str) -> str:
    with pytest.raises(InvalidRedisAddress) as caught:
        connect(url)
    return str(caught.value)


async def test_sentences_of_invalid_addresses_hide_passwords() -> None:
    sentences = [parse_error(url) for url in INVALID_ADDRESSES]
    assert not [sentence for sentence in sentences if "hun" in sentence or "ter2" in sentence]
    named = zip(INVALID_ADDRESSES, sentences, strict=True)
    assert_sentences("start-up: Redis addresses", [f"{url!r}\t{sentence}" for url, sentence in named])
