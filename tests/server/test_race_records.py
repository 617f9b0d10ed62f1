"""Records of finished races: any node makes them, their number is limited, and not everybody may read each of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from samedeal.deal_proof import DealProof, LostShare, RevealedShare
from samedeal.games import GAMES
from samedeal.joint_deal import DealTerms
from samedeal.moves import Move
from samedeal.options import LONGEST_LIMIT
from samedeal.protocol.messages import ListRecords, ReadRecord, Records
from samedeal.protocol.messages import Refused as Refusal
from samedeal.race.values import MOST_ACTIONS
from samedeal.record import LARGEST_RECORD, Record, RecordedPlayer
from samedeal.solver.solve import SOLVER
from samedeal_server.config.limits import Limits
from samedeal_server.rooms import cached_value
from samedeal_server.store import keys, records
from samedeal_server.store.dump import KeyDump
from tests.server.live_nodes import PLENTY, Node, NodeMaker, RedisClient
from tests.server.races import finish, kept, race, read
from tests.shared.recorded import START, terms_of


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached_value, "LIST_LIFETIME", 0.0)


async def test_finished_race_has_a_record(node: NodeMaker, redis: RedisClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PART_BYTES", 100)
    one, two = await node(), await node()
    ana, bob = await race(one, two, games=("athena",), undo="free")
    acks = [*(await ana.acts(6)), await ana.act("undo")]
    await bob.acts(3)
    await ana.refused("no_record", ReadRecord, race=ana.room)
    await finish(ana, bob)
    record = await kept(ana, ana.room)
    record.check()
    assert [(player.name, len(player.actions), player.resigned) for player in record.players] == [
        ("ana", 7, True),
        ("bob", 3, True),
    ]
    assert [time for time, _ in record.players[0].actions] == [ack.time - record.start for ack in acks]
    (line,) = (await (await two.player("carl")).expect(Records, ListRecords)).records
    assert (line.room, line.players, line.ended) == (ana.room, 2, record.end)
    assert line.size == len(await read(bob, line.race))
    await ana.refused("no_record", ReadRecord, race=line.race, part=1000)
    dumped = {dumped.key.decode() async for dumped in KeyDump(one.store).other_keys()}
    assert {keys.RECORDS, keys.record(line.race), keys.last_record(line.room)} <= dumped  # so a backup has the records
    # Another node that finds the finished race changes nothing, and builds what is missing.
    await two.rooms.tick(ana.room)
    assert one.metric("records_total", outcome="kept") + two.metric("records_total", outcome="kept") >= 1
    await redis.delete(keys.record(line.race))
    await two.rooms.tick(ana.room)
    assert Record.read(await read(bob, line.race)) == record


async def test_record_needs_the_moves_of_the_standings(one: Node, redis: RedisClient) -> None:
    """If Redis has lost or won moves since the end, a record of this end would contradict itself."""
    ana, bob = await race(one, games=("athena",))
    await bob.acts(3)
    await finish(ana, bob)
    record = await kept(ana, ana.room)
    (key,) = await redis.keys(keys.record(f"{ana.room}.*"))
    log = keys.log(bob.room, bob.player)
    entries = await redis.xrange(log)
    for broken in (entries[:2], [*entries, (b"4-0", entries[2][1])], entries):
        await redis.delete(key, log)
        for id_, fields in broken:
            await redis.xadd(log, fields, id=id_)
        await one.rooms.tick(ana.room)
        assert await redis.exists(key) == (broken is entries)
    assert await kept(ana, ana.room) == record


async def test_oldest_records_are_deleted(node: NodeMaker, redis: RedisClient) -> None:
    one = await node(replace(PLENTY, records=2))
    races = []
    for _ in range(3):
        ana, bob = await race(one, players=2)
        await finish(ana, bob)
        await kept(ana, ana.room)
        races.append(ana.room)
    found = (await (await one.player()).expect(Records, ListRecords)).records
    assert [line.room for line in found] == races[:0:-1]
    assert await redis.keys(keys.record(f"{races[0]}.*")) == []
    for line in found:
        assert 0 < await redis.ttl(keys.record(line.race)) <= 30 * 86_400


async def test_private_record_needs_a_seat_or_the_passphrase(one: Node) -> None:
    (ana,), eve = await race(one, names=["ana"], passphrase="open sesame", players=1), await one.player("eve")
    await finish(ana)
    await kept(ana, ana.room)
    await eve.refused("bad_passphrase", ReadRecord, race=ana.room)
    await eve.refused("bad_passphrase", ReadRecord, race=ana.room, passphrase="open barley")
    Record.read(await read(eve, ana.room, passphrase="open sesame")).check()
    assert (await eve.expect(Records, ListRecords)).records == ()


async def test_record_without_spectators_is_for_players(one: Node) -> None:
    ana, bob = await race(one, spectators=False)
    await finish(ana, bob)
    assert (await kept(bob, ana.room)).entrants == 2
    eve = await one.player("eve")
    await eve.refused("no_spectators", ReadRecord, race=ana.room)
    assert (await eve.expect(Records, ListRecords)).records == ()


async def test_no_records_are_kept_if_the_operator_says_so(node: NodeMaker) -> None:
    one = await node(replace(PLENTY, records=0))
    ana, bob = await race(one)
    await finish(ana, bob)
    await one.rooms.tick(ana.room)
    await ana.refused("no_record", ReadRecord, race=ana.room)


async def test_unknown_race_has_no_record(one: Node) -> None:
    ana = await one.player("ana")
    for unknown in ("", "a room", "../secret", "friday.20261122-140543", "friday.2026", "x" * 48):
        answer = await ana.ask(ReadRecord, race=unknown)
        assert isinstance(answer, Refusal)
        assert answer.code in ("no_record", "malformed")


@pytest.mark.parametrize("seats", [1, 4, 64])
def test_longest_record_of_a_race_can_be_kept(seats: int) -> None:
    """All actions that a race allows, each with the longest text, and players with the longest names."""
    game = GAMES["spider"]
    columns = [key for key in game.keys if len(key) == 1][-2:]
    end = 1000 * LONGEST_LIMIT
    actions = ((end, f"{' '.join(columns)} x12"),) * min(Limits().actions_per_race, MOST_ACTIONS // seats)
    faces = "\N{GRINNING FACE}" * 8
    names = [f"{seat:02} {faces}" for seat in range(1, seats + 1)]
    players = tuple(
        RecordedPlayer(seat, name, seat, 103, actions, bot=True, resigned=True) for seat, name in enumerate(names, 1)
    )
    shares = tuple(RevealedShare(seat, name, bytes(32), bytes(32)) for seat, name in enumerate(names, 1))
    lost = tuple(LostShare(draw, seat, "silent", name) for draw in range(1, 6) for seat, name in enumerate(names, 1))
    search = DealTerms("friday", game, SOLVER, 999_999_999)
    terms = terms_of("spider", "winnable", limit=LONGEST_LIMIT)
    line = (Move.parse(actions[0][1]),) * 999
    proof = DealProof(search, terms.digest, bytes(32), bytes(32), 5, lost, shares, 999_999_999, line)
    record = Record(terms, bytes(32), START, START + end, b"", seats, players, proof)
    assert len(str(record).encode()) <= LARGEST_RECORD
