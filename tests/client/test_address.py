"""Parsing of addresses in every form, and the errors for invalid ones: ``tests/golden/answers/addresses.txt``."""

from __future__ import annotations

from ast import literal_eval

from samedeal.errors import MalformedText
from samedeal_link.connection.address import ServerAddress, parse_address
from samedeal_operate.commands.host import shared_address
from tests.golden.golden_files import assert_answers


def read(_: str, question: str) -> str:
    """The URL and the room of an address, the shortest text for the URL, and the page of a room there."""
    try:
        address = parse_address(literal_eval(question))
    except MalformedText as error:
        return str(error)
    url, page = ServerAddress(address.url), address.page("friday")
    assert parse_address(url.typed) == url
    assert parse_address(page) == ServerAddress(address.url, "friday") or "?" in address.url
    return f"{address.url}, room {address.room or '-'}, {url.typed}, {page}"


def test_addresses_are_read_as_the_page_says() -> None:
    assert_answers("addresses", read)


def test_address_for_others_keeps_the_port() -> None:
    shared = shared_address(ServerAddress("ws://127.0.0.1:7777"))
    assert shared.port == 7777
    assert not shared.encrypted
