"""The commands against a real server: rooms opened, listed, joined, watched, and every refusal as a sentence."""

from __future__ import annotations

import re

import pytest

from tests.end_to_end.processes import Program, Programs

pytestmark = pytest.mark.usefixtures("redis_url")


async def said(programs: Programs, *arguments: str) -> tuple[int, str]:
    """What a command that ends by itself prints, and its exit code."""
    program = await programs.samedeal(*arguments)
    assert program.process.stdin is not None
    program.process.stdin.close()
    return await program.ends(), program.text


@pytest.fixture
async def url(programs: Programs, redis_url: str) -> str:
    return (await programs.server(redis_url))[0]


async def joined(programs: Programs, url: str, room: str, name: str, *more: str) -> Program:
    player = await programs.samedeal("join", url, room, "--name", name, *more)
    await player.says(rf"{name} \(you\)")
    return player


async def test_rooms_are_opened_and_listed(programs: Programs, url: str) -> None:
    assert await said(programs, "rooms", url) == (0, f"There are no rooms: open one with samedeal new {url[5:]}\n")
    code, text = await said(programs, "new", url, "--no-join", "--room", "friday", "--game", "steve", "--players", "3")
    assert code == 0
    assert text == f"Room friday is open. Invite with: samedeal join samedeal://{url[5:]}/friday\n"
    await said(programs, "new", url, "--no-join", "--room", "secret", "--passphrase", "x", "--no-spectators")
    code, text = await said(programs, "rooms", url)
    assert code == 0
    lines = text.splitlines()
    assert lines[0].split() == ["room", "game", "deal", "phase", "players"]
    assert re.fullmatch(r"secret +Willow +random +open +0/8 +passphrase, nobody may watch", lines[1])
    assert re.fullmatch(r"friday +Steve +random +open +0/3", lines[2])


async def test_a_link_that_was_passed_on_leads_to_the_room(programs: Programs, url: str) -> None:
    _, text = await said(programs, "new", url, "--no-join", "--room", "friday")
    link = text.split()[-1]
    player = await programs.samedeal("join", link, "--name", "ana")
    await player.says(r"Room friday: Willow")
    web = await programs.samedeal("join", url.replace("ws://", "http://") + "/r/friday", "--name", "bo")
    await web.says(r"2 of 8: ana; bo \(you\)")


async def test_without_a_room_the_rooms_are_shown_to_choose_from(programs: Programs, url: str) -> None:
    await said(programs, "new", url, "--no-join", "--room", "friday")
    player = await programs.samedeal("join", url, "--name", "ana")
    await player.says(r"friday +Willow")
    await player.says(r"Which room\?")
    player.type("friday")
    await player.says(r"1 of 8: ana \(you\)")
    code, text = await said(programs, "join", url, "--name", "bo")
    assert code == 2
    assert "Name the room: samedeal join URL ROOM" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("join", "URL", "nowhere"), "There is no room 'nowhere'"),
        (("watch", "URL", "nowhere"), "There is no room 'nowhere'"),
        (("bot", "URL", "nowhere"), "There is no room 'nowhere'"),
        (("join", "URL", "secret"), "that is not its passphrase"),
        (("join", "URL", "secret", "--passphrase", "y"), "that is not its passphrase"),
        (("watch", "URL", "unwatched"), "lets nobody watch"),
        (("join", "URL", "small"), "This room is full"),
        (("join", "URL", "friday", "--name", "ANA"), "Somebody in this room is called"),
        (("new", "URL", "--room", "friday"), "There is a room 'friday' already"),
    ],
)
async def test_refusals(programs: Programs, url: str, arguments: tuple[str, ...], sentence: str) -> None:
    for options in (
        ("--room", "secret", "--passphrase", "x"),
        ("--room", "unwatched", "--no-spectators"),
        ("--room", "small", "--players", "1"),
        ("--room", "friday"),
    ):
        if options[1] in arguments:
            assert (await said(programs, "new", url, "--no-join", *options))[0] == 0
    if "small" in arguments or "friday" in arguments[2:3]:
        await joined(programs, url, arguments[2], "ana")
    code, text = await said(programs, *(url if word == "URL" else word for word in arguments))
    assert code == 1
    assert re.fullmatch(rf"samedeal: [^\n]*{sentence}[^\n]*\n", text), text


async def test_a_private_room_opens_to_its_passphrase_and_asks_for_it_on_a_terminal(
    programs: Programs, url: str
) -> None:
    await said(programs, "new", url, "--no-join", "--room", "secret", "--passphrase", "open sesame")
    await joined(programs, url, "secret", "ana", "--passphrase", "open sesame")
    bo = await programs.on_terminal("join", url, "secret", "--name", "bo", "--plain")
    await bo.says(r"Passphrase: ")
    bo.type("open sesame")
    await bo.says(r"2 of 8: ana; bo \(you\)")
    assert "open sesame" not in bo.text
    bo.type("\x04")
    await bo.says(r"Come back with: samedeal join")
    assert await bo.ends() == 0


async def test_no_escape_of_a_stranger_reaches_the_terminal(programs: Programs, url: str) -> None:
    ana = await programs.samedeal("new", url, "--name", "ana", "--room", "friday")
    await ana.says(r"1 of 8")
    ana.type("\x1b[2J\x07 3 5", "find \x1b]0;x", "help")
    await ana.says(r"moves  3 5")
    assert "\x1b" not in ana.text
    assert "\x07" not in ana.text


async def test_commands_of_the_line_client(programs: Programs, url: str) -> None:
    ana = await programs.samedeal(
        "new", url, "--name", "ana", "--game", "athena", "--deal", "7", "--countdown", "0", "--hints"
    )
    await ana.says(r"You are the host: type start")
    ana.type("3 5", "board", "ready", "again", "resign")
    await ana.says(r"There is no board to move on yet")
    await ana.says(r"There is no board yet")
    await ana.says(r"You are ready\.")
    await ana.says(r"A rematch can be had when this race is finished")
    await ana.says(r"There is no race under way")
    ana.type("start")
    await ana.says(r"0 of 52 cards up\.")
    ana.type("d", "d", "find KS", "find 2C", "undo", "hint", "rivals", "1 1", "gibberish at length")
    await ana.says(r"cards up\.")
    await ana.says(r"K♠ (lies|has not been seen yet)")
    await ana.says(r"2♣ (lies|has not been seen yet)")
    await ana.says(r"this race doesn't take back what was seen")
    await ana.says(r"Try \w+( \w+)?( x\d+)?\.")
    await ana.says(r"There are no rivals")
    await ana.says(r"\.\n")
    await ana.says(r"'gibberish at length' is not understood")
    ana.type("leave")
    await ana.says(r"You have given up your seat")
    assert await ana.ends() == 0


async def test_a_file_of_moves_is_played_to_its_end(programs: Programs, url: str) -> None:
    ana = await programs.samedeal(
        "new", url, "--name", "ana", "--game", "athena", "--deal", "7", "--countdown", "0", "--limit", "10s"
    )
    await ana.says(r"You are the host")
    ana.type("start")
    await ana.says(r"0 of 52 cards up\.")
    ana.type(*["draw"] * 9)
    assert ana.process.stdin is not None
    ana.process.stdin.close()
    await ana.says(r"Ten seconds left|The race is over", 15)
    await ana.says(r"1 ana \(you\) +\d+/52 +– +9 +0", 15)
    assert await ana.ends() == 0
