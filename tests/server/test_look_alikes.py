"""Names that a player could take for another's, and names that pretend to be the server's or a host's."""

from __future__ import annotations

import pytest

from samedeal.protocol.messages import Hello, Join
from samedeal_server.races.look_alikes import is_reserved, look_alike
from tests.server.client import Client
from tests.server.live_nodes import Node


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Anna", "anna"),
        ("Anna", "ANNA"),
        ("Anna", "A nna."),
        ("Anna", "\u0410nn\u0430"),  # Cyrillic
        ("Anna", "ANN\u0391"),  # Greek capital alpha
        ("Anna", "A\u039d\u039dA"),  # Greek capital nu, whose small letter looks like v
        ("Anna", "\uff21nna"),  # fullwidth
        ("Anna", "\U0001d400nna"),  # mathematical
        ("Anna", "\u24b6nna"),  # circled
        ("\u00c1nna", "\u0410\u0301nna"),  # with an accent
        ("Iris", "IRIS"),
        ("Iris", "lris"),
        ("Bob", "B0b"),
        ("Tom", "Torn"),
        ("Stra\u00dfe", "STRASSE"),
        ("\u041e\u041b\u042f", "\u043e\u043b\u044f"),
        ("\u2764", "\u2764"),
    ],
)
def test_names_that_look_alike_are_recognized(name: str, other: str) -> None:
    assert look_alike(name, other)
    assert look_alike(other, name)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Anna", "Ana"),
        ("Anna", "Anna 2"),
        ("Anna", "\u00c1nna"),
        ("Iris", "iras"),
        ("Lila", "Ilia"),
        ("\u2764", "\u2660"),
        ("^_^", "..."),
        ("\u540d\u524d", "\u540d"),
        ("p1", "p11"),
    ],
)
def test_names_that_look_different_are_told_apart(name: str, other: str) -> None:
    assert not look_alike(name, other)


@pytest.mark.parametrize(
    "name", ["SERVER", "Samedeal", "Anna (host)", "the_h0st", "Admin", "\u0430dmin", "\uff33erver", "Server."]
)
def test_name_of_the_server_or_a_host_is_reserved(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize("name", ["Hosta", "Serverus", "Ana", "badmin", "\u2764", "..."])
def test_other_name_is_not_reserved(name: str) -> None:
    assert not is_reserved(name)


async def test_look_alike_gets_no_seat(one: Node) -> None:
    ana, other = await one.player("Anna"), await one.player("\u0410nn\u0430")
    room = await ana.create()
    await ana.join(room)
    await other.refused("name_taken", Join, room=room)


async def test_reserved_name_is_refused(one: Node) -> None:
    client = await Client.connect(one.url)
    await client.refused("malformed", Hello, name="Server")
