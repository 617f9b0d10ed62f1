"""Every type of request has a handler of its own."""

from __future__ import annotations

from typing import get_args

from samedeal.protocol import messages
from samedeal.protocol.messages import ToServer
from samedeal.race.commands import CommandRequest
from samedeal_server.gateway.request_handlers import REQUESTS


def test_every_request_type_has_a_handler() -> None:
    assert set(REQUESTS) == set(get_args(ToServer))


def test_every_request_type_has_its_own_handler() -> None:
    own = [request.handle for kind, request in REQUESTS.items() if kind not in get_args(CommandRequest)]
    assert len(set(own)) == len(own)


def test_only_hello_and_ping_are_answered_before_hello() -> None:
    assert {kind for kind, request in REQUESTS.items() if not request.needs_hello} == {messages.Hello, messages.Ping}
