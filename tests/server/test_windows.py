"""Races with a window: real nodes, and players who are never there at the same time."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

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
    Hello,
    Join,
    Joined,
    Leave,
    MoveSession,
    Notice,
    ProgressUpdate,
    RaceNow,
    ReadRecord,
    RecordPart,
    Rematch,
    Resign,
    RoomState,
    SessionCode,
    Start,
    Watch,
    Welcome,
)
from samedeal.protocol_codes import CloseCode
from samedeal.race import draws, openings, values
from samedeal.record import Record
from samedeal.sentences import REFUSALS, notice
from samedeal_server.store.sessions import CODE_LIFETIME
from tests.server.captured_log import Log
from tests.server.client import Client
from tests.server.live_nodes import PLENTY, Node, NodeMaker
from tests.server.operator_client import TOKEN, Operator
from tests.server.plain_http import ask
from tests.server.races import finish, kept, race
from tests.server.waiting import until
from tests.server.windows import WINDOW, drawn, opened, take_part

pytestmark = pytest.mark.usefixtures("redis")

SOON = 1_500


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
    await eve.refused("race_started", Watch, room=room)
    refused = await bob.refused("racing", Watch, room=room)
    assert refused.message == REFUSALS["has_seat"].sentence, "leaving frees no seat"


async def test_window_that_is_over_does_not_close_later(one: Node) -> None:
    ana = await one.player("ana")
    room = await opened(ana)
    await ana.join(room)
    await drawn(ana)
    await ana.expect(Done, Resign)
    await ana.phase("finished")
    (line,) = json.loads((await ask(one.url, "/api/v1/rooms")).text)["rooms"]
    assert (line["room"], line["phase"], line["closes"]) == (room, "finished", 0)


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


async def test_rematch_counts_as_a_window_of_who_asks(node: NodeMaker, redis: Any) -> None:
    """Not of who opened the first room."""
    one = await node(replace(PLENTY, windows_per_address=1), trusted_proxies=("127.0.0.1",))
    ana, bob = [
        await Client.hello(one.url, name, additional_headers={"X-Forwarded-For": f"203.0.113.{number}"})
        for number, name in enumerate(("ana", "bob"))
    ]
    room = await opened(ana)
    for client in (ana, bob):
        await client.join(room)
    await ana.state(lambda state: len(state.players) == 2)
    await drawn(ana, bob)
    for client in (ana, bob):
        await client.expect(Done, Resign)
    await ana.phase("finished")
    await opened(ana)
    await ana.refused("too_many_windows", Rematch)
    await bob.expect(Created, Rematch)
    options = WantedOptions(games=("ace-of-hearts",), deal="winnable")
    await bob.refused("too_many_windows", Create, options=options, window=WINDOW)


@pytest.fixture
def no_doors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Races of standing series open at their times, however late their rooms were opened."""
    monkeypatch.setattr(values, "SHORTEST_DOORS", 0)


async def standing(client: Client, wait: int = SOON, **fields: Any) -> str:
    """Open a standing series whose first window opens after ``wait`` milliseconds. Return its code."""
    opens = tuple(int(1000 * time.time()) + wait + each * 1000 * WINDOW for each in range(3))
    options = WantedOptions(games=("ace-of-hearts",), deal="winnable", limit=60, series=3)
    return await opened(client, options=options, opens=opens, **fields)


