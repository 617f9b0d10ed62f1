"""Races with a window: real nodes, and players who are never there at the same time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from samedeal.options import WantedOptions
from samedeal.protocol.admin import CloseRoom, Status, Survey
from samedeal.protocol.messages import (
    Begin,
    Begun,
    BoardState,
    Create,
    Created,
    Done,
    Drawn,
    Join,
    Joined,
    Leave,
    ProgressUpdate,
    ReadRecord,
    RecordPart,
    Resign,
    RoomState,
    Start,
    Watch,
)
from samedeal.race import draws
from samedeal.record import Record
from tests.server.client import Client
from tests.server.live_nodes import PLENTY, Node, NodeMaker
from tests.server.operator_client import TOKEN, Operator
from tests.server.plain_http import ask
from tests.server.races import finish, kept, race
from tests.server.waiting import until

pytestmark = pytest.mark.usefixtures("redis")

WINDOW = 86_400


async def opened(client: Client, **fields: Any) -> str:
    """Open a room with a window. Return its code."""
    options = WantedOptions(games=("ace-of-hearts",), deal="winnable", countdown=0, limit=60)
    return (await client.expect(Created, Create, **{"options": options, "window": WINDOW, **fields})).room


async def drawn(*there: Client, draw: int = 1) -> None:
    """Close the doors as the first player, and draw the deal with the players who are there."""
    await there[0].expect(Done, Start)
    for client in there:
        await client.state(lambda state: len(state.drawing) == len(there))
        await client.commit(draw)
    for client in there:
        await client.state(lambda state: sum(bool(seat.share_commitment) for seat in state.players) == len(there))
        await client.reveal(draw)
    for client in there:
        await client.phase("racing")


async def back(node: Node, old: Client, room: str) -> Client:
    """The player on a new connection, with the seat."""
    client = await node.player(old.name, session=old.session)
    await client.join(room)
    return client


async def test_everybody_races_when_they_have_time(one: Node, two: Node) -> None:
    """Three players who are never there at the same time after the draw, one of whom was away from it."""
    ana, bob, cid = [await node.player(name) for node, name in ((one, "ana"), (two, "bob"), (one, "cid"))]
    room = await opened(ana)
    for client in (ana, bob, cid):
        await client.join(room)
    await ana.state(lambda state: len(state.players) == 3)
    await cid.close()
    await ana.until(ProgressUpdate, lambda update: update.connected is False)
    await drawn(ana, bob)
    assert ana.revision == -1, "nobody sees the cards before they begin"
    await bob.close()

    began, player, state = {}, ana, ana.shown
    for old, node in ((ana, two), (cid, one), (bob, one)):
        player = await back(node, old, room)
        state = await player.phase("racing")
        assert [tally.moves for tally in state.tallies] == [0, 0, 0]
        begun = await player.expect(Begun, Begin)
        began[old.name] = begun.time
        await player.dealt()
        await player.acts(3)
        again = await player.expect(Begun, Begin)
        assert (again.time, again.receipt) == (begun.time, begun.receipt)
        assert not any(isinstance(message, ProgressUpdate) for message in player.inbox)
        await player.expect(Done, Resign)
        if old is bob:
            state = await player.phase("finished")
        else:
            await player.close()
    assert state is not None
    assert {line.name: line.began_at for line in state.standings} == began
    assert {tally.moves + tally.undos for tally in state.tallies} == {3}
    await until(lambda: one.store.records.newest_of(room))
    part = await player.expect(RecordPart, ReadRecord, race=room)
    record = Record.read(part.text)
    record.check_deeply()
    assert {player.name: player.began_at for player in record.players} == began
    assert record.proof is not None
    assert [share.name for share in record.proof.shares] == ["ana", "bob"]


async def public(node: Node) -> list[str]:
    """What anybody may read of a node's rooms."""
    return [(await ask(node.url, f"/api/v1/{path}")).text for path in ("front", "rooms", "races")]


async def test_others_learn_nothing_until_all_have_ended(one: Node, two: Node) -> None:
    ana, bob, eve = [await node.player(name) for node, name in ((one, "ana"), (two, "bob"), (one, "eve"))]
    room = await opened(ana)
    await ana.join(room)
    await bob.join(room)
    await ana.state(lambda state: len(state.players) == 2)
    await drawn(ana, bob)
    count = len(bob.frames)
    await ana.expect(Begun, Begin)
    await ana.dealt()
    await ana.acts(5)
    await ana.expect(Done, Resign)
    ended = await ana.state(lambda state: any(seat.resigned for seat in state.players))
    await ana.close()
    await one.stop_tasks()
    await bob.expect(Joined, Join, room=room)
    after = [bob.decode(frame) for frame in bob.frames[count:]]
    states = [message for message in after if isinstance(message, RoomState)]
    assert ended.tallies != states[0].tallies
    assert not any(seat.resigned for state in states for seat in state.players)
    assert {type(message) for message in after} == {Joined, Drawn, RoomState}
    assert not any(room in text for text in await public(two)), "with closed doors, no list has the room"
    refused = await eve.refused("no_spectators", Watch, room=room)
    assert "when all have" in refused.message


