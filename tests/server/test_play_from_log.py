"""Rebuilding a board from a player's log, which is read in parts."""

from __future__ import annotations

from typing import Any

import pytest

from samedeal.protocol.messages import Acked, Act
from samedeal_server.store import store
from samedeal_server.store.store import Store
from tests.server.client import Client
from tests.server.live_nodes import Node, NodeMaker
from tests.server.races import race

PART = 5


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of log entries in each read, in order. The logs are read in small parts."""
    sizes: list[int] = []
    load_log = Store.load_log

    async def counted(*arguments: Any) -> Any:
        entries = await load_log(*arguments)
        sizes.append(len(entries))
        return entries

    monkeypatch.setattr(store, "ENTRIES_PER_READ", PART)
    monkeypatch.setattr(Store, "load_log", counted)
    return sizes


async def moved(one: Node, moves: int) -> tuple[Client, list[Acked]]:
    """A player in a race and the acks of the player's first moves."""
    (ana,) = await race(one, names=["ana"], undo="free")
    return ana, await ana.acts(moves)


@pytest.mark.parametrize("moves", [0, PART - 1, PART, PART + 1, 3 * PART, 4 * PART + 2])
async def test_long_log_is_read_in_parts_on_resume(node: NodeMaker, reads: list[int], moves: int) -> None:
    ana, _ = await moved(await node(), moves)
    again = await (await node()).player("ana", ana.session)
    reads.clear()
    await again.join(ana.room)
    resumed = await again.dealt()
    assert (resumed.board, resumed.revision) == (ana.play.board, moves)
    assert sum(reads) == moves
    assert max(reads, default=0) <= PART


@pytest.mark.parametrize("moves", [1, PART, PART + 1, 2 * PART + 1])
async def test_repeated_move_is_answered_from_a_long_log(one: Node, reads: list[int], moves: int) -> None:
    ana, acks = await moved(one, moves)
    await ana.acts(2 * PART)
    first = acks[-1]
    (entry,) = await one.store.load_log(ana.room, ana.player, moves, moves)
    reads.clear()
    again = await ana.expect(Acked, Act, id=first.to, revision=moves - 1, action=entry.action)
    assert again == first
    assert sum(reads) == moves + 1
    assert max(reads) <= PART
