"""A client written from PROTOCOL.md alone finishes games of each kind, and always knows its board."""

from __future__ import annotations

import ast
import asyncio
import sys
from pathlib import Path

import pytest

from tests.server.client import DEADLINE
from tests.server.live_nodes import Node
from tests.server.protocol_only_client import Piles, ProtocolOnlyClient, sha256, terms_digest
from tests.server.races import record


@pytest.mark.parametrize("game", ["athena", "steve", "ace-of-hearts"])
async def test_protocol_only_client_finishes_a_race(one: Node, game: str) -> None:
    won = record(game)
    async with asyncio.timeout(2 * DEADLINE), await ProtocolOnlyClient.connect(one.url) as stranger:
        assert (await stranger.ask("hello", name="Stranger"))["type"] == "welcome"
        options = {"games": [game], "deal": str(won.deal), "undo": "free", "countdown": 0}
        room = (await stranger.ask("create", options=options))["room"]
        assert (await stranger.ask("join", room=room))["seat"] == 1
        assert (await stranger.ask("start"))["type"] == "done"
        dealt = await stranger.until("boardstate")
        board = Piles(game, dealt["piles"])
        assert board.hash() == dealt["hash"]
        revision = 0
        for number, (_, action) in enumerate(won.actions):
            refused = await stranger.ask("act", revision=revision, action="3 3")
            assert (refused["type"], refused["revision"]) == ("refused", revision)
            acted = [action, "undo", action] if number % 5 == 2 and number < len(won.actions) - 1 else [action]
            for each in acted:
                acked = await stranger.ask("act", revision=revision, action=each)
                revision += 1
                assert acked["type"] == "acked"
                if each == "undo":
                    board = Piles(game, acked["piles"])
                else:
                    board.move(each, acked.get("seen", b""))
                assert board.hash() == acked["hash"]
        while (state := await stranger.until("roomstate"))["phase"] != "finished":
            pass
        assert state["standings"][0]["name"] == "Stranger"
        assert state["seed"] == won.seed
        assert sha256("samedeal commitment 3\n", terms_digest(state), state["seed"]) == state["commitment"]


def test_protocol_only_client_imports_nothing_of_ours() -> None:
    tree = ast.parse((Path(__file__).parent / "protocol_only_client.py").read_text())
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    known = {"msgpack", "websockets", *sys.stdlib_module_names}
    assert {name.split(".")[0] for name in imported} <= known
