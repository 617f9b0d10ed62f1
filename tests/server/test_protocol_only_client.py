"""A client written from PROTOCOL.md alone finishes games of each kind, and always knows its board."""

from __future__ import annotations

import ast
import asyncio
import secrets
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from samedeal.board import Board
from samedeal.games import GAMES
from samedeal.joint_deal import candidate_order
from tests.server.client import DEADLINE
from tests.server.live_nodes import Node
from tests.server.protocol_only_client import (
    Message,
    Piles,
    ProtocolOnlyClient,
    sha256,
    share_commitment,
    terms_digest,
)
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


async def test_protocol_only_clients_draw_a_deal(one: Node) -> None:
    """Two strangers draw a deal twice, because a third one leaves, and check all hashes of its proof."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * DEADLINE))
        names = ("Ann", "Ben", "Cid")
        ann, ben, cid = [await stack.enter_async_context(await ProtocolOnlyClient.connect(one.url)) for _ in names]
        strangers = dict(zip(names, (ann, ben, cid), strict=True))
        for name, stranger in strangers.items():
            assert (await stranger.ask("hello", name=name))["type"] == "welcome"
        options = {"games": ["ace-of-hearts"], "deal": "winnable", "countdown": 0}
        room = (await ann.ask("create", options=options))["room"]
        for stranger in strangers.values():
            await stranger.ask("join", room=room)
        await ann.ask("start")
        shares: dict[str, bytes] = {}
        sealed: Message = {}
        noted: list[tuple[int, str, bytes]] = []
        for draw in (1, 2):
            shares = {name: secrets.token_bytes(32) for name in strangers}
            for name, stranger in strangers.items():
                begun = await stranger.state(lambda told, draw=draw: told["draw"] == draw)  # type: ignore[misc]  # bound at once
                commitment = share_commitment(begun, name, shares[name])
                assert (await stranger.ask("commitshare", draw=draw, commitment=commitment))["type"] == "done"
            sealed = await ann.state(lambda told: all(seat["share_commitment"] for seat in told["players"]))
            noted = sorted((seat["seat"], seat["name"], seat["share_commitment"]) for seat in sealed["players"])
            assert [name for _, name, _ in noted] == list(strangers)
            if draw == 1:
                assert (await cid.ask("leave"))["type"] == "done"
                del strangers["Cid"]
        for name, stranger in strangers.items():
            assert (await stranger.ask("revealshare", draw=2, share=shares[name]))["type"] == "done"
        drawn = (await ann.until("drawn"))["shares"]
        assert [(each["seat"], each["name"], each["commitment"]) for each in drawn] == noted
        assert {each["name"]: each["share"] for each in drawn} == shares
        assert (await ben.until("drawn"))["shares"] == drawn
        digest = terms_digest(sealed)
        board = await ann.until("boardstate")
        for stranger in strangers.values():
            await stranger.ask("resign")
        ended = await ann.state(lambda told: told["phase"] == "finished")
        assert [(lost["draw"], lost["seat"], lost["name"], lost["reason"]) for lost in ended["lost"]] == [
            (1, 3, "Cid", "left")
        ]
    fields = dict(line.split(": ", 1) for line in ended["proof"].splitlines()[1:])
    secret = bytes.fromhex(fields["secret"])
    assert (ended["terms"], bytes.fromhex(fields["terms"])) == (sealed["terms"], digest)
    assert sha256("samedeal commitment 3\n", digest, secret) == sealed["commitment"]
    parts = (bytes([each["seat"]]) + each["share"] for each in drawn)
    mix = sha256("samedeal mix v2\n", secret, *parts)
    seed = sha256("samedeal candidate v2\n", mix, int(fields["candidate"]).to_bytes(4, "big"))
    cards = Board.deal(GAMES["ace-of-hearts"], candidate_order(seed, 1))
    assert [bytes(pile) for pile in cards.masked().piles] == board["piles"]


def test_protocol_only_client_imports_nothing_of_ours() -> None:
    tree = ast.parse((Path(__file__).parent / "protocol_only_client.py").read_text())
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    known = {"msgpack", "websockets", *sys.stdlib_module_names}
    assert {name.split(".")[0] for name in imported} <= known
