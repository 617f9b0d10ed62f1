"""Tests of Redis addresses: the parts of valid ones, and the errors of invalid ones."""

from __future__ import annotations

from samedeal_server.store.address import InvalidRedisAddress, RedisAddress
from samedeal_server.store.connect import connect
from tests.golden.golden_files import assert_answered


async def test_addresses_are_read_as_the_page_says() -> None:
    async def answer(heading: str, url: str) -> str:
        try:
            await connect(url).aclose()
        except InvalidRedisAddress as error:
            sentence = str(error)
            is_secret = "hun" not in sentence and "ter2" not in sentence
            return sentence if is_secret else "tells a password"
        address = RedisAddress.parse(url)
        options = ", ".join(f"{name} {getattr(value, '__name__', value)}" for name, value in address.options.items())
        return f"{' '.join(map(str, address.hosts))} {address.primary}: {options}".strip()

    await assert_answered("redis_addresses", answer)
