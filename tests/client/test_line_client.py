"""The line client: it asks before it quits a race or resigns."""

from __future__ import annotations

import asyncio
import io
import sys

import pytest

from samedeal.protocol.messages import Leave, Resign, Start
from samedeal.race.commands import AwayCommand
from samedeal_client.line_by_line.line_client import LineClient
from samedeal_client.panels.race import server_gone_sentences
from samedeal_client.terminal_io.line_io import LineReader, Printer
from samedeal_client.text.appearance import Look
from samedeal_link.connection.link_events import Lost
from samedeal_link.model.model import Model
from samedeal_link.session.client_session import ClientSession
from tests.client.referee import Referee, wait_until
from tests.golden.golden_files import assert_sentences


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
) -> str:
    """Type lines during a race. Return the output, in which ``Bye`` stands for the end.

    If ``server_gone`` is true, the server stops before the first line.
    """
    monkeypatch.setattr(sys.stdin, "isatty", lambda: at_terminal)
    referee, reader, out = referee or Referee(), Typed(*lines), io.StringIO()
    client = ClientSession(referee)
    printer = Printer(out, colour=False)
    player = LineClient(client, Look(), printer, lambda: "Bye", lasting=lasting, ends_with_race=False)

    async def enter() -> None:
        await client.join(referee.room)
        await wait_until(lambda: client.model.board or (client.model.room and client.model.room.phase == "open"))
        if server_gone:
            await referee.events.put(Lost("This server is stopping", 3.0, server_gone=True))
            await wait_until(lambda: client.connection.server_gone)

    answering, running = (asyncio.create_task(each) for each in (referee.answer_requests(), player.run(reader, enter)))
    try:
        await wait_until(lambda: running.done() or reader.all_read)
        return out.getvalue()
    finally:
        for task in (answering, running):
            task.cancel()
        await asyncio.gather(answering, running, return_exceptions=True)


@pytest.mark.parametrize(
    ("lines", "away", "starts"),
    [(("start",), False, True), (("start",), True, False), (("start", "start"), True, True)],
)
async def test_plain_start_asks_about_who_is_away(
    monkeypatch: pytest.MonkeyPatch, lines: tuple[str, ...], *, away: bool, starts: bool
) -> None:
    referee = Referee(phase="open")
    referee.tell(AwayCommand("p2", away))
    said = await printed(monkeypatch, *lines, referee=referee)
    assert ("Type start again to start without mira." in said) == away
    assert any(isinstance(request, Start) for request in referee.requests) == starts


@pytest.mark.parametrize(
    ("lines", "ended"),
    [(("quit",), False), (("quit", "quit"), True), (("quit", "board", "quit"), False), ((None,), True)],
)
async def test_plain_quit_in_a_race_asks_once(
    monkeypatch: pytest.MonkeyPatch, lines: tuple[str | None, ...], ended: bool
) -> None:
    assert ("Bye" in await printed(monkeypatch, *lines)) == ended


async def test_plain_client_without_input_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no input" in await printed(monkeypatch, None, at_terminal=False)


async def test_wording_of_plain_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [("quit", True), ("quit", False), ("resign", True), ("leave", True)]
    lines: list[str] = []
    for word, lasting in cases:
        text = await printed(monkeypatch, word, lasting=lasting)
        question = next(line for line in text.splitlines() if f"Type {word} again" in line)
        lines.append(f"{word}{'' if lasting else ', server on this machine'}\t{question}")
    assert_sentences("questions of the plain client", lines)


@pytest.mark.parametrize("word", ["resign", "leave"])
@pytest.mark.parametrize(("between", "done"), [([], False), ([""], True), (["board", ""], False)])
async def test_plain_resign_or_leave_asks_once(
    monkeypatch: pytest.MonkeyPatch, word: str, between: list[str], done: bool
) -> None:
    referee = Referee()
    lines = [word, *(line or word for line in between)]
    assert f"Type {word} again" in await printed(monkeypatch, *lines, referee=referee)
    assert any(isinstance(request, (Resign, Leave)) for request in referee.requests) == done


@pytest.mark.parametrize("command", ["quit", "resign", "leave"])
async def test_plain_client_tells_that_the_server_is_gone(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    referee = Referee()
    text = await printed(monkeypatch, command, referee=referee, server_gone=True)
    gone = " ".join(server_gone_sentences(Model().after(referee.state())))
    assert text.count(gone) == 2
    assert "still running" not in text
    assert not any(isinstance(request, (Resign, Leave)) for request in referee.requests)
