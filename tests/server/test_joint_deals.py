"""Races with joint deals: real nodes and real workers."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

import pytest
from redis.asyncio import Redis

from samedeal.deal_proof import DealProof
from samedeal.difficulty import SEARCH_BUDGET, states_of
from samedeal.errors import RequestRefused
from samedeal.joint_deal import won_candidates
from samedeal.options import Options
from samedeal.protocol.codec import decode_to_client
from samedeal.protocol.messages import CommitShare, Done, Drawn, Notice, RevealShare, RoomState, Start
from samedeal.protocol_codes import CloseCode
from samedeal.race import draws
from samedeal.race.draws import mixed
from samedeal.record import Record
from samedeal.terms import RoomTerms
from samedeal_link.session.race_audit import audit_race
from samedeal_link.session.room_client import RoomClient
from samedeal_server.solving.pool import SolverPool
from samedeal_server.solving.worker import Candidate, winning_line
from samedeal_server.store import keys
from tests.chaos.processes import Node as NodeProcess
from tests.server.captured_log import Log
from tests.server.client import DEADLINE, Client
from tests.server.live_nodes import Node, NodeMaker
from tests.server.races import finish, seated
from tests.server.real_clients import connect_player
from tests.server.waiting import until
from tests.shared.javascript import NODE, verdicts_on
from tests.shared.joint_deals import DAILY, joint_deal, public_deal, some_bytes

NAMES = ("ana", "bob", "cid", "dan")
QUICK: dict[str, Any] = {"games": ("ace-of-hearts",), "deal": "winnable"}
SHARE = some_bytes("a share")
EASY_SECRETS = {252: 2, 133: 2, 80: 2}
"""Bytes with the number of the candidate that is dealt if the secret consists of this byte, and all shares of zeros.

The solver needs less than 500 states for each of them.
"""


@asynccontextmanager
async def connected(
    *nodes: Node, names: tuple[str, ...], room: str = "", **options: Any
) -> AsyncIterator[tuple[RoomClient, ...]]:
    """Real clients with seats in a room, on one node after the other. The first one is the host."""
    async with AsyncExitStack() as stack:
        clients = [await connect_player(stack, nodes[at % len(nodes)], name) for at, name in enumerate(names)]
        room = await clients[0].create(Options(**options), room)
        for client in clients:
            await client.join(room)
            await until(lambda client=client: client.model.is_in(room))  # type: ignore[misc]  # bound at once
        yield tuple(clients)


def state(client: RoomClient) -> RoomState:
    assert client.model.room is not None
    return client.model.room


async def finished(*clients: RoomClient) -> DealProof:
    """Wait until all clients have the cards, end their race, and return the proof that all of them got."""
    for client in clients:
        await until(lambda client=client: client.model.board is not None)  # type: ignore[misc]  # bound at once
    for client in clients:
        await client.resign()
    for client in clients:
        await until(lambda client=client: state(client).phase == "finished")  # type: ignore[misc]  # as above
    (text,) = {state(client).proof for client in clients}
    proof = DealProof.parse(text)
    first = proof.check_deeply().masked()
    for client in clients:
        assert client.model.own.first == first
        assert proof.commitment == state(client).commitment
        assert proof.digest == RoomTerms.parse(state(client).terms).digest
        assert state(client).seed == b""
        assert (proof.draw, len(proof.lost)) == (state(client).draw, len(state(client).lost))
        verdict = (await audit_race(client, lambda _: None)).verdict
        assert verdict is not None
        assert verdict.kind == "fair", verdict
    return proof


async def test_four_players_start_in_time_on_a_proven_deal(
    one: Node, two: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("samedeal_link.connection.reconnecting_link.secrets", SimpleNamespace(token_bytes=bytes))
    first, *others = EASY_SECRETS
    race = await race_of_four(one, two, first)
    for secret in others:
        if race.started != race.announced:  # a busy machine may hold up a race, but hardly all of them
            race = await race_of_four(one, two, secret)
    assert race.record.start == race.started == race.announced
    assert (race.proof.candidate, race.proof.draw) == (EASY_SECRETS[race.proof.secret[0]], 1)
    assert [share.name for share in race.proof.shares] == list(NAMES)
    assert [player.name for player in race.record.players] == list(NAMES)
    for each in (race.record, race.own):
        assert each.proof == race.proof
        assert Record.parse(str(each)) == each
        each.check_deeply()
    if NODE is not None:
        (verdict,) = await asyncio.to_thread(verdicts_on, [str(race.record)], tmp_path, "--deep")
        assert verdict.startswith("holds: ")


class RaceOfFour(NamedTuple):
    """A race of four players, its start as the countdown announced it and as it was, and the records of it."""

    proof: DealProof
    announced: int
    started: int
    record: Record
    own: Record


async def race_of_four(one: Node, two: Node, secret: int) -> RaceOfFour:
    """Open a room for Phoenix with default options, and race in it. The server's secret consists of one byte."""
    secrets = SimpleNamespace(token_bytes=lambda size: bytes([secret]) * size)
    phoenix: dict[str, Any] = {"games": ("phoenix",), "deal": "winnable"}
    async with AsyncExitStack() as stack:
        with mock.patch("samedeal_server.rooms.room_creation.secrets", secrets):
            clients = await stack.enter_async_context(
                connected(one, two, names=NAMES, room=f"room-{secret}", **phoenix)
            )
        await clients[0].start()
        await until(lambda: state(clients[0]).phase == "countdown")
        announced = state(clients[0]).starts
        proof = await finished(*clients)
        own = clients[0].model.record()
        assert own is not None
        return RaceOfFour(proof, announced, state(clients[0]).starts, await kept_record(clients[-1]), own)


