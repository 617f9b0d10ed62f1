"""A client that asks too much of a real node: it waits as it is told, and everything comes to pass in its order."""

from __future__ import annotations

import asyncio
import dataclasses

from samedeal.board import Board
from samedeal.deal import Deal, shuffled
from samedeal.games import GAMES
from samedeal.options import WantedOptions
from samedeal.play import Play, Undo
from samedeal.protocol.messages import Acked, Act, BoardState, Create, Created, Join, ListRooms, Refused, Rooms, Start
from samedeal_client.net.address import parse_address
from samedeal_client.net.link import Connected, Ended, Link, Lost
from samedeal_client.net.sessions import BriefSessions
from tests.server.conftest import PLENTY, serving

FEW = dataclasses.replace(PLENTY, rate=20, burst=40, slow_for=0.1, refusals=1000)


async def test_moves_that_come_too_fast_are_all_made_in_their_order(redis_url: str) -> None:
    game = GAMES["willow"]
    play = Play(Board.deal(game, shuffled(Deal.parse("#7").public_seed(), 1)), Undo.FREE)
    acts: list[str] = []
    while len(acts) < 40:
        moves = play.board.legal_moves()
        acts.append(str(moves[0]) if moves and len(acts) % 2 == 0 else "undo")
        play = play.act(acts[-1])
    async with serving(redis_url, "n", FEW) as node, Link(parse_address(node.url), "ana", BriefSessions()) as link:
        options = WantedOptions(deal="#7", countdown=0, undo="free")
        created = await link.request(Create(id=0, options=options))
        assert isinstance(created, Created)
        await link.request(Join(id=0, room=created.room))
        await link.request(Start(id=0))
        acked: list[int] = []
        async with asyncio.timeout(60):
            async for news in link:
                assert not isinstance(news, Refused | Lost | Ended), news
                if isinstance(news, BoardState):
                    for revision, action in enumerate(acts):
                        link.send(Act(id=link.new_id(), revision=revision, action=action))
                elif isinstance(news, Acked):
                    acked.append(news.revision)
                    if len(acked) == len(acts):
                        break
        assert acked == list(range(1, len(acts) + 1))
        assert node.gateway.metrics.refusals["rate_limited"].value > 0
        assert node.gateway.metrics.opened.value == 1


async def test_whoever_asks_something_again_and_again_gets_all_answers(redis_url: str) -> None:
    async with serving(redis_url, "n", FEW) as node, Link(parse_address(node.url), "ana", BriefSessions()) as link:
        async with asyncio.timeout(60):
            answers = await asyncio.gather(*(link.request(ListRooms(id=0)) for _ in range(8)))
        assert all(isinstance(answer, Rooms) for answer in answers)
        assert node.gateway.metrics.refusals["rate_limited"].value > 0
        assert Connected(again=True) not in [link._news.get_nowait() for _ in range(link._news.qsize())]
