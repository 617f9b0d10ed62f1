"""A link heals: what it says on each connection, in which order, and when it gives up. Against a scripted server."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from random import Random
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal import ENGINE
from samedeal.errors import Refused
from samedeal.options import Options, WantedOptions
from samedeal.protocol.codec import decode_to_server, encode
from samedeal.protocol.messages import (
    SUBPROTOCOL,
    Acked,
    Act,
    BoardState,
    Close,
    Create,
    Created,
    Done,
    Hello,
    Join,
    Joined,
    Leave,
    ListRooms,
    Notice,
    Ping,
    Pong,
    Ready,
    Recover,
    Rooms,
    RoomState,
    ToClient,
    ToServer,
    Watch,
    Watching,
    Welcome,
)
from samedeal.protocol.messages import Refused as RefusedMessage
from samedeal_client.net import link as links
from samedeal_client.net.address import Address, parse_address
from samedeal_client.net.dial import CannotConnect
from samedeal_client.net.link import Connected, Ended, Link, Lost, News, Unseated
from samedeal_client.net.sessions import BriefSessions

DEADLINE = 5.0


class Line:
    """One connection, from the server's side."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket

    async def hears(self, kind: type[ToServer]) -> ToServer:
        """The next message, which has to be of this kind; pings are answered by the way."""
        while True:
            async with asyncio.timeout(DEADLINE):
                message = decode_to_server(await self.socket.recv())
            if isinstance(message, kind):
                return message
            assert isinstance(message, Ping), f"{message} instead of {kind.__name__}"
            await self.says(Pong(to=message.id, time=5_000))

    async def says(self, *messages: ToClient) -> None:
        for message in messages:
            await self.socket.send(encode(message))

    async def welcomes(self, session: str = "s1", **more: Any) -> Hello:
        hello = await self.hears(Hello)
        assert isinstance(hello, Hello)
        fields = {"session": session, "player": "p1", "name": hello.name, "time": 5_000, "server": "test", **more}
        await self.says(Welcome(to=hello.id, **fields))
        return hello

    async def seats(self, room: str = "k7", revision: int = -1) -> Join:
        join = await self.hears(Join)
        assert isinstance(join, Join)
        await self.says(Joined(to=join.id, room=room, seat=1, generation=1, revision=revision))
        return join

    async def cut(self) -> None:
        """Be gone without a word."""
        self.socket.transport.abort()
        await self.socket.wait_closed()

    async def close(self, code: int, reason: str = "") -> None:
        await self.socket.close(code, reason)


class Stage:
    """A server whose connections wait to be played by the test."""

    def __init__(self) -> None:
        self.address = Address("ws://127.0.0.1")
        self._lines: asyncio.Queue[Line] = asyncio.Queue()
        self.count = 0

    async def serve(self, socket: ServerConnection) -> None:
        self.count += 1
        self._lines.put_nowait(Line(socket))
        await socket.wait_closed()

    async def line(self) -> Line:
        async with asyncio.timeout(DEADLINE):
            return await self._lines.get()


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    played = Stage()
    async with serve(
        played.serve,
        "127.0.0.1",
        0,
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        ping_interval=None,
        close_timeout=1,
    ) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        played.address = parse_address(f"ws://127.0.0.1:{port}")
        yield played


class Heard:
    """A connected link and the news that came over it."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.news: list[News] = []
        self._more = asyncio.Event()
        self._task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async for news in self.link:
            self.news.append(news)
            self._more.set()

    async def until(self, condition: Callable[[News], bool]) -> News:
        async with asyncio.timeout(DEADLINE):
            while not (found := [news for news in self.news if condition(news)]):
                self._more.clear()
                await self._more.wait()
            return found[-1]

    async def until_is(self, kind: type[News]) -> News:
        return await self.until(lambda news: isinstance(news, kind))

    async def again(self, times: int = 1) -> None:
        """Connected again, so often."""
        async with asyncio.timeout(DEADLINE):
            while self.news.count(Connected(again=True)) < times:
                self._more.clear()
                await self._more.wait()

    async def close(self) -> None:
        await self.link.close()
        await self._task


@pytest.fixture
async def connected(stage: Stage) -> AsyncIterator[tuple[Heard, Line]]:
    """A link that has said hello, and the server's side of it."""
    link = Link(stage.address, "ana", BriefSessions(), rng=Random(1))
    _, line = await asyncio.gather(link.__aenter__(), _welcomed(stage))
    heard = Heard(link)
    yield heard, line
    await heard.close()