async def test_leaving_keeps_the_seat_and_the_clock_runs_on(one: Node) -> None:
    ana = await one.player("ana")
    room = await opened(ana)
    await ana.join(room)
    await drawn(ana)
    await ana.expect(Begun, Begin)
    await ana.dealt()
    await ana.acts(2)
    await ana.expect(Done, Leave)
    joined = await ana.join(room)
    assert joined.revision == 2
    state = await ana.phase("racing")
    assert not state.players[0].resigned


async def test_attempt_that_the_store_has_lost_begins_at_its_time(one: Node, redis: Any) -> None:
    """A first answer is enough to go on, and nobody begins twice at different times."""
    ana = await one.player("ana")
    room = await opened(ana)
    await ana.join(room)
    await drawn(ana)
    begun = await ana.expect(Begun, Begin)
    await ana.dealt()
    (key,) = await redis.keys("*progress*")
    await redis.hset(key, "began_at", 0)
    forged = begun.time + 1
    await ana.refused("bad_receipt", Begin, time=forged, receipt=begun.receipt)
    again = await ana.expect(Begun, Begin, time=begun.time, receipt=begun.receipt)
    assert again.time == begun.time
    await ana.until(BoardState)


async def test_race_without_a_window_begins_for_all_at_once(one: Node) -> None:
    """A player cannot give the own part of its record another start."""
    ana, bob = await race(one)
    await ana.refused("not_racing", Begin)
    await ana.acts(2)
    state = await finish(ana, bob)
    assert [line.began_at for line in state.standings] == [0, 0]
    (await kept(ana, ana.room)).check()


@pytest.mark.parametrize(
    "options",
    [
        {"deal": "random"},
        {"deal": "daily"},
        {"deal": "#7"},
        {"start": "full"},
        {"first_finish_ends": True},
        {"window": 3_599},
    ],
    ids=lambda options: next(iter(options)),
)
async def test_race_that_fits_no_window(one: Node, options: dict[str, Any]) -> None:
    ana = await one.player("ana")
    given = {"games": ("ace-of-hearts",), "deal": "winnable", "window": WINDOW, **options}
    window = given.pop("window")
    await ana.refused("bad_options", Create, options=WantedOptions(**given), window=window)


async def test_windows_of_an_address_are_limited(node: NodeMaker) -> None:
    """Nobody else is kept from opening rooms, so nothing says that the server is full."""
    one = await node(replace(PLENTY, windows_per_address=2), token=TOKEN)
    ana, operator = await one.player("ana"), await Operator.login(one.url)
    first = await opened(ana)
    await opened(ana)
    options = WantedOptions(games=("ace-of-hearts",), deal="winnable")
    await ana.refused("too_many_windows", Create, options=options, window=WINDOW)
    await ana.expect(Created, Create, options=options)
    full = one.rooms.metrics.registry.get_sample_value("samedeal_refusals_total", {"code": "server_full"})
    assert full == 0, "SamedealNobodyStarts asks for it"
    survey = await operator.expect(Survey, Status)
    assert survey.phases.windows == 2
    assert 0 < survey.phases.last_closes - survey.time <= 1000 * WINDOW
    await operator.expect(Done, CloseRoom, room=first)
    await opened(ana)


async def test_host_opens_the_doors_again_after_lost_draws(
    one: Node, two: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody answers in the first draw. Then somebody else comes, and all three draw the deal."""
    ana, bob, cid = [await node.player(name) for node, name in ((one, "ana"), (two, "bob"), (one, "cid"))]
    room = await opened(ana)
    await ana.join(room)
    await bob.join(room)
    await ana.state(lambda state: len(state.players) == 2)
    monkeypatch.setattr(draws, "SHARE_TIMEOUT", 100)
    await ana.expect(Done, Start)
    await bob.state(lambda state: state.waits_for_host)
    monkeypatch.undo()
    await cid.refused("race_started", Join, room=room)
    await bob.refused("not_host", Start)
    await ana.expect(Done, Start)
    await cid.join(room)
    await ana.state(lambda state: len(state.players) == 3)
    await drawn(ana, bob, cid, draw=6)
    assert ana.shown is not None
    assert (ana.shown.draw, [lost.draw for lost in ana.shown.lost]) == (6, [1, 1])


async def test_windows_of_all_are_limited(node: NodeMaker) -> None:
    one = await node(replace(PLENTY, windows=0))
    ana = await one.player("ana")
    options = WantedOptions(games=("ace-of-hearts",), deal="winnable")
    await ana.refused("too_many_windows", Create, options=options, window=WINDOW)
    await ana.expect(Created, Create, options=options)
