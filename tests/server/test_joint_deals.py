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
from samedeal.joint_deal import share_commitment, won_candidates
from samedeal.options import Options
from samedeal.protocol.messages import Done, Join, Joined, Leave, Notice, Resign, RevealShare, RoomState, Start
from samedeal.record import Record
from samedeal_client.net.room_client import RoomClient
from samedeal_client.state.deal_verification import DealCheck, verify_deal
from samedeal_server.races import race as race_module
from samedeal_server.races.race import mixed
from samedeal_server.solving.pool import SolverPool
from samedeal_server.solving.worker import Candidate, winning_line
from samedeal_server.store import keys
from samedeal_server.store import store as store_module
from tests.chaos.processes import Node as NodeProcess
from tests.server.captured_log import Log
from tests.server.client import DEADLINE, Client
from tests.server.live_nodes import Node, NodeMaker
from tests.server.real_clients import connect_player, wait_for
from tests.shared.javascript import NODE, verdicts
from tests.shared.joint_deals import DAILY, daily_deal, joint_deal, some_bytes

NAMES = ("ana", "bob", "cid", "dan")
QUICK: dict[str, Any] = {"games": ("ace-of-hearts",), "deal": "winnable"}
SHARE = some_bytes("a share")
EASY_ROOMS = {"room-243": 3, "room-118": 2, "room-240": 2}
"""Rooms with the number of the candidate that is dealt if the secret and all chains of shares come from zeros.

The solver needs less than 500 states for each of them.
"""


@asynccontextmanager
async def seated(
    *nodes: Node, names: tuple[str, ...], room: str = "", **options: Any
) -> AsyncIterator[tuple[RoomClient, ...]]:
    """Real clients with seats in a room, on one node after the other. The first one is the host."""
    async with AsyncExitStack() as stack:
        clients = [await connect_player(stack, nodes[at % len(nodes)], name) for at, name in enumerate(names)]
        room = await clients[0].create(Options(**options), room)
        for client in clients:
            await client.join(room)
            await wait_for(lambda client=client: client.model.is_in(room))  # type: ignore[misc]  # bound at once
        yield tuple(clients)


def state(client: RoomClient) -> RoomState:
    assert client.model.room is not None
    return client.model.room


async def finished(*clients: RoomClient) -> DealProof:
    """Wait until all clients have the cards, end their race, and return the proof that all of them got."""
    for client in clients:
        await wait_for(lambda client=client: client.model.board is not None)  # type: ignore[misc]  # bound at once
    for client in clients:
        await client.resign()
    for client in clients:
        await wait_for(lambda client=client: state(client).phase == "finished")  # type: ignore[misc]  # as above
    (text,) = {state(client).proof for client in clients}
    proof = DealProof.parse(text)
    first = proof.check_deeply().masked()
    for client in clients:
        assert client.model.own.first == first
        assert proof.commitment == client.model.commitment
        assert state(client).seed == b""
        assert proof.restarts == state(client).restarts
        verification = verify_deal(client.model)
        assert verification is not None
        assert verification.check is DealCheck.PROOF_AND_CARDS
    return proof


