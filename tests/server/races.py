"""Races between test clients, ready to play."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from samedeal.board_history import Undo
from samedeal.deal_proof import RevealedShare
from samedeal.protocol.messages import (
    Created,
    Done,
    RaceNow,
    ReadRecord,
    RecordPart,
    Resign,
    RoomState,
    Standing,
    Start,
)
from samedeal.race.values import Race, Racer
from samedeal.record import Record
from samedeal.solver.solve import solve
from samedeal_server.rooms import race_now
from samedeal_server.rooms.race_now import PERIOD, SHORTEST_WAIT
from samedeal_server.store import keys
from tests.server.client import DEADLINE, Client
from tests.server.live_nodes import Node, RedisClient
from tests.server.waiting import until
from tests.shared.race_values import new_race

QUICK_GAME: Final = "bakers-game"
"""A game without hidden cards in which the solver decides all deals within a second. In others, one of thirty takes it so
long that tests on a busy machine would not wait for it.
"""


async def seated(*nodes: Node | str, names: Sequence[str] = ("ana", "bob"), **options: Any) -> tuple[Client, ...]:
    """Open a room with players, who use one node or URL after the other. Return their clients, the host's first."""
    urls = [each if isinstance(each, str) else each.url for each in nodes]
    clients = tuple([await Client.hello(urls[at % len(urls)], name) for at, name in enumerate(names)])
    room = await clients[0].create(**options)
    for client in clients:
        client.undo = Undo(options.get("undo", "no-reveal"))
        await client.join(room, passphrase=options.get("passphrase", ""))
    return clients


async def race(*nodes: Node | str, **options: Any) -> tuple[Client, ...]:
    """Start a race between players, who can move, and return their clients.

    It is in a game in which random moves hardly ever end a race, unless ``options`` name another one.
    """
    clients = await seated(*nodes, **{"games": ("athena",), **options})
    await clients[0].expect(Done, Start)
    for client in clients:
        await client.dealt()
    return clients


async def finish(*clients: Client) -> RoomState:
    """Let all players resign, and return the last state of the room, in which all of them see the same standings."""
    for client in clients:
        await client.expect(Done, Resign)
    states = await asyncio.gather(*(client.phase("finished") for client in clients))
    assert all(state.standings == states[0].standings for state in states)
    return states[0]


async def raced(room: str, *clients: Client, moves: int = 0, **fields: Any) -> RoomState:
    """Let players join a room, and race until all of them have resigned. Return the last state of the room."""
    for client in clients:
        await client.join(room, **fields)
    await clients[0].expect(Done, Start)
    for client in clients:
        await client.dealt()
        await client.acts(moves)
    for client in clients:
        await client.expect(Done, Resign)
    return await clients[0].state(lambda state: (state.room, state.phase) == (room, "finished"))


async def answered(client: Client, kind: Any, **fields: Any) -> object:
    """Send a request again until it is not refused as ``unavailable``, and return the answer."""
    async with asyncio.timeout(DEADLINE):
        while getattr(answer := await client.ask(kind, **fields), "code", "") == "unavailable":
            pass
    return answer


async def lose_moves(redis: RedisClient, room: str, player: str) -> None:
    """Delete a player's moves and the room's events from Redis, as a failover to an old replica does."""
    first, *_ = await redis.xrange(keys.events(room), count=1)
    async with redis.pipeline(transaction=True) as pipeline:
        pipeline.delete(keys.log(room, player), keys.progress(room, player))
        pipeline.hset(keys.meta(room), "last_event", int(first[0].split(b"-")[0]))
        pipeline.xtrim(keys.events(room), maxlen=0, approximate=False)
        await pipeline.execute()


RECORDS = Path(__file__).parent.parent / "golden" / "records"


def record(game: str) -> Record:
    """Load the record of a play that moves all cards to the foundations."""
    return Record.parse((RECORDS / f"{game}.txt").read_text())


async def read(client: Client, race: str, **fields: str) -> bytes:
    """Read a whole record, as PROTOCOL.md says."""
    part = await client.expect(RecordPart, ReadRecord, race=race, **fields)
    rest = [
        await client.expect(RecordPart, ReadRecord, race=part.race, part=number, **fields)
        for number in range(1, part.parts)
    ]
    return b"".join(each.text for each in (part, *rest))


async def kept(client: Client, room: str) -> Record:
    """Wait until the record of a room's race is kept, and return it."""
    async with asyncio.timeout(DEADLINE):
        while not isinstance(await client.ask(ReadRecord, race=room), RecordPart):
            pass
    return Record.read(await read(client, room))


def shorten_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let races that players race now start after less than two seconds, of which the last is the countdown."""
    for name, value in (("PERIOD", 300), ("SHORTEST_WAIT", 1_600), ("LONGEST_WAIT", 1_900), ("_COUNTDOWN", 1)):
        monkeypatch.setattr(race_now, name, value)


async def draw(*clients: Client) -> None:
    """Draw a joint deal, whatever draw it is, until the cards are dealt."""

    async def take_part(client: Client) -> None:
        state = await client.phase("countdown")
        await client.take_part(state.draw)
        await client.dealt()

    await asyncio.gather(*map(take_part, clients))


def ended_race(room: str = "friday", **changes: Any) -> Race:
    """A public race with a joint deal, in which ana, who was alone, has brought a card to the foundations."""
    standing = Standing(place=1, player="ana", name="Ana", foundation_cards=1, time=0, moves=1, undos=0)
    shares = (RevealedShare(1, "Ana", bytes(32), bytes(32)),)
    given = {"deal": "winnable", "starts": 1_000, "finished_at": 2_000, "shares": shares, "standings": (standing,)}
    return new_race(room, **{**given, "racers": (Racer("ana", "Ana", 1),), **changes})


async def race_alone(client: Client, game: str) -> RoomState:
    """Race now, bring a card to the foundations, and resign. Return the state of the room after the race."""
    room = (await client.expect(Created, RaceNow, game=game)).room
    await client.join(room)
    state = await client.state(lambda state: state.next or state.phase == "countdown")
    if state.next:
        await client.join(state.next)
        room = state.next
    else:
        await client.take_part()
    play = await client.dealt()
    for move in solve(play.board, 100_000).line:
        await client.act(str(move))
        if client.play.board.foundation_cards:
            break
    await client.expect(Done, Resign)
    finished = await client.phase("finished")
    await kept(client, room)
    return finished


async def long_before_a_start() -> None:
    """Wait until *race now* leads to a race that starts so late that lists, which are some seconds old, have it in time."""
    edge = 100
    await until(lambda: PERIOD - 6000 < -(1000 * time.time() + SHORTEST_WAIT) % PERIOD < PERIOD - edge)
