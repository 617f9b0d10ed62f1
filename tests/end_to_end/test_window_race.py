"""Five friends who are never there at the same time race one deal: each uses another program, and all see one table."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from samedeal.protocol.messages import Begin, Begun, Done, Resign
from tests.end_to_end.browser import Browser
from tests.end_to_end.doors import door_to, key_in, ssh
from tests.end_to_end.processes import Programs
from tests.end_to_end.racing_page import raced, seated
from tests.end_to_end.terminal import Terminal
from tests.programs import needs
from tests.server.live_nodes import Node
from tests.server.races import kept
from tests.server.redis_kinds import free_port

pytestmark = [needs("ssh", "ssh-keygen", "tmux"), pytest.mark.xdist_group("page")]

ROOM = "friends"
OPTIONS = ("--window", "1d", "--game", "ace-of-hearts")
NAMES = ["ana", "ben", "cleo", "dan", "eve"]


async def test_friends_who_never_meet_race_one_deal(
    one: Node, programs: Programs, terminal: Terminal, browser: Browser, tmp_path: Path
) -> None:
    """Ana reads lines, ben uses the full screen, cleo comes over ssh, dan has the page, and eve a program of her own."""
    with door_to(one.url, tmp_path, 0, free_port()) as door:
        full_screen = {
            "ben": (sys.executable, "-m", "samedeal_client", "join", one.url, ROOM, "--name", "ben"),
            "cleo": ssh("ssh", door, key_in(tmp_path, "key"), "-t", "cleo@127.0.0.1", "join", ROOM),
        }

        ana = await programs.samedeal("new", one.url, *OPTIONS, "--room", ROOM, "--name", "ana")
        await ana.expect(r"Watching +when all have raced")
        await ana.reply("quit", "Your seat is kept")
        for name, command in full_screen.items():
            terminal.open((100, 30), *command)
            if name == "cleo":
                await terminal.wait_for("What is your name")
                terminal.type("Enter")
            await terminal.wait_for(rf"{name} +you")
            await terminal.type_until("code 0", "C-q")
        await seated(browser, one.url, ROOM, "dan")
        await browser.load("about:blank")
        eve = await one.player("eve")
        await eve.join(ROOM)
        await eve.close()

        ana = await programs.samedeal("join", one.url, ROOM, "--name", "ana")
        await ana.expect("type start to close the doors")
        await ana.reply("start", "Type start to begin")
        await ana.reply("start", "Foundations 0/52")
        ana.type_lines("deal", "resign", "resign")
        await ana.expect("You resigned")
        ana.type_lines("quit")
        assert await ana.exit_code() == 0
        for command in full_screen.values():
            terminal.open((100, 30), *command)
            await terminal.wait_for("Your one try: 15:00")
            await terminal.type_until("/52 +0 moves", "Enter")
            await terminal.type_until("1 move ", "space")
            await terminal.type_until("You have no other try", "C-r")
            await terminal.type_until("You have raced", "y")
            await terminal.type_until("code 0", "C-q")
        await browser.load(f"{one.url}/{ROOM}")
        await browser.shows("drawn by ana, without you")
        await raced(browser)
        await browser.load("about:blank")
        eve = await one.player("eve", eve.session)
        await eve.join(ROOM)
        await eve.expect(Begun, Begin)
        await eve.dealt()
        await eve.act("deal")
        await eve.expect(Done, Resign)

        record = await kept(eve, ROOM)
        assert [(line.name, len(line.actions)) for line in record.players] == [(name, 1) for name in NAMES]
        assert len({line.began_at for line in record.players}) == len(NAMES)

        ana = await programs.samedeal("join", one.url, ROOM, "--name", "ana")
        words = (await ana.expect("Deal words: ([a-z ]+) "))[1]
        await ana.expect("1st: eve, resigned with 0 of 52 cards")
        for command in full_screen.values():
            terminal.open((100, 30), *command)
            await terminal.wait_for(rf"ana +0/52[\s\S]*eve +0/52[\s\S]*Deal words: {words}")
            await terminal.type_until("code 0", "C-q")
        await browser.load(f"{one.url}/{ROOM}")
        await browser.shows("drawn by ana, without you", ".deal")
        assert await browser.run("return document.querySelector('#words').textContent") == words
        assert await browser.texts("#standings .moves") == ["1"] * len(NAMES)