async def test_daily_deal_is_searched_once(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Candidate] = []
    solve = SolverPool.solve

    async def counted(pool: SolverPool, candidate: Candidate) -> str:
        tried.append(candidate)
        return await solve(pool, candidate)

    monkeypatch.setattr(SolverPool, "solve", counted)
    one = await node()
    daily: dict[str, Any] = {**QUICK, "deal": DAILY, "countdown": 0}
    async with connected(one, names=("ana",), **daily) as (ana,), connected(one, names=("bob",), **daily) as (bob,):
        await ana.start()
        await bob.start()
        proofs = [await finished(ana), await finished(bob)]
        record = await kept_record(ana)
    assert len({each.number for each in tried}) == len(tried) == proofs[0].candidate + 1
    for proof in proofs:
        assert (proof.public, proof.shares, proof.draw, proof.lost) == (DAILY, (), 0, ())
        assert proof.line == public_deal("ace-of-hearts").line
        assert proof.terms.budget == SEARCH_BUDGET
    record.check_deeply()
    assert str(record.deal) == DAILY


async def test_room_gets_the_difficulty_that_it_asks_for(one: Node) -> None:
    async with connected(one, names=("ana",), **{**QUICK, "deal": "winnable easy", "countdown": 0}) as (ana,):
        await ana.start()
        proof = await finished(ana)
        record = await kept_record(ana)
    assert (proof.terms.least, proof.terms.budget) == states_of(proof.terms.game, "easy")
    record.check_deeply()
    assert str(record.deal) == "winnable easy"


async def kept_record(client: RoomClient) -> Record:
    """Wait until the record of the client's race is kept, and read it."""
    async with asyncio.timeout(DEADLINE):
        while True:
            with suppress(RequestRefused):
                return Record.read(await client.read_record(state(client).room))


async def drawing(*nodes: Node | str, **options: Any) -> tuple[Client, ...]:
    """Open a room with a joint deal, in which all players have seats, begin the countdown, and return their clients."""
    players = await seated(*nodes, **QUICK, **options)
    await players[0].expect(Done, Start)
    for player in players:
        begun = await player.phase("countdown")
        assert (begun.draw, begun.lost) == (1, ())
        assert not any(seat.share_commitment for seat in begun.players)
    return players


async def resigned(*players: Client) -> RoomState:
    """Wait until all players have the cards, end their race, and return the last state of the room."""
    for player in players:
        await player.dealt()
    return await finish(*players)


