"""Races over real sockets and a real Redis: from the deal to the standings, on one node and on two."""

from __future__ import annotations

import asyncio
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as with_

from samedeal.board import Board
from samedeal.deal import commitment, shuffled
from samedeal.play import UNDO, Undo
from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,
    Close,
    Done,
    Join,
    Leave,
    ListRooms,
    Ping,
    Pong,
    Progress,
    Ready,
    Resign,
    Rooms,
    RoomState,
    Start,
)
from samedeal.protocol.messages import Refused as Refusal
from samedeal.record import Record
from samedeal_server.race import Race
from samedeal_server.store import keys
from samedeal_server.store.redis import Snapshot
from tests.server.client import Client
from tests.server.conftest import Node, NodeMaker

RECORDS = Path(__file__).parent.parent / "golden" / "records"


def record(game: str) -> Record:
    """A play of a game that brings every card up."""
    return Record.parse((RECORDS / f"{game}.txt").read_text())


async def race(one: Node, two: Node | None = None, **options: Any) -> tuple[Client, Client]:
    """Two who race in a new room and have the board, ana (the host) through one node and bob through the other."""
    ana, bob = await one.player("ana"), await (two or one).player("bob")
    for client in (ana, bob):
        client.undo = Undo(options.get("undo", "no-reveal"))
    room = await ana.create(**options)
    await ana.join(room)
    await bob.join(room)
    await ana.want(Done, Start)
    await ana.dealt()
    await bob.dealt()
    return ana, bob


async def back(client: Client, one: Node, *, revision: int | None = None) -> Client:
    """The same player on a new connection, with the seat again and the board that the old one held."""
    again = await one.player("ana", client.session)
    again.play, again.undo = client.play, client.undo
    held = client.play.revision if client.play else -1
    await again.join(client.room, revision=held if revision is None else revision)
    return again


async def finish(*clients: Client) -> RoomState:
    """Have everybody go out of the race; returns how it ended."""
    for client in clients:
        await client.want(Done, Resign)
    return await clients[0].phase("finished")


# ---------------------------------------------------------------- a race


async def test_a_race_from_the_open_room_to_the_standings(node: NodeMaker) -> None:
    one = await node()
    ana, bob = await one.player("ana"), await one.player("bob")
    room = await ana.create(games=("athena",), limit=600, countdown=0)
    first = await ana.join(room)
    opened = await ana.state()
    assert (opened.phase, opened.host, opened.seed, opened.starts) == ("open", ana.player, b"", 0)
    second = await bob.join(room)
    assert (first.seat, second.seat) == (1, 2)
    both = await ana.state(lambda state: len(state.players) == 2)
    assert [(seat.player, seat.name, seat.seat) for seat in both.players] == [
        (ana.player, "ana", 1),
        (bob.player, "bob", 2),
    ]
    await bob.want(Done, Ready)
    await ana.state(lambda state: state.players[1].ready)
    await ana.want(Done, Start)
    racing = await bob.phase("racing")
    assert racing.ends - racing.starts == 600_000
    start = (await ana.dealt()).board
    assert start == (await bob.dealt()).board
    assert ana.play
    await ana.act("draw")
    await bob.act("draw")
    await bob.act("draw")
    told = await ana.until(Progress, lambda progress: any(tally.moves == 2 for tally in progress.tallies))
    tally = next(tally for tally in told.tallies if tally.player == bob.player)
    assert (tally.up, tally.undos, tally.home, tally.connected) == (0, 0, 0, True)
    assert racing.starts <= tally.active <= await one.store.now()
    ended = await finish(bob, ana)
    assert {(line.name, line.moves, line.out, line.time) for line in ended.standings} == {
        ("ana", 1, True, 0),
        ("bob", 2, True, 0),
    }
    assert ended.commitment == opened.commitment == commitment(ended.seed)
    assert (await ana.phase("finished")).standings == ended.standings
    assert ana.play.board.game.name == ended.game
    dealt = Board.deal(ana.play.board.game, shuffled(ended.seed, 1))
    assert dealt.masked() == start


