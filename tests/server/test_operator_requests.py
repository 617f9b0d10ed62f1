"""Every operator request has a handler."""

from __future__ import annotations

from typing import get_args

from samedeal.protocol.admin import Backup, Export, FromOperator
from samedeal_server.operators.request_handlers import HANDLERS


def test_every_request_has_a_handler() -> None:
    assert {*HANDLERS, Backup, Export} == set(get_args(FromOperator))