async def _welcomed(stage: Stage) -> Line:
    line = await stage.line()
    await line.welcomes()
    return line


async def joined(heard: Heard, line: Line, revision: int = -1) -> None:
    """Take a seat, with a board of a revision where there is one."""
    joining = asyncio.create_task(heard.link.request(Join(id=0, room="k7")))
    await line.seats()
    await joining
    if revision >= 0:
        state = BoardState(room="k7", revision=revision, game="willow", piles=(), hash=b"", moves=0, undos=0)
        await line.says(state)
        await heard.until_is(BoardState)


def act(link: Link, revision: int) -> Act:
    message = Act(id=link.new_id(), revision=revision, action="3 5")
    link.send(message)
    return message


# ---------------------------------------------------------------- asking


async def test_it_says_hello_with_its_name_and_no_session_at_first(stage: Stage) -> None:
    async def hears() -> Hello:
        return await (await stage.line()).welcomes()

    link = Link(stage.address, "ana", BriefSessions())
    _, hello = await asyncio.gather(link.__aenter__(), hears())
    assert (hello.name, hello.session) == ("ana", "")
    assert hello.client.startswith("samedeal ")
    assert link.player == "p1"
    assert 4_000 < link.now() < 6_000
    await link.close()


async def test_a_session_that_the_server_has_let_go_is_replaced_by_a_new_one(stage: Stage) -> None:
    sessions = BriefSessions()
    sessions.keep(stage.address.url, "ana", "old")

    async def hears() -> Hello:
        line = await stage.line()
        hello = await line.hears(Hello)
        assert isinstance(hello, Hello)
        await line.says(RefusedMessage(to=hello.id, code="no_session", message="gone"))
        await line.welcomes("new")
        return hello

    link = Link(stage.address, "ana", sessions)
    _, first = await asyncio.gather(link.__aenter__(), hears())
    assert first.session == "old"
    assert sessions.session(stage.address.url, "ana") == "new"
    await link.close()


