"""Spectators see all moves late and in order, and never while they race."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from samedeal.board import Board
from samedeal.board_history import UNDO, Play
from samedeal.protocol.codec import decode_to_client
from samedeal.protocol.messages import (
    DelayedBoard,
    DelayedMove,
    Done,
    Leave,
    Notice,
    Ping,
    Pong,
    Resign,
    RoomState,
    Start,
    Watch,
)
from samedeal_link.model.model import Model
from samedeal_server.config.limits import Limits
from samedeal_server.gateway import rate_limits
from samedeal_server.races import delayed_view
from samedeal_server.rooms import upkeep
from samedeal_server.rooms.hub import Hub
from samedeal_server.rooms.registry import RoomRegistry
from tests.server import races
from tests.server.client import Client
from tests.server.live_nodes import PLENTY, Node, NodeMaker, RedisClient
from tests.server.races import finish


async def race(one: Node, **options: Any) -> Client:
    """A player with a board in a new race."""
    # In deal 7, hundreds of random moves neither finish the board nor leave it without a move.
    (ana,) = await races.race(one, names=["ana"], **{"undo": "free", "deal": "7", **options})
    return ana


class Screen:
    """The board of one player as the client of a spectator shows it."""

    def __init__(self, client: Client, player: str) -> None:
        self.client = client
        self.player = player
        self.model = Model(room=client.shown)
        self.revision, self.time = -1, 0

    async def next(self) -> DelayedBoard | DelayedMove:
        """Show the next message about the player's board."""
        message = await self.client.until(
            Struct, lambda late: isinstance(late, DelayedBoard | DelayedMove) and late.player == self.player
        )
        assert isinstance(message, DelayedBoard | DelayedMove)
        self.model = self.model.after(message)
        assert not self.model.missed_move
        self.revision, self.time = message.revision, message.time
        return message

    @property
    def board(self) -> Board:
        return self.model.watched[self.player].play.board


async def test_spectator_sees_each_move_after_the_delay(one: Node, two: Node) -> None:
    """Invariant: hidden stays hidden. Spectators get boards only after the delay."""
    ana = await race(one, delay=1)
    watcher = await two.player("wat")
    watching = await watcher.watch(ana.room)
    assert watching.delay == 1
    await watcher.phase("racing")
    await ana.acts(4)
    screen = Screen(watcher, ana.player)
    while screen.revision < 4:  # the first board shows all moves that are due by then
        await screen.next()
        assert await one.store.now() >= screen.time + 1000
    assert screen.board == ana.play.board
    await ana.act(UNDO)
    assert isinstance(await screen.next(), DelayedBoard)
    assert await one.store.now() >= screen.time + 1000
    await ana.act("draw")
    await screen.next()
    assert (screen.revision, screen.board) == (6, ana.play.board)


async def test_lagging_spectator_skips_to_a_snapshot(node: NodeMaker) -> None:
    """Invariant: everything is bounded. A slow spectator skips to a snapshot."""
    one = await node(Limits(rate=1e6, burst=1_000_000, late_backlog=0))
    ana = await race(one, delay=0)
    watcher = await one.player("wat")
    await watcher.watch(ana.room)
    screen = Screen(watcher, ana.player)
    await ana.acts(20)
    while screen.revision < 20:
        assert isinstance(await screen.next(), DelayedBoard)
    assert screen.board == ana.play.board
    assert one.metric("spectators_skipped_total") >= 1


async def test_racer_may_not_watch(one: Node, two: Node) -> None:
    """Invariant: hidden stays hidden. All racers have the same deal, so a rival's board would reveal cards."""
    ana = await race(one, delay=0)
    again = await two.player("ana", ana.session)
    await again.refused("racing", Watch, room=ana.room)
    await ana.refused("racing", Watch, room=ana.room)
    await ana.act("draw")  # a refusal has changed nothing
    await ana.expect(Done, Resign)
    await ana.watch(ana.room)


