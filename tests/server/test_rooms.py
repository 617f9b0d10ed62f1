"""Races over real sockets and a real Redis, on one node and on two."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace as with_

from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,
    Done,
    Join,
    Leave,
    ListRooms,
    Notice,
    Ping,
    Pong,
    ProgressUpdate,
    Resign,
    Rooms,
    RoomState,
    Start,
)
from samedeal.protocol_codes import CloseCode
from samedeal.race.progress import MoveCommitted
from samedeal.race.values import Race
from samedeal_server.rooms import upkeep
from samedeal_server.rooms.hub import Hub
from samedeal_server.store import keys
from samedeal_server.store.clock import StoreClock
from samedeal_server.store.events import RaceChanged, SequencedEvent
from tests.server.client import Client
from tests.server.commits import commit_of
from tests.server.live_nodes import Node, NodeMaker, RedisClient
from tests.server.races import finish, race, record, seated
from tests.server.waiting import until


async def reconnect(client: Client, one: Node) -> Client:
    """Reconnect a player, who rejoins with the board that the old connection had."""
    again = await one.player("ana", client.session)
    again.continue_with(client)
    await again.join(client.room, revision=client.revision)
    return again


def away(told: object) -> bool:
    """Whether a message tells that a player is not connected."""
    updates = told.tallies if isinstance(told, RoomState) else [told] if isinstance(told, ProgressUpdate) else []
    return any(each.connected is False for each in updates)


def announce(hub: Hub, event: MoveCommitted | RaceChanged, time: int) -> None:
    """Let a hub hear of an event."""
    hub.announced(SequencedEvent(hub.model.event + 1, hub.model.event, time, event))


async def test_leave_after_finish_is_not_resigning(node: NodeMaker) -> None:
    played = record("phoenix")
    ana, bob = await race(await node(), games=("phoenix",), deal=str(played.deal))
    for _, action in played.actions:
        await ana.act(action)
    await ana.expect(Done, Leave)
    left = await bob.state(lambda state: any(tally.finished_at for tally in state.tallies))
    assert not any(seat.resigned for seat in left.players)
    ended = await finish(bob)
    assert [(line.name, line.resigned) for line in ended.standings] == [("ana", False), ("bob", True)]


async def test_others_are_told_once_that_the_race_ends_soon(one: Node, two: Node) -> None:
    ana, bob = await race(one)
    watcher = await two.player("wat")
    await watcher.watch(ana.room)
    await ana.expect(Done, Resign)
    await bob.act("draw")
    await ana.until(ProgressUpdate, lambda update: bool(update.moves))
    await ana.ask(Ping)
    assert not [message for message in ana.inbox if isinstance(message, Notice)]  # bob is still playing
    await bob.close()
    for client in (ana, watcher):
        assert (await client.until(Notice)).code == "ending"
    for _ in range(2):
        bob = await one.player("bob", bob.session)
        await bob.join(ana.room)
        await ana.until(ProgressUpdate, lambda update: update.connected is True)
        await bob.close()
        await ana.until(ProgressUpdate, lambda update: update.connected is False)
    await ana.ask(Ping)
    assert not [message for message in ana.inbox if isinstance(message, Notice)]


async def test_deal_is_sent_when_the_countdown_ends(one: Node, two: Node) -> None:
    """Invariant: hidden stays hidden, whether the deal is public or not."""
    ana, bob = await seated(one, two, deal="#1", countdown=1)
    await ana.expect(Done, Start)
    counting = await bob.phase("countdown")
    assert counting.starts > await one.store.now()
    await ana.refused("not_racing", Act, revision=0, action="1 0")
    assert (ana.revision, bob.revision) == (-1, -1)
    await bob.dealt()
    assert await one.store.now() >= counting.starts
    await ana.dealt()


@pytest.mark.parametrize("ahead", [0, 700], ids=["exact clock", "clock ahead"])
async def test_sweep_starts_a_race_that_no_client_follows(
    node: NodeMaker, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    now = StoreClock.now
    monkeypatch.setattr(StoreClock, "now", lambda clock: now(clock) + ahead)
    one = await node()
    (ana,) = await seated(one, names=["ana"], start="at", start_at=await one.store.now() + 1_500)
    await ana.close()
    bob = await one.player("bob")

    async def is_racing() -> bool:
        return (await bob.expect(Rooms, ListRooms)).rooms[0].phase == "racing"

    await until(is_racing)
    assert not one.rooms.hubs


async def test_refused_move_changes_nothing(one: Node) -> None:
    """Invariants: the server decides, and every refused request gets an answer, here with the revision."""
    ana, _ = await race(one, deal="#3")
    await ana.acts(10)
    refusals = {
        "illegal": ("deal", "1 2 x9"),
        "malformed": ("", "resign", "1  2", "draw 3", "1 2 x1", "undo 2", "DRAW"),
    }
    for code, action in [(code, action) for code, actions in refusals.items() for action in actions]:
        assert (await ana.refused(code, Act, revision=10, action=action)).revision == 10
    for stale in (0, 9, 11, 1_000_000):
        assert (await ana.refused("stale", Act, revision=stale, action="3 4")).revision == 10
    assert len(await one.store.load_log(ana.room, ana.player)) == 10
    await ana.act("draw")


async def test_resume_with_the_newest_state_sends_only_counts(one: Node) -> None:
    ana, bob = await race(one)
    state = await ana.phase("racing")
    await ana.close()
    await bob.acts(4)
    again = await one.player("ana", ana.session)
    await again.join(ana.room, revision=0, event=state.event)
    told = await again.until(ProgressUpdate)
    assert (told.seat, told.moves, told.undos, told.connected) == (2, 4, 0, True)
    await again.expect(Pong, Ping)
    assert not [message for message in again.inbox if isinstance(message, RoomState | BoardState)]


@pytest.mark.parametrize("loads_again", [False, True])
async def test_rivals_hear_of_a_move_whose_first_answer_was_lost(
    node: NodeMaker, monkeypatch: pytest.MonkeyPatch, loads_again: bool
) -> None:
    """The commit has reached Redis, but the node has heard neither of the commit nor of its event.

    The node may load the log before the request comes again.
    """
    for interval in ("POLL_INTERVAL", "REFRESH_INTERVAL"):
        monkeypatch.setattr(upkeep, interval, 1000.0)
    one, two = await node(), await node()
    ana, bob = await race(one)
    snapshot = await one.rooms.load(ana.room)
    monkeypatch.setattr(Hub, "announced", lambda hub, numbered: None)
    generation = snapshot.progress[ana.player].generation
    await two.store.commit(commit_of(ana.player, generation, room=ana.room, request=77, seen=b""))
    if loads_again:
        one.rooms.hubs[ana.room].audience.seats[ana.player][0].play = None
    await ana.expect(Acked, Act, id=77, revision=0, action="draw")
    await bob.until(ProgressUpdate, lambda update: update.moves == 1)


async def test_missed_takeover_fences_the_old_connection(node: NodeMaker) -> None:
    """Invariant: fenced. A node that receives no announcements can't write for the old connection."""
    unsubscribed, other = await node(), await node()
    old, bob = await race(unsubscribed, other)
    await old.act("draw")
    await unsubscribed.stop_tasks()
    new = await reconnect(old, other)
    await new.act("draw")
    for kind in (Resign, Leave):
        await old.refused("fenced", kind)
    assert (await old.refused("fenced", Act, revision=1, action="draw")).revision == 1
    assert await old.closed() == CloseCode.TAKEN_OVER
    ended = await finish(new, bob)
    assert [line.moves for line in ended.standings] == [2, 0]


