"""Names that a player could take for another's, and names that pretend to be the server's or a host's."""

from __future__ import annotations

from ast import literal_eval

from samedeal.forbidden_words import RESERVED
from samedeal.look_alikes import look_alike
from samedeal.protocol.messages import Hello, Join
from tests.golden.golden_files import assert_answers
from tests.server.client import Client
from tests.server.live_nodes import Node


def test_names_look_alike_or_are_reserved() -> None:
    def answer(heading: str, question: str) -> str:
        if heading == "reserved":
            return "reserved" * RESERVED.forbids(literal_eval(question))
        one, other = map(literal_eval, question.split(" and "))
        assert look_alike(one, other) == look_alike(other, one)
        return "alike" if look_alike(one, other) else "different"

    assert_answers("look_alikes", answer)


async def test_look_alike_gets_no_seat(one: Node) -> None:
    ana, other = await one.player("Anna"), await one.player("\u0410nn\u0430")
    room = await ana.create()
    await ana.join(room)
    await other.refused("name_taken", Join, room=room)


async def test_reserved_name_is_refused(one: Node) -> None:
    client = await Client.connect(one.url)
    await client.refused("malformed", Hello, name="Server")
