"""Players who want to race now meet in one room, whatever node they ask."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from samedeal import options
from samedeal.protocol.messages import Created, RaceNow, Start
from samedeal_server.rooms.race_now import LONGEST_WAIT, PERIOD, SHORTEST_WAIT
from samedeal_server.rooms.room_creation import RoomCreator
from samedeal_server.store.store import Store
from tests.server.client import Client
from tests.server.live_nodes import PLENTY, Node, NodeMaker


async def asked(client: Client, game: str = "") -> str:
    return (await client.expect(Created, RaceNow, game=game)).room


async def test_players_meet_whatever_node_they_ask(node: NodeMaker) -> None:
    nodes = [await node(), await node()]
    players = [await nodes[number % 2].player(f"p{number}") for number in range(6)]
    (room,) = set(await asyncio.gather(*(asked(player) for player in players)))
    await asyncio.gather(*(player.join(room) for player in players))
    state = await players[0].state(lambda state: len(state.players) == 6)
    wait = state.options.start_at - await nodes[0].store.now()
    assert 0 < wait < LONGEST_WAIT
    assert (state.host, state.options.bots, state.private, state.deal) == ("", False, False, "winnable")
    await players[0].refused("not_host", Start)
    other = await asked(players[0], "steve")
    assert other not in (room, await asked(players[1], "willow"))
    assert await asked(players[1], "steve") == other


async def test_room_is_found_before_the_list_has_it(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second player asks when the server would no longer open a room for the start of the first one's race."""
    last_chance = 0

    async def now(self: Store) -> int:
        return last_chance

    nodes = [await node(), await node()]
    players = [await one.player("p") for one in nodes]
    last_chance = -(-await nodes[0].store.now() // PERIOD) * PERIOD + PERIOD - SHORTEST_WAIT
    for one in nodes:
        await one.gateway.handlers.room_list.lines(only_open=True)
    monkeypatch.setattr(Store, "now", now)
    first = await asked(players[0])
    last_chance += 1_000
    assert await asked(players[1]) == first


@pytest.mark.parametrize(
    ("wait", "options", "taken"),
    [
        (SHORTEST_WAIT, {}, True),
        (SHORTEST_WAIT, {"passphrase": "open sesame"}, False),
        (SHORTEST_WAIT, {"players": 1}, False),
        (SHORTEST_WAIT // 3, {}, False),
        (2 * LONGEST_WAIT, {}, False),
    ],
)
async def test_room_that_starts_soon_is_chosen(one: Node, wait: int, options: dict[str, Any], *, taken: bool) -> None:
    """The room must be public, and have a free seat. It may have a host."""
    ana, bob = await one.player("ana"), await one.player("bob")
    start_at = await one.store.now() + wait
    room = await ana.create("friday", start="at", start_at=start_at, countdown=1, **options)
    await ana.join(room, **{name: value for name, value in options.items() if name == "passphrase"})
    assert (await asked(bob, "willow") == room) is taken


async def test_address_has_at_most_half_of_the_seats(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    scheduled = partial(options.Options.scheduled, players=4)
    monkeypatch.setattr("samedeal_server.rooms.race_now.Options", SimpleNamespace(scheduled=scheduled))
    one = await node()
    players = [await one.player(f"p{number}") for number in range(3)]
    first = await asked(players[0])
    for player in players[:2]:
        await player.join(first)
    second = await asked(players[2])
    assert second != first
    assert await asked(players[0]) == first  # the player has a seat in it
    await players[2].join(second)


async def test_bot_is_refused_and_no_room_is_opened(one: Node) -> None:
    bot = await Client.hello(one.url, "deep", bot=True)
    await bot.refused("no_bots", RaceNow)
    assert await one.store.index.count() == 0


async def test_other_room_with_the_code_is_left_alone(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients may choose any code for their rooms."""
    codes = itertools.chain(("friday",), itertools.repeat("monday"))
    monkeypatch.setattr(RoomCreator, "shared_code", lambda *_: next(codes))
    one = await node()
    ana, bob = await one.player("ana"), await one.player("bob")
    await bob.create("friday", passphrase="open sesame")
    assert await asked(ana) == "monday"


async def test_bad_game_and_many_requests_are_refused(node: NodeMaker) -> None:
    one = await node(limits=replace(PLENTY, rooms_per_address=2))
    ana = await one.player("ana")
    await ana.refused("unknown_game", RaceNow, game="chess")
    await asked(ana)
    await ana.refused("rate_limited", RaceNow)