async def test_a_request_gets_its_answer(connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    asking = asyncio.create_task(heard.link.request(ListRooms(id=0)))
    question = await line.hears(ListRooms)
    await line.says(Rooms(to=question.id, rooms=()))
    assert await asking == Rooms(to=question.id, rooms=())


async def test_a_refusal_is_raised_with_its_code(connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    asking = asyncio.create_task(heard.link.request(Join(id=0, room="k7")))
    question = await line.hears(Join)
    await line.says(RefusedMessage(to=question.id, code="room_full", message="Full", retry_after=3))
    with pytest.raises(Refused, match="Full") as refused:
        await asking
    assert (refused.value.code, refused.value.retry_after) == ("room_full", 3)


async def test_ids_are_never_used_twice(connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    first, second = act(heard.link, 0), act(heard.link, 1)
    third = asyncio.create_task(heard.link.request(Ready(id=0)))
    heard_ids = [(await line.hears(kind)).id for kind in (Act, Act, Ready)]
    assert heard_ids[:2] == [first.id, second.id]
    assert len(set(heard_ids)) == 3
    third.cancel()


# ---------------------------------------------------------------- coming back


async def test_after_a_cut_it_comes_back_with_session_seat_and_all_that_was_not_answered(
    stage: Stage, connected: tuple[Heard, Line]
) -> None:
    heard, line = connected
    await joined(heard, line, revision=4)
    answered, first, second = act(heard.link, 4), act(heard.link, 5), act(heard.link, 6)
    for _ in range(3):
        await line.hears(Act)
    await line.says(Acked(to=answered.id, revision=5, seen=b"", hash=b"", up=0, moves=1, undos=0))
    await heard.until_is(Acked)
    ready = asyncio.create_task(heard.link.request(Ready(id=0)))
    await line.hears(Ready)
    await line.cut()
    await heard.until_is(Lost)
    meanwhile = act(heard.link, 7)

    line = await stage.line()
    assert (await line.welcomes()).session == "s1"
    join = await line.seats()
    assert (join.room, join.revision) == ("k7", 5)
    assert [await line.hears(Act), await line.hears(Act)] == [first, second]
    again = await line.hears(Ready)
    assert await line.hears(Act) == meanwhile
    await line.says(Done(to=again.id))
    assert await ready == Done(to=again.id)
    await heard.again()


async def test_a_server_that_has_lost_what_it_acked_is_given_it_back_before_anything_else(
    stage: Stage, connected: tuple[Heard, Line]
) -> None:
    heard, line = connected
    await joined(heard, line, revision=4)
    await acked(heard, line, 5, 6)
    await line.cut()
    await heard.until_is(Lost)
    pending = act(heard.link, 6)

    line = await stage.line()
    await line.welcomes()
    await line.seats(revision=4)
    recover = await line.hears(Recover)
    assert isinstance(recover, Recover)
    assert (recover.revision, [each.at for each in recover.held], recover.receipt) == (4, [5, 6], b"6")
    assert await line.hears(Act) == pending
    await line.says(Done(to=recover.id))
    await line.close(1012)
    await heard.until_is(Lost)

    line = await stage.line()
    await line.welcomes()
    assert (await line.seats(revision=6)).revision == 6
    assert await line.hears(Act) == pending


async def test_what_a_server_does_not_take_back_is_told_and_forgotten(
    stage: Stage, connected: tuple[Heard, Line]
) -> None:
    heard, line = connected
    await joined(heard, line, revision=4)
    await acked(heard, line, 5)
    await line.cut()
    line = await stage.line()
    await line.welcomes()
    await line.seats(revision=4)
    recover = await line.hears(Recover)
    assert isinstance(recover, Recover)
    await line.says(RefusedMessage(to=recover.id, code="bad_receipt", message="Not ours"))
    assert (await line.seats(revision=4)).revision == -1
    told = await heard.until_is(Notice)
    assert isinstance(told, Notice)
    assert (told.code, "Not ours" in told.message) == ("lost", True)
    await line.says(BoardState(room="k7", revision=4, game="willow", piles=(), hash=b"", moves=0, undos=0))
    after = act(heard.link, 4)
    assert await line.hears(Act) == after


async def test_a_board_that_is_behind_is_asked_for_again_once_it_was_given_what_it_lacks(
    stage: Stage, connected: tuple[Heard, Line]
) -> None:
    """As when the countdown, and with it the deal, comes a second time."""
    heard, line = connected
    await joined(heard, line, revision=4)
    await acked(heard, line, 5)
    await line.says(BoardState(room="k7", revision=4, game="willow", piles=(), hash=b"", moves=0, undos=0))
    recover = await line.hears(Recover)
    assert isinstance(recover, Recover)
    await line.says(Done(to=recover.id))
    assert (await line.seats(revision=5)).revision == -1


async def acked(heard: Heard, line: Line, *revisions: int) -> None:
    """Have actions acked that lead to these revisions; each has its revision as time and receipt."""
    for revision in revisions:
        made = act(heard.link, revision - 1)
        await line.hears(Act)
        receipt = str(revision).encode()
        await line.says(
            Acked(
                to=made.id, revision=revision, seen=b"", hash=b"", up=0, moves=1, undos=0, at=revision, receipt=receipt
            )
        )
        await heard.until_is(Acked)


async def test_a_spectator_watches_again(stage: Stage, connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    asking = asyncio.create_task(heard.link.request(Watch(id=0, room="k7")))
    watch = await line.hears(Watch)
    await line.says(Watching(to=watch.id, room="k7", delay=15))
    await asking
    await line.cut()
    line = await stage.line()
    await line.welcomes()
    again = await line.hears(Watch)
    assert isinstance(again, Watch)
    assert again.room == "k7"


async def test_who_has_left_does_not_come_back_to_the_room(stage: Stage, connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    await joined(heard, line)
    leaving = asyncio.create_task(heard.link.request(Leave(id=0)))
    await line.says(Done(to=(await line.hears(Leave)).id))
    await leaving
    await line.cut()
    line = await stage.line()
    await line.welcomes()
    await heard.again()
    last = act(heard.link, 0)
    assert await line.hears(Act) == last


async def test_a_room_is_not_opened_twice(stage: Stage, connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    creating = asyncio.create_task(heard.link.request(Create(id=0, options=WantedOptions())))
    await line.hears(Create)
    await line.cut()
    line = await stage.line()
    await line.welcomes()
    with pytest.raises(Refused) as refused:
        async with asyncio.timeout(DEADLINE):
            await creating
    assert refused.value.code == "unanswered"
    last = act(heard.link, 0)
    assert await line.hears(Act) == last


async def test_who_is_replaced_by_a_request_of_its_own_comes_back_once(
    stage: Stage, connected: tuple[Heard, Line]
) -> None:
    """A seat was asked for when the connection was cut; the server hears that when the next connection has the seat."""
    heard, line = connected
    await joined(heard, line)
    await line.cut()
    line = await stage.line()
    await line.welcomes()
    await line.hears(Join)
    await line.cut()
    for _ in range(2):
        line = await stage.line()
        await line.welcomes()
        await line.seats()
        await line.close(Close.TAKEN_OVER, "you are connected from somewhere else now")
    ended = await heard.until_is(Ended)
    assert isinstance(ended, Ended)
    assert ended.code == str(Close.TAKEN_OVER)


async def test_a_server_that_stops_may_say_so_before_its_welcome(stage: Stage, connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    await joined(heard, line)
    await line.cut()
    line = await stage.line()
    await line.says(Notice(code="draining", message="This server is stopping"))
    await line.close(Close.RESTART)
    line = await stage.line()
    await line.welcomes()
    await line.seats()
    await heard.again()


async def test_a_seat_that_is_not_given_back_is_told(stage: Stage, connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    await joined(heard, line)
    await line.cut()
    line = await stage.line()
    await line.welcomes()
    join = await line.hears(Join)
    await line.says(RefusedMessage(to=join.id, code="room_closed", message="Closed"))
    assert await heard.until_is(Unseated) == Unseated("room_closed", "Closed")


async def test_a_seat_that_can_not_be_given_back_yet_is_asked_for_again(
    stage: Stage, connected: tuple[Heard, Line]
) -> None:
    heard, line = connected
    await joined(heard, line, revision=2)
    pending = act(heard.link, 2)
    await line.hears(Act)
    await line.cut()
    line = await stage.line()
    await line.welcomes()
    join = await line.hears(Join)
    await line.says(RefusedMessage(to=join.id, code="unavailable", message="Try again", retry_after=1))
    line = await stage.line()
    await line.welcomes()
    assert (await line.seats()).revision == 2
    assert await line.hears(Act) == pending
    assert not any(isinstance(news, Unseated) for news in heard.news)


async def test_a_server_that_says_when_to_come_back_is_asked_then_however_often_it_says_so(
    stage: Stage, connected: tuple[Heard, Line]
) -> None:
    """As while its store is away: nobody waits longer because it was away for long."""
    heard, line = connected
    await joined(heard, line, revision=2)
    await line.cut()
    for _ in range(12):
        line = await stage.line()
        hello = await line.hears(Hello)
        await line.says(RefusedMessage(to=hello.id, code="unavailable", message="Away", retry_after=0.01))
    line = await stage.line()
    await line.welcomes()
    await line.seats()
    waits = [news.retry_in for news in heard.news if isinstance(news, Lost) and news.reason == "Away"]
    assert len(waits) == 12
    assert max(waits) <= 0.015


async def test_moves_that_nobody_knows_of_are_sent_again_in_order(stage: Stage, connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    await joined(heard, line, revision=2)
    first, second = act(heard.link, 2), act(heard.link, 3)
    assert [await line.hears(Act), await line.hears(Act)] == [first, second]
    away = RefusedMessage(to=first.id, code="unavailable", message="The store is away", retry_after=1)
    stale = RefusedMessage(to=second.id, code="stale", message="On another revision", revision=2)
    await line.says(away, stale)
    line = await stage.line()
    await line.welcomes()
    assert (await line.seats()).revision == 2
    assert [await line.hears(Act), await line.hears(Act)] == [first, second]
    assert not any(isinstance(news, RefusedMessage) for news in heard.news)
    assert [news.reason for news in heard.news if isinstance(news, Lost)] == ["The store is away"]


async def test_who_has_lost_the_way_asks_for_the_whole_board(connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    await joined(heard, line, revision=4)
    heard.link.sit_again()
    join = await line.hears(Join)
    assert isinstance(join, Join)
    assert (join.room, join.revision, join.event) == ("k7", -1, -1)


async def test_another_room_begins_without_a_board(connected: tuple[Heard, Line], stage: Stage) -> None:
    heard, line = connected
    await joined(heard, line, revision=4)
    joining = asyncio.create_task(heard.link.request(Join(id=0, room="k8")))
    await line.seats("k8")
    await joining
    await line.cut()
    line = await stage.line()
    await line.welcomes()
    join = await line.seats("k8")
    assert (join.room, join.revision) == ("k8", -1)


@pytest.mark.parametrize("parting", ["restart", "draining"])
async def test_a_server_that_restarts_is_come_back_to_at_once(
    stage: Stage, connected: tuple[Heard, Line], parting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "_STABLE", 0.0)
    heard, line = connected
    if parting == "restart":
        await line.close(Close.RESTART, "come back")
    else:
        await line.says(Notice(code="draining", message="Elsewhere, please"))
    lost = await heard.until_is(Lost)
    assert isinstance(lost, Lost)
    assert lost.retry_in == 0
    assert "come back" in lost.reason or "Elsewhere" in lost.reason
    await (await stage.line()).welcomes()
    await heard.again()


async def test_a_server_that_always_restarts_is_not_stormed(stage: Stage, connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    for _ in range(5):
        await line.close(Close.RESTART)
        line = await stage.line()
        await line.welcomes()
    await heard.again(5)
    waits = [news.retry_in for news in heard.news if isinstance(news, Lost)]
    assert all(wait > 0 for wait in waits)
    assert max(waits) > 0.4


async def test_while_nothing_listens_it_tries_on(stage: Stage) -> None:
    async with serve(lambda socket: socket.wait_closed(), "127.0.0.1", 0) as other:
        free = next(iter(other.sockets)).getsockname()[1]
    address = parse_address(f"ws://127.0.0.1:{free}")

    there = Stage()
    protocols = [Subprotocol(SUBPROTOCOL)]
    link = Link(address, "ana", BriefSessions(), rng=Random(4))
    async with serve(there.serve, "127.0.0.1", free, subprotocols=protocols, close_timeout=1):
        await asyncio.gather(link.__aenter__(), _welcomed(there))
        heard = Heard(link)
    await heard.until(lambda news: isinstance(news, Lost) and "Nothing listens" in news.reason)
    async with serve(there.serve, "127.0.0.1", free, subprotocols=protocols, close_timeout=1):
        await _welcomed(there)
        await heard.again()
        await heard.close()


# ---------------------------------------------------------------- silence


async def test_a_silent_server_is_asked_and_then_given_up(
    stage: Stage, connected: tuple[Heard, Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, line = connected
    await line.hears(Ping)
    monkeypatch.setattr(links, "QUIET", 0.15)
    await line.says(Notice(code="hello", message="The clock starts"))
    await heard.until_is(Notice)
    began = time.monotonic()
    lost = await heard.until_is(Lost)
    assert isinstance(lost, Lost)
    assert "silent" in lost.reason
    assert 0.25 < time.monotonic() - began < 2
    monkeypatch.setattr(links, "QUIET", 10.0)
    await (await stage.line()).welcomes()
    await heard.again()


async def test_a_server_that_answers_pings_is_not_given_up(
    stage: Stage, connected: tuple[Heard, Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, line = connected
    monkeypatch.setattr(links, "QUIET", 0.05)
    await line.says(Notice(code="hello", message="The clock starts"))
    for _ in range(6):
        ping = await line.hears(Ping)
        await line.says(Pong(to=ping.id, time=5_000))
    assert not any(isinstance(news, Lost) for news in heard.news)
    assert stage.count == 1


# ---------------------------------------------------------------- the end


async def test_who_is_banned_is_told_why_and_does_not_come_back(stage: Stage, connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    await line.says(Notice(code="banned", message="You are banned from this server for good: rude"))
    ended = await heard.until_is(Ended)
    assert ended == Ended(str(Close.BANNED), "You are banned from this server for good: rude")
    assert stage.count == 1


async def test_who_was_banned_meanwhile_is_told_why_and_does_not_try_again(
    stage: Stage, connected: tuple[Heard, Line]
) -> None:
    heard, line = connected
    await line.cut()
    line = await stage.line()
    hello = await line.hears(Hello)
    await line.says(RefusedMessage(to=hello.id, code="banned", message="You are banned from this server for good"))
    await line.close(Close.BANNED, "banned")
    ended = await heard.until_is(Ended)
    assert ended == Ended("banned", "You are banned from this server for good")
    assert stage.count == 2


async def test_who_is_taken_out_of_a_room_does_not_ask_for_the_seat_again(
    stage: Stage, connected: tuple[Heard, Line]
) -> None:
    heard, line = connected
    await joined(heard, line)
    await line.says(Notice(code="kicked", message="You are taken out of this room"))
    assert await heard.until_is(Unseated) == Unseated("kicked", "You are taken out of this room")
    await line.cut()
    line = await stage.line()
    await line.welcomes()
    asking = asyncio.create_task(heard.link.request(ListRooms(id=0)))
    listing = await line.hears(ListRooms)
    await line.says(Rooms(to=listing.id, rooms=()))
    await asking


@pytest.mark.parametrize("code", sorted(Close.STAY_AWAY))
async def test_some_closes_are_for_good(stage: Stage, connected: tuple[Heard, Line], code: int) -> None:
    heard, line = connected
    asking = asyncio.create_task(heard.link.request(Ready(id=0)))
    await line.hears(Ready)
    await line.close(code, "stay away")
    ended = await heard.until_is(Ended)
    assert isinstance(ended, Ended)
    assert ended.code == str(code)
    with pytest.raises(Refused, match=ended.sentence[:20]):
        await asking
    with pytest.raises(Refused, match=ended.sentence[:20]):
        await heard.link.request(Ready(id=0))
    assert stage.count == 1


async def test_a_frame_that_is_none_ends_it(connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    await line.socket.send(b"\xc1")
    ended = await heard.until_is(Ended)
    assert isinstance(ended, Ended)
    assert "update" in ended.sentence


async def test_closing_answers_those_who_wait(connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    asking = asyncio.create_task(heard.link.request(Ready(id=0)))
    await line.hears(Ready)
    await heard.link.close()
    with pytest.raises(Refused) as refused:
        await asking
    assert refused.value.code == "ended"
    assert isinstance(await heard.until_is(Ended), Ended)


# ---------------------------------------------------------------- no server, or another one


async def sentence(address: Address) -> str:
    """Why there is no connection."""
    with pytest.raises(CannotConnect) as failed:
        async with Link(address, "ana", BriefSessions()):
            pass
    return str(failed.value)


async def test_nothing_listens() -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    assert "Nothing listens at" in await sentence(parse_address(f"127.0.0.1:{port}"))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "HTTP 404"),
        (b"HTTP/1.1 503 No\r\nContent-Length: 27\r\n\r\nThis server is stopping.\nx\n", "HTTP 503.*is stopping"),
        (b"HTTP/1.1 503 No\r\nContent-Length: 13\r\n\r\n<html></html>", r"HTTP 503\)$"),
        (b"220 smtp.example.org ESMTP\r\n", "not a Samedeal server"),
        (b"", "not a Samedeal server"),
        (b"\xff" * 4000, "not a Samedeal server"),
    ],
)
async def test_a_stranger_is_named_as_one(answer: bytes, why: str) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        told = await sentence(parse_address(f"127.0.0.1:{port}"))
    assert re.search(why, told), told


async def other(handle: Callable[[ServerConnection], object], **options: object) -> AsyncIterator[Address]:
    async with serve(handle, "127.0.0.1", 0, close_timeout=1, **options) as server:  # type: ignore[arg-type]
        yield parse_address(f"127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}")


async def test_a_web_socket_server_of_another_kind() -> None:
    async def chat(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async for address in other(chat):
        assert "does not speak samedeal.v1" in await sentence(address)


async def test_a_server_of_another_version_says_so_itself() -> None:
    async def refuse(socket: ServerConnection) -> None:
        await socket.close(Close.VERSION, "this server speaks samedeal.v2")

    async for address in other(refuse):
        assert "this server speaks samedeal.v2" in await sentence(address)


@pytest.mark.parametrize(
    ("engine", "advice"), [(ENGINE + 1, "update this client"), (-ENGINE, "update the server"), (ENGINE, ""), (0, "")]
)
async def test_a_server_whose_rules_are_others_is_told_of_once(stage: Stage, engine: int, advice: str) -> None:
    async def welcomes() -> Line:
        line = await stage.line()
        await line.welcomes(engine=engine)
        return line

    link = Link(stage.address, "ana", BriefSessions(), rng=Random(1))
    _, line = await asyncio.gather(link.__aenter__(), welcomes())
    heard = Heard(link)
    await line.cut()
    await welcomes()
    await heard.again()
    told = [news.message for news in heard.news if isinstance(news, Notice)]
    assert len(told) == bool(advice)
    assert all(advice in sentence and f"version {engine}" in sentence for sentence in told)
    await heard.close()


async def test_a_message_of_a_newer_server_that_can_not_be_read_ends_with_a_sentence(
    connected: tuple[Heard, Line],
) -> None:
    heard, line = connected
    state = RoomState(
        room="k7",
        event=1,
        phase="open",
        game="willow",
        deal="random",
        options=Options(),
        private=False,
        host="",
        players=(),
        tallies=(),
        commitment=bytes(32),
    )
    await line.socket.send(encode(state).replace(b"willow", b"yukon!"))
    ended = await heard.until_is(Ended)
    assert isinstance(ended, Ended)
    assert ended.code == "bad_frame"
    assert "'yukon!' is not a game" in ended.sentence
    assert "update one of the two" in ended.sentence


async def test_a_server_that_is_no_server_of_races() -> None:
    async def echo(socket: ServerConnection) -> None:
        try:
            await socket.send(encode(Notice(code="x", message="y")))
            await socket.wait_closed()
        except ConnectionClosed:
            pass

    async for address in other(echo, subprotocols=[Subprotocol(SUBPROTOCOL)]):
        assert "gave no welcome" in await sentence(address)


async def test_a_name_that_the_server_refuses(stage: Stage) -> None:
    async def refuse() -> None:
        line = await stage.line()
        hello = await line.hears(Hello)
        await line.says(RefusedMessage(to=hello.id, code="malformed", message="Not that name"))

    refusing = asyncio.create_task(refuse())
    with pytest.raises(Refused, match="Not that name"):
        async with Link(stage.address, "ana", BriefSessions()):
            pass
    await refusing


# ---------------------------------------------------------------- asking too much


def too_much(message: ToServer, retry_after: float = 0.05) -> RefusedMessage:
    return RefusedMessage(to=message.id, code="rate_limited", message="Slower", retry_after=retry_after)


async def test_what_was_too_much_is_asked_again_under_its_id(connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    creating = asyncio.create_task(heard.link.request(Create(id=0, options=WantedOptions())))
    first = await line.hears(Create)
    began = time.monotonic()
    await line.says(too_much(first, 0.2))
    again = await line.hears(Create)
    assert time.monotonic() - began > 0.18
    assert again == first
    await line.says(Created(to=again.id, room="k7"))
    assert await creating == Created(to=again.id, room="k7")


async def test_what_would_have_to_wait_for_long_is_left_to_whoever_asked(connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    asking = asyncio.create_task(heard.link.request(Join(id=0, room="k7")))
    await line.says(too_much(await line.hears(Join), links.LONGEST_WAIT + 1))
    with pytest.raises(Refused, match="Slower"):
        await asking


async def test_actions_that_were_too_much_are_sent_again_in_their_order(connected: tuple[Heard, Line]) -> None:
    heard, line = connected
    await joined(heard, line, revision=4)
    acts = [act(heard.link, revision) for revision in (4, 5, 6)]
    for each in acts:
        assert await line.hears(Act) == each
    await line.says(Acked(to=acts[0].id, revision=5, seen=b"", hash=b"", up=0, moves=1, undos=0))
    await line.says(too_much(acts[1]))
    acts.append(act(heard.link, 7))  # maybe already put off with the one that it was made upon
    await line.says(RefusedMessage(to=acts[2].id, code="stale", message="Stale", revision=5))
    heard_again: list[Act] = []
    while len(heard_again) < 3:
        message = await line.hears(Act)
        assert isinstance(message, Act)
        if message == acts[3] and not heard_again:
            await line.says(RefusedMessage(to=message.id, code="stale", message="Stale", revision=5))
        else:
            heard_again.append(message)
    assert heard_again == acts[1:]
    for each in acts[1:]:
        await line.says(Acked(to=each.id, revision=each.revision + 1, seen=b"", hash=b"", up=0, moves=1, undos=0))
    await heard.until(lambda news: isinstance(news, Acked) and news.to == acts[3].id)
    assert not [news for news in heard.news if isinstance(news, RefusedMessage)]
    last = asyncio.create_task(heard.link.request(Ready(id=0)))
    await line.hears(Ready)  # and nothing before it
    last.cancel()


async def test_a_hello_that_was_too_much_is_said_again(stage: Stage) -> None:
    async def hears() -> Hello:
        line = await stage.line()
        await line.says(too_much(await line.hears(Hello)))
        return await line.welcomes()

    link = Link(stage.address, "ana", BriefSessions())
    _, hello = await asyncio.gather(link.__aenter__(), hears())
    assert hello.name == "ana"
    assert stage.count == 1
    await link.close()


async def test_a_seat_that_can_t_be_had_back_yet_is_asked_for_when_it_can(
    stage: Stage, connected: tuple[Heard, Line]
) -> None:
    heard, line = connected
    await joined(heard, line)
    await line.cut()
    line = await stage.line()
    await line.welcomes()
    await line.says(too_much(await line.hears(Join), 0.3))
    refused = time.monotonic()
    line = await stage.line()
    assert time.monotonic() - refused > 0.28
    await line.welcomes()
    await line.seats()
    assert not [news for news in heard.news if isinstance(news, Unseated)]