@pytest.mark.usefixtures("no_doors")
async def test_standing_series_goes_on_with_the_seats(one: Node, two: Node) -> None:
    ana, bob, eve = [await node.player(name) for node, name in ((one, "ana"), (two, "bob"), (two, "eve"))]
    series = await standing(ana)
    for client in (ana, bob):
        await client.join(series)
    await ana.state(lambda state: len(state.players) == 2)
    await ana.refused("not_host", Start)
    assert (await eve.expect(Created, RaceNow, series=series)).room == series
    await take_part(ana, bob)
    assert (await eve.expect(Created, RaceNow, series=series)).room == series
    await ana.expect(Begun, Begin)
    for client in (ana, bob):
        await client.expect(Done, Resign)
    over = await bob.state(lambda state: bool(state.next))
    found = await eve.expect(Created, RaceNow, series=series.upper())
    assert (found.room, found.path) == (over.next, f"/r/{series}")
    assert [line.name for line in over.table] == ["ana"], "bob never began"

    await bob.join(over.next)
    state = await bob.state(lambda state: state.room == over.next)
    assert [seat.name for seat in state.players] == ["ana", "bob"]
    assert [tally.connected for tally in state.tallies] == [False, True]
    assert (state.table, state.rooms_before) == (over.table, (series,))
    assert state.opens == over.opens[1:]
    assert state.doors_close_at == over.opens[1]
    await eve.join(over.next)
    assert len((await bob.state(lambda state: len(state.players) == 3)).players) == 3

    answer = await ask(one.url, f"/s/{series}?embed")
    assert (answer.status, answer.headers["location"]) == (302, f"../{over.next}?embed")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.usefixtures("no_doors")
async def test_code_of_a_standing_series_is_kept(one: Node, redis: Any) -> None:
    """The series has its code as long as it goes on, also when the room of its first race is gone."""
    ana, eve = await one.player("ana"), await one.player("eve")
    series = await standing(ana)
    await ana.join(series)
    await take_part(ana)
    await ana.expect(Done, Resign)
    over = await ana.state(lambda state: bool(state.next))
    await redis.delete(*await redis.keys(f"*{{{series}}}*"))
    await eve.refused("room_exists", Create, options=WantedOptions(), room=series)
    assert (await eve.expect(Created, RaceNow, series=series)).room == over.next
    await redis.delete(*await redis.keys(f"*{{{over.next}}}*"))
    await eve.refused("no_room", RaceNow, series=series)
    await eve.expect(Created, Create, options=WantedOptions(), room=series)
    assert (await ask(one.url, "/s/nothing", Accept="text/html")).headers["location"] == ".././?lost"


async def test_standing_series_that_is_refused(one: Node) -> None:
    ana = await one.player("ana")
    options = WantedOptions(games=("ace-of-hearts",), deal="winnable", series=2)
    refused = await ana.refused("bad_options", Create, options=options, window=WINDOW, opens=(1, 2))
    assert "2 to 30 races" in refused.message
    await ana.refused("bad_options", Create, options=options, opens=(1, 2))
    await ana.refused("bad_frame", Create, options=options, window=WINDOW, opens=(1,) * 31)


async def test_standing_series_counts_as_one_window(node: NodeMaker) -> None:
    one = await node(replace(PLENTY, windows_per_address=1))
    ana = await one.player("ana")
    await standing(ana, 100_000)
    options = WantedOptions(games=("ace-of-hearts",), deal="winnable")
    await ana.refused("too_many_windows", Create, options=options, window=WINDOW)


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
    await drawn(ana, bob, cid)
    assert ana.shown is not None
    assert (ana.shown.draw, [lost.draw for lost in ana.shown.lost]) == (6, [1, 1])