async def test_late_join_of_a_lost_connection_takes_no_seat(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Join that took long must not fence the connection with which the player has come back since."""
    ana, _ = await race(one)
    command = one.rooms.command
    waiting, may_go_on = asyncio.Event(), asyncio.Event()

    async def slow_command(*arguments: Any) -> Race:
        changed = await command(*arguments)
        if not waiting.is_set():
            waiting.set()
            await may_go_on.wait()
        return changed

    monkeypatch.setattr(one.rooms, "command", slow_command)
    late = await one.player("ana", ana.session)
    (connection,) = [each for each in one.gateway.connections if each.player == ana.player and each.hub is None]
    await late.send(Join, room=ana.room)
    await waiting.wait()
    await late.abort()
    await connection.socket.wait_closed()
    again = await reconnect(ana, one)
    open_connections = len(one.gateway.serving)
    may_go_on.set()
    await until(lambda: len(one.gateway.serving) < open_connections)
    await again.act("draw")


async def test_change_under_way_keeps_the_end_of_the_first_finish(one: Node) -> None:
    """The first finish ends the race. A change that was made before, and is announced later, must not undo that."""
    ana, _ = await race(one, first_finish_ends=True)
    hub = one.rooms.hubs[ana.room]
    before, finished_at = hub.race, await one.store.now()
    finish = MoveCommitted(ana.player, 1, "draw", b"", 52, 1, 0, finished=True, no_moves_left=False)
    announce(hub, finish, finished_at)
    assert hub.race.ends == finished_at < before.ends
    announce(hub, RaceChanged(before, ("resigned",), ""), finished_at)
    assert hub.race.ends == finished_at


async def test_move_that_the_snapshot_has_counts_once(one: Node) -> None:
    ana, _ = await race(one)
    await ana.acts(3)
    hub = one.rooms.hubs[ana.room]
    await hub.pull()
    known = hub.progress[ana.player]
    old = MoveCommitted(ana.player, 2, "draw", b"", 0, 2, 0, finished=False, no_moves_left=False)
    announce(hub, old, known.last_action_at + 1)
    assert hub.progress[ana.player] == known


async def test_lost_index_entries_are_repaired(
    redis: RedisClient, node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("samedeal_server.rooms.upkeep.REPAIR_INTERVAL", 0.05)
    one = await node()
    ana = await one.player("ana")
    room = await ana.create(countdown=60)
    await redis.delete(keys.DUE)
    await until(lambda: redis.zscore(keys.DUE, room))


async def test_joining_a_second_room_keeps_the_first_seat(one: Node) -> None:
    ana, bob = await race(one)
    await ana.act("draw")
    first = ana.room
    await ana.refused("no_room", Join, room="nowhere")
    await ana.act("draw")  # a join that was refused has changed nothing
    second = await ana.create(games=("steve",))
    await ana.join(second)
    await bob.until(ProgressUpdate, lambda progress: progress.connected is False)
    await ana.refused("not_racing", Act, revision=2, action="draw")
    await ana.join(first)
    await ana.act("draw")
    assert [seat.name for seat in (await bob.phase("racing")).players] == ["ana", "bob"]


async def test_players_see_who_waits_without_looking(one: Node, two: Node) -> None:
    """Until the player is back, or the race begins. Only who waits can be away."""
    ana, bob = await seated(one, two)
    await (await one.player("cid")).expect(Pong, Ping, away=True)

    async def seen(*, away: bool) -> None:
        await ana.state(lambda state: [seat.away for seat in state.players] == [False, away])

    await bob.expect(Pong, Ping, away=True)
    await seen(away=True)
    await bob.expect(Pong, Ping)
    await seen(away=False)
    await bob.expect(Pong, Ping, away=True)
    again = await one.player("bob", bob.session)
    await again.join(ana.room)
    await seen(away=False)
    await again.expect(Pong, Ping, away=True)
    await ana.expect(Done, Start)
    state = await ana.phase("racing")
    assert not any(seat.away for seat in state.players)
    await again.expect(Pong, Ping)
    assert (await one.rooms.load(ana.room)).race.seated(bob.player).away  # nothing was written


async def make_absent(redis: RedisClient, one: Node, client: Client) -> None:
    """Set the time at which a player took the seat, and was last seen, to long ago."""
    snapshot = await one.rooms.load(client.room)
    racers = tuple(with_(each, seated_at=1) if each.player == client.player else each for each in snapshot.race.racers)
    assert await one.store.compare_and_set(snapshot, with_(snapshot.race, racers=racers), ("aged",), client.player)
    await redis.hset(keys.progress(client.room, client.player), mapping={"last_seen": 1, "connected": 0})


async def test_absent_host_is_replaced(redis: RedisClient, one: Node, two: Node) -> None:
    ana, bob = await seated(one, two)
    await bob.refused("not_host", Start)
    await ana.abort()
    await bob.until(object, away)
    await make_absent(redis, one, ana)
    await two.upkeep.refresh()
    assert [seat.name for seat in (await bob.state(lambda state: state.host == bob.player)).players] == ["bob"]
    again = await one.player("ana", ana.session)
    assert (await again.join(ana.room)).seat == 1
    await again.refused("not_host", Start)
    await bob.expect(Done, Start)
    await again.phase("racing")


async def test_player_whose_seat_expired_takes_it_again(redis: RedisClient, one: Node, two: Node) -> None:
    """As when the store was away for so long that all seem to be gone."""
    ana, bob = await seated(one, two)
    await make_absent(redis, one, ana)
    await two.rooms.tick(ana.room)
    assert await ana.closed() == CloseCode.RESTART
    again = await one.player("ana", ana.session)
    await again.join(ana.room)
    state = await again.state()
    assert (state.host, len(state.players)) == (bob.player, 2)
