"""The link on real connections to a scripted server: reconnection, order of messages, permanent ends."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import NoReturn

import pytest
from websockets.asyncio.client import ClientConnection

from samedeal import ENGINE
from samedeal.errors import RequestRefused
from samedeal.games import GAMES, SHIPPED_RULES, offer
from samedeal.options import Options, WantedOptions
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import (
    Acked,
    Act,
    Create,
    Created,
    GameDescription,
    Hello,
    Join,
    Joined,
    ListRooms,
    Notice,
    Ready,
    Recover,
    Refused,
    Rooms,
    RoomState,
    Watch,
    Watching,
)
from samedeal.protocol_codes import PERMANENT_CLOSE_CODES, CloseCode, NoticeCode, RefusalCode
from samedeal_link.connection import reconnecting_link
from samedeal_link.connection.address import ServerAddress, home_path
from samedeal_link.connection.client_error_codes import ClientCode
from samedeal_link.connection.dial import CannotConnect, dial
from samedeal_link.connection.disconnect import PERMANENT_CLOSES
from samedeal_link.connection.link_events import Ended, Lost, SeatLost
from samedeal_link.connection.liveness import LinkTimeouts
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from tests.client.lone_player import ROOM
from tests.client.scripted_server import (
    DEADLINE,
    Peer,
    RecordedLink,
    ScriptedServer,
    acked,
    board_state,
    connect,
    rate_limited,
)
from tests.client.server_messages import room_state
from tests.golden.golden_files import assert_sentences
from tests.shared.sixth_game import HAMLET_FILE

Pair = tuple[RecordedLink, Peer]
"""A link and the server's end of its connection."""


@pytest.fixture
async def connected(server: ScriptedServer) -> AsyncIterator[Pair]:
    async with connect(server) as both:
        yield both


async def test_link_connects_at_the_home_of_a_watched_room(server: ScriptedServer) -> None:
    async with connect(server, home=home_path("first")) as (recorded, peer):
        assert peer.path == "/r/first"
        asking = asyncio.create_task(recorded.link.request(Watch(id=0, room="k7")))
        await peer.send(Watching(to=(await peer.receive(Watch)).id, room="k7", delay=15))
        await asking
        await peer.abort()
        assert (await server.welcome()).path == "/w/k7"


async def test_link_moves_to_the_home_of_a_room_that_it_joins(server: ScriptedServer) -> None:
    """Nobody sees it: the new connection takes the seat, and the server closes the old connection.

    A request that is made meanwhile is sent once, over the new connection.
    """
    async with connect(server, home="") as (recorded, first):
        await recorded.join(first)
        creating = asyncio.create_task(recorded.link.request(Create(id=0, options=WantedOptions(), room="lunch")))
        second = await server.welcome()
        assert (first.path, second.path) == ("/", "/r/k7")
        await second.seat()
        await first.socket.close(CloseCode.TAKEN_OVER)
        await second.send(Created(to=(await second.receive(Create)).id, room="lunch"))
        created = await creating
        assert isinstance(created, Created)
        assert created.room == "lunch"
        asking = asyncio.create_task(recorded.link.request(Join(id=0, room="k7-2")))
        await second.seat("k7-2", path="/r/k7")
        await asking
        assert server.count == 2
        assert not recorded.of(Lost)


async def test_link_moves_once_to_the_path_that_the_server_names(server: ScriptedServer) -> None:
    async with connect(server, home="/r/friday-2") as (recorded, first):
        joining = asyncio.create_task(recorded.link.request(Join(id=0, room="friday-2")))
        await first.seat("friday-2", path="/r/friday")
        second = await server.welcome()
        assert second.path == "/r/friday"
        await second.seat("friday-2", path="/r/elsewhere")
        await joining
        asking = asyncio.create_task(recorded.link.request(ListRooms(id=0)))
        await second.send(Rooms(to=(await second.receive(ListRooms)).id, rooms=()))
        await asking
        assert server.count == 2


async def test_link_follows_no_path_that_no_room_has(server: ScriptedServer) -> None:
    async with connect(server, home="/r/k7") as (recorded, first):
        joining = asyncio.create_task(recorded.link.request(Join(id=0, room="k7")))
        await first.seat(path="@evil.example/")
        await joining
        await first.abort()
        assert (await server.welcome()).path == "/r/k7"