async def test_draw_is_sealed_before_any_share_is_taken(one: Node, two: Node) -> None:
    ana, bob = await drawing(one, two, countdown=0)
    await ana.commit()
    await ana.commit()  # it may be sent again
    await ana.refused("bad_share", RevealShare, draw=1, share=ana.share())
    await bob.refused("bad_share", RevealShare, draw=1, share=bob.share())
    await bob.refused("bad_share", CommitShare, draw=2, commitment=SHARE)
    await bob.refused("bad_share", CommitShare, draw=1, commitment=b"short")
    await bob.commit()
    for player in (ana, bob):
        sealed = await player.sealed()
        assert [seat.share_commitment for seat in sealed.players] == [each.commitment() for each in (ana, bob)]
    await bob.refused("bad_share", CommitShare, draw=1, commitment=SHARE)
    await bob.refused("bad_share", RevealShare, draw=1, share=SHARE)
    for player in (ana, bob, ana):
        await player.reveal()
    drawn = await ana.until(Drawn)
    assert [(each.seat, each.name, each.commitment, each.share) for each in drawn.shares] == [
        (seat, each.name, each.commitment(), each.share()) for seat, each in enumerate((ana, bob), 1)
    ]
    ended = await resigned(ana, bob)
    proof = DealProof.parse(ended.proof)
    proof.check_deeply()
    assert (proof.draw, proof.lost) == (1, ())


async def test_shares_are_told_once_and_to_whoever_enters_later(one: Node, two: Node) -> None:
    ana, bob = await drawing(one, two, countdown=1)
    early = await two.player("eve")
    await early.watch(ana.room)
    for player in (ana, bob):
        await player.commit()
    for player in (ana, bob):
        await player.sealed()
        await player.reveal()
    await ana.dealt()
    await bob.dealt()
    late, again = await one.player("late"), await two.player("bob", bob.session)
    await late.watch(ana.room)
    await again.join(ana.room)
    drawn = [await client.until(Drawn) for client in (late, again)]
    await finish(ana, again)
    for client in (early, late, ana, bob, again):
        told = [message for frame in client.frames if isinstance(message := decode_to_client(frame), Drawn)]
        assert told == drawn[:1], client.name
    assert (drawn[0].room, drawn[0].draw) == (ana.room, 1)
    assert [each.share for each in drawn[0].shares] == [ana.share(), bob.share()]


async def test_states_between_commitments_are_not_pushed(one: Node) -> None:
    ana, bob, cid = await drawing(one, names=("ana", "bob", "cid"), countdown=5)
    told = len(cid.frames)
    await ana.commit()
    await bob.commit()
    await asyncio.sleep(0.3)
    assert not [frame for frame in cid.frames[told:] if isinstance(decode_to_client(frame), RoomState)]
    await cid.commit()
    await cid.sealed()


