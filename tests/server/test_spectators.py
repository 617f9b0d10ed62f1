"""Who watches: late, whole, in order, and never while racing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec import Struct

from samedeal.board import Board
from samedeal.games import Game
from samedeal.play import UNDO, Play, Undo
from samedeal.protocol.messages import Done, LateBoard, LateMove, Leave, Notice, Resign, Start, Watch
from samedeal_server.hub import _WOKEN_AT_ONCE
from samedeal_server.limits import Limits
from tests.server.client import Client
from tests.server.conftest import Node, NodeMaker


async def race(one: Node, name: str = "ana", **options: Any) -> Client:
    """One who races in a new room and has the board."""
    ana = await one.player(name)
    ana.undo = Undo.FREE
    room = await ana.create(**{"games": ("athena",), "undo": "free", **options})
    await ana.join(room)
    await ana.want(Done, Start)
    await ana.dealt()
    return ana


class Screen:
    """What a spectator sees of one player, built from what comes, in order."""

    def __init__(self, client: Client, player: str) -> None:
        self.client = client
        self.player = player
        self.revision = -1
        self.board: Board | None = None
        self.at = 0

    async def next(self) -> LateBoard | LateMove:
        """Take the next message about the player's board."""
        message = await self.client.until(
            Struct, lambda late: isinstance(late, LateBoard | LateMove) and late.player == self.player
        )
        assert isinstance(message, LateBoard | LateMove)
        if isinstance(message, LateBoard):
            self.board = Board(Game.named("athena"), message.piles)
        else:
            assert self.board is not None
            assert message.revision == self.revision + 1
            self.board = Play(self.board).act(message.action, faces=message.seen or None).board
        self.revision, self.at = message.revision, message.at
        return message

    async def until(self, revision: int) -> None:
        """Take messages until the board has come to a revision."""
        while self.revision < revision:
            await self.next()


async def test_a_spectator_sees_each_move_when_it_is_as_old_as_the_delay(node: NodeMaker) -> None:
    """Invariant 3: spectators see boards late."""
    one, two = await node(), await node()
    ana = await race(one, delay=1)
    watcher = await two.player("wat")
    watching = await watcher.watch(ana.room)
    assert watching.delay == 1
    await watcher.phase("racing")
    await ana.acts(4)
    screen = Screen(watcher, ana.player)
    for _ in range(5):
        await screen.next()
        assert await one.store.now() >= screen.at + 1000
    assert ana.play
    assert (screen.revision, screen.board) == (4, ana.play.board)
    await ana.act(UNDO)
    assert isinstance(await screen.next(), LateBoard)
    assert await one.store.now() >= screen.at + 1000
    await ana.act("draw")
    await screen.next()
    assert (screen.revision, screen.board) == (6, ana.play.board)


@pytest.mark.parametrize("late", [0, 3, 12])
async def test_who_comes_late_sees_the_same(node: NodeMaker, late: int) -> None:
    one, two = await node(), await node()
    ana = await race(one, delay=0)
    early = await one.player("early")
    await early.watch(ana.room)
    await ana.acts(late)
    watcher = await two.player("wat")
    await watcher.watch(ana.room)
    await ana.acts(5, seed=2)
    for client in (early, watcher):
        screen = Screen(client, ana.player)
        await screen.until(late + 5)
        assert ana.play
        assert screen.board == ana.play.board


async def test_at_the_finish_everything_is_shown_however_long_the_delay(node: NodeMaker) -> None:
    one = await node()
    ana = await race(one, delay=600)
    watcher = await one.player("wat")
    await watcher.watch(ana.room)
    await ana.acts(9)
    assert not [message for message in watcher.inbox if isinstance(message, LateBoard | LateMove)]
    await ana.want(Done, Resign)
    await watcher.phase("finished")
    screen = Screen(watcher, ana.player)
    await screen.until(9)
    assert ana.play
    assert screen.board == ana.play.board
    after = await one.player("after")
    await after.watch(ana.room)
    screen = Screen(after, ana.player)
    await screen.until(9)
    assert screen.board == ana.play.board


