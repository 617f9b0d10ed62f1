"""The commands for rooms against a real server, and how they report a refusal."""

from __future__ import annotations

import os
import re
import termios
import time

import pytest

from samedeal.options import Options, WantedOptions
from samedeal.protocol.messages import Create, Created
from samedeal.sentences import refused
from tests.end_to_end.live_server import friend
from tests.end_to_end.processes import Programs
from tests.server.client import Client
from tests.server.live_nodes import Node
from tests.server.races import QUICK_GAME, race_alone, shorten_wait
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


async def test_programs_follow_into_an_earlier_race(
    one: Node,  # stops after the programs, which would connect to it again while it stops
    programs: Programs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shorten_wait(monkeypatch)
    mira = await Client.hello(one.url, "mira")
    await race_alone(mira, QUICK_GAME)
    at = await one.store.now() + 3_000
    options = WantedOptions(
        games=(QUICK_GAME,), deal="winnable", hosted=False, start="at", start_at=at, countdown=1, limit=10
    )
    room = (await mira.expect(Created, Create, options=options)).room
    bot = await programs.samedeal("bot", one.url, room, "--level", "careful", "--pace", "1000", "--name", "ott")
    await bot.expect("Nobody else came")
    bo = await programs.samedeal("race", QUICK_GAME, one.url, "--name", "bo")
    await bo.expect(r"Room \w{6}: Baker's Game(.|\n)*Nobody else came(.|\n)*Room \w{6}: Baker's Game(.|\n)*Go!")
    await bot.expect("1st of 1")


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
        await ana.rooms.create(Options(), "friday")
        for words, refusal in (
            (("watch", server, "nowhere"), refused("no_room", room="nowhere")),
            (("join", server, "secret", "--passphrase", "y"), refused("bad_passphrase")),
            (("new", server, "--room", "friday"), refused("room_exists", room="friday")),
        ):
            text = await programs.output(*words, code=1)
            assert text.startswith(f"samedeal: Server: {refusal}")  # the client may add what to type
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
    ("command", "prompt"),
    [("join {} secret", "Passphrase:"), ("join {} secret --plain", "Passphrase:"), ("admin {} status", "Token:")],
)
@pytest.mark.parametrize(("key", "code"), [(b"\x03", 130), (b"\x04", 1)])
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


async def test_commands_of_the_line_client(programs: Programs, server: str) -> None:
    ana = await programs.samedeal(
        "new", server, "--name", "ana", "--game", "athena", "--deal", "7", "--countdown", "0", "--hints"
    )
    await ana.expect(r"You are the host\. Type start")
    ana.type_lines("3 5", "board", "ready")
    await ana.expect(r"Type help for a list of commands")
    await ana.expect(r"There is no board yet")
    await ana.expect(r"You are ready\.")
    ana.type_lines("again", "resign")
    await ana.expect(r"You can ask for a rematch once this race is over")
    await ana.expect(r"No race is under way")
    await ana.reply("start", r"Foundations 0/52\.")
    ana.type_lines("d", "d", "find KS", "find 2C", "undo", "hint", "rivals", "1 1", "gibberish at length")
    await ana.expect(r"Foundations")
    await ana.expect(r"King of spades (is|has not been seen yet)")
    await ana.expect(r"2 of clubs (is|has not been seen yet)")
    await ana.expect(r"In this race such moves can't be undone")
    await ana.expect(r"Try \w+( \w+)?( x\d+)?[.:]")
    await ana.expect(r"There are no other players")
    await ana.expect(r"\.\n")
    await ana.expect(r"'gibberish at length' is not a move")
    await ana.reply("leave", r"You have left the room")
    assert await ana.exit_code() == 0