async def test_deal_is_drawn_without_those_who_do_not_answer(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dan does not commit. Bob reveals another share than his own, and Cid has copied Ana's commitment."""
    monkeypatch.setattr(draws, "SHARE_TIMEOUT", 2_500)
    one = await node()
    ana, bob, cid, dan = await drawing(one, names=NAMES, countdown=1)
    await ana.commit()
    await bob.commit()
    await cid.expect(Done, CommitShare, draw=1, commitment=ana.commitment())
    sealed = await ana.sealed()
    assert [(lost.draw, lost.seat, lost.name, lost.reason) for lost in sealed.lost] == [(1, 4, "dan", "silent")]
    assert (sealed.draw, sealed.phase) == (1, "countdown")
    await ana.reveal()
    await bob.refused("bad_share", RevealShare, draw=1, share=bytes(32))
    await cid.refused("bad_share", RevealShare, draw=1, share=ana.share())
    again = await ana.state(lambda told: told.draw == 2)
    assert [seat.name for seat in again.players] == ["ana"]
    assert not again.players[0].share_commitment
    assert again.starts > sealed.starts
    await ana.refused("bad_share", RevealShare, draw=1, share=ana.share())
    await ana.commit(2)
    await ana.reveal(2)
    ended = await resigned(ana)
    told = [notice.code for notice in ana.inbox if isinstance(notice, Notice)]
    assert told[:4] == ["waiting", "unseated", "waiting", "unseated"]  # and one more if Ana herself was slow
    for player in (bob, cid, dan):
        assert await player.closed() == CloseCode.RESTART
    proof = DealProof.parse(ended.proof)
    proof.check_deeply()
    assert [share.name for share in proof.shares] == ["ana"]
    assert [(lost.draw, lost.name, lost.reason) for lost in proof.lost] == [
        *((1, "dan", "silent"), (1, "bob", "silent"), (1, "cid", "silent"))
    ]


async def test_secret_and_missing_shares_are_in_no_message(one: Node) -> None:
    """The secret is in no message before the end of the race, and no share before all are known."""
    ana, bob, eve = [await one.player(name) for name in ("ana", "bob", "eve")]
    room = await ana.create(**QUICK, countdown=0)
    await eve.watch(room)
    for player in (ana, bob):
        await player.join(room)
    await ana.expect(Done, Start)
    for player in (ana, bob):
        await player.phase("countdown")
        await player.commit()
    for player in (ana, bob, eve):
        await player.sealed()
    await ana.reveal()
    assert ana.share() not in frames_of(ana, bob, eve)
    await bob.reveal()
    await ana.dealt()
    await eve.until(Drawn)
    secret = await one.secret(room)
    assert secret.deal.found is not None
    assert ana.share() in frames_of(eve)
    for hidden in (secret.deal.seed, secret.deal.found.line.encode()):
        assert hidden not in frames_of(ana, bob, eve)


def frames_of(*clients: Client) -> bytes:
    return b"".join(frame for client in clients for frame in client.frames if isinstance(frame, bytes))


async def test_killed_node_is_replaced_while_it_searches(
    node: NodeMaker, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ana reveals the last share to a process that is killed as soon as it searches. Bob's node finds the deal."""
    monkeypatch.setattr(draws, "EXTENSION", 600)
    killed = await NodeProcess.start(redis_url, tmp_path / "log")
    one = await node()
    try:
        ana, bob = await drawing("ws://{}:{}".format(*killed.target), one, countdown=1)
        room = ana.room
        await ana.commit()
        await bob.take_part()
        await ana.send(RevealShare, draw=1, share=ana.share())
        async with Redis.from_url(redis_url) as redis, asyncio.timeout(DEADLINE):
            while not await redis.exists(keys.duty(room)):
                pass
            await killed.kill()
            await redis.pexpire(keys.duty(room), 1)  # instead of waiting until the lease of the dead node expires
        await bob.dealt()
    finally:
        await killed.kill()
    race, secret = (await one.rooms.load(room)).race, await one.store.load_secret(room)
    assert secret is not None
    found = secret.deal.found
    assert found is not None
    mix = mixed(secret.deal.seed, found.shares)
    assert found.candidate == next(won_candidates(mix, race.game, race.search.budget, range(99))).number
    assert [share.name for share in found.shares] == ["ana", "bob"]


def memory_of(process: int) -> int:
    """The virtual memory of a process, in bytes."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[0]) * resource.getpagesize()


async def test_worker_without_memory_is_replaced(log: Log) -> None:
    """The worker gets a real limit that its search exceeds. Its successor has the usual limit and gives the answer."""
    log.set_up()
    steve = Candidate(bytes(32), "steve", 30_000, 0)
    pool = SolverPool()
    assert await pool.solve(Candidate(bytes(32), "ace-of-hearts", 1, 0)) == ""
    (worker,) = pool.idle
    limit = memory_of(worker.pid) + (1 << 20)
    resource.prlimit(worker.pid, resource.RLIMIT_AS, (limit, limit))
    with mock.patch("samedeal_server.solving.pool.RETRY_INTERVAL", 0):
        assert await pool.solve(steve) == winning_line(steve)
    assert worker.returncode
    assert len(log.named("solver_ended")) == 1
    await pool.close()


async def test_killed_worker_is_replaced(log: Log) -> None:
    log.set_up()
    proof = joint_deal("ace-of-hearts")
    candidate = Candidate(proof.mixed, "ace-of-hearts", proof.terms.budget, proof.candidate)
    pool = SolverPool()
    line = await pool.solve(candidate)
    assert line == winning_line(candidate) == ", ".join(map(str, proof.line))
    (worker,) = pool.idle
    os.kill(worker.pid, signal.SIGKILL)
    with mock.patch("samedeal_server.solving.pool.RETRY_INTERVAL", 0):
        assert await pool.solve(candidate) == line
    assert log.named("solver_ended")
    await pool.close()
    assert pool.idle == []
