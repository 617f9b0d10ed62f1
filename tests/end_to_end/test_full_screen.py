"""The real program in a real terminal against a real server: typed at and read back, through a race that is won."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from samedeal.moves import Move
from samedeal.options import Options
from tests.client.hands import keys_for, won
from tests.end_to_end.company import friend, knows, racing
from tests.end_to_end.processes import Programs
from tests.end_to_end.proxy import Proxy
from tests.end_to_end.terminal import Terminal, terminal_in

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is the terminal of these tests")

TMUX_NAMES = {"space": "Space", "-": "-"}


@pytest.fixture
def terminal(programs: Programs, tmp_path: Path) -> Iterator[Terminal]:
    environment = {**programs.environment, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    with terminal_in(tmp_path, environment) as opened:
        yield opened


def samedeal(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "samedeal_client", *arguments]


async def test_a_race_is_won_in_a_terminal_through_a_kill_and_new_sizes(
    programs: Programs, terminal: Terminal, redis_url: str
) -> None:
    address, _ = await programs.server(redis_url)
    record = won("willow")
    terminal.open(
        (80, 24),
        *samedeal("new", address, "--game", "willow", "--deal", str(record.deal), "--undo", "off"),
        *("--room", "friday", "--name", "ana", "--countdown", "1"),
    )
    await terminal.says("room friday")
    terminal.type("Enter")
    await terminal.says("RACE  1 player")
    await terminal.says("Q♣ +9♦")  # the cards are dealt
    play = record.start()
    for number, (_, action) in enumerate(record.actions):
        if number == 20:
            os.kill(terminal.program("samedeal_client"), signal.SIGKILL)
            await terminal.says("code 137")
            terminal.open((80, 24), *samedeal("join", address, "friday", "--name", "ana"))
            await terminal.says(f"{play.board.cards_up}/52 .*● ")
        if number == 40:
            terminal.resize(120, 40)
        if number == 50:
            terminal.resize(50, 10)
            await terminal.says("^57 columns and 19 rows are needed")
            terminal.resize(80, 24)
            await terminal.says(f"{play.board.cards_up}/52 .*● ")
        terminal.type(*(TMUX_NAMES.get(key, key) for key in keys_for(Move.parse(action), play.board)))
        play = play.act(action)
        if number % 10 == 9:
            await terminal.says(f"{play.board.cards_up}/52 .*● ")
    assert play.board.won
    await terminal.says("results")
    await terminal.says(r"1 ana \(you\) +52/52")
    await terminal.says("Checked: the seed is the one committed to beforehand")
    terminal.type("C-q")
    await terminal.says("code 0")
    assert " icanon" in terminal.text
    assert " echo " in terminal.text


async def test_who_leaves_is_told_how_to_come_back_and_finds_the_terminal_as_it_was(
    programs: Programs, terminal: Terminal, redis_url: str
) -> None:
    address, _ = await programs.server(redis_url)
    terminal.open(
        (80, 24), *samedeal("new", address, "--game", "athena", "--room", "friday", "--name", "ana", "--countdown", "0")
    )
    await terminal.says("room friday")
    terminal.type("Enter")
    await terminal.says("stock 24")
    terminal.type("Space")
    await terminal.says("stock 21")
    for column in "123":
        terminal.type("v", column)
        await terminal.says(f"column {column}, 4 cards:")
        terminal.type("Escape")
        await terminal.says_no_more("4 cards:")
    terminal.type("C-c")
    await terminal.says("The race is still on")
    terminal.type("q")
    await terminal.says(r"Come back with: samedeal join samedeal://127.0.0.1:\d+/friday --name ana")
    await terminal.says("code 0")
    assert " icanon" in terminal.text
    terminal.open((80, 24), *samedeal("join", address, "friday", "--name", "ana"))
    await terminal.says("stock 21")
    os.kill(terminal.program("samedeal_client"), signal.SIGTERM)
    await terminal.says("code 143")
    assert " icanon" in terminal.text


async def test_a_cut_is_told_and_what_is_typed_meanwhile_counts(
    programs: Programs, terminal: Terminal, redis_url: str
) -> None:
    address, _ = await programs.server(redis_url)
    async with Proxy(address) as proxy:
        terminal.open(
            (80, 24),
            *samedeal("new", proxy.url, "--deal", str(won("willow").deal), "--room", "friday", "--name", "ana"),
        )
        await terminal.says("room friday")
        terminal.type("Enter")
        await terminal.says("Q♣ +9♦")
        await proxy.cut()
        await terminal.says("Cut off, trying again")
        terminal.type("1", "1")
        await terminal.says("1/52 .*○ cut off")
        proxy.mend()
        await terminal.says("1/52 .*● ")
        async with friend(address) as other:
            await other.watch("friday")
            await knows(other, lambda room: room.tallies[0].up == 1)


async def test_a_spectator_sees_the_boards_late(
    programs: Programs, terminal: Terminal, redis_url: str, tmp_path: Path
) -> None:
    address, _ = await programs.server(redis_url)
    record = won("athena")
    async with friend(address) as other:
        room = await other.create(Options(games=("athena",), deal=str(record.deal), delay=1, countdown=0))
        await other.join(room)
        await other.start()
        await racing(other)
        terminal.open((80, 24), *samedeal("watch", address, room, "--name", "bo"))
        await terminal.says(" 1 mira .* 0/52")
        other.act(record.actions[0][1])
        await terminal.says(f" 1 mira ▸ {record.actions[0][1]} .* 0/52")
        terminal.type("1")
        await terminal.says("shown 1 s late")
        await terminal.says("stock 21")
        await other.resign()
        await terminal.says("results")


async def test_practice_says_what_is_being_started_and_leads_back_to_the_lobby(
    programs: Programs, terminal: Terminal, redis_url: str
) -> None:
    address, _ = await programs.server(redis_url)
    there = address.removeprefix("ws://")
    terminal.open((80, 24), *samedeal("join", address, "--name", "ana"))
    await terminal.says("Quick start")
    terminal.type("g", "p")
    await terminal.says("Starting a server and three bots on this machine, for Athena")
    await terminal.says(f"back to {there}")
    terminal.type("C-q")
    await terminal.says(f"q +end the practice, back to {there}")
    terminal.type("q")
    await terminal.says(f"samedeal ▸ {there} ▸ as ana")
    terminal.type("C-q")
    await terminal.says("code 0")
    assert "Starting" not in terminal.text
