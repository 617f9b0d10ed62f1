"""Races of the page in real browsers against others: a bot, another page and the terminal client."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from samedeal.record import Record
from samedeal_client.drawing.board_lines import board_lines
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from tests.end_to_end.browser import ENGINES, Browser, Engine
from tests.end_to_end.processes import Programs
from tests.end_to_end.racing_page import PRESS, RECORDS, dealt, opened, shows_start, sit, tap
from tests.end_to_end.watched_races import ROOM
from tests.server.live_nodes import Node

pytestmark = pytest.mark.xdist_group("browser")

QUICK_GAMES = ("freecell", "yukon")
"""Games whose recorded races have few moves."""


@pytest.mark.parametrize(("engine", "game"), list(zip(ENGINES, QUICK_GAMES, strict=True)))
async def test_race_against_a_bot_is_won(
    browsers: Callable[[Engine], Browser], one: Node, programs: Programs, engine: Engine, game: str
) -> None:
    """The race ends although the bot has not finished, because no person plays on."""
    record, browser = Record.parse((RECORDS / f"{game}.txt").read_text()), browsers(engine)
    await opened(one.url, games=(game,), deal=str(record.deal), start="full", players=2, end_when_settled=True)
    await sit(browser, one.url)
    await programs.samedeal("bot", one.url, ROOM, "--level", "random", "--pace", "1")
    await dealt(browser)
    await browser.run(PRESS, "Tap moves")  # from now on, a tap picks
    for number, (_, action) in enumerate(record.actions, 1):
        await tap(browser, action, number)
    await browser.shows("Place 1 in")
    await browser.shows("Deal checked here", ".deal.fair")
    await browser.close_page()


async def test_pages_and_terminal_get_the_same_cards(
    browsers: Callable[[Engine], Browser], one: Node, programs: Programs
) -> None:
    mira = await opened(one.url, games=("klondike",), start="full", players=4, deal="7")
    pages = [browsers(engine) for engine in ENGINES]
    for page, name in zip(pages, ("zoe", "ben"), strict=True):
        await sit(page, one.url, name)
    await mira.join(ROOM)
    terminal = await programs.samedeal("join", f"http{one.url.removeprefix('ws')}/{ROOM}", "--name", "tom")
    for page in pages:
        await dealt(page)
    await mira.dealt()
    for page in pages:
        await shows_start(page, mira)
    for row in board_lines(mira.play.board, Look(words=True)):
        await terminal.expect(re.escape(row_text(row)))
    for page in pages:
        await page.close_page()
