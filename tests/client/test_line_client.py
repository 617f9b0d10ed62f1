"""The line client: it asks before it quits a race or resigns."""

from __future__ import annotations

import pytest

from samedeal.protocol.messages import Leave, Resign, Start
from samedeal.race.commands import AwayCommand
from samedeal_client.panels.race import server_gone_sentences
from samedeal_link.model.model import Model
from tests.client.referee import Referee
from tests.client.typed_lines import printed
from tests.golden.golden_files import assert_sentences


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
