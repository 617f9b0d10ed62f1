"""Real clients in races on a server that lies: no lie is called fair."""

from __future__ import annotations

import re
import sys

import pytest

from samedeal.verdict_rows import ROWS
from samedeal_client.panels.verdict import EXIT_CODES
from tests.end_to_end.browser import Browser
from tests.end_to_end.lying_server import ChangedTerms, Liar, NoRecord, OtherResultsLater, RetimedMove
from tests.end_to_end.processes import Programs
from tests.end_to_end.racing_page import PRESS, dealt, sit, tap
from tests.end_to_end.terminal import Terminal
from tests.end_to_end.watched_races import ROOM
from tests.programs import needs
from tests.server.live_nodes import Node


def told(row: str) -> str:
    """The beginning of what a client says because of a row of the table of verdicts. Without one, the race is fair."""
    return (ROWS[row].sentence.split("{")[0] or "Not fully checked: ") if row else "Fair: "


BOB = ("--name", "bob", "--level", "random", "--pace", "1000")


@pytest.mark.parametrize(
    ("kind", "row"),
    [(Liar, ""), (ChangedTerms, "changed_terms"), (NoRecord, "no_record"), (RetimedMove, "other_action")],
)
async def test_lie_is_told_and_never_called_fair(one: Node, programs: Programs, kind: type[Liar], row: str) -> None:
    """A player leaves if the lie is told before the race."""
    async with kind(one).running() as server:
        bob = await programs.samedeal("bot", server.url, ROOM, *BOB)
        ana = await programs.samedeal("join", server.url, ROOM, "--name", "ana")
        await ana.expect("bob")
        ana.type_lines("ready")
        if kind is not ChangedTerms:
            await ana.expect(r"Foundations 0/52\.")
            ana.type_lines("deal", "deal")
            while True:  # until ana has heard of two moves of bob
                ana.type_lines("rivals")
                if int((await ana.expect(r"bob.*/52 in (\d+) move"))[1]) > 1:
                    break
            ana.type_lines("resign")
        await ana.expect(re.escape(told(row)))
        if kind is ChangedTerms:
            ana.type_lines("leave")
        expected = ROWS[row].verdict if row else "fair"
        assert await ana.exit_code() == EXIT_CODES[expected] * (kind is not ChangedTerms)
        assert await bob.exit_code() == int(expected == "wrong")
    assert len(server.revealed) == 2 * (kind is not ChangedTerms)
    assert "Traceback" not in ana.text + bob.text
    assert not row or told(row) in bob.text or "NOT fair: " in bob.text  # it may find more, and say that first
    assert ("Fair: " in ana.text, "Result words: " in ana.text) == (not row, kind in (Liar, RetimedMove))


@needs("tmux")
async def test_screen_takes_back_what_it_called_fair(one: Node, programs: Programs, terminal: Terminal) -> None:
    async with OtherResultsLater(one).running() as server:
        bob = await programs.samedeal("bot", server.url, ROOM, *BOB)
        command = [sys.executable, "-m", "samedeal_client", "join", server.url, ROOM, "--name", "ana"]
        terminal.open((100, 30), *command)
        await terminal.wait_for(r"bob \(bot\)")
        await terminal.type_until("0 moves", "space")
        await terminal.type_until("1 move ", "space")
        await terminal.type_until(r"Resign\?", "C-r")
        await terminal.type_until("Fair: ", "y")
        await server.show_other_results()
        await terminal.wait_for(re.escape(told("other_results")[:40]))
        assert "Fair: " not in terminal.text
        await bob.exit_code()


@pytest.mark.xdist_group("seat")
@pytest.mark.parametrize(("kind", "verdict"), [(Liar, "fair"), (RetimedMove, "wrong")])
async def test_page_calls_no_lie_fair(
    one: Node, programs: Programs, browser: Browser, kind: type[Liar], verdict: str
) -> None:
    async with kind(one).running() as server:
        await programs.samedeal("bot", server.url, ROOM, *BOB)
        await sit(browser, server.url, "ana")
        await browser.run(PRESS, "Ready")
        await dealt(browser)
        await tap(browser, "deal", 1)
        await browser.run(PRESS, "Resign")
        await browser.run(PRESS, "Really resign?")
        assert await browser.until("document.querySelector('.deal:not(.checking)')?.classList[2]") == verdict
        await browser.close_page()


@pytest.mark.xdist_group("seat")
async def test_page_tells_a_lie_at_once(one: Node, programs: Programs, browser: Browser) -> None:
    """It loads the sentences of the verdict only then."""
    async with ChangedTerms(one).running() as server:
        await programs.samedeal("bot", server.url, ROOM, *BOB)
        await sit(browser, server.url, "ana")
        await browser.run(PRESS, "Ready")
        await browser.until(f"document.body.textContent.includes({told('changed_terms')!r})")
        await browser.close_page()
