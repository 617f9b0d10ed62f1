"""Every operator request has a handler, and every refusal of one has a sentence."""

from __future__ import annotations

from typing import get_args

from samedeal.protocol.admin import FromOperator
from samedeal.protocol_codes import OperatorRefusalCode
from samedeal_server.operators import refusals
from samedeal_server.operators.request_handlers import HANDLERS
from tests.golden.golden_files import assert_sentences


def test_every_request_has_a_handler() -> None:
    assert set(HANDLERS) == set(get_args(FromOperator))


def test_sentences_of_refusals() -> None:
    of_operators = [
        refusals.login_first(),
        refusals.login_once(),
        refusals.bad_token(),
        refusals.too_many_tries(12.0),
        refusals.no_player("friday", "eve"),
        refusals.no_ban("203.0.113.7"),
        refusals.too_many_bans(1000),
        refusals.nothing_said(),
        refusals.no_condition(),
        refusals.no_node("n9", ["n1", "n2"]),
        refusals.node_required(["n1", "n2"]),
        refusals.last_node("n1"),
        refusals.busy(),
    ]
    assert {refusal.code for refusal in of_operators} == set(OperatorRefusalCode)
    shared = [refusals.no_room("nowhere"), refusals.unavailable()]
    assert_sentences("operators", [f"{refusal.code}\t{refusal}" for refusal in (*of_operators, *shared)])
