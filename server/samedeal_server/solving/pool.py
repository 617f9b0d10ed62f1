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
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from typing import Final

import msgspec

from samedeal.games import offered
from samedeal_server.solving.turns import Turns
from samedeal_server.solving.worker import Candidate
from samedeal_server.telemetry.events import LogEvent, get_logger

MAX_WORKERS: Final = 4

RETRY_INTERVAL: Final = 1.0
"""Time, in seconds, after which a candidate is tried again if its worker ended."""

_log = get_logger()


class _WorkerEnded(Exception):
    """Error of a worker that could not start, was killed, or ran out of memory."""


class SolverPool:
    """The worker processes of a node. Each worker tries one candidate at a time.

    If all workers are busy, candidates wait for their turns, so that nobody can delay the deals of others by searching
    for many. If a worker ends, another worker is started and tries the same candidate again. ``idle`` has the workers that
    wait for a candidate.
    """

    def __init__(self) -> None:
        self.idle: list[Process] = []
        self._free = max(1, min(MAX_WORKERS, (os.cpu_count() or 1) // 2))
        self._turns: Turns[asyncio.Future[None]] = Turns()

    async def solve(self, candidate: Candidate, origin: str = "", room: str = "") -> str:
        """Return the moves with which the solver wins a candidate.

        Return an empty text if the solver does not win it. ``origin`` and ``room`` decide whose turn it is. If this
        call is cancelled, its worker is free at once.
        """
        await self._wait_for_turn(origin, room)
        try:
            while True:
                try:
                    return await self._ask(candidate)
                except _WorkerEnded as ended:
                    _log.warning(LogEvent.SOLVER_ENDED, reason=str(ended))
                    await asyncio.sleep(RETRY_INTERVAL)
        finally:
            self._end_turn()

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
        worker = self.idle.pop() if self.idle else await _start()
        stdin, stdout = worker.stdin, worker.stdout
        if stdin is None or stdout is None:
            raise ValueError("a worker has two pipes")
        try:
            with suppress(ConnectionError):
                stdin.write(msgspec.json.encode(candidate) + b"\n")
                await stdin.drain()
            answer = await stdout.readline()
        except BaseException:
            await _end(worker)
            raise
        if not answer.endswith(b"\n"):
            await _end(worker)
            raise _WorkerEnded(f"exit code {worker.returncode}")
        self.idle.append(worker)
        return answer.decode().rstrip("\n")

    async def close(self) -> None:
        """End all workers. Call this method only when all workers are idle."""
        while self.idle:
            await _end(self.idle.pop())


async def _start() -> Process:
    """Start a worker in its own session of the operating system, so that Ctrl-C in a terminal reaches only the node."""
    command = (sys.executable, "-P", "-m", "samedeal_server.solving.worker")
    try:
        worker = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True
        )
    except OSError as error:
        raise _WorkerEnded(str(error)) from None
    if worker.stdin is not None:
        worker.stdin.write(msgspec.json.encode(offered()) + b"\n")
    return worker


async def _end(worker: Process) -> None:
    with suppress(ProcessLookupError):
        worker.kill()
    await worker.wait()
    if worker.stdin is not None:
        worker.stdin.close()
