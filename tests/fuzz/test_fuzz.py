"""A short run of each fuzzer, and faults that the fuzzers must find."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from samedeal.protocol.messages import Rooms, ToClient
from samedeal_server.rooms.hub import Hub
from samedeal_server.rooms.player_connection import PlayerConnection
from tests.fuzz.fuzzed_nodes import damaged_script
from tests.fuzz.gateway import fuzz_gateway, make_script
from tests.fuzz.operators import fuzz_operator


async def test_gateway_answers_or_closes() -> None:
    """Invariants: every refused request gets an answer, and everything is bounded."""
    assert (await fuzz_gateway(1, 30)).broken == []


async def test_operator_gateway_answers_or_closes() -> None:
    assert (await fuzz_operator(1, 25)).broken == []


def test_same_seed_gives_the_same_inputs() -> None:
    def scripts() -> list[Any]:
        rng = Random(3)
        valid = [make_script(rng) for _ in range(20)]
        return [*valid, *(damaged_script(rng, each, valid) for each in valid)]

    assert scripts() == scripts()


async def test_fault_of_a_node_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Hub, "check_can_watch", mistaken)
    (broken,) = (await fuzz_gateway(1, 600)).broken
    assert "the node logged a fault" in broken


async def test_missing_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    send = PlayerConnection.send

    def forgetful(connection: PlayerConnection, message: ToClient, asked: float = 0.0) -> None:
        if not isinstance(message, Rooms):
            send(connection, message, asked)

    monkeypatch.setattr(PlayerConnection, "send", forgetful)
    monkeypatch.setattr("tests.server.raw_client.DEADLINE", 5.0)  # also for handshakes, which a busy machine delays
    (broken,) = (await fuzz_gateway(1, 600)).broken
    assert "neither answered nor closed" in broken
