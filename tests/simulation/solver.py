"""The stand-in for a process that searches for deals. It searches at once, and answers when the search would have ended."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Final

import msgspec

from tests.simulation.loop import SimulatedLoop

_KILLED: Final = -9


class SolverProcess(asyncio.SubprocessTransport, asyncio.Transport):
    """A worker of a node, and the pipe to it. ``slowness`` multiplies the time of its searches."""

    slowness = 1.0

    def __init__(self, protocol: Any, words: tuple[Any, ...]) -> None:
        super().__init__()
        assert "samedeal_server.solving.worker" in words, words
        self._loop = asyncio.get_running_loop()
        assert isinstance(self._loop, SimulatedLoop)
        self._random = self._loop.random
        self._worker: Any = sys.modules["samedeal_server.solving.worker"]  # that of the node's release
        self._protocol = protocol
        self._ended = self._loop.create_future()
        self._code: int | None = None
        self._knows_games = False
        protocol.connection_made(self)

    def get_pipe_transport(self, fd: int) -> Any:
        return None if fd == 2 else self

    def get_pid(self) -> int:
        return 0

    def get_returncode(self) -> int | None:
        return self._code

    def is_closing(self) -> bool:
        return self._code is not None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Search for what the node asks for, a line for each candidate. The first line has the games."""
        for line in bytes(data).splitlines():
            if self._knows_games:
                candidate = msgspec.json.decode(line, type=self._worker.Candidate)
                seconds = self.slowness * self._random.uniform(0.05, 0.4)
                self._loop.call_later(seconds, self._answer, self._worker.winning_line(candidate).encode() + b"\n")
            self._knows_games = True

    def _answer(self, line: bytes) -> None:
        if self._code is None:
            self._protocol.pipe_data_received(1, line)

    def kill(self) -> None:
        if self._code is None:
            self._code = _KILLED
            for fd in (0, 1):
                self._loop.call_soon(self._protocol.pipe_connection_lost, fd, None)
            self._loop.call_soon(self._protocol.process_exited)
            self._ended.set_result(None)

    def close(self) -> None:
        """Do nothing: a worker ends only when it is killed."""

    async def _wait(self) -> int | None:
        await self._ended
        return self._code
