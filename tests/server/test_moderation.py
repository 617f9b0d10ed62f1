"""What moderators can do about names, records and persons on a server for strangers."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from samedeal.deal_proof import DealProof
from samedeal.errors import BadRecord, DealNotCheckable
from samedeal.names import removed_name
from samedeal.options import WantedOptions
from samedeal.protocol.admin import (
    BackupPart,
    DeleteRecord,
    Drain,
    Export,
    Forget,
    Forgotten,
    Kick,
    ListReports,
    Rename,
    Reports,
    SetWords,
    Status,
    Survey,
)
from samedeal.protocol.messages import (
    Begin,
    Begun,
    Create,
    Created,
    Done,
    Join,
    ListRecords,
    Notice,
    ReadRecord,
    Records,
    Rematch,
    Report,
    Resign,
    Start,
)
from samedeal.protocol_codes import CloseCode
from samedeal.record import Record
from samedeal_link.session.race_audit import audit_race
from samedeal_link.session.room_client import RoomClient
from samedeal_server.config.config import Config
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.operators.backup import Writer
from samedeal_server.operators.personal_data import PersonalData
from samedeal_server.process.open_store import open_store
from samedeal_server.process.restore import restore
from samedeal_server.races.race_record import race_id
from samedeal_server.rooms.race_records import keep_record
from samedeal_server.store import keys
from samedeal_server.store.news import MOST_REPORTS
from samedeal_server.telemetry.metrics import Metrics
from tests.server.captured_log import Log
from tests.server.client import Client
from tests.server.live_nodes import Node, NodeMaker, RedisClient
from tests.server.operator_client import TOKEN, Operator
from tests.server.races import finish, kept, race, read, seated
from tests.server.real_clients import connected, end_race
from tests.server.waiting import until
from tests.server.windows import drawn, opened
from tests.shared.javascript import needs_node, verdicts_on

MODERATOR = "the token of the moderators"


@pytest.fixture
async def operator(one: Node) -> Operator:
    return await Operator.login(one.url)


@pytest.fixture
async def one(node: NodeMaker) -> Node:
    return await node(token=TOKEN)


@pytest.fixture
async def two(node: NodeMaker) -> Node:
    return await node(token=TOKEN)


async def export(operator: Operator, player: str) -> Any:
    number, text = await operator.send(Export, player=player), b""
    while isinstance(answer := await operator.answer(number), BackupPart):
        text += answer.data
    assert isinstance(answer, Done), answer
    return json.loads(text)


async def test_words_are_forbidden_on_all_nodes(one: Node, two: Node, operator: Operator) -> None:
    """Whoever has a seat or a room keeps it. A wrong list changes nothing."""
    rude = await two.player("Bad Wörd")
    await rude.join(await rude.create("wordy"))
    await operator.expect(Done, SetWords, words="# ours\nwörd\nbadroom\n")
    late = await two.player("B4d WÖRD 7")

    async def is_refused() -> bool:
        answer = await late.ask(Join, room="wordy")
        return getattr(answer, "code", "") == "malformed"

    await until(is_refused)
    await late.refused("malformed", Create, room="badroom-1", options=WantedOptions())
    assert isinstance(await late.ask(Create, room="goodroom", options=WantedOptions()), Created)
    back = await Client.hello(two.url, "Bad Wörd", rude.session)
    await back.join("wordy")
    await operator.refused("bad_words", SetWords, words="fine\n?\n")
    await late.refused("malformed", Join, room="goodroom")
    await operator.expect(Done, SetWords, words="")
    await until(lambda: not two.rooms.words.forbids("wörd"))
    await late.join("goodroom")


async def test_random_room_code_has_no_forbidden_word(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = iter(("badwrd", "goodie"))
    monkeypatch.setattr("samedeal_server.rooms.room_creation.room_code", lambda _: next(codes))
    one.rooms.words = type(one.rooms.words)("badwrd")
    assert await (await one.player()).create() == "goodie"


async def test_report_reaches_the_operator_and_harms_nobody(one: Node, two: Node, operator: Operator) -> None:
    ana, bob = await seated(one, two, room="friday", players=3)
    await (watcher := await one.player("wim")).watch("friday")
    await watcher.expect(Done, Report, player=bob.player)
    await bob.expect(Done, Report)
    shown = [(each.player, each.name, each.reporter) for each in (await operator.expect(Reports, ListReports)).reports]
    assert shown == [("", "friday", bob.player), (bob.player, "bob", watcher.player)]
    assert len((await one.rooms.load("friday")).race.racers) == 2
    await ana.refused("no_seat", Report, player=ana.player)
    await ana.refused("no_seat", Report, player="nobody")
    await (await one.player("olga")).refused("no_seat", Report)


async def test_reports_of_an_address_are_limited_on_all_nodes(
    one: Node, two: Node, operator: Operator, redis: RedisClient
) -> None:
    """What a player reports twice in one millisecond is one report."""
    ana, bob = await seated(one, two, room="friday")
    for at in range(MOST_REPORTS):
        await (ana, bob)[at % 2].expect(Done, Report)
    await ana.refused("too_many_reports", Report)
    reports = (await operator.expect(Reports, ListReports)).reports
    assert {report.reporter for report in reports} == {ana.player, bob.player}
    (counter,) = await redis.keys(keys.reported("*"))
    assert 0 < await redis.ttl(counter) <= 3600


async def test_player_renamed_in_the_open_room_races_under_the_new_name(
    one: Node, two: Node, operator: Operator
) -> None:
    """All hashes have it, so the race is fair for everybody. The player keeps it in the rematch, and after leaving."""
    options: dict[str, Any] = {"games": ("ace-of-hearts",), "deal": "winnable", "countdown": 1}
    async with connected(one, two, names=("ana", "bob"), room="friday", **options) as (ana, bob):
        await operator.refused("name_taken", Rename, room="friday", player="bob", name="Ana")
        await operator.expect(Done, Rename, room="friday", player="BOB", name="Other Name")
        await operator.expect(Done, Rename, room="friday", player="other name", name="Kind Name")
        await until(lambda: names_in(ana) == names_in(bob) == ["ana", "Kind Name"])
        await ana.start()
        await end_race(ana, bob)
        for client in (ana, bob):
            verdict = (await audit_race(client, lambda _: None)).verdict
            assert (verdict.kind, verdict.rows) == ("fair", {}) if verdict is not None else verdict
        record = Record.parse((await ana.read_record("friday")).decode())
        assert record.proof is not None
        assert [each.name for each in record.proof.shares] == ["ana", "Kind Name"]
        room = await bob.rematch()
        for _ in range(2):
            await bob.join(room)
            await until(lambda: bob.model.is_in(room) and names_in(bob) == ["Kind Name"])
            await bob.leave()
    assert "bob" not in str(record)


def names_in(client: RoomClient) -> list[str]:
    return [seat.name for seat in client.model.this_room.players]


async def test_player_renamed_later_keeps_the_name_in_hashes(one: Node, two: Node, operator: Operator) -> None:
    """Others are shown another one, and their verdict says so. In the rematch it is the name of the player."""
    async with connected(one, two, names=("ana", "bob"), room="friday", games=("athena",), countdown=0) as (ana, bob):
        await ana.start()
        await until(lambda: bob.model.board)
        await operator.expect(Done, Rename, room="friday", player="bob", name="Kind Name")
        await until(lambda: names_in(ana) == ["ana", "Kind Name"])
        await end_race(ana, bob)
        for client, rows in ((ana, ["replaced_name"]), (bob, [])):
            assert [*(await audit_race(client, lambda _: None)).verdict.rows] == rows  # type: ignore[union-attr]
        assert names_in(bob) == ["ana", "bob"]
        assert {line.name for line in ana.model.this_room.standings} == {"ana", "Kind Name"}
        room = await bob.rematch()
        await bob.join(room)
    racers = (await one.rooms.load(room)).race.racers
    assert [(racer.name, racer.shown) for racer in racers] == [("Kind Name", "")]
    assert (await export(operator, "kind name"))["player"] == racers[0].player


async def test_renamed_player_is_told(one: Node, two: Node, operator: Operator) -> None:
    """Others are shown the name."""
    ana, bob = await seated(one, two, room="friday", games=("athena",), countdown=0)
    await operator.expect(Done, Rename, room="friday", player="bob", name="Kind Name")
    given = await bob.until(Notice)
    await ana.expect(Done, Start)
    await bob.dealt()
    await operator.expect(Done, Rename, room="friday", player="kind name", name="Other Name")
    shown = await bob.until(Notice)
    assert (given.code, shown.code) == ("renamed", "renamed")
    assert "Kind Name" in given.message
    assert "Other Name" in shown.message
    await ana.state(lambda state: [seat.shown for seat in state.players] == ["", "Other Name"])
    assert not any(isinstance(message, Notice) for message in ana.inbox)


@pytest.mark.parametrize("name", ["\x1b", "The Server", "Biscuit"])
async def test_player_is_not_renamed_to_what_is_no_name(one: Node, operator: Operator, name: str) -> None:
    await seated(one, room="friday")
    await operator.refused("malformed", Rename, room="friday", player="bob", name=name)
    await operator.refused("no_player", Rename, room="friday", player="cid", name="x")
    assert [racer.name for racer in (await one.rooms.load("friday")).race.racers] == ["ana", "bob"]


async def test_kicked_racer_is_not_said_to_have_resigned(one: Node, operator: Operator) -> None:
    """The kick is told first: otherwise an honest server would seem to resign for the player."""
    async with connected(one, names=("ana", "bob"), room="friday", games=("athena",), countdown=0) as (ana, bob):
        await ana.start()
        await until(lambda: bob.model.board)
        await operator.expect(Done, Kick, room="friday", player="bob")
        known = bob.link.witness
        await until(lambda: known.evidence.is_kicked)
        assert known.evidence.found == {}


async def test_renamed_winner_is_listed_by_the_other_name(one: Node, operator: Operator) -> None:
    (ana,) = await race(one, names=["ana"], players=1)
    await operator.expect(Done, Rename, room=ana.room, player="ana", name="Kind")
    await finish(ana)
    await kept(ana, ana.room)
    assert [line.winner for line in (await ana.expect(Records, ListRecords)).records] == ["Kind"]


async def test_deleted_record_is_not_made_again(one: Node, operator: Operator) -> None:
    ana, bob = await race(one)
    await finish(ana, bob)
    await kept(ana, ana.room)
    (line,) = (await ana.expect(Records, ListRecords)).records
    await operator.expect(Done, DeleteRecord, race=line.race)
    await one.rooms.tick(ana.room)
    await ana.refused("no_record", ReadRecord, race=line.race)
    await ana.refused("no_record", ReadRecord, race=ana.room)
    other = await one.player("olga")
    await until(lambda: lists_no_record(other))
    for each in (line.race, "nonsense"):
        await operator.refused("no_record", DeleteRecord, race=each)


async def lists_no_record(client: Client) -> bool:
    return not (await client.expect(Records, ListRecords)).records


async def test_forgotten_player_leaves_no_name(
    one: Node, two: Node, operator: Operator, redis: RedisClient, tmp_path: Path
) -> None:
    """A record with a removed name plays again, but nobody can check it. What others did stays."""
    ana, bob = await race(one, two, names=("ana", "Unusual Name"), games=("athena",), room="friday")
    await ana.acts(3)
    await bob.acts(5)
    await finish(ana, bob)
    before = await kept(ana, "friday")
    answer = await operator.expect(Forgotten, Forget, target="unusual name")
    assert (answer.players, answer.records) == ((bob.player,), 1)
    after = Record.read(await read(ana, "friday"))
    assert "Unusual Name" not in str(after)
    assert [player.name for player in after.players] == ["ana", removed_name(2)]
    assert [player.actions for player in after.players] == [player.actions for player in before.players]
    assert after.plays(after.players[1])[-1] == before.plays(before.players[1])[-1]
    with pytest.raises(DealNotCheckable):
        after.check()
    room = (await one.rooms.load("friday")).race
    assert [racer.shown for racer in room.racers] == ["", removed_name(2)]
    named = [key async for key in redis.scan_iter("samedeal:*") if bob.player.encode() in key]
    assert all(key.startswith(b"samedeal:{friday}:") for key in named)
    assert bob.player.encode() not in [await redis.get(key) for key in await redis.keys(keys.session("*"))]
    again = await operator.expect(Forgotten, Forget, target=bob.player)
    assert again.records == 0
    await operator.refused("no_player", Forget, target="f" * 20)
    await operator.refused("no_player", Forget, target="203.0.113.9")


async def test_address_is_forgotten_with_all_its_players(one: Node, operator: Operator) -> None:
    ana, bob = await race(one, room="friday")
    answer = await operator.expect(Forgotten, Forget, target="127.0.0.1")
    assert {*answer.players} == {ana.player, bob.player}
    state = await ana.state(lambda state: all(seat.shown for seat in state.players))
    assert [seat.shown for seat in state.players] == [removed_name(1), removed_name(2)]
    await ana.acts(2)  # the race goes on
    assert not any(isinstance(message, Notice) for message in (*ana.inbox, *bob.inbox))
    await finish(ana, bob)
    record = await kept(ana, "friday")
    assert all(player.first_head for player in record.players)


async def test_forgotten_player_has_no_seat_in_an_open_room(one: Node, operator: Operator) -> None:
    """Nobody waits for them, and nothing of them is exported any more."""
    ana, bob = await seated(one, room="friday")
    await operator.expect(Forgotten, Forget, target=bob.player)
    state = await ana.state(lambda state: len(state.players) == 1)
    assert state.players[0].player == ana.player
    assert await bob.closed() == CloseCode.RESTART
    with pytest.raises(AssertionError, match="no_session"):
        await one.player("bob", session=bob.session)
    assert (await export(operator, bob.player))["rooms"] == []


@needs_node
async def test_verdict_after_a_removed_name_is_unsure(one: Node, operator: Operator, tmp_path: Path) -> None:
    """Neither language calls the race unfair, nor fair. The proof says the same."""
    options: dict[str, Any] = {"games": ("ace-of-hearts",), "deal": "winnable", "countdown": 1}
    async with connected(one, names=("ana", "bob"), room="friday", **options) as (ana, bob):
        await ana.start()
        await end_race(ana, bob)
        await until(lambda: one.store.records.newest_of("friday"))
        await PersonalData(one.store).forget([bob.link.player])
        await until(lambda: ana.model.this_room.players[1].name == removed_name(2))
        verdict = (await audit_race(ana, lambda _: None)).verdict
        text = (await ana.read_record("friday")).decode()
    assert verdict is not None
    assert (verdict.kind, *verdict.rows) == ("unsure", "replaced_name", "not_checkable")
    assert "name" in verdict.sentence
    proof = str(Record.parse(text).proof)
    assert "bob" not in text
    with pytest.raises(DealNotCheckable):
        DealProof.parse(proof).check()
    for shown in await asyncio.to_thread(verdicts_on, [text, proof], tmp_path):
        assert "removed a name" in shown, shown


async def test_actions_of_a_removed_name_keep_their_hashes(one: Node) -> None:
    (ana,) = await race(one, names=["ana"], players=1, deal="1")
    await ana.acts(2)
    await finish(ana)
    removed = (await kept(ana, ana.room)).without_names([1])
    assert Record.parse(str(removed)) == removed
    (action,) = {line for line in str(removed).splitlines() if line.endswith(removed.players[0].actions[1][1])}
    with pytest.raises(BadRecord):
        Record.parse(str(removed).replace(action, f"9{action}"))


async def test_names_are_removed_again_after_a_restore(
    one: Node, operator: Operator, redis: RedisClient, tmp_path: Path
) -> None:
    """The backup is older than the wish to be forgotten, which the store that it replaces knows."""
    ana, bob = await race(one, games=("athena",), room="friday")
    await finish(ana, bob)
    await kept(ana, "friday")
    await race(one, names=("cid", "dan"), room="monday")
    parts = b"".join([part async for part in Writer(one.store).parts(1 << 20)])
    await asyncio.to_thread((tmp_path / "backup").write_bytes, parts)
    config = Config(data=tmp_path / "data", durability="everysec")
    (dan,) = [racer.player for racer in (await one.rooms.load("monday")).race.racers if racer.name == "dan"]
    async with EmbeddedRedis(config.data, "everysec") as url, open_store(url, 0, Metrics()) as store:
        await PersonalData(store).forget([bob.player, dan])
    await restore(tmp_path / "backup", config, replace=True)
    async with EmbeddedRedis(config.data, "everysec") as url, open_store(url, 0, Metrics()) as store:
        ((race_id, _),) = await store.records.players()
        assert b"bob" not in await store.records.text(race_id)
        (monday,) = await store.load_races(["monday"])
        assert monday is not None
        assert [racer.shown for racer in monday.racers] == ["", removed_name(2)]
        assert await store.records.all_removed() == {bob.player, dan}


async def test_deleted_record_does_not_return_with_a_backup(one: Node, tmp_path: Path) -> None:
    ana, bob = await race(one)
    await finish(ana, bob)
    await kept(ana, ana.room)
    parts = b"".join([part async for part in Writer(one.store).parts(1 << 20)])
    await asyncio.to_thread((tmp_path / "backup").write_bytes, parts)
    config = Config(data=tmp_path / "data", durability="everysec")
    left = []
    for _ in range(2):
        await restore(tmp_path / "backup", config, replace=True)
        async with EmbeddedRedis(config.data, "everysec") as url, open_store(url, 0, Metrics()) as store:
            left.append([race_id for race_id, _ in await store.records.players()])
            for race_id in left[0]:
                await store.records.delete(race_id)
    assert [len(each) for each in left] == [1, 0]


async def test_record_that_was_deleted_is_not_made_after_a_restore(one: Node) -> None:
    """The backup is older than the end of the race, so the race ends once more."""
    ana, bob = await race(one)
    identity = race_id((await one.rooms.load(ana.room)).race)
    await PersonalData(one.store).remove_again({identity})
    await finish(ana, bob)
    ended, rooms = (await one.rooms.load(ana.room)).race, one.rooms
    await until(lambda: keep_record(rooms.duties, rooms.store, rooms.limits, rooms.metrics, ended))
    await ana.refused("no_record", ReadRecord, race=identity)
    assert await one.store.records.all_removed() == {identity}


async def test_no_name_is_nobody(one: Node, operator: Operator) -> None:
    """Most players are shown by no other name, which is empty."""
    await seated(one, names=("ana",), room="friday")
    await operator.refused("no_player", Export, player=" ")
    await operator.refused("no_player", Forget, target="")
    await operator.refused("no_player", Rename, room="friday", player="", name="x")
    await operator.refused("no_player", Kick, room="friday", player="")
    (ana,) = (await one.rooms.load("friday")).race.racers
    assert (ana.name, ana.shown) == ("ana", "")


async def test_export_has_nothing_of_others(one: Node, two: Node, operator: Operator) -> None:
    """Nor a seed of a race that is under way."""
    names = ("Anastasia", "Bartholomew")
    first = await race(one, two, names=names, games=("athena",), room="friday")
    await first[0].acts(3)
    await finish(*first)
    await kept(first[0], "friday")
    room = (await first[0].expect(Created, Rematch)).room
    for client in first:
        await client.join(room)
    await first[1].expect(Done, Report, player=first[0].player)
    secret = await one.secret(room)
    found = await export(operator, "anastasia")
    text = json.dumps(found)
    assert found["player"] == first[0].player
    assert "Bartholomew" not in text
    assert first[1].player not in text
    assert secret.deal.seed.hex() not in text
    assert sum(line[:1].isdigit() for line in found["records"][0]["lines"]) == 3
    assert {seat["room"] for seat in found["rooms"]} == {"friday", room}
    assert found["reported"][0]["room"] == room
    assert found["last_connection"][0]["address"] == "127.0.0.1"
    number = await operator.send(Export, player="nobody")
    assert (await operator.answer(number)).code == "no_player"
    other = await one.player("Anastasia")
    await other.join(await other.create("monday"))
    refusal = await operator.refused("many_players", Export, player="Anastasia")
    assert first[0].player in refusal.message


async def test_export_tells_no_rival_of_an_attempt_before_the_end(one: Node, operator: Operator) -> None:
    """A moderator may race too, and an open window tells nothing."""
    ana, bob = [await one.player(name) for name in ("ana", "bob")]
    room = await opened(ana)
    for client in (ana, bob):
        await client.join(room)
    await ana.state(lambda state: len(state.players) == 2)
    await drawn(ana, bob)
    await bob.expect(Begun, Begin)
    await bob.dealt()
    unplayed = await export(operator, "ana")
    await bob.acts(3)
    await bob.expect(Done, Resign)
    (seat,) = (await export(operator, "bob"))["rooms"]
    (other,) = unplayed["rooms"]
    assert {*seat} == {*other} == {"room", "seat", "table"}
    assert {*seat["seat"]} == {*other["seat"]}, "nothing says that the attempt has ended"
    await ana.expect(Begun, Begin)
    await ana.expect(Done, Resign)
    await ana.phase("finished")
    (seat,) = (await export(operator, "bob"))["rooms"]
    assert (len(seat["actions"]), seat["seat"]["resigned"]) == (3, True)


async def test_export_has_what_a_series_keeps_of_somebody_who_left(one: Node, operator: Operator) -> None:
    ana, bob = await race(one, games=("athena",), series=2, room="friday")
    await finish(ana, bob)
    room = (await ana.expect(Created, Rematch)).room
    await ana.join(room)
    found = {each["room"]: each for each in (await export(operator, bob.player))["rooms"]}
    assert found[room]["seat"] is None
    assert [line["name"] for line in found[room]["table"]] == ["bob"]


async def test_moderator_may_send_only_the_allowed_requests(node: NodeMaker, log: Log, tmp_path: Path) -> None:
    """Every use of the token is logged. A new token needs no restart, and ends the use of the old one."""
    log.set_up()
    file = tmp_path / "token"
    file.write_text(MODERATOR)
    allowed = ("status", "listreports", "rename")
    one = await node(token=TOKEN, moderator_token_file=str(file), moderator_requests=allowed)
    moderator = await Operator.login(one.url, MODERATOR)
    await moderator.expect(Survey, Status)
    await moderator.expect(Reports, ListReports)
    for kind, fields in ((SetWords, {"words": ""}), (Drain, {}), (Export, {"player": "ana"})):
        await moderator.refused("not_allowed", kind, **fields)
    _, answer = await moderator.back_up()
    assert getattr(answer, "code", "") == "not_allowed"
    for request, outcome in (("status", "done"), ("setwords", "not_allowed"), ("backup", "not_allowed")):
        assert log.named("admin_request", role="moderator", request=request, outcome=outcome, level="info")
    file.write_text("another token of theirs")
    assert one.built.apply(one.built.config)
    await moderator.send(Status)
    assert await moderator.closed() == CloseCode.NOT_LOGGED_IN
    await Operator.login(one.url, "another token of theirs")
    await Operator.login(one.url)


async def test_token_can_come_without_a_restart(node: NodeMaker) -> None:
    one = await node()
    one.built.apply(replace(one.built.config, admin_token=TOKEN))
    await Operator.login(one.url)
