"""Addresses of Redis: what each says, and what is told of one that says nothing."""

from __future__ import annotations

import pytest
from redis.asyncio import SSLConnection, UnixDomainSocketConnection

from samedeal_server.store.address import Address, BadAddress
from samedeal_server.store.connect import connect


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
async def test_what_an_address_says(
    url: str, hosts: list[tuple[str, int]], primary: str, options: dict[str, object]
) -> None:
    address = Address.read(url)
    assert (list(address.hosts), address.primary, address.options) == (hosts, primary, options)
    await connect(url).aclose()


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", "write redis://HOST:6379/0"),
        ("cards:6379", "write redis://HOST:6379/0"),
        ("http://cards", "write redis://HOST:6379/0"),
        ("redis://", "no host"),
        ("redis://:hunter2@:6379/0", "no host"),
        ("redis://cards:port/0", "port in it is not a number"),
        ("redis://cards:0/0", "no host"),
        ("redis://cards:65536/0", "port in it is not a number"),
        ("redis://:hun/ter2@cards:6379/0", "write / as %2F"),
        ("redis://cards/hunter2", "not the number of a database"),
        ("redis://[::1/0", "can't be read"),
        ("redis://cards/0?hunter2=1", "options after its \\?"),
        ("redis://cards/0?socket_timeout=hunter2", "socket_timeout"),
        ("unix://run/redis.sock", "write unix:///PATH"),
        ("unix://", "write unix:///PATH"),
        ("sentinel://a:26379,b:26379", "does not name the primary"),
        ("sentinel://a:26379,,b/cards", "no host"),
        ("sentinel://a/cards/hunter2", "not the number of a database"),
        ("sentinel://a/cards?hunter2=1", "options after its \\?"),
        ("cluster://a/1", "only database 0"),
        ("cluster://a:7000,b:x", "port in it is not a number"),
        ("cluster://a?hunter2=1", "options after its \\?"),
    ],
)
async def test_what_is_told_of_an_address_that_is_none_without_its_password(url: str, sentence: str) -> None:
    with pytest.raises(BadAddress, match=sentence) as refused:
        connect(url)
    assert "hun" not in str(refused.value)
    assert "ter2" not in str(refused.value)
