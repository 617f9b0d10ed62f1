"""A race on this machine with one command: it comes to its standings, and leaves nothing behind however it ends."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from collections.abc import Callable

import pytest

from tests.end_to_end.processes import Programs


async def until(condition: Callable[[], bool]) -> None:
    """Look again and again, for processes tell nobody of themselves."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 (there is no event to wait for)
            await asyncio.sleep(0.02)


async def nothing_is_left(programs: Programs) -> None:
    """Neither a process of the test nor a file of its processes."""
    await until(lambda: not programs.left_running())
    assert not list(programs.temporary.iterdir())


async def test_without_a_terminal_bots_race_to_the_standings(programs: Programs) -> None:
    race = await programs.samedeal("play", "athena", "--limit", "10s", "--pace", "600", "--deal", "7")
    await race.says(r"Athena, deal #7|Athena, #7")
    await race.says(r"Go!")
    await race.says(r"\d\d:\d\d  (\w+ \(\w+\) \d+/52 in [1-9]\d* moves(, )?){4}")
    await race.says(r"The race is over\.", 30)
    standings = await race.says(r"(?s)1 .*Checked: the seed is the one committed to beforehand")
    assert len(re.findall(r"^ +\d \w+ \((?:careful|greedy|random)\)", standings[0], re.MULTILINE)) == 3
    assert await race.ends() == 0
    await nothing_is_left(programs)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_it_leaves_nothing_behind_when_it_is_stopped(programs: Programs, number: signal.Signals) -> None:
    race = await programs.samedeal("play", "willow")
    await race.says(r"Go!")
    assert any("samedeal_server" in command for command in programs.left_running().values())
    assert sum("samedeal_client bot " in command for command in programs.left_running().values()) == 4
    race.signal(number)
    assert await race.ends() == 128 + number
    await nothing_is_left(programs)


async def test_it_leaves_nothing_behind_when_it_is_stopped_while_it_starts(programs: Programs) -> None:
    race = await programs.samedeal("play", "willow")
    await until(lambda: any("samedeal_server" in command for command in programs.left_running().values()))
    race.signal(signal.SIGTERM)
    assert await race.ends() == 128 + signal.SIGTERM
    await nothing_is_left(programs)


async def test_even_killed_it_leaves_no_process_behind(programs: Programs) -> None:
    race = await programs.samedeal("play", "willow")
    await race.says(r"Go!")
    race.signal(signal.SIGKILL)
    await race.process.wait()
    await until(lambda: not programs.left_running())


async def test_a_server_that_dies_ends_the_race_with_a_sentence(programs: Programs) -> None:
    race = await programs.samedeal("play", "willow")
    await race.says(r"Go!")
    programs.kill(f"{sys.executable} -m samedeal_server --port")
    await race.says(r"samedeal: The server has ended with code 137")
    assert await race.ends() == 1
    await nothing_is_left(programs)


async def test_on_a_terminal_you_play_and_the_bots_follow_to_a_rematch(programs: Programs) -> None:
    race = await programs.on_terminal("play", "willow", "--plain", "--deal", "7", "--bots", "1", "--limit", "10s")
    await race.says(r"The race starts in 5 seconds")
    await race.says(r"0 of 52 cards up\.")
    race.type("1 0")
    await race.says(r"1 of 52 cards up\.")
    race.type("hint")
    await race.says(r"Try \w+( \w+)?( x\d+)?\.")
    await race.says(r"The race is over\.")
    await race.says(r"Type again for a rematch")
    race.type("again")
    await race.says(r"Room \S+-2: Willow, #8")
    await race.says(r"The race starts in 5 seconds")
    race.type("quit")
    assert await race.ends() == 0
    await nothing_is_left(programs)


async def test_ctrl_c_on_a_terminal_ends_all_of_it(programs: Programs) -> None:
    race = await programs.on_terminal("play", "willow", "--plain", "--bots", "2")
    await race.says(r"has come in")
    race.type("\x03")
    assert await race.ends() == 130
    assert "Traceback" not in race.text
    await nothing_is_left(programs)
