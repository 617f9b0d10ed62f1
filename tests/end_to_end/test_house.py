"""The house of a served address keeps people company: in the page, in the terminal, and for as long as the server runs."""

from __future__ import annotations

import signal

import pytest

from tests.end_to_end.browser import Browser
from tests.end_to_end.processes import Program, Programs, nothing_remains
from tests.end_to_end.racing_page import dealt
from tests.server.redis_kinds import free_port

pytestmark = pytest.mark.xdist_group("page")  # one browser at a time for these tests

PATIENCE = 120.0
"""Deadline, in seconds, for processes of low priority."""

WITH_BOTS = "document.querySelector('#bots:not([hidden])').click()"


async def served(programs: Programs, redis_url: str, *options: str) -> tuple[str, Program]:
    """Serve an address, and wait until its house has asked for rooms. Return the address and the program."""
    port = free_port()
    program = await programs.samedeal(
        *("serve", "--redis", redis_url, "--port", str(port), "--announce", "--log-style", "json", *options)
    )
    await program.expect("listening on", PATIENCE)
    await program.expect('"name": "Basil"', PATIENCE)
    return f"ws://127.0.0.1:{port}", program


async def test_page_races_against_bots_and_they_end_with_the_server(
    programs: Programs, redis_url: str, browser: Browser
) -> None:
    url, program = await served(programs, redis_url)
    await browser.open(f"{url}/")
    await browser.until("document.querySelector('#bots:not([hidden])')")
    await browser.run(WITH_BOTS)
    await dealt(browser)
    names = await browser.run("return document.body.innerText")
    assert names.count("bot") >= 3
    program.signal(signal.SIGTERM)
    assert await program.exit_code() == 0
    await nothing_remains(programs)
    browser.errors()  # it mentions connections that were refused


async def test_terminal_races_against_bots_of_a_server(programs: Programs, redis_url: str) -> None:
    url, program = await served(programs, redis_url, "--house", "2")
    player = await programs.samedeal("race", "freecell", url, "--bots", "--plain", "--name", "zoe")
    await player.expect("(?s)joined.*joined", PATIENCE)
    assert program.process.returncode is None


async def test_house_without_a_fixed_port_is_refused(programs: Programs) -> None:
    for option in ("--port", "0", "--house", "2"), ("--tls-cert", "cert.pem", "--house", "1"):
        assert "fixed --port" in await programs.output("serve", *option, code=2)
    assert "choose from" not in await programs.output("serve", "--house", "9", code=2)