@pytest.mark.parametrize("game", ["athena", "steve", "phoenix", "ace-of-hearts", "willow"])
async def test_every_game_is_raced_home(node: NodeMaker, game: str) -> None:
    played = record(game)
    one, two = await node(), await node()
    ana, bob = await race(one, two, games=(game,), deal=str(played.deal), undo=played.undo_rule.value)
    for _, action in played.actions:
        await ana.act(action)
    assert ana.play
    assert ana.play.board.won
    told = await bob.until(Progress, lambda progress: any(tally.home for tally in progress.tallies))
    home = next(tally for tally in told.tallies if tally.home)
    assert (home.player, home.up) == (ana.player, ana.play.board.game.cards)
    for move in ana.play.board.legal_moves()[:1]:  # in Steve a card could be taken back
        await ana.refused("done", Act, revision=ana.play.revision, action=str(move))
    await bob.want(Done, Resign)
    ended = await bob.phase("finished")
    first, second = ended.standings
    assert (first.name, first.place, first.up, first.out) == ("ana", 1, ana.play.board.game.cards, False)
    assert first.time == home.home - ended.starts > 0
    assert (second.name, second.place, second.time, second.out) == ("bob", 2, 0, True)
    assert ended.seed == played.seed


async def test_who_is_home_may_leave_and_stays_home(node: NodeMaker) -> None:
    played = record("phoenix")
    ana, bob = await race(await node(), games=("phoenix",), deal=str(played.deal))
    for _, action in played.actions:
        await ana.act(action)
    await ana.want(Done, Leave)
    left = await bob.state(lambda state: any(tally.home for tally in state.tallies))
    assert not any(seat.out for seat in left.players)
    ended = await finish(bob)
    assert [(line.name, line.out) for line in ended.standings] == [("ana", False), ("bob", True)]


async def test_the_first_home_ends_the_race_where_the_room_says_so(node: NodeMaker) -> None:
    played = record("phoenix")
    one, two = await node(), await node()
    ana, bob = await race(one, two, games=("phoenix",), deal=str(played.deal), first_home_ends=True)
    for _, action in played.actions[:-1]:
        await ana.act(action)
    await bob.act(played.actions[0][1])
    await ana.act(played.actions[-1][1])
    for client in (ana, bob):
        ended = await client.phase("finished")
        assert ended.ends == next(tally.home for tally in ended.tallies if tally.player == ana.player)
        assert [(line.name, line.place) for line in ended.standings] == [("ana", 1), ("bob", 2)]
    action = played.actions[1][1]
    refusal = await bob.ask(Act, revision=1, action=action)
    assert isinstance(refusal, Refusal)
    assert refusal.code in ("time_up", "not_racing")
    assert refusal.revision == 1


