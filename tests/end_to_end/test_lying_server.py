"""Real clients in races on a server that lies: no lie is called fair."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Self

import pytest

from samedeal.board import Board
from samedeal.deal_proof import LostShare
from samedeal.protocol_codes import CloseCode
from samedeal.solver.solve import Answer
from samedeal.verdict_rows import ROWS
from samedeal_bots import bot as bot_module
from samedeal_client.panels.verdict import EXIT_CODES
from samedeal_link.session import race_audit
from samedeal_link.session.race_audit import Audit, audit_race
from samedeal_link.session.room_client import RoomClient
from samedeal_link.solving.solver_process import SolverProcess
from tests.end_to_end.honest_clients import BotPlayer, LinePlayer, playing, until, verified
from tests.end_to_end.lies import LIES, ChangedMove, Draining, Shares, TwoDeals, UnaskedWatching
from tests.end_to_end.lying_server import DEADLINE, HonestServer


class SharedSolver:
    """The worker of all clients of the test, which would otherwise start one for each race."""

    process: SolverProcess
    lock: asyncio.Lock

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def solve(self, board: Board, budget: int) -> Answer:
        async with self.lock:
            return await self.process.solve(board, budget)


@pytest.fixture(autouse=True)
async def shared(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Let bots leave their audits behind, and share a solver."""

    async def audited(rooms: RoomClient, on_progress: object) -> Audit:
        audit = await audit_race(rooms, lambda _: None)
        AUDITS[rooms] = audit
        return audit

    monkeypatch.setattr(bot_module, "audit_race", audited)
    monkeypatch.setattr(race_audit, "SolverProcess", SharedSolver)
    monkeypatch.setattr(race_audit, "RECORD_DELAYS", (0.01,))
    async with SolverProcess() as process:
        SharedSolver.process, SharedSolver.lock = process, asyncio.Lock()
        yield
    AUDITS.clear()


AUDITS: dict[RoomClient, Audit] = {}


async def raced(server: HonestServer, home: Path) -> tuple[LinePlayer, BotPlayer]:
    """Let a line client and a bot race on a server. Return both when they are done."""
    ana, bob = LinePlayer("ana", home), BotPlayer("bob", home)
    async with asyncio.timeout(DEADLINE), playing(server, ana, bob):
        await until(lambda: server.has_ended or (ana.is_over and bob.is_over))
        await server.settle()
        if ana.phase != "finished":
            ana.type("quit")
        await until(lambda: ana.is_over and bob.is_over)
    for client in (ana, bob):
        client.result()
    if bob.rooms in AUDITS:
        bob.report.verdict = AUDITS[bob.rooms].verdict
    return ana, bob


def revealed(server: HonestServer, name: str = "ana") -> int:
    """Return the number of shares of a player that the server has learned."""
    return len({share for _, sender, share in server.learned if sender == name})


async def outcome(name: str, home: Path, limit: asyncio.Semaphore) -> list[str]:
    """Run a race with a lie. Return whatever should have been otherwise."""
    lie = LIES[name]
    server = lie.server(name.lower(), guests=lie.guests)
    async with limit:
        try:
            ana, bob = await raced(server, home)
        except (TimeoutError, AssertionError) as error:
            return [f"{name} ended with {error!r} in {server.phase}, draw {server.draw}"]
    mistakes: list[tuple[object, object]] = [(revealed(server), lie.reveals)]
    kind = ROWS[lie.row].verdict
    for client in (ana, bob):
        report, finds = client.report, client.name in lie.who
        told = lie.early and finds
        mistakes += [
            (lie.row in report.rows, finds),
            (report.kind, kind if finds and report.verdict else report.kind if told else "fair"),
            (ROWS[lie.row].sentence.split("{")[0] in report.text, finds),
            ("Traceback" in report.text or "has a bug" in report.text, False),
        ]
    if not lie.early:
        mistakes.append((ana.report.code, EXIT_CODES[kind] if "ana" in lie.who else 0))
    mistakes.append(("Fair:" in ana.report.text, "ana" not in lie.who))
    mistakes.append((bob.report.code, int("bob" in lie.who and kind == "wrong")))
    return [
        f"{name}: {is_}, not {expected}: {ana.report.rows} {bob.report.rows}"
        for is_, expected in mistakes
        if is_ != expected
    ]


