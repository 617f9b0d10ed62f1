"""The house of a served address keeps people company: in the page, in the terminal, and for as long as the server runs."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from pathlib import Path

import pytest

from samedeal.options import WantedOptions
from samedeal.protocol.messages import Create, Created, Done, Leave, RaceNow, RoomState
from samedeal_client.local import local_processes
from tests.end_to_end.browser import Browser
from tests.end_to_end.processes import Program, Programs, nothing_remains
from tests.end_to_end.racing_page import dealt
from tests.server.certificates import Keys
from tests.server.client import Client
from tests.server.races import QUICK_GAME, long_before_a_start
from tests.server.redis_kinds import free_port

pytestmark = pytest.mark.xdist_group("seat")  # two groups of tests with a browser each

PATIENCE = 120.0
"""Deadline, in seconds, for processes of low priority."""

HERE = '"event": "hello".*"name": "Basil"'
OFFER = "#person"
WITH_BOTS = f"document.querySelector('[data-game={QUICK_GAME}]').click(); document.querySelector('#bots').click()"


async def served(programs: Programs, redis_url: str, *options: str) -> tuple[str, Program]:
    """Serve an address, and wait until its house has asked for rooms. Return the address and the program."""
    program = await programs.samedeal(
        *("serve", "--redis", redis_url, "--port", "0", "--announce", "--log-style", "json", *options)
    )
    url = (await program.expect(r"listening on (\S+)", PATIENCE))[1]
    await program.expect(HERE, PATIENCE)
    return url, program


def people_in(state: RoomState) -> int:
    return sum(not seat.bot for seat in state.players)


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
    bob = await Client.hello(url, "bob")
    await long_before_a_start()
    await bob.join((await bob.expect(Created, RaceNow)).room)
    await browser.until(f"document.querySelector('{OFFER}:not([hidden])')")
    await browser.run(f"document.querySelector('{OFFER}').click()")
    state = await bob.state(lambda state: people_in(state) == 2 or state.phase == "countdown")
    if people_in(state) == 1:  # on a busy machine, the page comes to the next race
        await bob.expect(Done, Leave)
        await bob.join((await bob.expect(Created, RaceNow)).room)
        await bob.state(lambda state: people_in(state) == 2)
    await browser.open("about:blank")
    program.signal(signal.SIGTERM)
    assert await program.exit_code() == 0
    await nothing_remains(programs)


async def test_terminal_races_against_bots_of_a_server(programs: Programs, redis_url: str) -> None:
    url, program = await served(programs, redis_url, "--house", "2")
    player = await programs.samedeal("race", QUICK_GAME, url, "--bots", "--plain", "--name", "zoe")
    await player.expect("(?s)joined.*joined.*joined.*Go!", PATIENCE)
    assert program.process.returncode is None


async def test_house_that_dies_comes_back_to_a_server_with_a_file(
    programs: Programs, redis_url: str, tmp_path: Path
) -> None:
    """Its settings are in the file, and its certificate is not one for the address."""
    keys = Keys(tmp_path)
    lines = [f'host = "127.0.0.1"\ntls-cert = "{keys.cert}"\ntls-key = "{keys.key}"\nhouse = 1\nworkers = 2']
    (tmp_path / "samedeal.toml").write_text("".join(lines))
    _, program = await served(programs, redis_url, "--config", str(tmp_path / "samedeal.toml"))
    programs.kill(f"{sys.executable} -m samedeal_client house")
    await program.expect('house_died.*"code": -9', PATIENCE)
    await program.expect(HERE, PATIENCE)


async def test_bad_number_of_bots_is_explained_once(programs: Programs) -> None:
    explained = await programs.output("serve", "--house", "9", code=2)
    assert re.search(r"from 0 to 3\.\s*$", explained)


async def test_hosted_server_has_a_house(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_processes, "DEFAULT_PORT", free_port())
    async with local_processes.local_server(public=True) as (address, _), asyncio.timeout(PATIENCE):
        bob = await Client.hello(address.url, "bob")
        while not isinstance(await bob.ask(Create, options=WantedOptions(players=2), house=1), Created):
            pass
        await bob.close()
