"""Every type of request has a handler of its own."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from msgspec import Struct

from samedeal.protocol import codec, messages
from samedeal.protocol.codec import pack
from samedeal.protocol.messages import Refused, ToServer
from samedeal.race.commands import CommandRequest
from samedeal_server.gateway import gateway
from samedeal_server.gateway.request_handlers import REQUESTS
from tests.server.live_nodes import NodeMaker


def test_every_request_type_has_a_handler() -> None:
    assert set(REQUESTS) == set(get_args(ToServer))


def test_every_request_type_has_its_own_handler() -> None:
    own = [request.handle for kind, request in REQUESTS.items() if kind not in get_args(CommandRequest)]
    assert len(set(own)) == len(own)


def test_only_hello_and_ping_are_answered_before_hello() -> None:
    assert {kind for kind, request in REQUESTS.items() if not request.needs_hello} == {messages.Hello, messages.Ping}


async def test_request_without_handler_is_not_answered_done(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    class Juggle(Struct, frozen=True, tag_field="type", tag="juggle"):
        id: int

    decode = codec.decode_to_server

    def decode_juggle(frame: bytes | str) -> Any:
        return Juggle(id=7) if frame == pack({"type": "juggle", "id": 7}) else decode(frame)

    monkeypatch.setattr(gateway, "decode_to_server", decode_juggle)
    ana = await (await node()).player()
    await ana.socket.send(pack({"type": "juggle", "id": 7}))
    answer = await ana.until(Struct, lambda message: hasattr(message, "to"))
    assert isinstance(answer, Refused)
    assert answer.code == "fault"