async def test_no_lie_is_called_fair(tmp_path: Path) -> None:
    limit = asyncio.Semaphore(8)
    results = await asyncio.gather(*(outcome(name, tmp_path / name, limit) for name in LIES))
    mistakes = [mistake for wrong in results for mistake in wrong]
    assert not mistakes, "\n".join(mistakes)


@pytest.mark.parametrize("kind", [HonestServer, UnaskedWatching])
async def test_honest_server_is_called_fair(tmp_path: Path, kind: type[HonestServer]) -> None:
    server = kind("friday", guests=("eve",))
    ana, bob = await raced(server, tmp_path)
    assert (ana.report.kind, bob.report.kind) == ("fair", "fair"), (ana.report, bob.report)
    assert (ana.report.code, bob.report.code) == (0, 0)
    assert ana.report.verdict is not None
    assert f"{ana.report.verdict.sentence}\nResult words: {ana.report.verdict.words}\n" in ana.report.text
    assert ana.report.words == bob.report.words != ""
    for deep in (False, True):
        result = verified(str(server.honest_record()), tmp_path, deep=deep)
        assert result.code == 0
        assert "all 3 moves of ana." in result.text
        assert "Not checked" not in result.text


async def test_verify_compares_a_record_with_evidence(tmp_path: Path) -> None:
    server = ChangedMove("friday")
    await raced(server, tmp_path)
    result = verified(server.record_text(server.racer_of("ana")), tmp_path, deep=True)
    assert result.code == 1
    assert "The record has other moves of yours than the server had confirmed." in result.text


async def test_two_deals_have_other_words(tmp_path: Path) -> None:
    """Each of the two deals is right in itself. Only the words betray the server."""
    ana, bob = await raced(TwoDeals("friday"), tmp_path)
    assert (ana.report.kind, bob.report.kind) == ("fair", "fair"), (ana.report, bob.report)
    assert "" not in (ana.report.words, bob.report.words)
    assert ana.report.words != bob.report.words
    assert ana.report.verdict is not None
    assert bob.report.verdict is not None
    assert ana.report.verdict.words != bob.report.verdict.words


class ProgramEnds(Draining):
    """A server that ends the players' programs after they have revealed, and draws again when they come back."""

    def __init__(self, room: str, claims: bool, number: int) -> None:
        super().__init__(room)
        self.claims = claims
        self.number = number
        self.ended = asyncio.Event()

    async def cheat(self, shares: Shares) -> None:
        for racer in self.racers:
            assert racer.socket is not None
            await racer.socket.close(CloseCode.TAKEN_OVER)
        self.draw, self.sealed = self.number, False
        for racer in self.racers:
            racer.commitment = b""
            if self.claims:
                self.lost.append(LostShare(1, racer.seat, "silent", racer.name))
        self.ended.set()
        await self.until(lambda: self.racers[0].entries > 1)
        await self.settle()
        other = self.racers[1]
        other.guest = other.resigned = True
        self.choose_share(other)
        self.racers[0].share = b""
        await self.seal()
        await self.settle()
        if all(racer.share for racer in self.racers):
            await self.claim(self.revealed_shares(), self.number)
        else:
            await asyncio.Event().wait()


@pytest.mark.parametrize(("claims", "number"), [(False, 2), (False, 3), (True, 2)])
async def test_restarted_client_reveals_a_second_share_only_if_a_loss_is_shown(
    tmp_path: Path, claims: bool, number: int
) -> None:
    server = ProgramEnds("friday", claims, number)
    ana, cid = LinePlayer("ana", tmp_path), LinePlayer("cid", tmp_path)
    async with asyncio.timeout(DEADLINE), playing(server, ana, cid):
        await server.ended.wait()
        await until(lambda: ana.is_over and cid.is_over)
        assert (ana.report.code, cid.report.code) == (1, 1)
        await ana.restart(server)
        await until(lambda: ana.is_over or bool(ana.report.evidence.contradiction) or server.has_ended)
        await server.settle()
        ana.type("quit")
        await until(lambda: ana.is_over)
    assert ("unheard" if claims else "no_seat_lost") in ana.report.rows
    assert ana.report.kind != "fair"
    assert revealed(server) == (2 if claims else 1)
