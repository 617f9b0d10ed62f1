"""Races with joint deals: real nodes and real workers."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from samedeal.deal_proof import DealProof
from samedeal.difficulty import SEARCH_BUDGET
from samedeal.errors import RequestRefused
from samedeal.protocol.codec import decode_to_client
from samedeal.protocol.messages import CommitShare, Done, Drawn, Notice, Ping, Pong, RevealShare, RoomState, Start
from samedeal.record import Record
from samedeal.terms import RoomTerms
from samedeal_link.session.race_audit import audit_race
from samedeal_link.session.room_client import RoomClient
from samedeal_server.rooms import progress_updates
from samedeal_server.solving import pool
from samedeal_server.solving.pool import BACKGROUND, MAX_WORKERS, SolverPool, Solvers, WorkerHealth
from samedeal_server.solving.worker import Candidate, winning_line
from samedeal_server.tasks import cancel_and_wait
from samedeal_server.telemetry.metrics import Metrics
from tests.server.captured_log import Log
from tests.server.client import DEADLINE, Client
from tests.server.live_nodes import Node, NodeMaker
from tests.server.races import finish, seated
from tests.server.real_clients import connected, end_race
from tests.server.waiting import until
from tests.shared.javascript import NODE, verdicts_on
from tests.shared.joint_deals import DAILY, public_deal, some_bytes

uvloop = pytest.importorskip("uvloop")

NAMES = ("ana", "bob", "cid", "dan")
QUICK: dict[str, Any] = {"games": ("ace-of-hearts",), "deal": "winnable"}
SHARE = some_bytes("a share")


def state(client: RoomClient) -> RoomState:
    assert client.model.room is not None
    return client.model.room


async def finished(*clients: RoomClient, kind: str = "fair") -> DealProof:
    """Wait until all clients have the cards, end their race, and return the proof that all of them got."""
    await end_race(*clients)
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
        assert verdict.kind == kind, verdict
    return proof


async def test_four_players_race_on_a_proven_deal(one: Node, two: Node, tmp_path: Path) -> None:
    async with connected(one, two, names=NAMES, **QUICK) as clients:
        await clients[0].start()
        proof = await finished(*clients)
        started, record, own = state(clients[0]).starts, await kept_record(clients[-1]), clients[0].model.record()
    assert own is not None
    assert (record.start, proof.draw) == (started, 1)
    assert [share.name for share in proof.shares] == [player.name for player in record.players] == list(NAMES)
    for each in (record, own):
        assert each.proof == proof
        assert Record.parse(str(each)) == each
        each.check_deeply()
    if NODE is not None:
        (verdict,) = await asyncio.to_thread(verdicts_on, [str(record)], tmp_path, "--deep")
        assert verdict.startswith("holds: ")


async def test_daily_deal_is_searched_once(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Candidate] = []
    solve = SolverPool.solve

    async def counted(solvers: SolverPool, candidate: Candidate, *place: str) -> str:
        tried.append(candidate)
        return await solve(solvers, candidate, *place)

    monkeypatch.setattr(SolverPool, "solve", counted)
    one = await node()
    daily: dict[str, Any] = {**QUICK, "deal": DAILY, "countdown": 0}
    async with connected(one, names=("ana",), **daily) as (ana,), connected(one, names=("bob",), **daily) as (bob,):
        await ana.start()
        await bob.start()
        proofs = [await finished(player, kind="checked") for player in (ana, bob)]  # it is not the deal of the day
        record = await kept_record(ana)
    assert len({each.number for each in tried}) == len(tried) == proofs[0].candidate + 1
    for proof in proofs:
        assert (proof.public, proof.shares, proof.draw, proof.lost) == (DAILY, (), 0, ())
        assert proof.line == public_deal("ace-of-hearts").line
        assert proof.terms.budget == SEARCH_BUDGET
    record.check_deeply()
    assert str(record.deal) == DAILY


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
    await ana.reveal()
    await bob.expect(Pong, Ping)
    assert ana.share() not in frames_of(ana, bob)  # no share is told before all are known
    for player in (bob, ana):
        await player.reveal()
    drawn = await ana.until(Drawn)
    assert [(each.seat, each.name, each.commitment, each.share) for each in drawn.shares] == [
        (seat, each.name, each.commitment(), each.share()) for seat, each in enumerate((ana, bob), 1)
    ]
    for player in (ana, bob):
        await player.dealt()
    secret = (await one.secret(ana.room)).deal
    assert secret.found is not None
    for hidden in (secret.seed, secret.found.line.encode()):
        assert hidden not in frames_of(ana, bob)  # before the end of the race
    proof = DealProof.parse((await finish(ana, bob)).proof)
    proof.check_deeply()
    assert (proof.secret, proof.draw, proof.lost) == (secret.seed, 1, ())


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


async def test_states_between_commitments_are_not_pushed(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_updates, "PROGRESS_INTERVAL", 0.0)  # a state would come before the next answer
    ana, bob, cid = await drawing(one, names=("ana", "bob", "cid"), countdown=5)
    told = len(cid.frames)
    await ana.commit()
    await bob.commit()
    await cid.expect(Pong, Ping)
    assert not [frame for frame in cid.frames[told:] if isinstance(decode_to_client(frame), RoomState)]
    await cid.commit()
    await cid.sealed()


@pytest.mark.parametrize("why", ["no candidate is won", "every worker ends"])
async def test_room_without_a_deal_is_closed(one: Node, log: Log, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    log.set_up()
    monkeypatch.setattr(pool, "SEARCH_TIME", -1)
    monkeypatch.setattr(pool, "LEAST_TRIED", 1)
    monkeypatch.setattr(pool, "RETRY_INTERVAL", 0)
    if why == "every worker ends":
        monkeypatch.setattr(pool, "sys", SimpleNamespace(executable="false"))
    secrets = SimpleNamespace(token_bytes=lambda size: bytes([252]) * size)  # the candidate 0 is not won
    with mock.patch("samedeal_server.rooms.room_creation.secrets", secrets):
        (ana,) = await seated(one, names=("ana",), games=("phoenix",), deal="winnable", countdown=0)
    await ana.expect(Done, Start)
    await ana.commit()
    await ana.sealed()
    await ana.reveal()
    await ana.phase("closed")
    assert "not_found" in [told.code for told in ana.inbox if isinstance(told, Notice)]
    assert [each["game"] for each in log.named("deal_not_found")] == ["phoenix"]


async def test_late_search_overtakes_those_in_time() -> None:
    solvers, late, quick = Solvers(Metrics()), asyncio.Event(), Candidate(bytes(32), "ace-of-hearts", 1, 0)
    endless = Candidate(bytes(32), "steve", 100_000_000, 0)
    others = [asyncio.create_task(solvers.solve(endless, asyncio.Event(), str(n))) for n in range(MAX_WORKERS)]
    own = asyncio.create_task(solvers.solve(quick, late))
    late.set()
    async with asyncio.timeout(DEADLINE):
        assert await own == ""
    (worker,) = solvers.urgent.idle
    assert os.getpriority(os.PRIO_PROCESS, worker.pid) == os.getpriority(os.PRIO_PROCESS, 0)
    await cancel_and_wait(others)
    assert await solvers.background.solve(quick) == ""
    (worker,) = solvers.background.idle
    assert os.getpriority(os.PRIO_PROCESS, worker.pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + BACKGROUND)
    await solvers.close()


def frames_of(*clients: Client) -> bytes:
    return b"".join(frame for client in clients for frame in client.frames if isinstance(frame, bytes))


def memory_of(process: int) -> int:
    """The virtual memory of a process, in bytes."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[0]) * resource.getpagesize()


