"""A client written from PROTOCOL.md alone finishes every game and always knows its board."""

from __future__ import annotations

import ast
import asyncio
import sys
from pathlib import Path

import pytest

from samedeal.record import Record
from tests.server.client import DEADLINE
from tests.server.live_nodes import NodeMaker
from tests.server.protocol_only_client import Piles, ProtocolOnlyClient

RECORDS = Path(__file__).parent.parent / "golden" / "records"


@pytest.mark.parametrize("game", ["athena", "steve", "phoenix", "ace-of-hearts", "willow"])
async def test_protocol_only_client_finishes_a_race(node: NodeMaker, game: str) -> None:
    one = await node()
    record = Record.parse((RECORDS / f"{game}.txt").read_text())
    async with asyncio.timeout(2 * DEADLINE), await ProtocolOnlyClient.connect(one.url) as stranger:
        assert (await stranger.ask("hello", name="Stranger"))["type"] == "welcome"
        options = {"games": [game], "deal": str(record.deal), "undo": "free", "countdown": 0}
        room = (await stranger.ask("create", options=options))["room"]
        assert (await stranger.ask("join", room=room))["seat"] == 1
        assert (await stranger.ask("start"))["type"] == "done"
        dealt = await stranger.until("boardstate")
        board = Piles(game, dealt["piles"])
        assert board.hash() == dealt["hash"]
        revision, up = 0, 0
        for number, (_, action) in enumerate(record.actions):
            refused = await stranger.ask("act", revision=revision, action="3 3")
            assert (refused["type"], refused["revision"]) == ("refused", revision)
            acted = [action, "undo", action] if number % 5 == 2 and number < len(record.actions) - 1 else [action]
            for each in acted:
                acked = await stranger.ask("act", revision=revision, action=each)
                revision += 1
                assert (acked["type"], acked["revision"]) == ("acked", revision)
                if each == "undo":
                    board = Piles(game, acked["piles"])
                else:
                    board.move(each, acked["seen"])
                assert board.hash() == acked["hash"]
                up = acked["foundation_cards"]
        assert up == sum(map(len, board.piles.values()))
        while (state := await stranger.until("roomstate"))["phase"] != "finished":
            pass
        assert state["standings"][0]["name"] == "Stranger"
        assert state["seed"] == record.seed


async def test_protocol_only_client_resumes(node: NodeMaker) -> None:
    one, two = await node(), await node()
    async with asyncio.timeout(DEADLINE), await ProtocolOnlyClient.connect(one.url) as before:
        session = (await before.ask("hello", name="Stranger"))["session"]
        room = (await before.ask("create", options={"games": ["athena"], "countdown": 0}))["room"]
        await before.ask("join", room=room)
        await before.ask("start")
        await before.until("boardstate")
        first = await before.ask("act", revision=0, action="draw")
        sent = before.id
        before.socket.transport.abort()
        async with await ProtocolOnlyClient.connect(two.url) as after:
            await after.ask("hello", name="Stranger", session=session)
            await after.ask("join", room=room, revision=0)
            board = await after.until("boardstate")
            assert (board["revision"], board["hash"]) == (1, first["hash"])
            after.id = sent - 1
            assert await after.ask("act", revision=0, action="draw") == first
            stale = await after.ask("act", revision=0, action="draw")
            assert (stale["code"], stale["revision"]) == ("stale", 1)


def test_protocol_only_client_imports_nothing_of_ours() -> None:
    tree = ast.parse((Path(__file__).parent / "protocol_only_client.py").read_text())
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    known = {"msgpack", "websockets", *sys.stdlib_module_names}
    assert {name.split(".")[0] for name in imported} <= known
