"""The worker processes in which a node searches for joint and daily deals.

The deal is the first one that the solver wins in a numbered sequence of candidates. For a joint deal, this sequence
depends on the players' shares and the server's secret. For a daily deal, it depends on the date. The number of workers
is bounded, and none is started before it is needed.

When a process of a ``ProcessPoolExecutor`` is killed, for example because memory runs out, all searches of the executor
fail, and it accepts no new ones. A search that was cancelled also keeps its process busy until the search ends. Here
only the candidate of the lost worker is tried again, and a cancelled search ends at once.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import msgspec
from msgspec.structs import replace

from samedeal.games import DEFAULT_GAME, offered
from samedeal.joint_deal import HIGHEST_CANDIDATE
from samedeal_server.solving.turns import Turns
from samedeal_server.solving.worker import Candidate
from samedeal_server.tasks import cancel_and_wait, uninterrupted
from samedeal_server.telemetry.logger import get_logger
from samedeal_server.telemetry.logs import ThrottledLog
from samedeal_server.telemetry.metrics import Metrics

MAX_WORKERS: Final = 4

BACKGROUND: Final = 10
"""The Unix niceness of the workers, which gives the node and Redis priority over them."""

RETRY_INTERVAL: Final = 1.0
"""Time, in seconds, after which a candidate is tried again if its worker ended."""

MAX_TRIES: Final = 5
"""Maximum number of workers that try the same candidate. If all of them end, no deal can be found on this node."""

SEARCH_TIME: Final = 120.0
"""Time, in seconds, after which a search for a deal is given up, once it has tried ``LEAST_TRIED`` candidates."""

LEAST_TRIED: Final = 12

LEAST_FAILURES: Final = 3
"""Number of workers that have to end one after another until the node's solver counts as broken."""

PROBE_INTERVAL: Final = 30.0
"""Minimum time, in seconds, since the last answer of a worker after which a new worker is started to see if it answers."""

_log = get_logger()

_LAST_WORDS: Final = 300
"""Maximum length of what a worker wrote before it ended."""


class SolverFailed(Exception):
    """Error of workers that could not start, were killed, or ran out of memory."""


_PROBE: Final = Candidate(bytes(32), DEFAULT_GAME, budget=1, number=0)
"""A candidate that is answered at once."""


class WorkerHealth:
    """Whether the workers of a node answer. ``fault`` is why the newest ones ended without an answer, or empty."""

    def __init__(self, metrics: Metrics) -> None:
        self.fault = ""
        self._metrics = metrics
        self._failures = 0
        self._answered_at = -PROBE_INTERVAL
        self._log = ThrottledLog(_log)

    @property
    def is_doubtful(self) -> bool:
        """Whether no worker has answered lately."""
        return asyncio.get_running_loop().time() - self._answered_at >= PROBE_INTERVAL

    def answered(self) -> None:
        """Record that a worker answered."""
        fault, self.fault, self._failures = self.fault, "", 0
        self._answered_at = asyncio.get_running_loop().time()
        self._metrics.solver_up.set(1)
        if fault:
            _log.info("solver_works")

    def failed(self, reason: str) -> None:
        """Record that a worker ended without an answer, or did not start. A few in a row are a fault of the node."""
        self._log.warning("solver_ended", reason)
        self._failures += 1
        if self._failures == LEAST_FAILURES:
            self.fault = reason
            self._metrics.solver_up.set(0)
            _log.error("solver_broken", reason=reason)


def candidates_from(first: Candidate) -> Iterator[Candidate]:
    """Yield the candidates of a search in their order, until the search has to be given up."""
    time = asyncio.get_running_loop().time
    given_up_at = time() + SEARCH_TIME
    for number in range(first.number, HIGHEST_CANDIDATE + 1):
        if number >= LEAST_TRIED and time() > given_up_at:
            return
        yield replace(first, number=number)


def set_after(late: asyncio.Event, seconds: float) -> None:
    """Set an event after some seconds, or at once if there are none."""
    if seconds > 0:
        asyncio.get_running_loop().call_later(seconds, late.set)
    else:
        late.set()


class Solvers:
    """The workers of a node. Players who wait for a start that is late get workers with the priority of the node."""

    def __init__(self, metrics: Metrics) -> None:
        self.health = WorkerHealth(metrics)
        self._probed = asyncio.Lock()
        self.background, self.urgent = SolverPool(self.health), SolverPool(self.health, 0, most=1)

    async def solve(self, candidate: Candidate, late: asyncio.Event, origin: str = "", room: str = "") -> str:
        """Return the moves with which the solver wins a candidate, like ``SolverPool.solve``.

        Once ``late`` is set, the candidate no longer waits for the turns of others that are in time.
        """
        if not late.is_set():
            solving = asyncio.ensure_future(self.background.solve(candidate, origin, room))
            waiting = asyncio.ensure_future(late.wait())
            try:
                await asyncio.wait((solving, waiting), return_when=asyncio.FIRST_COMPLETED)
                if solving.done():
                    return solving.result()
            finally:
                await cancel_and_wait((solving, waiting))
        return await self.urgent.solve(candidate, origin, room)

    async def probe(self) -> None:
        """Start a worker to find out whether it answers, unless another one has answered lately, or is probed."""
        if self.health.is_doubtful and not self._probed.locked():
            async with self._probed:
                pool = SolverPool(self.health, most=1)
                try:
                    with suppress(SolverFailed):
                        await pool.solve(_PROBE)
                finally:
                    await uninterrupted(pool.close())

    async def close(self) -> None:
        """End all workers. Call this method only when all of them are idle."""
        await self.background.close()
        await self.urgent.close()