@pytest.mark.parametrize("how", ["killed", "without memory"])
async def test_worker_that_ended_is_replaced(log: Log, how: str) -> None:
    """The worker without memory gets a real limit that its search exceeds. Its successor has the usual limit."""
    log.set_up()
    steve = Candidate(bytes(32), "steve", 30_000, 0)
    solvers = SolverPool(WorkerHealth(Metrics()))
    assert await solvers.solve(Candidate(bytes(32), "ace-of-hearts", 1, 0)) == ""
    (worker,) = solvers.idle
    if how == "killed":
        os.kill(worker.pid, signal.SIGKILL)
    else:
        limit = memory_of(worker.pid) + (1 << 20)
        resource.prlimit(worker.pid, resource.RLIMIT_AS, (limit, limit))
    with mock.patch("samedeal_server.solving.pool.RETRY_INTERVAL", 0):
        assert await solvers.solve(steve) == winning_line(steve)
    assert worker.returncode
    assert len(log.named("solver_ended")) == 1
    await solvers.close()
    assert solvers.idle == []


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_worker_whose_pipe_is_closed_is_replaced(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """The event loop has noticed the end of the idle worker, so that writing to it fails at once."""

    async def outlive() -> None:
        solvers, quick = SolverPool(WorkerHealth(Metrics())), Candidate(bytes(32), "ace-of-hearts", 1, 0)
        await solvers.solve(quick)
        (worker,) = solvers.idle
        worker.kill()
        await until(lambda: worker.stdin is None or worker.stdin.is_closing())
        with mock.patch("samedeal_server.solving.pool.RETRY_INTERVAL", 0):
            assert await solvers.solve(quick) == ""
        assert solvers.idle != [worker]
        await solvers.close()

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(outlive())
