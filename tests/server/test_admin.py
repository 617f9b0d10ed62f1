"""The operator's side: who is let in, and what each request does on every node."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
import structlog
from websockets.exceptions import InvalidStatus

from samedeal.board import Board
from samedeal.deal import shuffled
from samedeal.games import Game
from samedeal.protocol.admin import (
    LARGEST_PART,
    BackedUp,
    Backup,
    BackupPart,
    Ban,
    BanList,
    Close,
    CloseRoom,
    Drain,
    Granted,
    Kick,
    ListBans,
    ListRooms,
    Login,
    RoomList,
    RoomShown,
    Say,
    ShowRoom,
    Status,
    Survey,
    Unban,
)
from samedeal.protocol.messages import (
    Act,
    Done,
    Hello,
    Join,
    Leave,
    Notice,
    Ready,
    Refused,
    Resign,
    Start,
    Watch,
    Welcome,
)
from samedeal.protocol.messages import Close as Closes
from samedeal_server import admin, gate, logs
from samedeal_server.config import Config
from samedeal_server.embedded import EmbeddedRedis
from samedeal_server.store.nodes import Stop
from samedeal_server.tasks import end
from tests.server.client import DEADLINE, Client
from tests.server.conftest import PLENTY, Node, NodeMaker
from tests.server.operator import TOKEN, Operator


@pytest.fixture
async def two(node: NodeMaker) -> tuple[Node, Node]:
    return await node(token=TOKEN), await node(token=TOKEN)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(DEADLINE):
        while True:
            if await holds():
                return
            await asyncio.sleep(0.01)


async def a_race(*nodes: Node, game: str = "athena", room: str = "friday") -> list[Client]:
    """A race that is under way, with a player on each node."""
    players = [await node.player(name) for node, name in zip(nodes, ("ana", "bob", "cid"), strict=False)]
    await players[0].create(room, games=(game,))
    for player in players:
        await player.join(room)
    await players[0].want(Done, Start)
    for player in players:
        await player.dealt()
    return players


# ---------------------------------------------------------------- who is let in


async def test_without_a_token_the_subprotocol_is_as_unknown_as_any(node: NodeMaker) -> None:
    operator = await Operator.connect((await node()).url)
    assert operator.socket.subprotocol is None
    assert await operator.closed() == Closes.VERSION


async def test_the_right_token_is_let_in_and_players_go_on_as_before(node: NodeMaker) -> None:
    here = await node(token=TOKEN)
    operator = await Operator.login(here.url)
    await here.player("ana")
    await operator.refused("login_once", Login, token=TOKEN)


@pytest.mark.parametrize("wrong", ["", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "ü" * 1024])
async def test_a_wrong_token_is_refused_and_the_connection_closed(
    node: NodeMaker, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.setattr(gate, "_WRONG_TAKES", 0.01)
    operator = await Operator.connect((await node(token=TOKEN)).url)
    await operator.refused("bad_token", Login, token=wrong)
    assert await operator.closed() == Close.NOT_LET_IN


async def test_nothing_is_answered_before_the_token(node: NodeMaker) -> None:
    here = await node(token=TOKEN)
    operator = await Operator.connect(here.url)
    await operator.refused("login_first", Status)
    assert await operator.closed() == Close.NOT_LET_IN
    garbled = await Operator.connect(here.url)
    await garbled.socket.send(b"\xc1")
    heard = await garbled.hear()
    assert isinstance(heard, Refused)
    assert heard.code == "bad_frame"
    assert await garbled.closed() == Close.NOT_LET_IN


async def test_who_says_nothing_is_closed(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "_IN_TIME", 0.05)
    operator = await Operator.connect((await node(token=TOKEN)).url)
    assert await operator.closed() == Closes.SILENT


async def test_after_some_guesses_even_the_right_token_has_to_wait(
    node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "_WRONG_TAKES", 0.0)
    monkeypatch.setattr(gate, "_LONGEST_WAIT", 0.0)
    here = await node(token=TOKEN)
    await Operator.login(here.url)
    codes = [(await guess(here)).code for _ in range(gate._GUESSES + 4)]
    assert codes[: gate._GUESSES + 1] == ["bad_token"] * (gate._GUESSES + 1)
    assert "too_many_tries" in codes
    late = await Operator.connect(here.url)
    assert (await late.refused("too_many_tries", Login, token=TOKEN)).retry_after > 0
    assert await late.closed() == Close.NOT_LET_IN


async def guess(here: Node) -> Refused:
    return await (await Operator.connect(here.url)).want(Refused, Login, token="x" * 20)


async def test_wrong_tokens_that_wait_for_their_answer_are_in_nobody_s_way(node: NodeMaker) -> None:
    here = await node(token=TOKEN)
    guessing = [await Operator.connect(here.url) for _ in range(4)]
    for each in guessing:
        await each.send(Login, token="x" * 20)
    ana = await here.player("ana")
    await ana.create()
    await Operator.login(here.url)
    for each in guessing:
        assert await each.closed() == Close.NOT_LET_IN


async def test_so_many_may_wait_with_their_token_and_no_more(node: NodeMaker) -> None:
    here = await node(token=TOKEN)
    waiting = [await Operator.connect(here.url) for _ in range(gate._AT_ONCE)]
    assert await (await Operator.connect(here.url)).closed() == Close.NOT_LET_IN
    for each in waiting:
        await each.want(Granted, Login, token=TOKEN)
    await Operator.login(here.url)


async def test_each_action_and_each_refused_attempt_is_logged_and_never_a_token(
    node: NodeMaker, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "_WRONG_TAKES", 0.01)
    logs.set_up(Config(log_level="debug", log_style="json"), "n")
    try:
        here = await node(token=TOKEN)
        await a_race(here)
        stranger = await Operator.connect(here.url)
        await stranger.refused("bad_token", Login, token="a guess that is no good")
        operator = await Operator.login(here.url)
        await operator.want(Done, Kick, room="friday", player="ana")
        await operator.refused("no_room", CloseRoom, room="nowhere")
        lines = capsys.readouterr().out
    finally:
        structlog.reset_defaults()
        structlog.contextvars.clear_contextvars()
    for words in (
        '"address": "127.0.0.1", "why": "bad_token"',
        '"what": "kick", "outcome": "done", "room": "friday", "player": "ana"',
        '"what": "closeroom", "outcome": "no_room", "room": "nowhere"',
    ):
        assert sum(words in line and '"address": "127.0.0.1"' in line for line in lines.splitlines()) == 1, lines
    assert TOKEN not in lines
    assert "a guess" not in lines


# ---------------------------------------------------------------- looking


async def survey(operator: Operator, where: Callable[[Survey], bool]) -> Survey:
    async with asyncio.timeout(DEADLINE):
        while True:
            found = await operator.want(Survey, Status)
            if where(found):
                return found
            await asyncio.sleep(0.02)


async def test_status_tells_of_all_nodes_through_any(two: tuple[Node, Node]) -> None:
    ana, _ = await a_race(*two)
    await ana.acts(3)
    for node in two:
        await node.roster.beat()
    operator = await Operator.login(two[1].url)
    found = await survey(operator, lambda survey: len(survey.nodes) == 2)
    assert [line.node for line in found.nodes] == ["n1", "n2"]
    assert [line.address for line in found.nodes] == [node.url for node in two]
    assert [line.players for line in found.nodes] == [1, 1]
    assert all(line.connections == 1 and line.rooms == 1 and line.memory > 1_000_000 for line in found.nodes)
    assert all(abs(found.time - line.heard) < 10_000 and line.started <= line.heard for line in found.nodes)
    assert found.phases.racing == 1
    assert found.redis.version
    assert found.redis.memory > 0


async def test_moves_a_second_and_what_acks_took_are_measured_between_two_looks(node: NodeMaker) -> None:
    here = await node()
    (ana,) = await a_race(here)
    here.roster.line()
    await ana.acts(5)
    line = here.roster.line()
    assert line.moves > 0
    assert 0 < line.typical <= line.slow
    assert here.roster.line().moves == 0


async def test_a_node_that_stops_is_named_no_more_and_one_that_dies_for_ten_seconds(two: tuple[Node, Node]) -> None:
    one, other = two
    operator = await Operator.login(one.url)
    await survey(operator, lambda found: len(found.nodes) == 2)
    await other.deafen()
    await other.roster.leave()
    assert [line.node for line in (await operator.want(Survey, Status)).nodes] == ["n1"]
    await other.roster.beat()
    assert 0 < await one.store.redis.ttl("samedeal:node:n2") <= 10


async def test_rooms_are_listed_so_many_as_are_wanted(node: NodeMaker) -> None:
    here = await node(token=TOKEN)
    ana = await here.player()
    for number in range(3):
        await ana.create(f"r{number}")
    operator = await Operator.login(here.url)
    found = await operator.want(RoomList, ListRooms, most=2)
    assert ([line.room for line in found.rooms], found.all) == (["r2", "r1"], 3)


async def test_a_room_is_shown_with_where_its_players_are(two: tuple[Node, Node]) -> None:
    ana, bob = await a_race(*two)
    acked = (await ana.acts(4))[-1]
    operator = await Operator.login(two[1].url)
    found = await operator.want(RoomShown, ShowRoom, room="friday")
    assert [(seat.name, seat.player) for seat in found.state.players] == [("ana", ana.player), ("bob", bob.player)]
    assert (found.state.tallies[0].moves, found.state.tallies[0].up) == (acked.moves, acked.up)
    assert [(where.player, where.node, where.address) for where in found.whereabouts] == [
        (ana.player, "n1", "127.0.0.1"),
        (bob.player, "n2", "127.0.0.1"),
    ]
    await operator.refused("no_room", ShowRoom, room="nowhere")
    await operator.refused("malformed", ShowRoom, room="no such room!")


async def test_an_operator_is_shown_no_card_and_no_seed_before_the_end(node: NodeMaker) -> None:
    """Invariant 3: hidden stays hidden, from the operator too."""
    here = await node(token=TOKEN)
    (ana,) = await a_race(here, game="athena")
    await ana.acts(3)
    operator = await Operator.login(here.url)
    secret = await here.store.secret("friday")
    assert secret
    for kind, fields in ((Status, {}), (ListRooms, {}), (ShowRoom, {"room": "friday"}), (ListBans, {})):
        await operator.ask(kind, **fields)
    board = Board.deal(Game.named("athena"), shuffled(secret.seed, 1))
    for frame in operator.frames:
        assert isinstance(frame, bytes)
        assert secret.seed not in frame
        assert b"piles" not in frame
        assert not any(len(pile) > 2 and bytes(pile) in frame for pile in board.piles)
    await operator.want(Done, CloseRoom, room="friday")
    assert (await ana.phase("closed")).seed == b""


# ---------------------------------------------------------------- kick


async def test_who_is_kicked_before_the_race_has_no_seat_and_gets_none_again(two: tuple[Node, Node]) -> None:
    ana, bob = await two[0].player("ana"), await two[1].player("bob")
    await ana.create("friday")
    await ana.join("friday")
    await bob.join("friday")
    operator = await Operator.login(two[0].url)
    await operator.want(Done, Kick, room="friday", player="BOB")
    assert (await bob.until(Notice)).code == "kicked"
    assert [seat.name for seat in (await ana.state(lambda state: len(state.players) == 1)).players] == ["ana"]
    await bob.refused("no_seat", Ready)
    await bob.refused("kicked", Join, room="friday")
    await bob.refused("kicked", Watch, room="friday")
    await bob.want(Done, Leave)
    await operator.refused("no_player", Kick, room="friday", player="bob")
    await bob.create("other")
    await bob.join("other")


async def test_who_is_kicked_in_a_race_has_resigned_and_the_race_goes_on(two: tuple[Node, Node]) -> None:
    ana, bob = await a_race(*two)
    await bob.acts(3)
    operator = await Operator.login(two[0].url)
    await operator.want(Done, Kick, room="friday", player=bob.player)
    assert (await bob.until(Notice)).code == "kicked"
    assert bob.play
    await bob.refused("done", Act, revision=3, action=str(bob.play.board.legal_moves()[0]))
    out = await ana.state(lambda state: any(seat.out for seat in state.players))
    assert [seat.out for seat in out.players] == [False, True]
    again = await two[1].player("bob", bob.session)
    await again.refused("kicked", Join, room="friday")
    await ana.acts(3)
    await ana.want(Done, Resign)
    ended = await ana.phase("finished")
    assert {(line.name, line.moves, line.out) for line in ended.standings} == {("ana", 3, True), ("bob", 3, True)}


async def test_a_kick_that_was_not_announced_is_heard_at_the_next_look(two: tuple[Node, Node]) -> None:
    _, bob = await a_race(*two)
    await two[1].deafen()
    operator = await Operator.login(two[0].url)
    await operator.want(Done, Kick, room="friday", player="bob")
    await two[1].rooms.hubs["friday"].refresh()
    assert (await bob.until(Notice)).code == "kicked"


# ---------------------------------------------------------------- ban


async def test_who_is_banned_is_told_why_and_until_when_on_every_node(two: tuple[Node, Node], node: NodeMaker) -> None:
    ana, bob = await a_race(*two)
    operator = await Operator.login(two[0].url)
    await operator.want(Done, Ban, who=bob.player, seconds=3600, reason="rude\x1b[31m words")
    notice = await bob.until(Notice)
    assert notice.code == "banned"
    assert notice.message.startswith("You are banned from this server until 20")
    assert notice.message.endswith(" UTC: rude?[31m words")
    assert await bob.closed() == Closes.BANNED
    out = await ana.state(lambda state: any(seat.out for seat in state.players))
    assert [seat.out for seat in out.players] == [False, True]
    for here in (*two, await node()):
        back = await Client.connect(here.url)
        refusal = await back.refused("banned", Hello, name="bob", session=bob.session)
        assert refusal.message == notice.message
        assert refusal.retry_after == 0
        assert await back.closed() == Closes.BANNED
    await ana.acts(2)


async def lets_in(here: Node, session: str = "") -> bool:
    client = await Client.connect(here.url)
    answer = await client.ask(Hello, name="ana", session=session)
    await client.close()
    assert isinstance(answer, Welcome) or (isinstance(answer, Refused) and answer.code == "banned")
    return isinstance(answer, Welcome)


async def test_an_address_is_banned_with_all_who_come_from_it_but_not_its_operator(two: tuple[Node, Node]) -> None:
    ana = await two[1].player("ana")
    operator = await Operator.login(two[0].url)
    await operator.want(Done, Ban, who="127.0.0.0/24")
    assert await ana.closed() == Closes.BANNED
    stranger = await Client.connect(two[1].url)
    assert "for good" in (await stranger.refused("banned", Hello, name="bob")).message
    assert len(await two[0].store.redis.keys("samedeal:guest:*")) == 1  # ana's
    again = await Operator.login(two[1].url)
    (line,) = (await again.want(BanList, ListBans)).bans
    assert (line.who, line.until, line.reason) == ("127.0.0.0/24", 0, "")
    await again.want(Done, Unban, who="127.0.0.0/24")
    await until(lambda: lets_in(two[1]))
    await again.refused("no_ban", Unban, who="127.0.0.0/24")


async def test_a_ban_that_was_not_announced_holds_at_the_next_look(two: tuple[Node, Node]) -> None:
    ana = await two[1].player("ana")
    await end(two[1].running[:1])
    operator = await Operator.login(two[0].url)
    await operator.want(Done, Ban, who=ana.player)
    assert await ana.closed() == Closes.BANNED


async def test_a_ban_ends_by_itself(node: NodeMaker) -> None:
    here = await node(token=TOKEN)
    ana = await here.player("ana")
    operator = await Operator.login(here.url)
    await operator.want(Done, Ban, who=ana.player, seconds=1)
    assert await ana.closed() == Closes.BANNED
    until_ = (await operator.want(BanList, ListBans)).bans[0].until
    assert until_ > await here.store.now()
    await until(lambda: lets_in(here, ana.session))
    assert (await operator.want(BanList, ListBans)).bans == ()


async def test_what_can_t_be_banned_is_refused_with_words(node: NodeMaker) -> None:
    operator = await Operator.login((await node(token=TOKEN)).url)
    await operator.refused("malformed", Ban, who="ana")
    await operator.refused("malformed", Unban, who="")


# ---------------------------------------------------------------- say, close, drain


async def test_what_is_said_in_a_room_is_heard_by_those_in_it_on_all_nodes(two: tuple[Node, Node]) -> None:
    ana, bob = await a_race(*two)
    watcher, other = await two[1].player("wim"), await two[1].player("olga")
    await watcher.watch("friday")
    operator = await Operator.login(two[0].url)
    await operator.want(Done, Say, room="friday", text=" Five minutes\x07 ")
    for client in (ana, bob, watcher):
        notice = await client.until(Notice)
        assert (notice.code, notice.message) == ("said", "Five minutes?")
    await ana.acts(1)
    await operator.want(Done, Say, text="Good night")
    for client in (ana, bob, watcher, other):
        notice = await client.until(Notice)
        assert (notice.code, notice.message) == ("said", "Good night")
    await operator.refused("no_room", Say, room="nowhere", text="hello")
    await operator.refused("nothing_said", Say, text="  ")


async def test_what_was_said_before_a_node_began_is_not_heard_there(node: NodeMaker) -> None:
    one = await node(token=TOKEN)
    operator = await Operator.login(one.url)
    await operator.want(Done, Say, text="Old news")
    await one.roster.nodes.order(Stop("n2"))
    other = await node()
    ana = await other.player("ana")
    await operator.want(Done, Say, text="New")
    assert (await ana.until(Notice)).message == "New"
    assert not other.stopping.is_set()


@pytest.mark.parametrize("phase", ["open", "racing", "finished"])
async def test_a_room_is_closed_whatever_goes_on_and_everybody_told(two: tuple[Node, Node], phase: str) -> None:
    if phase == "open":
        ana, bob = await two[0].player("ana"), await two[1].player("bob")
        await ana.create("friday")
        await ana.join("friday")
        await bob.join("friday")
    else:
        ana, bob = await a_race(*two)
        if phase == "finished":
            for client in (ana, bob):
                await client.want(Done, Resign)
            await bob.phase("finished")
    operator = await Operator.login(two[0].url)
    await operator.want(Done, CloseRoom, room="friday")
    for client in (ana, bob):
        assert (await client.until(Notice)).code == "closed"
        assert bool((await client.phase("closed")).seed) == (phase == "finished")
        await client.refused("no_seat", Ready)
    assert (await operator.want(RoomList, ListRooms)).rooms == ()
    await operator.want(Done, CloseRoom, room="friday")


async def test_a_node_is_told_to_drain_by_name_and_only_that_one(two: tuple[Node, Node]) -> None:
    operator = await Operator.login(two[0].url)
    assert "n1, n2" in (await operator.refused("no_node", Drain, node="n9")).message
    await operator.want(Done, Drain, node="n2")
    async with asyncio.timeout(DEADLINE):
        await two[1].stopping.wait()
    assert not two[0].stopping.is_set()
    await operator.want(Done, Drain)
    async with asyncio.timeout(DEADLINE):
        await two[0].stopping.wait()


async def test_an_operator_comes_in_where_there_is_no_room_for_a_player(node: NodeMaker) -> None:
    here = await node(replace(PLENTY, connections=1), token=TOKEN)
    await here.player("ana")
    with pytest.raises(InvalidStatus):
        await here.player("bob")
    await Operator.login(here.url)


# ---------------------------------------------------------------- backup


async def test_a_backup_comes_in_parts_whose_sum_is_told(node: NodeMaker) -> None:
    here = await node(token=TOKEN)
    await a_race(here)
    operator = await Operator.login(here.url)
    data = b""
    await operator.send(Backup)
    while isinstance(heard := await operator.hear(), BackupPart):
        assert 0 < len(heard.data) <= LARGEST_PART
        data += heard.data
    assert isinstance(heard, BackedUp)
    assert (heard.size, heard.digest) == (len(data), hashlib.sha256(data).digest())
    assert (heard.rooms, heard.sessions) == (1, 1)


async def test_an_operator_who_goes_away_during_a_backup_is_in_nobody_s_way(
    node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin, "LARGEST_PART", 16)
    here = await node(token=TOKEN)
    await a_race(here)
    gone, operator = await Operator.login(here.url), await Operator.login(here.url)
    await gone.send(Backup)
    assert isinstance(await gone.hear(), BackupPart)
    gone.socket.transport.abort()

    async def can() -> bool:
        await operator.send(Backup)
        while isinstance(heard := await operator.hear(), BackupPart):
            pass
        assert isinstance(heard, BackedUp) or (isinstance(heard, Refused) and heard.code == "busy")
        return isinstance(heard, BackedUp)

    await until(can)


# ---------------------------------------------------------------- what goes wrong


async def test_where_the_store_is_away_an_operator_is_told_and_the_node_goes_on(
    node: NodeMaker, tmp_path: Path
) -> None:
    async with EmbeddedRedis(tmp_path, "everysec") as url:
        here = await node(redis=url, token=TOKEN)
        operator = await Operator.login(here.url)
        await operator.want(Survey, Status)
    for kind, fields in ((Status, {}), (Ban, {"who": "203.0.113.7"}), (Say, {"text": "hello"})):
        assert (await operator.refused("unavailable", kind, **fields)).retry_after > 0
    assert not any(task.done() for task in here.running)


async def test_a_frame_that_is_no_request_is_refused_and_the_next_one_answered(node: NodeMaker) -> None:
    operator = await Operator.login((await node(token=TOKEN)).url)
    await operator.socket.send("text")
    heard = await operator.hear()
    assert isinstance(heard, Refused)
    assert heard.code == "bad_frame"
    await operator.want(Survey, Status)
