"""Tests of operators: logging in, and the effect of each request on all nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from samedeal.protocol.admin import (
    BackedUp,
    Backup,
    BackupPart,
    Ban,
    BanList,
    CloseRoom,
    Drain,
    Granted,
    Kick,
    ListBans,
    ListServerRooms,
    Login,
    Say,
    ServerRooms,
    Status,
    Survey,
    Unban,
)
from samedeal.protocol.messages import Done, Hello, Join, Leave, Notice, Ready, Refused, Resign, Watch, Welcome
from samedeal.protocol_codes import CloseCode
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.operators import auth, operator_gateway, request_handlers
from samedeal_server.races.server_bans import ban_sentence
from samedeal_server.store import keys
from samedeal_server.tasks import cancel_and_wait
from tests.server.captured_log import Log
from tests.server.client import DEADLINE, Client
from tests.server.live_nodes import PLENTY, Node, NodeMaker, RedisClient
from tests.server.operator_client import TOKEN, Operator
from tests.server.races import finish, race, seated
from tests.server.waiting import until


@pytest.fixture
async def one(node: NodeMaker) -> Node:
    return await node(token=TOKEN)


@pytest.fixture
async def two(one: Node, node: NodeMaker) -> tuple[Node, Node]:
    return one, await node(token=TOKEN)


@pytest.fixture
async def operator(one: Node) -> Operator:
    """An operator who has logged in."""
    return await Operator.login(one.url)


async def test_node_without_token_rejects_operators(node: NodeMaker) -> None:
    operator = await Operator.connect((await node()).url)
    assert operator.socket.subprotocol is None
    assert await operator.closed() == CloseCode.VERSION


@pytest.mark.parametrize("wrong", ["", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "ü" * 1024])
async def test_wrong_token_closes_the_connection(one: Node, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setattr(auth, "WRONG_TOKEN_DELAY", 0.01)
    operator = await Operator.connect(one.url)
    await operator.refused("bad_token", Login, token=wrong)
    assert await operator.closed() == CloseCode.NOT_LOGGED_IN
    assert one.metric("admin_logins_failed_total", reason="bad_token") == 1


async def test_request_before_login_is_refused(one: Node) -> None:
    operator = await Operator.connect(one.url)
    await operator.refused("login_first", Status)
    assert await operator.closed() == CloseCode.NOT_LOGGED_IN
    garbled = await Operator.connect(one.url)
    await garbled.socket.send(b"\xc1")
    assert (await garbled.until(Refused)).code == "bad_frame"
    assert await garbled.closed() == CloseCode.NOT_LOGGED_IN


async def test_silent_connection_times_out(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator_gateway, "LOGIN_TIMEOUT", 0.05)
    operator = await Operator.connect((await node(token=TOKEN)).url)
    assert await operator.closed() == CloseCode.SILENT


async def test_wrong_tokens_delay_the_right_one(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "WRONG_TOKEN_DELAY", 0.0)
    monkeypatch.setattr(auth, "MAX_WAIT", 0.0)
    monkeypatch.setattr(auth, "WRONG_TOKENS_PER_SECOND", 0.001)
    one = await node(token=TOKEN)
    await Operator.login(one.url)
    for code in ["bad_token"] * auth.WRONG_TOKENS_AT_ONCE + ["too_many_tries"]:
        await (await Operator.connect(one.url)).refused(code, Login, token="x" * 20)
    late = await Operator.connect(one.url)
    assert (await late.refused("too_many_tries", Login, token=TOKEN)).retry_after > 0
    assert await late.closed() == CloseCode.NOT_LOGGED_IN


async def test_unauthenticated_connections_are_limited(one: Node) -> None:
    waiting = [await Operator.connect(one.url) for _ in range(auth.MAX_UNAUTHENTICATED)]
    assert await (await Operator.connect(one.url)).closed() == CloseCode.NOT_LOGGED_IN
    for each in waiting:
        await each.expect(Granted, Login, token=TOKEN)
    await Operator.login(one.url)


async def test_requests_are_logged_without_tokens(one: Node, log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "WRONG_TOKEN_DELAY", 0.01)
    log.set_up()
    await race(one, room="friday")
    stranger = await Operator.connect(one.url)
    await stranger.refused("bad_token", Login, token="a guess that is no good")
    operator = await Operator.login(one.url)
    await operator.expect(Done, Kick, room="friday", player="ana")
    await operator.refused("no_room", CloseRoom, room="nowhere")
    await operator.refused("login_once", Login, token=TOKEN)
    assert len(log.named("admin_login_failed", address="127.0.0.1", reason="bad_token")) == 1
    for told in (
        {"request": "kick", "outcome": "done", "room": "friday", "player": "ana"},
        {"request": "closeroom", "outcome": "no_room", "room": "nowhere"},
        {"request": "login", "outcome": "login_once"},
    ):
        assert len(log.named("admin_request", address="127.0.0.1", **told)) == 1, told
    assert TOKEN not in log.text
    assert "a guess" not in log.text


async def survey(operator: Operator, condition: Callable[[Survey], bool]) -> Survey:
    async def wanted() -> Survey | None:
        found = await operator.expect(Survey, Status)
        return found if condition(found) else None

    found: Survey = await until(wanted)
    return found


async def test_status_lists_all_nodes(redis: RedisClient, two: tuple[Node, Node]) -> None:
    """But not one that has stopped, and one that is dead only for some seconds."""
    ana, _ = await race(*two, room="friday")
    await ana.acts(3)
    for node in two:
        await node.send_heartbeat()
    operator = await Operator.login(two[1].url)
    found = await survey(operator, lambda survey: len(survey.nodes) == 2)
    assert [line.node for line in found.nodes] == ["n1", "n2"]
    assert [line.address for line in found.nodes] == [node.url for node in two]
    assert [line.players for line in found.nodes] == [1, 1]
    assert all(line.connections == 1 and line.rooms == 1 and line.memory > 1_000_000 for line in found.nodes)
    assert all(abs(found.time - line.last_seen) < 10_000 and line.started <= line.last_seen for line in found.nodes)
    assert found.phases.racing == 1
    assert found.redis.version
    assert found.redis.memory > 0
    await two[0].stop_tasks()
    await two[0].agent.leave()
    assert [line.node for line in (await operator.expect(Survey, Status)).nodes] == ["n2"]
    await two[0].send_heartbeat()
    assert 0 < await redis.ttl(keys.node(keys.NODE_COPIES[0], "n1")) <= 10


async def test_kick_before_the_race_frees_the_seat(two: tuple[Node, Node], operator: Operator) -> None:
    ana, bob = await seated(*two, room="friday")
    await operator.expect(Done, Kick, room="friday", player="BOB")
    assert (await bob.until(Notice)).code == "kicked"
    assert [seat.name for seat in (await ana.state(lambda state: len(state.players) == 1)).players] == ["ana"]
    await bob.refused("no_seat", Ready)
    await bob.refused("kicked", Join, room="friday")
    await bob.refused("kicked", Watch, room="friday")
    await bob.expect(Done, Leave)
    await operator.refused("no_player", Kick, room="friday", player="bob")
    await bob.create("other")
    await bob.join("other")


async def test_kicked_spectator_stops_watching(two: tuple[Node, Node], operator: Operator) -> None:
    ana, bob = await race(*two, room="friday")
    await bob.expect(Done, Resign)
    await bob.watch("friday")
    await ana.state(lambda state: state.spectator_count == 1)
    ana.inbox.clear()
    await operator.expect(Done, Kick, room="friday", player="bob")
    assert (await bob.until(Notice)).code == "kicked"
    await ana.state(lambda state: state.spectator_count == 0)
    await until(lambda: "friday" not in two[1].followed())


async def test_banned_player_learns_reason_and_end(two: tuple[Node, Node], operator: Operator, node: NodeMaker) -> None:
    ana, bob = await race(*two, room="friday")
    await operator.expect(BanList, Ban, target=bob.player, seconds=3600, reason="rude\x1b[31m words")
    notice = await bob.until(Notice)
    assert notice.code == "banned"
    (line,) = (await operator.expect(BanList, ListBans)).bans
    assert line.reason == "rude?[31m words"
    assert line.until == line.since + 3_600_000
    assert notice.message == ban_sentence(line)
    assert await bob.closed() == CloseCode.BANNED
    out = await ana.state(lambda state: any(seat.resigned for seat in state.players))
    assert [seat.resigned for seat in out.players] == [False, True]
    for one in (*two, await node()):
        back = await Client.connect(one.url)
        refusal = await back.refused("banned", Hello, name="bob", session=bob.session)
        assert refusal.message == notice.message
        assert refusal.retry_after == 0
        assert await back.closed() == CloseCode.BANNED
    await ana.acts(2)


async def can_connect(one: Node, session: str = "") -> bool:
    client = await Client.connect(one.url)
    answer = await client.ask(Hello, name="ana", session=session)
    await client.close()
    assert isinstance(answer, Welcome) or (isinstance(answer, Refused) and answer.code == "banned")
    return isinstance(answer, Welcome)


async def is_refused(one: Node, session: str) -> bool:
    return not await can_connect(one, session)


async def test_address_ban_keeps_players_away_but_not_operator(redis: RedisClient, two: tuple[Node, Node]) -> None:
    ana = await two[1].player("ana")
    operator = await Operator.login(two[0].url)
    await operator.expect(BanList, Ban, target="127.0.0.0/24")
    assert await ana.closed() == CloseCode.BANNED
    stranger = await Client.connect(two[1].url)
    await stranger.refused("banned", Hello, name="bob")
    assert len(await redis.keys("samedeal:guest:*")) == 1  # ana's
    again = await Operator.login(two[1].url)
    (line,) = (await again.expect(BanList, ListBans)).bans
    assert (line.target, line.until, line.reason) == ("127.0.0.0/24", 0, "")
    await again.expect(Done, Unban, target="127.0.0.0/24")
    await until(lambda: can_connect(two[1]))
    await again.refused("no_ban", Unban, target="127.0.0.0/24")


async def test_ban_that_cannot_be_read_is_in_force_until_it_is_lifted(
    redis: RedisClient, two: tuple[Node, Node], operator: Operator
) -> None:
    """It was damaged, or another release has stored it: who was banned does not come back by that."""
    ana = await two[0].player("ana")
    for target in (ana.player, "203.0.113.0/24", "a kind of ban of a later release"):
        await redis.hset(keys.BANS, target, b"\xc1 another form")
    await redis.publish(keys.NODES, b"")
    told = await ana.until(Notice)
    assert told.code == "banned"
    assert "unban" in told.message
    assert await ana.closed() == CloseCode.BANNED
    await until(lambda: is_refused(two[1], ana.session))
    bans = (await operator.expect(BanList, ListBans)).bans
    assert {ban.target: ban.until for ban in bans}.items() >= {ana.player: 0, "203.0.113.0/24": 0}.items()
    await operator.expect(Done, Unban, target=ana.player)
    await until(lambda: can_connect(two[1], ana.session))
    (anew,) = (await operator.expect(BanList, Ban, target="203.0.113.0/24", seconds=60)).bans
    assert anew in (await operator.expect(BanList, ListBans)).bans


async def test_unannounced_ban_is_found_by_polling(two: tuple[Node, Node], operator: Operator) -> None:
    ana = await two[1].player("ana")
    await cancel_and_wait(two[1].tasks[:1])
    await operator.expect(BanList, Ban, target=ana.player)
    assert await ana.closed() == CloseCode.BANNED


async def test_ban_is_replaced_although_there_are_no_more_allowed(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_handlers, "MAX_BANS", 1)
    await operator.expect(BanList, Ban, target="192.0.2.1")
    await operator.expect(BanList, Ban, target="192.0.2.1", reason="again")
    await operator.refused("too_many_bans", Ban, target="192.0.2.2")


async def test_announcement_reaches_a_room_on_all_nodes(two: tuple[Node, Node], operator: Operator) -> None:
    ana, bob = await race(*two, room="friday")
    watcher, other = await two[1].player("wim"), await two[1].player("olga")
    await watcher.watch("friday")
    await operator.expect(Done, Say, room="friday", text=" Five minutes\x07 ")
    for client in (ana, bob, watcher):
        notice = await client.until(Notice)
        assert (notice.code, notice.message) == ("said", "Five minutes?")
    await ana.acts(1)
    await operator.expect(Done, Say, text="Good night")
    for client in (ana, bob, watcher, other):
        notice = await client.until(Notice)
        assert (notice.code, notice.message) == ("said", "Good night")
    await operator.refused("no_room", Say, room="nowhere", text="hello")
    await operator.refused("nothing_said", Say, text="  ")


@pytest.mark.parametrize("phase", ["open", "racing", "finished"])
async def test_room_is_closed_in_every_phase(two: tuple[Node, Node], operator: Operator, phase: str) -> None:
    if phase == "open":
        ana, bob = await seated(*two, room="friday")
    else:
        ana, bob = await race(*two, room="friday")
        if phase == "finished":
            await finish(ana, bob)
    await operator.expect(Done, CloseRoom, room="friday")
    for client in (ana, bob):
        assert (await client.until(Notice)).code == "closed"
        assert bool((await client.phase("closed")).seed) == (phase == "finished")
        await client.refused("no_seat", Ready)
    assert (await operator.expect(ServerRooms, ListServerRooms)).rooms == ()
    await operator.expect(Done, CloseRoom, room="friday")


async def test_last_ready_node_is_drained_by_force_only(two: tuple[Node, Node], operator: Operator) -> None:
    await survey(operator, lambda found: len(found.nodes) == 2)
    assert "n1, n2" in (await operator.refused("no_node", Drain, node="n9")).message
    assert "n1, n2" in (await operator.refused("node_required", Drain)).message
    await operator.expect(Done, Drain, node="n2")
    await survey(operator, lambda found: [line.draining for line in found.nodes] == [False, True])
    await operator.refused("last_node", Drain, node="n1")
    assert not two[0].stop.is_set()
    await operator.expect(Done, Drain, node="n1", force=True)
    async with asyncio.timeout(DEADLINE):
        await two[0].stop.wait()


async def test_full_node_admits_operators(node: NodeMaker) -> None:
    one = await node(replace(PLENTY, connections=1), token=TOKEN)
    await one.player("ana")
    with pytest.raises(InvalidStatus):
        await one.player("bob")
    await Operator.login(one.url)


async def test_backup_can_be_repeated_after_a_disconnect(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_handlers, "MAX_PART_BYTES", 16)
    await race(one, room="friday")
    gone, operator = await Operator.login(one.url), await Operator.login(one.url)
    await gone.send(Backup)
    await gone.until(BackupPart)
    gone.socket.transport.abort()

    async def can() -> bool:
        _, heard = await operator.back_up()
        assert isinstance(heard, BackedUp) or heard.code == "busy"
        return isinstance(heard, BackedUp)

    await until(can)


async def test_unavailable_store_is_reported(node: NodeMaker, tmp_path: Path) -> None:
    async with EmbeddedRedis(tmp_path, "everysec") as url:
        one = await node(redis=url, token=TOKEN)
        operator = await Operator.login(one.url)
        await operator.expect(Survey, Status)
    for kind, fields in ((Status, {}), (Ban, {"target": "203.0.113.7"}), (Say, {"text": "hello"})):
        assert (await operator.refused("unavailable", kind, **fields)).retry_after > 0
    assert not any(task.done() for task in one.tasks)
