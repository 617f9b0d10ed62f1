"""Every operator request has a handler, and every refusal of one has a sentence."""

from __future__ import annotations

from typing import get_args

from samedeal.protocol.admin import Backup, FromOperator
from samedeal.protocol_codes import OperatorRefusalCode
from samedeal_server.operators import refusals
from samedeal_server.operators.request_handlers import HANDLERS
from tests.golden.golden_files import assert_sentences
from tests.server.refusal_examples import examples


def test_every_request_has_a_handler() -> None:
    assert {*HANDLERS, Backup} == set(get_args(FromOperator))


WORDS = {"wait": 12.0, "room": "friday", "player": "eve", "target": "203.0.113.7", "maximum": 1000, "name": "n9"}


def test_sentences_of_refusals() -> None:
    found = examples(refusals, {**WORDS, "nodes": ["n1", "n2"]})
    assert {refusal.code for refusal in found} == set(OperatorRefusalCode)
    assert_sentences("operators", [f"{refusal.code}\t{refusal}" for refusal in found])
