"""The commands for rooms against a real server, and how they report a refusal."""

from __future__ import annotations

import os
import re
import termios
import time

import pytest

from samedeal.options import Options
from samedeal.sentences import refused
from tests.end_to_end.live_server import friend
from tests.end_to_end.processes import Programs
from tests.server.waiting import until


async def test_opened_rooms_are_listed(programs: Programs, server: str) -> None:
    assert f"samedeal new {server[5:]}" in await programs.output("rooms", server)
    opening = ("new", server, "--no-join", "--room")
    text = await programs.output(*opening, "friday", "--game", "steve", "--players", "3")
    send, join, note = text.splitlines()
    assert send.endswith(f" http://{server[5:]}/friday")
    assert join.endswith(f" samedeal join {server[5:]} friday")
    assert "instead of 127.0.0.1" in note
    await programs.output(*opening, "closed", "--no-spectators")
    await programs.output(*opening, "secret", "--passphrase", "x")
    lines = (await programs.output("rooms", server)).splitlines()
    assert lines[0].split() == ["room", "game", "deal", "phase", "players"]
    assert re.fullmatch(r"closed +Willow +winnable +open +0/8 +no spectators", lines[1])
    assert re.fullmatch(r"friday +Steve +winnable +open +0/3", lines[2])
    assert len(lines) == 3


async def test_players_who_race_now_meet(programs: Programs, server: str) -> None:
    for arguments in ((), ("willow", "willow", server)):  # this machine has joined no server yet
        assert "samedeal race GAME URL" in await programs.output("race", *arguments, code=2)
    ana = await programs.samedeal("race", "yukon", server, "--name", "ana")
    await ana.expect(r"Room \w{6}: Yukon")
    bo = await programs.samedeal("race", server, "--name", "bo")
    await bo.expect(r"Room \w{6}: Yukon")
    await ana.expect(r"bo joined")


async def test_players_of_a_tide_meet(programs: Programs, redis_url: str) -> None:
    """One tide is open, and one opens later."""
    minute = int(time.time() / 60 + 2)  # at least a minute from now
    at = [f"{each // 60 % 24:02}:{each % 60:02}" for each in (minute, minute + 30)]
    url, _ = await programs.server("--redis", redis_url, "--tides", f"{at[0]} steve, {at[1]} willow")
    ana = await programs.samedeal("race", "--tide", url, "--name", "ana")
    await ana.expect(r"Room \w{6}: Steve")
    bo = await programs.samedeal("race", "--tide", "--name", "bo")  # on the server that was joined last
    await bo.expect(r"Room \w{6}: Steve")
    await ana.expect(r"bo joined")
    for game, sentence in (("willow", "This race opens for you in 2"), ("spider", "This server has no such races")):
        assert sentence in await programs.output("race", game, url, "--tide", "--name", "cy", code=1)


async def test_join_without_a_room_lists_the_rooms(programs: Programs, server: str) -> None:
    async with friend(server) as mira:
        await mira.rooms.create(Options(), "friday")
    player = await programs.samedeal("join", server, "--name", "ana")
    await player.expect(r"friday +Willow")
    await player.expect(r"Which room\?")
    await player.reply("friday", r"1 of 8: ana \(you\)")
    assert "samedeal join URL ROOM" in await programs.output("join", server, "--name", "bo", code=2)


async def test_refusals_of_the_server_are_printed(programs: Programs, server: str) -> None:
    async with friend(server, "ana") as ana:
        await ana.rooms.create(Options(), "secret", "x")
        text = await programs.output("join", server, "secret", "--passphrase", "y", code=1)
        assert text.startswith(f"samedeal: Server: {refused('bad_passphrase')}")  # the client may add what to type
        assert "--passphrase" in await programs.output("join", server, "secret", code=None)


async def test_a_private_room_asks_for_its_passphrase(programs: Programs, server: str) -> None:
    async with friend(server) as mira:
        await mira.join(await mira.rooms.create(Options(), "secret", "open sesame"), "open sesame")
        bo = await programs.on_terminal("join", server, "secret", "--name", "bo", "--plain")
        await bo.expect(r"Passphrase:")
        await bo.reply("open sesame", r"2 of 8: mira; bo \(you\)")
        assert "open sesame" not in bo.text
        await bo.reply("\x04", r"Return with: samedeal join")
        assert await bo.exit_code() == 0


@pytest.mark.parametrize(
    ("command", "prompt", "key", "code"),
    [
        ("join {} secret", "Passphrase:", b"\x03", 130),
        ("join {} secret --plain", "Passphrase:", b"\x04", 1),
        ("admin {} status", "Token:", b"\x03", 130),
    ],
)
async def test_prompt_ends_at_once_and_restores_the_terminal(
    programs: Programs, server: str, command: str, prompt: str, key: bytes, code: int
) -> None:
    async with friend(server) as mira:
        await mira.rooms.create(Options(), "secret", "open sesame")
        bo = await programs.on_terminal(*command.format(server).split())
        terminal = bo.terminal
        assert terminal is not None
        before = termios.tcgetattr(terminal)
        await bo.expect(prompt)
        await until(lambda: not termios.tcgetattr(terminal)[3] & termios.ECHO)
        os.write(terminal, key)
        assert await bo.exit_code() == code
        assert termios.tcgetattr(terminal) == before
        assert "Traceback" not in bo.text