class SolverPool:
    """Worker processes of a node with the same Unix niceness. Each worker tries one candidate at a time.

    If all workers are busy, candidates wait for their turns, so that nobody can delay the deals of others by searching
    for many. If a worker ends, another worker is started and tries the same candidate again. ``idle`` has the workers that
    wait for a candidate.
    """

    def __init__(self, health: WorkerHealth, niceness: int = BACKGROUND, most: int = MAX_WORKERS) -> None:
        self.idle: list[Process] = []
        self._health = health
        self._niceness = niceness
        self._free = max(1, min(most, (os.cpu_count() or 1) // 2))
        self._turns: Turns[asyncio.Future[None]] = Turns()

    async def solve(self, candidate: Candidate, origin: str = "", room: str = "") -> str:
        """Return the moves with which the solver wins a candidate.

        Return an empty text if the solver does not win it. ``origin`` and ``room`` decide whose turn it is. If this
        call is cancelled, its worker is free at once. Raise SolverFailed if one worker after another ends.
        """
        await self._wait_for_turn(origin, room)
        try:
            for _ in range(MAX_TRIES - 1):
                with suppress(SolverFailed):
                    return await self._try(candidate)
                await asyncio.sleep(RETRY_INTERVAL)
            return await self._try(candidate)
        finally:
            self._end_turn()

    async def _try(self, candidate: Candidate) -> str:
        try:
            answer = await self._ask(candidate)
        except SolverFailed as failed:
            self._health.failed(str(failed))
            raise
        self._health.answered()
        return answer

    async def _wait_for_turn(self, origin: str, room: str) -> None:
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._turns.add(origin, room, turn)
        try:
            await turn
        except asyncio.CancelledError:
            self._turns.discard(origin, room, turn)
            if turn.done() and not turn.cancelled():
                self._end_turn()
            raise

    def _end_turn(self) -> None:
        """Pass the turn on to the next candidate that waits."""
        if self._turns:
            self._turns.next().set_result(None)
        else:
            self._free += 1

    async def _ask(self, candidate: Candidate) -> str:
        worker = self.idle.pop() if self.idle else await _start(self._niceness)
        stdin, stdout = worker.stdin, worker.stdout
        if stdin is None or stdout is None:
            raise ValueError("a worker has two pipes")
        try:
            with suppress(ConnectionError, RuntimeError):  # once a worker has ended, uvloop raises RuntimeError
                stdin.write(msgspec.json.encode(candidate) + b"\n")
                await stdin.drain()
            answer = await stdout.readline()
        except BaseException:
            await uninterrupted(_end(worker))
            raise
        if not answer.endswith(b"\n"):
            raise SolverFailed(await uninterrupted(_last_words(worker)))
        self.idle.append(worker)
        return answer.decode().rstrip("\n")

    async def close(self) -> None:
        """End all workers. Call this method only when all workers are idle."""
        while self.idle:
            await _end(self.idle.pop())


async def _start(niceness: int) -> Process:
    """Start a worker in its own session of the operating system, so that Ctrl-C in a terminal reaches only the node."""
    command = (sys.executable, "-P", "-m", "samedeal_server.solving.worker", str(niceness))
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True)
    )
    try:
        worker = await asyncio.shield(starting)
    except OSError as error:
        raise SolverFailed(str(error)) from None
    except asyncio.CancelledError:  # a process that has half started would leave its pipes open
        await uninterrupted(_end_once_started(starting))
        raise
    if worker.stdin is not None:
        with suppress(RuntimeError):  # as in _ask
            worker.stdin.write(msgspec.json.encode(offered()) + b"\n")
    return worker


async def _end_once_started(starting: asyncio.Task[Process]) -> None:
    with suppress(OSError):
        await _end(await starting)


async def _end(worker: Process) -> None:
    """Kill a worker."""
    with suppress(ProcessLookupError):
        worker.kill()
    await _last_words(worker)


async def _last_words(worker: Process) -> str:
    """Return the exit code of a worker that ends, with the last line that it wrote about an error, if any."""
    await worker.wait()
    if worker.stdin is not None:
        worker.stdin.close()
    _, written = [await pipe.read() if pipe is not None else b"" for pipe in (worker.stdout, worker.stderr)]
    last = written.decode(errors="replace").strip().rpartition("\n")[2][:_LAST_WORDS]
    return f"exit code {worker.returncode}" + (f": {last}" if last else "")
