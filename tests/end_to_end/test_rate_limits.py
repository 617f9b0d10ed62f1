"""A client that exceeds its rate on a real node: moves are delayed, and all are made in order."""

from __future__ import annotations

import asyncio
import dataclasses
from functools import partial

import pytest

from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.deal import Deal, shuffled
from samedeal.games import GAMES
from samedeal.options import WantedOptions
from samedeal.protocol.messages import Acked, Act, BoardState, Create, Created, Join, Refused, Start
from samedeal_link.connection.address import parse_address
from samedeal_link.connection.link_events import Ended, Lost
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_server.loop_timers import Timers
from tests.server.live_nodes import PLENTY, Node, serving

FEW = dataclasses.replace(PLENTY, rate=20, burst=40, slow_for=0.1, refusals=1000)


async def stop_time_until_refused(node: Node) -> None:
    """Stop the clock of the limits, so that no machine is too slow to exceed them."""
    now = Timers().monotonic()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Timers, "monotonic", lambda _: now)
        limited = partial(
            node.built.metrics.registry.get_sample_value, "samedeal_refusals_total", {"code": "rate_limited"}
        )
        while not limited():  # noqa: ASYNC110  # a metric sets no event
            await asyncio.sleep(0.01)


async def test_rate_limited_moves_are_made_in_order(redis_url: str) -> None:
    game = GAMES["willow"]
    play = Play(Board.deal(game, shuffled(Deal.parse("#7").public_seed(), 1)), Undo.FREE)
    acts: list[str] = []
    while len(acts) < 40:
        moves = play.board.legal_moves()
        acts.append(str(moves[0]) if moves and len(acts) % 2 == 0 else "undo")
        play = play.act(acts[-1])
    async with serving(redis_url, "n", FEW) as node, Link(parse_address(node.url), "ana", MemorySessions()) as link:
        options = WantedOptions(deal="#7", countdown=0, undo="free")
        created = await link.request(Create(id=0, options=options))
        assert isinstance(created, Created)
        await link.request(Join(id=0, room=created.room))
        await link.request(Start(id=0))
        acked: list[int] = []
        sent: list[int] = []
        async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            tasks.create_task(stop_time_until_refused(node))
            async for event in link:
                assert not isinstance(event, Refused | Lost | Ended), event
                if isinstance(event, BoardState):
                    for revision, action in enumerate(acts):
                        sent.append(link.new_id())
                        link.send(Act(id=sent[-1], revision=revision, action=action))
                elif isinstance(event, Acked):
                    acked.append(event.to)
                    if len(acked) == len(acts):
                        break
        assert acked == sent
        assert node.metric("connections_opened_total") == 2  # the link has moved to the home of its room