async def test_four_players_start_in_time_on_a_proven_deal(
    node: NodeMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = await node(), await node()
    for module in ("samedeal_server.rooms.room_creation", "samedeal_client.net.reconnecting_link"):
        monkeypatch.setattr(f"{module}.secrets", SimpleNamespace(token_bytes=bytes))
    first, *others = EASY_ROOMS
    race = await race_of_four(one, two, first)
    for room in others:
        if race.started != race.announced:  # a busy machine may hold up a race, but hardly all of them
            race = await race_of_four(one, two, room)
    assert race.record.terms.start == race.started == race.announced
    assert (race.proof.candidate, race.proof.restarts) == (EASY_ROOMS[race.record.terms.room], 0)
    assert [share.name for share in race.proof.shares] == list(NAMES)
    assert [player.name for player in race.record.players] == list(NAMES)
    for each in (race.record, race.own):
        assert each.proof == race.proof
        assert Record.parse(str(each)) == each
        each.check_deeply()
    if NODE is not None:
        (tmp_path / "record.txt").write_text(str(race.record), encoding="utf-8")
        found = await asyncio.to_thread(verdicts, [tmp_path / "record.txt"], "--deep")
        assert found["record"].startswith("holds: ")


class RaceOfFour(NamedTuple):
    """A race of four players, its start as the countdown announced it and as it was, and the records of it."""

    proof: DealProof
    announced: int
    started: int
    record: Record
    own: Record


async def race_of_four(one: Node, two: Node, room: str) -> RaceOfFour:
    """Open a room for Phoenix with default options, and race in it."""
    async with seated(one, two, names=NAMES, room=room, games=("phoenix",), deal="winnable") as clients:
        await clients[0].start()
        await wait_for(lambda: state(clients[0]).phase == "countdown")
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
    async with seated(one, names=("ana",), **daily) as (ana,), seated(one, names=("bob",), **daily) as (bob,):
        await ana.start()
        await bob.start()
        proofs = [await finished(ana), await finished(bob)]
        record = await kept_record(ana)
    assert len({each.number for each in tried}) == len(tried) == proofs[0].candidate + 1
    for proof in proofs:
        assert (proof.public, proof.shares, proof.restarts) == (DAILY, (), 0)
        assert proof.line == daily_deal("ace-of-hearts").line
        assert proof.terms.budget == SEARCH_BUDGET
    record.check_deeply()
    assert str(record.deal) == DAILY


async def test_room_gets_the_difficulty_that_it_asks_for(node: NodeMaker) -> None:
    one = await node()
    async with seated(one, names=("ana",), **{**QUICK, "deal": "winnable easy"}) as (ana,):
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


async def test_deal_is_drawn_without_those_who_do_not_reveal(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bob reveals another share than the one he has committed to, and Cid has copied Ana's commitment."""
    monkeypatch.setattr(race_module, "REVEAL_TIMEOUT", 4_000)
    one = await node()
    async with seated(one, names=("ana",), **QUICK, start="full", players=3) as (ana,):
        bob, cid = await one.player("bob"), await one.player("cid")
        room = state(ana).room
        await bob.refused("share_needed", Join, room=room)
        await bob.expect(Joined, Join, room=room, share_commitment=share_commitment(room, "bob", SHARE))
        copied = state(ana).players[0].share_commitment
        await cid.expect(Joined, Join, room=room, share_commitment=copied)
        await bob.phase("countdown")
        await bob.refused("bad_share", RevealShare, share=bytes(32))
        await cid.refused("bad_share", RevealShare, share=SHARE)
        assert [(await bob.until(Notice)).code for _ in range(2)] == ["waiting", "unseated"]
        proof = await finished(ana)
    assert [share.name for share in proof.shares] == ["ana"]
    assert proof.restarts == 1
    assert proof.shares[0].commitment not in (copied, proof.shares[0].share)


async def test_deal_is_drawn_again_if_a_player_leaves(node: NodeMaker) -> None:
    one, two = await node(), await node()
    async with seated(one, names=("ana",), **QUICK, countdown=0) as (ana,):
        room = state(ana).room
        bob, cid = await two.player("bob"), await one.player("cid")
        before = share_commitment(room, "bob", SHARE)
        await bob.expect(Joined, Join, room=room, share_commitment=share_commitment(room, "bob", before))
        await cid.expect(Joined, Join, room=room, share_commitment=SHARE)
        await ana.start()
        await bob.phase("countdown")
        await bob.expect(Done, RevealShare, share=before)
        await cid.expect(Done, Leave)
        told = await bob.state(lambda told: told.restarts)
        assert [seat.share_commitment for seat in told.players][1] == before
        await bob.refused("bad_share", RevealShare, share=before)
        await bob.expect(Done, RevealShare, share=SHARE)
        await bob.dealt()
        await bob.expect(Done, Resign)
        proof = await finished(ana)
    assert [(share.name, share.share == SHARE) for share in proof.shares] == [("ana", False), ("bob", True)]
    assert proof.restarts == 1


async def test_another_node_goes_on_if_the_searching_one_dies(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "SEARCH_CLAIM", 500)
    monkeypatch.setattr(race_module, "EXTENSION", 600)
    one, two = await node(), await node()
    async with seated(two, names=("ana", "bob"), **QUICK, countdown=0) as (ana, bob):
        room = state(ana).room
        assert await one.store.claim_search(room, one.rooms.node)  # and then it dies
        await ana.start()
        proof = await finished(ana, bob)
    assert proof.candidate == next(won_candidates(proof.mixed, proof.terms.game, proof.terms.budget, range(99))).number


async def test_secret_and_shares_are_in_no_message_before_the_end(node: NodeMaker) -> None:
    one = await node()
    ana, eve = await one.player("ana"), await one.player("eve")
    room = await ana.create(**QUICK, countdown=0)
    last = share_commitment(room, "ana", SHARE)
    await ana.expect(Joined, Join, room=room, share_commitment=share_commitment(room, "ana", last))
    await eve.watch(room)
    await ana.expect(Done, Start)
    await ana.phase("countdown")
    await ana.expect(Done, RevealShare, share=last)
    await ana.dealt()
    secret = await one.store.load_secret(room)
    assert secret is not None
    assert secret.deal.found is not None
    frames = b"".join(frame for client in (ana, eve) for frame in client.frames if isinstance(frame, bytes))
    for hidden in (secret.deal.seed, last, secret.deal.found.line.encode()):
        assert hidden not in frames


async def test_killed_node_is_replaced_while_it_searches(
    node: NodeMaker, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ana reveals the last share to a process that is killed as soon as it searches. Bob's node finds the deal."""
    monkeypatch.setattr(race_module, "EXTENSION", 600)
    killed = await NodeProcess.start(redis_url, tmp_path / "log")
    one = await node()
    try:
        ana = await Client.hello("ws://{}:{}".format(*killed.target), "ana")
        bob = await one.player("bob")
        room = await ana.create(**QUICK, countdown=1)
        for name, player in (("ana", ana), ("bob", bob)):
            await player.expect(Joined, Join, room=room, share_commitment=share_commitment(room, name, SHARE))
        await ana.expect(Done, Start)
        await bob.phase("countdown")
        await bob.expect(Done, RevealShare, share=SHARE)
        await ana.send(RevealShare, share=SHARE)
        async with Redis.from_url(redis_url) as redis, asyncio.timeout(DEADLINE):
            while not await redis.exists(keys.search(room)):
                pass
            await killed.kill()
            await redis.pexpire(keys.search(room), 1)  # instead of waiting until the claim of the dead node expires
        await bob.dealt()
    finally:
        await killed.kill()
    race, secret = (await one.rooms.load(room)).race, await one.store.load_secret(room)
    assert secret is not None
    found = secret.deal.found
    assert found is not None
    mix = mixed(secret.deal.seed, found.shares)
    assert found.candidate == next(won_candidates(mix, race.game, race.budget, range(99))).number
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
    assert pool.idle == ()
