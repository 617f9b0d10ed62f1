"""The rooms of a tide race one deal, which the players of all of them draw together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from samedeal.deal_proof import DealProof
from samedeal.protocol.messages import Act, DeclareStuck, Done, Notice, RaceNow, Resign, RoomState, Watch
from samedeal.protocol_codes import NoticeCode
from samedeal.record import Record
from samedeal_client.net.race_audit import audit_race
from samedeal_client.net.room_client import RoomClient
from samedeal_client.state.deal_check import DealCheck
from samedeal_server.races import race as race_module
from samedeal_server.rooms import tide_rooms
from samedeal_server.rooms.tide_tables import tide_table
from tests.server.live_nodes import Node, NodeMaker
from tests.server.races import kept
from tests.server.real_clients import connect_player
from tests.server.tides import GAME, PROXY, drawn, enter, person, place_cards, soon, start_at_any_time
from tests.server.waiting import until
from tests.shared.javascript import NODE, verdicts_on


@pytest.fixture(autouse=True)
def _any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    start_at_any_time(monkeypatch)


@pytest.fixture
def _small_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let two players race in each room, and give them little time to draw."""
    monkeypatch.setattr(tide_rooms, "MAX_PLAYERS", 2)
    monkeypatch.setattr(race_module, "SHARE_TIMEOUT", 1_500)


def state_of(client: RoomClient) -> RoomState:
    assert client.model.room is not None
    return client.model.room


async def real_player(stack: AsyncExitStack, node: Node, name: str, start: int) -> RoomClient:
    client = await connect_player(stack, node, name)
    created = await client.link.request(RaceNow(id=0, game=GAME, tide=start))
    room: str = created.room  # type: ignore[union-attr]  # it is not refused
    await client.join(room)
    await until(lambda: client.model.is_in(room))
    return client


async def fair_proof(client: RoomClient) -> DealProof:
    """Wait for the end of the race, and return the proof that the client calls fair."""
    await until(lambda: state_of(client).phase == "finished")
    verification = (await audit_race(client, lambda _: None)).verification
    assert verification is not None
    assert verification.check is DealCheck.PROOF_AND_CARDS, verification.sentence
    return DealProof.parse(state_of(client).proof)


async def dealt(*clients: RoomClient) -> None:
    for client in clients:
        await until(lambda client=client: client.model.board is not None)  # type: ignore[misc]  # bound at once


def assert_same_deal(proofs: Sequence[DealProof], rooms: int) -> None:
    assert len({proof.mixed for proof in proofs}) == len({proof.candidate for proof in proofs}) == 1
    for proof in proofs:
        assert len({room.room for room in proof.rooms}) == rooms
        proof.check()


async def test_forty_players_in_three_rooms_race_one_deal(node: NodeMaker, tmp_path: Path) -> None:
    """The results come when all rooms are done, with one table, and both checkers find the record right."""
    nodes = [await node(**PROXY), await node(**PROXY)]
    start = await soon(nodes[0], 8_000)
    async with AsyncExitStack() as stack:
        people = [await person(nodes[number % 2], number) for number in range(37)]
        rooms = list(await asyncio.gather(*(enter(client, start) for client in people)))
        real = [await real_player(stack, nodes[number % 2], f"real{number}", start) for number in range(3)]
        rooms += [state_of(client).room for client in real]
        assert sorted(map(rooms.count, set(rooms))) == [8, 16, 16]
        await drawn(*people)
        await dealt(*real)
        assert len({client.play.board.state_hash() for client in people}) == 1
        assert len({client.model.deal_words for client in real}) == 1
        assert len({state_of(client).starts for client in real}) == 1
        await place_cards(people[20], 2)

        last = rooms.index(rooms[-1])
        elsewhere = next(room for room in rooms if room != rooms[-1])
        again = await person(nodes[0], last, session=people[last].session)
        await again.refused("racing", Watch, room=elsewhere)  # a racer would see the own cards there
        for number, client in enumerate(people):
            if rooms[number] != rooms[-1]:
                await client.expect(Done, Resign)
        done = next(client for number, client in enumerate(people) if rooms[number] != rooms[-1])
        await done.until(Notice, lambda notice: notice.code == NoticeCode.ENDING)
        assert not any(state_of(each).proof for each in real)  # the cards of the others must stay hidden
        for number, client in enumerate(people):
            if rooms[number] == rooms[-1]:
                await client.expect(Done, Resign)
        await asyncio.gather(*(client.resign() for client in real))
        proofs = [await fair_proof(client) for client in real]
        assert_same_deal(proofs, 3)
        record = await kept(people[last], rooms[-1])
    record.check()
    assert Record.parse(str(record)) == record
    table = await tide_table(nodes[0].store, GAME, start)
    assert len({line.deal for line in table}) == 1
    assert all(line.place == line.deal_place for line in table)
    if NODE is not None:
        (verdict,) = await asyncio.to_thread(verdicts_on, [str(record)], tmp_path, "--deep")
        assert verdict.startswith("holds: "), verdict