async def test_racer_with_a_new_seat_may_not_watch(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The node follows the room already, but has not heard yet that the player took a seat on another node."""
    monkeypatch.setattr(upkeep, "REFRESH_INTERVAL", 1000.0)
    one, two = await node(), await node()
    ana, wat = await one.player("ana"), await two.player("wat")
    room = await ana.create(games=("athena",), delay=0)
    await wat.watch(room)
    again = await two.player("ana", ana.session)
    monkeypatch.setattr(Hub, "announced", lambda hub, numbered: None)
    await ana.join(room)
    await again.refused("racing", Watch, room=room)


async def test_closed_race_shows_no_moves_before_their_delay(one: Node) -> None:
    ana = await race(one, delay=60)
    wat = await one.player("wat")
    await wat.watch(ana.room)
    await ana.acts(3)
    hub = one.rooms.hubs[ana.room]
    hub.model.race = replace(hub.race, phase="closed")  # as the operator does, just before a move is due
    hub.boards.release()
    wat.inbox.clear()
    await wat.expect(Pong, Ping)
    assert not [message for message in wat.inbox if isinstance(message, DelayedMove)]
    assert hub.boards.delayed is not None
    assert hub.boards.delayed.next_at() is not None


async def test_racer_who_starts_to_watch_is_not_connected(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds for the first state that the spectator is sent, even if announcements are late."""
    ana = await race(one, delay=0)
    await ana.expect(Done, Resign)
    monkeypatch.setattr(Hub, "announced", lambda hub, numbered: None)
    watching = await ana.watch(ana.room)
    ana.inbox.clear()
    await ana.ask(Ping)
    frames = [decode_to_client(frame) for frame in ana.frames]
    state = next(each for each in frames[frames.index(watching) :] if isinstance(each, RoomState))
    assert not state.tallies[0].connected


async def test_spectator_who_takes_a_seat_is_counted_no_more(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds for the first state that the player is sent, even if the hub is slow to release the spectator."""
    monkeypatch.setattr(RoomRegistry, "release_removed", lambda rooms, hub: rooms.release(hub.room))
    ana, bob = await one.player("ana"), await one.player("bob")
    room = await ana.create()
    await ana.join(room)
    await bob.watch(room)
    await ana.state(lambda state: state.spectator_count == 1)
    bob.inbox.clear()
    await bob.join(room)
    assert (await bob.until(RoomState)).spectator_count == 0


async def test_spectator_who_joins_elsewhere_sees_no_more(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant: hidden stays hidden. All racers have the same deal, so a rival's board would reveal cards.

    The others are told of the end at once, not with the next refresh of the room.
    """
    monkeypatch.setattr(upkeep, "REFRESH_INTERVAL", 1000.0)
    one, two = await node(), await node()
    ana, bob = await one.player("ana"), await one.player("bob")
    room = await ana.create(games=("athena",), delay=0)
    watching = await two.player("bob", bob.session)
    await ana.join(room)
    await watching.watch(room)
    await ana.state(lambda state: state.spectator_count == 1)
    await bob.join(room)
    await ana.state(lambda state: state.spectator_count == 0)
    assert (await watching.until(Notice)).code == "seated"
    await ana.expect(Done, Start)
    await ana.dealt()
    await ana.acts(5)
    await finish(ana, bob)
    assert not [message for message in watching.inbox if isinstance(message, DelayedBoard | DelayedMove)]
    await watching.expect(Done, Leave)
    assert room not in two.rooms.hubs


async def test_building_boards_gives_others_a_turn(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant: everything is bounded. No client slows another one down."""
    monkeypatch.setattr(delayed_view, "ACTIONS_PER_RELEASE", 50)
    one, two = await node(), await node()
    ana = await race(one, delay=0)
    for _ in range(5):
        await ana.acts(40)
    replayed = most = 0
    act = Play.act

    def counted(*arguments: Any, **options: Any) -> Play:
        nonlocal replayed
        replayed += 1
        return act(*arguments, **options)

    async def take_turns() -> None:
        nonlocal most
        while True:
            before = replayed
            await asyncio.sleep(0)
            most = max(most, replayed - before)

    watcher = await two.player("wat")
    monkeypatch.setattr(Play, "act", counted)
    turns = asyncio.create_task(take_turns())
    await watcher.watch(ana.room)
    await watcher.until(DelayedBoard, lambda late: late.revision == 200)
    turns.cancel()
    assert replayed >= 200
    assert most <= 50


async def test_watching_is_charged_before_boards_are_built(
    node: NodeMaker, redis: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "REPLAYED_PER_MOVE", 0.1)
    one, two = await node(), await node(dataclasses.replace(PLENTY, address_rate=1, address_burst=100))
    ana = await race(one, delay=0)
    await ana.acts(20)
    watcher, other = await two.player("wat"), await two.player("other")
    await redis.delete(f"samedeal:{{{ana.room}}}:log:{ana.player}")
    await watcher.send(Watch, room=ana.room)
    await watcher.closed()
    await other.refused("rate_limited", Ping)