@pytest.mark.parametrize("turns", range(8))
async def test_link_can_be_closed_while_its_server_closes(server: ScriptedServer, turns: int) -> None:
    async with connect(server) as (recorded, peer):
        await peer.close(CloseCode.RESTART)
        for _ in range(turns):
            await asyncio.sleep(0)
        await recorded.close()
        assert recorded.of(Ended)


async def test_closed_link_drops_a_connection_that_its_server_leaves_open(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sockets: list[ClientConnection] = []

    async def note(address: ServerAddress, *, path: str = "") -> ClientConnection:
        sockets.append(await dial(address, path=path))
        return sockets[-1]

    monkeypatch.setattr(reconnecting_link, "dial", note)
    monkeypatch.setattr(reconnecting_link, "_CLOSE_TIMEOUT", 0.0)
    async with connect(server) as (recorded, peer):
        peer.socket.transport.pause_reading()
        await recorded.close()
        assert [socket.transport.is_closing() for socket in sockets] == [True]


async def test_link_connects_elsewhere_if_the_home_is_full(server: ScriptedServer) -> None:
    server.full.add("/r/k7")
    async with connect(server, home=home_path("k7")) as (_, peer):
        assert peer.path == "/"


async def say_hello(server: ScriptedServer, sessions: MemorySessions) -> tuple[Link, asyncio.Task[Link], Peer, Hello]:
    """Begin to open a link, whose first message has arrived at the server."""
    link = Link(server.address, "ana", sessions, clock=lambda: 100.0)
    opening = asyncio.create_task(link.__aenter__())
    peer = await server.accept()
    return link, opening, peer, await peer.receive(Hello)


async def test_expired_session_is_replaced(server: ScriptedServer) -> None:
    sessions = MemorySessions()
    sessions.keep(server.address.url, "ana", "old")
    link, opening, peer, hello = await say_hello(server, sessions)
    assert hello.session == "old"
    await peer.send(Refused(to=hello.id, code=RefusalCode.NO_SESSION, message="gone"))
    await peer.welcome("new")
    await opening
    assert sessions.session(server.address.url, "ana") == "new"
    await link.close()


async def test_refused_name_raises(server: ScriptedServer) -> None:
    _, opening, peer, hello = await say_hello(server, MemorySessions())
    await peer.send(Refused(to=hello.id, code=RefusalCode.MALFORMED, message="Not that name"))
    with pytest.raises(RequestRefused, match="Not that name") as refused:
        await opening
    assert refused.value.code == RefusalCode.MALFORMED


async def test_server_without_a_welcome_is_no_samedeal_server(server: ScriptedServer) -> None:
    _, opening, peer, _ = await say_hello(server, MemorySessions())
    await peer.send(Notice(code="x", message="y"))
    with pytest.raises(CannotConnect, match="is not a Samedeal server") as failed:
        await opening
    assert failed.value.permanent


async def test_first_hello_is_repeated_if_it_comes_too_soon(server: ScriptedServer) -> None:
    """It has a name and no session."""
    link, opening, peer, hello = await say_hello(server, MemorySessions())
    await peer.send(rate_limited(hello))
    repeated = await peer.welcome()
    await opening
    assert (repeated.name, repeated.session, server.count) == ("ana", "", 1)
    assert repeated.client.startswith("samedeal ")
    assert (link.player, link.now()) == ("p1", 5_000)
    await link.close()


@pytest.mark.parametrize(
    ("engine", "codes"),
    [(ENGINE + 1, [ClientCode.OTHER_ENGINE]), (-ENGINE, [ClientCode.OTHER_ENGINE]), (ENGINE, []), (0, [])],
)
async def test_other_engine_is_reported_once(server: ScriptedServer, engine: int, codes: list[ClientCode]) -> None:
    async with connect(server, engine=engine) as (recorded, peer):
        await peer.abort()
        await server.welcome(engine=engine)
        await recorded.until_resumed()
        notices = recorded.of(Notice)
        assert [notice.code for notice in notices] == codes


async def test_games_of_the_server_are_learned_and_wrong_ones_reported_once(server: ScriptedServer) -> None:
    games = (
        GameDescription(name="house", text=HAMLET_FILE.encode()),
        GameDescription(name="willow", text=HAMLET_FILE.encode()),
        GameDescription(name="broken", text=b'title = "\x1b[2J\xff"' + b"[" * 5000),
    )
    async with connect(server, games=games) as (recorded, peer):
        assert GAMES["house"].title == "Hamlet"
        assert GAMES["willow"].title == "Willow"
        await peer.abort()
        hello = await (await server.accept()).welcome(games=games[1:])
        assert hello.games == SHIPPED_RULES
        await recorded.until_resumed()
        assert "house" not in GAMES
        notices = recorded.of(Notice)
        assert [notice.code for notice in notices] == [ClientCode.BAD_GAME] * 2
        assert all(re.search(r"(willow|broken)\.toml.*: .*operator", notice.message) for notice in notices)
        assert all(notice.message.isprintable() for notice in notices)
    offer({})


async def test_refused_moves_are_reported(server: ScriptedServer, connected: Pair) -> None:
    recorded, peer = connected
    await recorded.join(peer, revision=4)
    await recorded.acts(peer, 4)
    await peer.send(board_state(4))
    recover = await peer.receive(Recover)
    await peer.send(Refused(to=recover.id, code=RefusalCode.BAD_RECEIPT, message="Not ours"))
    assert (await peer.seat(revision=4)).revision == -1
    notice = await recorded.until_is(Notice)
    assert (notice.code, "Not ours" in notice.message) == (ClientCode.MOVES_LOST, True)


async def test_create_is_not_repeated(server: ScriptedServer, connected: Pair) -> None:
    recorded, peer = connected
    creating = asyncio.create_task(recorded.link.request(Create(id=0, options=WantedOptions())))
    await peer.receive(Create)
    await peer.abort()
    peer = await server.welcome()
    with pytest.raises(RequestRefused) as refused:
        async with asyncio.timeout(DEADLINE):
            await creating
    assert refused.value.code == ClientCode.UNANSWERED
    after = recorded.act(0)
    assert await peer.receive(Act) == after


async def test_delay_requested_by_the_server_is_kept(server: ScriptedServer, connected: Pair) -> None:
    recorded, peer = connected
    await recorded.join(peer, revision=2)
    await peer.abort()
    for _ in range(12):
        peer = await server.accept()
        hello = await peer.receive(Hello)
        await peer.send(Refused(to=hello.id, code=RefusalCode.UNAVAILABLE, message="Down", retry_after=0.01))
    peer = await server.welcome()
    await peer.seat()
    delays = [event.retry_in for event in recorded.of(Lost) if event.sentence == "Server: Down"]
    assert len(delays) == 12
    assert 0.01 <= min(delays) <= max(delays) <= 0.015


async def test_stopped_server_is_gone_until_it_answers(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def time_out(_: ServerAddress, path: str = "") -> NoReturn:
        raise CannotConnect("No answer")

    async with connect(server) as (recorded, peer):
        monkeypatch.setattr(reconnecting_link, "dial", time_out)
        await peer.send(Notice(code=NoticeCode.DRAINING, message="Stopping"))
        await recorded.until(lambda event: isinstance(event, Lost) and event.sentence == "No answer")
        assert all(event.server_gone for event in recorded.of(Lost))


@pytest.mark.parametrize("by", ["close code", "notice"])
async def test_restarting_server_is_reconnected_at_once(server: ScriptedServer, by: str) -> None:
    async with connect(server, LinkTimeouts(stable=0.0)) as (recorded, peer):
        if by == "notice":
            await peer.send(Notice(code=NoticeCode.DRAINING, message="Restarting"))
        else:
            await peer.close(CloseCode.RESTART, "Restarting\x1b[2J")
        lost = await recorded.until_is(Lost)
        assert (lost.retry_in, lost.server_gone) == (0, by == "notice")
        assert "Restarting" in lost.sentence
        assert lost.sentence.isprintable()
        await server.welcome()
        await recorded.until_resumed()


async def test_repeated_restarts_delay_the_reconnection(server: ScriptedServer, connected: Pair) -> None:
    recorded, peer = connected
    for _ in range(5):
        await peer.close(CloseCode.RESTART)
        peer = await server.welcome()
    await recorded.until_resumed(5)
    delays = [event.retry_in for event in recorded.of(Lost)]
    assert all(delay > 0 for delay in delays)
    assert max(delays) > 0.4


async def test_move_that_is_not_saved_is_kept_on_its_connection(server: ScriptedServer, connected: Pair) -> None:
    """The player is told once, until a move is saved again."""
    recorded, peer = connected
    await recorded.join(peer, revision=0)
    for revision in (0, 1):
        act = recorded.act(revision)
        for _ in range(3):
            assert await peer.receive(Act) == act
            await peer.send(
                Refused(to=act.id, code=RefusalCode.UNAVAILABLE, message="Full", revision=revision, retry_after=0.01)
            )
        await peer.receive(Act)
        assert [notice.message for notice in recorded.of(Notice)].count("Server: Full") == revision + 1
        await peer.send(acked(act))
        await recorded.until(lambda event, act=act: isinstance(event, Acked) and event.to == act.id)  # type: ignore[misc]
    assert not recorded.of(Lost)
    assert server.count == 1


async def test_ban_ends_the_link_with_its_reason(server: ScriptedServer, connected: Pair) -> None:
    recorded, peer = connected
    await peer.send(Notice(code=NoticeCode.BANNED, message="You are banned for good: rude"))
    ended = await recorded.until_is(Ended)
    assert ended == Ended(str(CloseCode.BANNED), "Server: You are banned for good: rude")
    assert server.count == 1


async def test_ban_at_reconnection_ends_the_link(server: ScriptedServer, connected: Pair) -> None:
    recorded, peer = connected
    await peer.abort()
    peer = await server.accept()
    hello = await peer.receive(Hello)
    await peer.send(Refused(to=hello.id, code=RefusalCode.BANNED, message="You are banned for good"))
    await peer.close(CloseCode.BANNED, "banned")
    assert await recorded.until_is(Ended) == Ended(RefusalCode.BANNED, "Server: You are banned for good")
    assert server.count == 2


@pytest.mark.parametrize("cut", ["at once", "after the answer", "never"])
async def test_link_follows_a_room_that_names_another_one(server: ScriptedServer, connected: Pair, cut: str) -> None:
    recorded, peer = connected
    await recorded.join(peer)
    named = room_state("k7", Options(hosted=False, start="full"), (), next="w9")
    await peer.send(named)
    join = await peer.receive(Join)
    await peer.send(named)  # a state that was on its way
    if cut == "after the answer":
        await peer.send(Joined(to=join.id, room="w9", seat=1, generation=1, revision=-1))
        await recorded.until(lambda event: isinstance(event, Joined) and event.room == "w9")
    if cut != "never":
        await peer.abort()
        peer = await server.welcome()
        assert peer.path == "/r/w9"
        join = await peer.receive(Join)
    assert join.room == "w9"
    await peer.send(Refused(to=join.id, code=RefusalCode.NO_ROOM, message="Gone"))
    assert await recorded.until_is(SeatLost) == SeatLost(RefusalCode.NO_ROOM, "Server: Gone")
    assert [notice.code for notice in recorded.of(Notice)] == [ClientCode.REPEATED]
    assert not recorded.of(RoomState)


async def test_kicked_player_does_not_request_the_seat(server: ScriptedServer, connected: Pair) -> None:
    recorded, peer = connected
    await recorded.join(peer)
    await peer.send(Notice(code=NoticeCode.KICKED, message="Removed from this room"))
    assert await recorded.until_is(SeatLost) == SeatLost(NoticeCode.KICKED, "Server: Removed from this room")
    await peer.abort()
    peer = await server.welcome()
    requesting = asyncio.create_task(recorded.link.request(ListRooms(id=0)))
    request = await peer.receive(ListRooms)
    await peer.send(Rooms(to=request.id, rooms=()))
    await requesting


@pytest.mark.parametrize("code", sorted(PERMANENT_CLOSE_CODES))
async def test_permanent_close_ends_the_link(server: ScriptedServer, connected: Pair, code: int) -> None:
    recorded, peer = connected
    requesting = asyncio.create_task(recorded.link.request(Ready(id=0)))
    await peer.receive(Ready)
    await peer.close(code)
    ended = await recorded.until_is(Ended)
    assert ended == Ended(str(code), PERMANENT_CLOSES[CloseCode(code)])
    for request in (requesting, recorded.link.request(Ready(id=0))):
        with pytest.raises(RequestRefused) as refused:
            await request
        assert (refused.value.code, str(refused.value)) == (ClientCode.LINK_ENDED, ended.sentence)
    assert server.count == 1


def test_permanent_closes_are_explained() -> None:
    assert set(PERMANENT_CLOSES) == PERMANENT_CLOSE_CODES
    assert_sentences(
        "client connection: close codes", [f"{code:d}\t{text}" for code, text in sorted(PERMANENT_CLOSES.items())]
    )


async def test_unknown_game_of_a_newer_server_is_named(connected: Pair) -> None:
    recorded, peer = connected
    await peer.socket.send(encode(ROOM).replace(b"willow", b"yukon!"))
    ended = await recorded.until_is(Ended)
    assert ended.code == ClientCode.BAD_MESSAGE
    assert "'yukon!'" in ended.sentence