async def test_a_spectator_who_lags_skips_to_the_boards(node: NodeMaker) -> None:
    """Invariant 9: a slow spectator skips to a snapshot."""
    one = await node(Limits(rate=1e6, burst=1_000_000, late_backlog=0))
    ana = await race(one, delay=0)
    watcher = await one.player("wat")
    await watcher.watch(ana.room)
    screen = Screen(watcher, ana.player)
    await ana.acts(20)
    while screen.revision < 20:
        assert isinstance(await screen.next(), LateBoard)
    assert ana.play
    assert screen.board == ana.play.board


async def test_racers_are_told_how_many_watch_and_no_more(node: NodeMaker) -> None:
    one, two = await node(), await node()
    ana = await race(one, delay=0)
    first, second = await one.player("one"), await two.player("two")
    await first.watch(ana.room)
    await second.watch(ana.room)
    assert (await ana.state(lambda state: state.watching == 2)).players[0].name == "ana"
    third = await two.player("three")
    await third.watch(ana.room)
    assert (await third.state(lambda state: state.watching == 3)).phase == "racing"
    await first.want(Done, Leave)
    await second.cut()
    await ana.state(lambda state: state.watching == 1)


async def test_who_races_watches_nobody(node: NodeMaker) -> None:
    """Invariant 3: a rival's turned-up card is one of yours."""
    one, two = await node(), await node()
    ana = await race(one, delay=0)
    again = await two.player("ana", ana.session)
    await again.refused("racing", Watch, room=ana.room)
    await ana.refused("racing", Watch, room=ana.room)
    await ana.act("draw")  # a refusal has changed nothing
    await ana.want(Done, Resign)
    await ana.watch(ana.room)


async def test_who_watches_and_then_takes_a_seat_sees_no_more(node: NodeMaker) -> None:
    """Invariant 3: a rival's turned-up card is one of yours."""
    one, two = await node(), await node()
    ana, bob = await one.player("ana"), await one.player("bob")
    room = await ana.create(games=("athena",), delay=0)
    watching = await two.player("bob", bob.session)
    await watching.watch(room)
    await ana.join(room)
    await bob.join(room)
    assert (await watching.until(Notice)).code == "seated"
    await ana.want(Done, Start)
    await ana.dealt()
    await ana.acts(5)
    await ana.want(Done, Resign)
    await bob.want(Done, Resign)
    await bob.phase("finished")
    assert not [message for message in watching.inbox if isinstance(message, LateBoard | LateMove)]


async def test_who_watches_may_take_a_seat_over_the_same_connection(node: NodeMaker) -> None:
    one = await node()
    ana, bob = await one.player("ana"), await one.player("bob")
    room = await ana.create(games=("athena",), delay=0)
    await ana.join(room)
    await bob.watch(room)
    await ana.state(lambda state: state.watching == 1)
    await bob.join(room)
    await ana.state(lambda state: state.watching == 0)
    await ana.want(Done, Start)
    await bob.dealt()
    await bob.act("draw")
    assert not [message for message in bob.inbox if isinstance(message, LateBoard | LateMove)]


async def test_many_may_come_while_moves_are_made(node: NodeMaker) -> None:
    one, two = await node(), await node()
    ana = await race(one, delay=0)
    watchers = [await each.player(f"w{number}") for number, each in enumerate((one, two) * 3)]
    await asyncio.gather(ana.acts(40), *(watcher.watch(ana.room) for watcher in watchers))
    for watcher in watchers:
        screen = Screen(watcher, ana.player)
        await screen.until(40)
        assert ana.play
        assert screen.board == ana.play.board


async def test_a_crowd_sees_it_all_though_it_is_sent_to_some_at_a_time(node: NodeMaker) -> None:
    one = await node()
    ana = await race(one, delay=0)
    crowd = [await one.player(f"w{number}") for number in range(_WOKEN_AT_ONCE + 8)]
    for watcher in crowd:
        await watcher.watch(ana.room)
    await ana.acts(7)
    assert ana.play
    for watcher in crowd:
        screen = Screen(watcher, ana.player)
        await screen.until(7)
        assert screen.board == ana.play.board.masked()
        await watcher.state(lambda state: state.watching == len(crowd))
    await ana.want(Done, Resign)
    for watcher in crowd:
        await watcher.phase("finished")
