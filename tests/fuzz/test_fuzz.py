"""A short fuzz, and that the fuzz finds mistakes which are put where it looks."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from samedeal.errors import SamedealError
from samedeal_server import cli
from samedeal_server.gateway import Gateway
from samedeal_server.hub import Hub
from tests.fuzz import codec
from tests.fuzz.clients import fuzz_client
from tests.fuzz.codec import fuzz_codec
from tests.fuzz.commands import fuzz_commands
from tests.fuzz.gateway import _damage, _make, fuzz_gateway
from tests.fuzz.operators import fuzz_operator


def test_no_frame_is_taken_for_what_it_is_not() -> None:
    assert fuzz_codec(1, 400).broken == []


def test_a_client_understands_a_server_or_says_that_it_does_not() -> None:
    assert fuzz_client(1, 60).broken == []


async def test_whatever_is_said_is_answered_or_closed_and_disturbs_nobody() -> None:
    """Invariants 7 and 9: every refusal is answered, and nobody slows anybody else."""
    assert (await fuzz_gateway(1, 30)).broken == []


async def test_whatever_is_said_where_operators_come_in_is_answered_or_closed() -> None:
    assert (await fuzz_operator(1, 25)).broken == []


def test_every_command_line_ends_with_a_code_and_a_sentence() -> None:
    assert fuzz_commands(1, 60).broken == []


def test_inputs_are_decided_by_the_seed() -> None:
    def some() -> list[Any]:
        rng = Random(3)
        made = [_make(rng) for _ in range(20)]
        return [*made, *(_damage(rng, each, made) for each in made)]

    assert some() == some()


# ---------------------------------------------------------------- mistakes


def test_a_decoder_that_raises_what_it_should_not_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(frame: bytes) -> Any:
        if b"act" in frame:
            raise KeyError("act")
        raise SamedealError("A frame that this decoder does not know")

    monkeypatch.setattr(codec, "decode_to_server", careless)
    (broken,) = fuzz_codec(1, 500).broken
    assert "careless raised KeyError('act')" in broken


async def test_a_fault_of_a_node_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Hub, "check_view", mistaken)
    (broken,) = (await fuzz_gateway(1, 300)).broken
    assert "the node made a mistake" in broken


async def test_a_request_without_an_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Gateway._answer

    async def forgetful(self: Gateway, connection: Any, message: Any) -> Any:
        answer = await before(self, connection, message)
        if type(message).__name__ == "Ready":
            connection.tell = lambda *_: None
        return answer

    monkeypatch.setattr(Gateway, "_answer", forgetful)
    monkeypatch.setattr("tests.server.wire.DEADLINE", 0.5)
    (broken,) = (await fuzz_gateway(1, 300)).broken
    assert "no answer, and no close" in broken


def test_a_command_that_fails_without_a_sentence_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(*_: object) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr(cli, "read_config", mistaken)
    (broken,) = fuzz_commands(1, 500).broken
    assert "ZeroDivisionError() got away" in broken
