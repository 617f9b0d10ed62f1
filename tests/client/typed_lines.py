"""The line client with lines that a player has typed, connected to a referee."""

from __future__ import annotations

import asyncio
import io
import sys

import pytest

from samedeal_client.line_by_line.line_client import LineClient
from samedeal_client.terminal_io.line_io import LineReader, Printer
from samedeal_client.text.appearance import Look
from samedeal_link.connection.link_events import Lost
from samedeal_link.session.client_session import ClientSession
from tests.client.referee import Referee, wait_until


class Typed(LineReader):
    """Lines that a player has typed. ``None`` is the end of the input. ``all_read`` is true after the last line."""

    def __init__(self, *lines: str | None) -> None:
        self._lines = list(lines)
        self.all_read = False

    async def read_line(self) -> str | None:
        if not self._lines:
            self.all_read = True
            await asyncio.Event().wait()
        return self._lines.pop(0)


async def printed(
    monkeypatch: pytest.MonkeyPatch,
    *lines: str | None,
    lasting: bool = True,
    referee: Referee | None = None,
    server_gone: bool = False,
    at_terminal: bool = True,
    rounds: int = 0,
) -> str:
    """Type lines during a race. Return the output, in which ``Bye`` stands for the end.

    If ``server_gone`` is true, the server stops before the first line. ``rounds`` is how often other tasks run after the
    last line.
    """
    monkeypatch.setattr(sys.stdin, "isatty", lambda: at_terminal)
    referee, reader, out = referee or Referee(), Typed(*lines), io.StringIO()
    client = ClientSession(referee)
    printer = Printer(out, colour=False)
    player = LineClient(client, Look(), printer, lambda: "Bye", lasting=lasting, ends_with_race=False)

    async def enter() -> None:
        await client.join(referee.room)
        await wait_until(lambda: client.model.room)
        await wait_until(
            lambda: client.model.board or client.model.phase in ("open", "finished") or client.model.may_begin
        )
        if server_gone:
            await referee.events.put(Lost("This server is stopping", 3.0, server_gone=True))
            await wait_until(lambda: client.connection.server_gone)

    answering, running = (asyncio.create_task(each) for each in (referee.answer_requests(), player.run(reader, enter)))
    try:
        await wait_until(lambda: running.done() or reader.all_read)
        for _ in range(rounds):
            await asyncio.sleep(0)
        return out.getvalue()
    finally:
        for task in (answering, running):
            task.cancel()
        await asyncio.gather(answering, running, return_exceptions=True)
