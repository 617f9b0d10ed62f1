"""Names that a player could take for another's, and names that pretend to be the server's or a host's."""

from __future__ import annotations

from samedeal.protocol.messages import Hello, Join
from samedeal_server.races.look_alikes import is_reserved, look_alike
from tests.server.client import Client
from tests.server.live_nodes import Node

ALIKE = {
    "Anna": ("anna", "ANNA", "A nna."),
    "Anna in other scripts": ("\u0410nn\u0430", "ANN\u0391", "A\u039d\u039dA"),  # Cyrillic; Greek; nu, small like v
    "Anna in other forms": ("\uff21nna", "\U0001d400nna", "\u24b6nna"),  # fullwidth, mathematical, circled
    "\u00c1nna": ("\u0410\u0301nna",),  # with an accent
    "Iris": ("IRIS", "lris"),
    "Bob": ("B0b",),
    "Tom": ("Torn",),
    "Stra\u00dfe": ("STRASSE",),
    "\u041e\u041b\u042f": ("\u043e\u043b\u044f",),
    "\u2764": ("\u2764",),
}
"""Names, each with others that a player could take for it."""
DIFFERENT = {
    "Anna": ("Ana", "Anna 2", "\u00c1nna"),
    "Iris": ("iras",),
    "Lila": ("Ilia",),
    "\u2764": ("\u2660",),
    "^_^": ("...",),
    "\u540d\u524d": ("\u540d",),
    "p1": ("p11",),
}


def test_names_that_look_alike_are_recognized() -> None:
    for name, others in ALIKE.items():
        for other in others:
            assert look_alike(name.partition(" in ")[0], other), (name, other)
            assert look_alike(other, name.partition(" in ")[0]), (name, other)
    for name, others in DIFFERENT.items():
        assert not any(look_alike(name, other) for other in others), name


def test_names_of_the_server_or_a_host_are_reserved() -> None:
    for name in ("SERVER", "Samedeal", "Anna (host)", "the_h0st", "Admin", "\u0430dmin", "\uff33erver", "Server."):
        assert is_reserved(name), name
    for name in ("Hosta", "Serverus", "Ana", "badmin", "\u2764", "..."):
        assert not is_reserved(name), name


async def test_look_alike_gets_no_seat(one: Node) -> None:
    ana, other = await one.player("Anna"), await one.player("\u0410nn\u0430")
    room = await ana.create()
    await ana.join(room)
    await other.refused("name_taken", Join, room=room)


async def test_reserved_name_is_refused(one: Node) -> None:
    client = await Client.connect(one.url)
    await client.refused("malformed", Hello, name="Server")