async def test_a_finish_that_the_store_did_not_take_is_tried_again(
    node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await node()
    won = record("willow")
    ana, bob = await race(one, games=("willow",), deal=str(won.deal), first_home_ends=True, limit=600)
    settle, failures = one.store.settle, count()

    async def settle_at_last(before: Snapshot, race: Race, what: tuple[str, ...], by: str) -> bool:
        if race.phase == "finished" and not next(failures):
            raise ConnectionError("Redis is away")
        return await settle(before, race, what, by)

    monkeypatch.setattr(one.store, "settle", settle_at_last)
    for _, action in won.actions:
        await ana.act(action)
    assert [line.name for line in (await bob.phase("finished")).standings] == ["ana", "bob"]
    assert next(failures) > 1


async def test_who_has_no_move_left_and_no_undo_is_over(node: NodeMaker) -> None:
    ana, bob = await race(await node(), games=("phoenix",), deal="#240", undo="off")
    for client in (ana, bob):
        await client.act("g 3")
        assert (await client.act("s 0")).stuck
    ended = await ana.phase("finished")
    assert [line.up for line in ended.standings] == [1, 1]


async def test_a_race_ends_when_its_time_is_up(node: NodeMaker) -> None:
    one = await node()
    ana, bob = await race(one, games=("athena",), limit=10)
    await ana.act("draw")
    # Ten seconds are the least that a room allows; this race's end is brought forward where the clock is kept.
    soon = await one.store.now() + 150
    await one.store.redis.hset(keys.meta(ana.room), "ends", soon)
    one.rooms.hubs[ana.room].race = with_(one.rooms.hubs[ana.room].race, ends=soon)
    one.rooms.hubs[ana.room]._set_timer()
    ended = await bob.phase("finished")
    assert len(ended.standings) == 2
    assert await one.store.now() >= soon
    assert (await ana.refused("not_racing", Act, revision=1, action="draw")).revision == 1


async def test_the_deal_is_out_for_all_at_once_and_not_before_the_countdown_ends(node: NodeMaker) -> None:
    """Invariant 3: hidden stays hidden, be the deal public or not."""
    one, two = await node(), await node()
    ana, bob = await one.player("ana"), await two.player("bob")
    room = await ana.create(deal="#1", countdown=1)
    await ana.join(room)
    await bob.join(room)
    await ana.want(Done, Start)
    counting = await bob.phase("countdown")
    assert counting.starts > await one.store.now()
    await ana.refused("not_racing", Act, revision=0, action="1 0")
    assert not ana.play
    assert not bob.play
    await bob.dealt()
    assert await one.store.now() >= counting.starts
    await ana.dealt()


@pytest.mark.parametrize(
    ("options", "ready"), [({"start": "all-ready"}, True), ({"start": "full", "players": 2}, False)]
)
async def test_races_that_start_without_a_host_s_word(node: NodeMaker, options: dict[str, Any], ready: bool) -> None:
    one, two = await node(), await node()
    ana, bob = await one.player("ana"), await two.player("bob")
    room = await ana.create(**options)
    await ana.join(room)
    await bob.join(room)
    if ready:
        await ana.want(Done, Ready)
        await bob.want(Done, Ready)
    await ana.dealt()
    await bob.dealt()


async def test_a_race_at_a_time_starts_then_and_without_anybody_s_node(node: NodeMaker) -> None:
    one, two = await node(), await node()
    ana = await one.player("ana")
    start_at = await one.store.now() + 400
    room = await ana.create(start="at", start_at=start_at)
    await ana.join(room)
    await ana.close()
    again = await back(ana, two)
    racing = await again.phase("racing")
    assert start_at <= racing.starts < start_at + 1000


async def test_the_sweep_brings_a_race_on_that_nobody_is_connected_to(node: NodeMaker) -> None:
    one = await node()
    ana = await one.player("ana")
    room = await ana.create(start="at", start_at=await one.store.now() + 100)
    await ana.join(room)
    await ana.close()
    bob = await one.player("bob")
    while (line := (await bob.want(Rooms, ListRooms)).rooms[0]).phase != "racing":
        assert line.phase in ("open", "countdown")
    assert not one.rooms.hubs


# ---------------------------------------------------------------- the server decides


async def test_a_move_that_the_rules_forbid_changes_nothing(node: NodeMaker) -> None:
    """Invariants 1 and 7: the server decides, and every refusal is answered, with the revision."""
    one = await node()
    ana, _ = await race(one, games=("athena",), deal="#3")
    await ana.acts(10)
    assert ana.play
    board, revision = ana.play.board, ana.play.revision
    piles = [*"1234567", "w", "01"]
    illegal = [f"{source} {target}" for source in piles for target in [*"1234567", "0"]]
    illegal = [text for text in illegal if text not in {str(move) for move in board.legal_moves()}]
    assert len(illegal) > 50
    for action in [*illegal[:40], "deal", "1 2 x9"]:
        assert (await ana.refused("illegal", Act, revision=revision, action=action)).revision == revision
    for action in ("", "resign", "1  2", "draw 3", "9 9", "1 2 x1", "undo 2", "DRAW"):
        assert (await ana.refused("malformed", Act, revision=revision, action=action)).revision == revision
    for stale in (0, revision - 1, revision + 1, 1_000_000):
        assert (await ana.refused("stale", Act, revision=stale, action="3 4")).revision == revision
    assert len(await one.store.log(ana.room, ana.player)) == revision
    await ana.act("draw")


@pytest.mark.parametrize(("undo", "code"), [("free", None), ("no-reveal", "cannot_undo"), ("off", "cannot_undo")])
async def test_undo_is_as_the_room_has_it(node: NodeMaker, undo: str, code: str | None) -> None:
    ana, _ = await race(await node(), games=("athena",), undo=undo)
    await ana.refused("cannot_undo", Act, revision=0, action=UNDO)
    before = ana.play
    assert before
    await ana.act("draw")
    if code:
        await ana.refused(code, Act, revision=1, action=UNDO)
        return
    undone = await ana.act(UNDO)
    assert (undone.revision, undone.moves, undone.undos) == (2, 1, 1)
    assert ana.play
    assert ana.play.board.piles != before.board.piles  # what was seen stays known
    again = await ana.act("draw")
    assert again.seen == b""


async def test_cards_are_conserved_at_every_revision_and_after_every_return(node: NodeMaker) -> None:
    """Invariant 8: every board, at every revision, after every rehydration, holds exactly its decks."""
    nodes = [await node(), await node()]
    ana, _ = await race(*nodes, games=("steve",), deal="#3", undo="free")
    for number in range(8):
        assert ana.play
        for _ in range(6):
            moves = ana.play.board.legal_moves()
            await ana.act(UNDO if ana.play.last and number % 3 == 2 else str(moves[(7 * number) % len(moves)]))
            ana.play.board.check()
        known = ana.play
        ana = await back(ana, nodes[number % 2], revision=-1)
        play = await ana.dealt()
        assert (play.board, play.revision, play.moves, play.undos) == (
            known.board,
            known.revision,
            known.moves,
            known.undos,
        )
        play.board.check()
        ana.play = known


# ---------------------------------------------------------------- acked is durable


async def test_an_ack_leaves_when_redis_has_the_move_and_never_before(node: NodeMaker) -> None:
    """Invariant 2: acked is durable."""
    one = await node()
    ana, _ = await race(one, games=("athena",))
    await one.store.redis.execute_command("CLIENT", "PAUSE", "150", "WRITE")
    number = await ana.send(Act, revision=0, action="draw")
    acked = await ana.answer(number)
    assert isinstance(acked, Acked)
    assert [entry.revision for entry in await one.store.log(ana.room, ana.player)] == [1]


# ---------------------------------------------------------------- coming back


async def test_who_comes_back_through_another_node_gets_what_is_missed(node: NodeMaker) -> None:
    """Invariant 4: any node, any room."""
    one, two = await node(), await node()
    ana, bob = await race(one, two, games=("athena",))
    await ana.acts(5)
    await ana.cut()
    await bob.until(Progress, lambda progress: any(not tally.connected for tally in progress.tallies))
    again = await back(ana, two)
    assert (await again.state()).phase == "racing"
    await again.acts(3)
    assert not [message for message in again.inbox if isinstance(message, BoardState)]
    await bob.until(Progress, lambda progress: any(tally.moves == 8 and tally.connected for tally in progress.tallies))
    fresh = await back(again, one, revision=2)
    play = await fresh.dealt()
    assert again.play
    assert (play.revision, play.board) == (8, again.play.board)


async def test_who_has_the_newest_state_is_told_the_counts_alone(node: NodeMaker) -> None:
    one = await node()
    ana, bob = await race(one, games=("athena",))
    state = await ana.phase("racing")
    await ana.close()
    await bob.acts(4)
    await bob.until(Progress, lambda progress: any(tally.moves == 4 for tally in progress.tallies))
    again = await one.player("ana", ana.session)
    await again.join(ana.room, revision=0, event=state.event)
    told = await again.until(Progress)
    assert [tally.moves for tally in told.tallies] == [0, 4]
    assert not [message for message in again.inbox if isinstance(message, RoomState | BoardState)]


async def test_acts_that_are_sent_again_are_answered_as_at_first(node: NodeMaker) -> None:
    """Invariant 6: idempotent, on whichever node."""
    one, two = await node(), await node()
    ana, _ = await race(one, two, games=("athena",), undo="free")
    sent: list[tuple[dict[str, Any], Acked]] = []
    for number, action in enumerate(["draw", "draw", UNDO, "draw", UNDO, "draw", "draw"]):
        fields = {"id": 1000 + number, "revision": number, "action": action}
        acked = await ana.want(Acked, Act, **fields)
        ana.apply(action, acked)
        sent.append((fields, acked))
    for fields, acked in sent:
        assert await ana.want(Acked, Act, **fields) == acked
    again = await back(ana, two)
    for fields, acked in reversed(sent):
        assert await again.want(Acked, Act, **fields) == acked
    await again.refused("stale", Act, id=1003, revision=2, action=UNDO)
    await again.refused("stale", Act, id=1003, revision=3, action=UNDO)
    assert len(await one.store.log(ana.room, ana.player)) == 7


async def test_a_move_whose_answer_was_lost_counts_once(node: NodeMaker) -> None:
    """Invariants 4 and 6: a node's death costs a reconnect and no move."""
    one, two = await node(), await node()
    ana, _ = await race(one, two, games=("athena",))
    await ana.acts(3)
    await ana.send(Act, id=77, revision=3, action="draw")
    await ana.cut()
    again = await back(ana, two)
    acked = await again.want(Acked, Act, id=77, revision=3, action="draw")
    assert acked.revision == 4
    assert [entry.request for entry in await two.store.log(ana.room, ana.player)][-1] == 77


async def test_a_commit_of_unknown_outcome_is_found_out(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    one = await node()
    ana, _ = await race(one, games=("athena",))
    send = one.store.redis.attempt

    async def lost(commands: Any, **options: Any) -> Any:
        return [TimeoutError("no answer") for _ in await send(commands, **options)]

    monkeypatch.setattr(one.store.redis, "attempt", lost)
    refusal = await ana.refused("unavailable", Act, id=55, revision=0, action="draw")
    assert refusal.retry_after > 0
    monkeypatch.undo()
    assert (await ana.refused("stale", Act, id=54, revision=0, action="1 2 x9")).revision == 1
    acked = await ana.want(Acked, Act, id=55, revision=0, action="draw")
    assert acked.revision == 1
    await ana.refused("stale", Act, id=56, revision=0, action="draw")
    assert len(await one.store.log(ana.room, ana.player)) == 1


# ---------------------------------------------------------------- two connections of one player


@pytest.mark.parametrize("nodes", [1, 2])
async def test_a_newer_connection_takes_the_seat_over(node: NodeMaker, nodes: int) -> None:
    """Invariant 5: fenced."""
    one = await node()
    two = await node() if nodes == 2 else one
    old, bob = await race(one, two, games=("athena",))
    await old.act("draw")
    new = await back(old, two)
    assert await old.closed() == Close.TAKEN_OVER
    await new.act("draw")
    ended = await finish(new, bob)
    assert [line.moves for line in ended.standings] == [2, 0]
    # the older one's end has not made the player absent
    assert not [
        tally
        for message in bob.inbox
        if isinstance(message, Progress)
        for tally in message.tallies
        if not tally.connected
    ]


async def test_a_node_that_hears_nothing_any_more_cannot_write_for_its_old_connections(node: NodeMaker) -> None:
    """Invariant 5: a node that woke up late can't write."""
    deaf, other = await node(), await node()
    old, bob = await race(deaf, other, games=("athena",))
    await old.act("draw")
    await deaf.deafen()
    new = await back(old, other)
    await new.act("draw")
    for kind in (Resign, Leave):
        await old.refused("fenced", kind)
    assert (await old.refused("fenced", Act, revision=1, action="draw")).revision == 1
    assert await old.closed() == Close.TAKEN_OVER
    ended = await finish(new, bob)
    assert [line.moves for line in ended.standings] == [2, 0]


async def test_a_node_that_hears_nothing_any_more_finds_out_by_looking(node: NodeMaker) -> None:
    deaf, other = await node(), await node()
    old, bob = await race(deaf, other, games=("athena",))
    await deaf.deafen()
    await back(old, other)
    await deaf.store.redis.xtrim(keys.events(old.room), maxlen=0, approximate=False)
    await deaf.rooms._refresh()
    assert await old.closed() == Close.TAKEN_OVER
    await bob.want(Pong, Ping)


async def test_many_connections_of_one_player_at_once_leave_one(node: NodeMaker) -> None:
    one, two = await node(), await node()
    ana, _ = await race(one, two, games=("athena",))
    clients = [await each.player("ana", ana.session) for each in (one, two, one, two, one, two)]
    for client in clients:
        client.play = ana.play
    await asyncio.gather(*(client.ask(Join, room=ana.room) for client in clients), return_exceptions=True)
    assert await ana.closed() == Close.TAKEN_OVER
    snapshot = await one.store.load(ana.room)
    assert snapshot is not None
    generation = snapshot.runs[ana.player].generation
    hubs = [hub for each in (one, two) if (hub := each.rooms.hubs.get(ana.room))]
    for hub in hubs:
        await hub.pull()
    held = [(seat, connection) for hub in hubs for seat, connection in hub.seats.values() if seat.player == ana.player]
    assert [seat.generation for seat, _ in held] == [generation]


async def test_to_join_again_on_the_same_connection_is_no_take_over(node: NodeMaker) -> None:
    ana, bob = await race(await node(), games=("athena",))
    await ana.act("draw")
    await ana.join(ana.room, revision=-1)
    assert (await ana.dealt()).revision == 1
    await ana.act("draw")
    assert len((await finish(ana, bob)).standings) == 2


async def test_a_second_room_is_joined_when_the_first_one_is_left_in_peace(node: NodeMaker) -> None:
    one = await node()
    ana, bob = await race(one, games=("athena",))
    await ana.act("draw")
    first = ana.room
    await ana.refused("no_room", Join, room="nowhere")
    await ana.act("draw")  # a join that was refused has changed nothing
    second = await ana.create(games=("steve",))
    await ana.join(second)
    await bob.until(Progress, lambda progress: any(not tally.connected for tally in progress.tallies))
    await ana.refused("not_racing", Act, revision=2, action="draw")
    await ana.join(first)
    await ana.act("draw")
    assert [seat.name for seat in (await bob.phase("racing")).players] == ["ana", "bob"]


# ---------------------------------------------------------------- who is gone from an open room


async def long_ago(one: Node, client: Client) -> None:
    """Have it be long since a player took the seat and was heard of."""
    snapshot = await one.store.load(client.room)
    assert snapshot is not None
    racers = tuple(with_(each, since=1) if each.player == client.player else each for each in snapshot.race.racers)
    assert await one.store.settle(snapshot, with_(snapshot.race, racers=racers), ("aged",), client.player)
    await one.store.redis.hset(keys.run(client.room, client.player), "here", -1)


async def test_nobody_waits_for_a_host_who_is_gone_for_good(node: NodeMaker) -> None:
    one, two = await node(), await node()
    ana, bob = await one.player("ana"), await two.player("bob")
    room = await ana.create()
    await ana.join(room)
    await bob.join(room)
    await bob.refused("not_host", Start)
    await ana.cut()
    await bob.until(Progress, lambda progress: not all(tally.connected for tally in progress.tallies))
    await long_ago(one, ana)
    await two.rooms._refresh()
    assert [seat.name for seat in (await bob.state(lambda state: state.host == bob.player)).players] == ["bob"]
    again = await one.player("ana", ana.session)
    assert (await again.join(room)).seat == 1
    await again.refused("not_host", Start)
    await bob.want(Done, Start)
    await again.phase("racing")


async def test_the_seat_of_who_is_gone_is_free_for_who_comes(node: NodeMaker) -> None:
    one, two = await node(), await node()
    ana = await one.player("ana")
    room = await ana.create(players=2, start="full")
    await ana.join(room)
    await ana.close()
    await long_ago(one, ana)
    bob, cid = await two.player("bob"), await two.player("cid")
    await bob.join(room)
    assert (await bob.state()).phase == "open"
    await cid.join(room)
    await cid.phase("racing")


async def test_who_lost_a_seat_and_is_here_all_the_same_comes_and_takes_it_again(node: NodeMaker) -> None:
    """As when the store was away for so long that all seem to be gone."""
    one, two = await node(), await node()
    ana, bob = await one.player("ana"), await two.player("bob")
    room = await ana.create()
    await ana.join(room)
    await bob.join(room)
    await long_ago(one, ana)
    await two.rooms.tick(room)
    assert await ana.closed() == Close.RESTART
    again = await one.player("ana", ana.session)
    await again.join(room)
    state = await again.state()
    assert (state.host, len(state.players)) == (bob.player, 2)