@pytest.mark.usefixtures("_small_rooms")
async def test_player_who_does_not_reveal_lets_all_rooms_draw_again(node: NodeMaker, tmp_path: Path) -> None:
    one = await node(**PROXY)
    start = await soon(one)
    async with AsyncExitStack() as stack:
        bob, cid = [await real_player(stack, one, name, start) for name in ("bob", "cid")]
        ana, dan = await person(one, 1), await person(one, 2)
        rooms = [await enter(client, start) for client in (ana, dan)]
        assert rooms == [state_of(client).room for client in (bob, cid)]
        for client in (ana, dan):
            await client.phase("countdown")
            await client.commit()
        await asyncio.gather(ana.sealed(), dan.sealed())
        await dan.reveal()
        told = await dan.until(Notice, lambda notice: notice.code == NoticeCode.UNSEATED)
        assert f"p1 (room {rooms[0]})" in told.message
        await dan.state(lambda state: state.draw == 2)
        await dan.take_part(2)
        await dealt(bob, cid)
        assert [(lost.draw, lost.name, lost.room) for lost in state_of(cid).elsewhere] == [(1, "p1", rooms[0])]
        play = await dan.dealt()
        await dan.expect(Done, DeclareStuck)
        await cid.resign()
        await dan.until(Notice, lambda notice: notice.code == NoticeCode.ENDING)
        move = str(play.board.legal_moves()[0])
        await dan.refused("time_up", Act, revision=0, action=move)  # a room that is over waits for the others
        await bob.resign()
        proofs = [await fair_proof(client) for client in (bob, cid)]
        assert_same_deal(proofs, 2)
        assert [proof.draw for proof in proofs] == [2, 2]
        assert [bool(proof.elsewhere) for proof in proofs] == [False, True]
        assert bob.model.deal_words == cid.model.deal_words != ""
    if NODE is not None:
        (verdict,) = await asyncio.to_thread(verdicts_on, [str(proofs[1])], tmp_path)
        assert verdict.startswith("holds: ")


@pytest.mark.usefixtures("_small_rooms")
async def test_rooms_go_on_when_a_node_dies_between_seal_and_reveal(
    node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(race_module, "SHARE_TIMEOUT", 20_000)
    one, two = await node(), await node()
    ana, bob = await one.player("ana"), await two.player("bob")
    start = await soon(one)
    assert await enter(ana, start) != await enter(bob, start)
    await asyncio.gather(ana.phase("countdown"), bob.phase("countdown"))
    await ana.commit()
    await one.stop_tasks()
    one.rooms.hubs[ana.room].stop()
    await ana.abort()
    await bob.commit()
    again = await two.player("ana", ana.session)
    await again.join(ana.room)
    for client in (again, bob):
        assert len((await client.sealed()).rooms) == 1
        await client.reveal()
    boards = [await client.dealt() for client in (again, bob)]
    assert boards[0].board == boards[1].board