async def test_window_that_passes_without_a_draw_is_told(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """After one draw, in which nobody left. A standing series goes on with the seats."""
    monkeypatch.setattr(openings, "SHORTEST_WINDOW", 1)
    monkeypatch.setattr(values, "SHORTEST_DOORS", 0)
    monkeypatch.setattr(draws, "SHARE_TIMEOUT", 100)
    ana = await one.player("ana")
    await ana.join(await opened(ana, window=2))
    await ana.expect(Done, Start)
    assert await ana.until(Notice) == notice("window_passed")
    opens = tuple(int(1000 * time.time()) + 500 + each * 2000 for each in range(2))
    options = WantedOptions(games=("ace-of-hearts",), deal="winnable", limit=60, series=2)
    await ana.join(await opened(ana, window=2, options=options, opens=opens))
    assert await ana.until(Notice) == notice("series_goes_on")


async def test_seat_moves_to_another_device_once(one: Node, two: Node) -> None:
    """A code begins one session of the same player, on any node, and the first device is disconnected."""
    ana = await one.player("ana")
    room = await opened(ana)
    joined = await ana.join(room)
    given = await ana.expect(SessionCode, MoveSession, link="https://race.example.org/friday#move=ana/")
    assert {len(row) for row in given.qr} == {len(given.qr)}
    phone = await two.player("ana", session=given.code)
    assert phone.player == ana.player
    assert phone.session not in ("", given.code, ana.session)
    assert (await phone.join(room)).seat == joined.seat
    assert await ana.closed() == CloseCode.TAKEN_OVER
    with pytest.raises(AssertionError, match="no_session"):
        await one.player("eve", session=given.code)
    again = await one.player("ana", session=phone.session)
    assert again.player == ana.player


async def test_code_of_a_seat_expires_and_is_in_no_log(one: Node, redis: Any, log: Log) -> None:
    log.set_up()
    ana = await one.player("ana")
    await ana.refused("no_seat", MoveSession)
    await ana.join(await opened(ana))
    given = await ana.expect(SessionCode, MoveSession)
    assert given.qr == ()
    (key,) = await redis.keys("*moving*")
    assert 0 < await redis.ttl(key) <= CODE_LIFETIME
    assert given.code not in key.decode()
    assert given.code not in log.read()
    await redis.delete(key)
    with pytest.raises(AssertionError, match="no_session"):
        await one.player("ana", session=given.code)


async def keep(node: Node, token: str, **headers: str) -> Any:
    """Ask a node, as a page does, to set the cookie with a session."""
    host = node.url.removeprefix("ws://")
    given = {"Host": host, "Origin": f"http://{host}", "Samedeal-Session": token, **headers}
    return await ask(node.url, "/", "POST", **given)


async def test_page_comes_back_with_its_cookie(one: Node, two: Node) -> None:
    """Only a page of the server's own host does, which asks for it. An expired session begins anew."""
    ana = await one.player("ana")
    answer = await keep(one, ana.session)
    cookie = answer.headers["set-cookie"]
    assert answer.status == 204
    assert cookie == f"samedeal={ana.session}; Path=/; Max-Age=5184000; HttpOnly; SameSite=Lax"
    own = {"Origin": two.url.replace("ws", "http", 1)}
    sent = {"Cookie": f"other=1; {cookie.partition(';')[0]}"}
    for headers, asks, is_ana in (
        ({**own, **sent}, True, True),
        ({**own, **sent}, False, False),
        (sent, True, False),
        ({"Origin": "http://localhost:1", **sent}, True, False),
        ({**own, "Cookie": f"samedeal={'a' * 43}"}, True, False),
        ({**own, "Cookie": "samedeal="}, True, False),
    ):
        try:
            page = await Client.connect(two.url, additional_headers=headers)
        except InvalidStatus:
            assert "localhost:1" in headers["Origin"]
            continue
        welcome = await page.expect(Welcome, Hello, name="ana", cookie=asks)
        assert (welcome.player == ana.player) is is_ana
        await page.close()


@pytest.mark.parametrize(
    ("headers", "token"),
    [({"Origin": "http://localhost"}, "a" * 43), ({}, "a; Domain=example.org"), ({}, "")],
    ids=["another page", "no token", "nothing"],
)
async def test_no_cookie_is_set(one: Node, headers: dict[str, str], token: str) -> None:
    answer = await keep(one, token, **headers)
    assert answer.status in (403, 405)
    assert "set-cookie" not in answer.headers


async def test_windows_of_all_are_limited(node: NodeMaker) -> None:
    one = await node(replace(PLENTY, windows=0))
    ana = await one.player("ana")
    options = WantedOptions(games=("ace-of-hearts",), deal="winnable")
    await ana.refused("too_many_windows", Create, options=options, window=WINDOW)
    await ana.expect(Created, Create, options=options)
