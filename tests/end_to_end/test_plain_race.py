"""Races by hand in the line client, through a real server: two players, a kill, a cut, a spectator."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from samedeal.record import Record
from tests.end_to_end.processes import Program, Programs
from tests.end_to_end.proxy import Proxy


async def opened(programs: Programs, url: str, *options: str) -> tuple[Program, str]:
    """A room with its host in it, and the code."""
    host = await programs.samedeal("new", url, "--name", "ana", *options)
    match = await host.says(r"Room (\S+) is open. Invite with: samedeal join (\S+)")
    return host, match[1]


async def joined(programs: Programs, url: str, room: str, name: str = "bo") -> Program:
    guest = await programs.samedeal("join", url, room, "--name", name)
    await guest.says(rf"Players +\d of \d: .*{name} \(you\)")
    return guest


def record_of(player: Program) -> Record:
    """The record that a player is told of."""
    kept = re.search(r"Your record: (\S+)", player.text)
    assert kept is not None, player.text
    return Record.parse(Path(kept[1]).read_text())


async def test_two_players_race_and_one_is_killed_and_comes_back(programs: Programs, redis_url: str) -> None:
    url, _ = await programs.server(redis_url)
    ana, room = await opened(programs, url, "--deal", "7", "--countdown", "0", "--players", "2")
    bo = await joined(programs, url, room)
    await ana.says(r"bo has come in\.")
    bo.type("start")
    await bo.says("Only the host")
    ana.type("start")
    for player in (ana, bo):
        await player.says(r"Go!")
        await player.says(r"0 of 52 cards up\.")

    # Deal 7 has the ace of diamonds alone in column 1: both have it, each on a board of their own.
    bo.type("1 0", "1 0", "9 9")
    await bo.says(r"1 of 52 cards up\.")
    await bo.says(r"There is nothing to take")
    await bo.says(r"Willow has no pile '9'")
    ana.type("rivals")
    await ana.says(r"bo 1/52 in 1 move")

    bo.signal(signal.SIGKILL)
    await bo.ends()
    ana.type("1", "undo")
    await ana.says(r"1 of 52 cards up\.")
    await ana.says(r"0 of 52 cards up\.")

    back = await programs.samedeal("join", url, room, "--name", "bo")
    await back.says(r"1 of 52 cards up\.")
    back.type("undo")
    await back.says(r"0 of 52 cards up\.")
    back.type("up", "resign")
    await back.says(r"3 of 52 cards up\.")
    await back.says(r"You are out of the race\.")
    ana.type("resign")
    for player in (ana, back):
        await player.says(r"The race is over\.")
        await player.says(r"1 +bo[^\n]+3/52")
        await player.says(r"2 +ana[^\n]+0/52")
        await player.says(r"Checked: the seed is the one committed to beforehand")
        assert await player.ends() == 0

    wholly = record_of(ana)
    assert [action for _, action in wholly.actions] == ["1 0", "undo"]
    assert wholly.replay().board.cards_up == 0
    killed = record_of(back)
    assert [action for _, action in killed.actions][:3] == ["1 0", "undo", "1 0"]
    assert killed.replay().board.cards_up == 3


async def test_without_its_session_a_name_does_not_get_somebody_elses_seat(programs: Programs, redis_url: str) -> None:
    url, _ = await programs.server(redis_url)
    _, room = await opened(programs, url)
    (programs.home / ".local/state/samedeal/sessions.json").unlink()
    thief = await programs.samedeal("join", url, room, "--name", "ana")
    assert await thief.ends() == 1
    assert "Somebody in this room is called ana already" in thief.text


async def test_a_second_client_takes_the_seat_over_and_the_first_gives_way(programs: Programs, redis_url: str) -> None:
    url, _ = await programs.server(redis_url)
    first, room = await opened(programs, url)
    await joined(programs, url, room, "ana")
    await first.says("You are connected from somewhere else now")
    assert await first.ends() == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_an_interrupted_client_says_how_to_come_back(
    programs: Programs, redis_url: str, number: signal.Signals
) -> None:
    url, _ = await programs.server(redis_url)
    ana, room = await opened(programs, url)
    await ana.says("You are the host")
    ana.signal(number)
    told = await ana.says(r"Come back with: samedeal join (\S+) --name ana")
    assert told[1].endswith(f"/{room}")
    assert await ana.ends() == 128 + number
    again = await programs.samedeal("join", told[1], "--name", "ana")
    await again.says(r"1 of 8: ana \(you\)")


async def test_a_cut_is_healed_and_what_was_typed_meanwhile_is_played(programs: Programs, redis_url: str) -> None:
    url, _ = await programs.server(redis_url)
    async with Proxy(url) as proxy:
        ana, _ = await opened(programs, proxy.url, "--deal", "7", "--countdown", "0")
        await ana.says("You are the host")
        ana.type("start")
        await ana.says(r"0 of 52 cards up\.")
        await proxy.stall()
        ana.type("1 0")
        await ana.says(r"1 of 52 cards up\.")
        await proxy.cut()
        await ana.says(r"Coming back by itself")
        ana.type("undo", "1 0")
        await ana.says(r"0 of 52 cards up\.")
        await ana.says(r"1 of 52 cards up\.")
        proxy.mend()
        await ana.says(r"Connected again\.")
        ana.type("resign")
        await ana.says(r"1 +ana \(you\)[^\n]+1/52[^\n]+ 2 +1\b")
        await ana.says(r"your cards were dealt from it")
        assert await ana.ends() == 0


async def test_a_move_whose_answer_was_lost_counts_once(programs: Programs, redis_url: str) -> None:
    url, _ = await programs.server(redis_url)
    async with Proxy(url) as proxy:
        ana, room = await opened(programs, proxy.url, "--deal", "7", "--game", "athena", "--countdown", "0")
        watcher = await programs.samedeal("watch", url, room, "--name", "cleo")
        await watcher.says("has not begun")
        await ana.says("You are the host")
        ana.type("start")
        await ana.says(r"0 of 52 cards up\.")
        proxy.swallow_answers()
        ana.type("draw")
        await proxy.swallowed()
        await proxy.cut()
        await ana.says(r"Coming back by itself")
        proxy.mend()
        await ana.says(r"Connected again\.")
        await ana.says(r"0 of 52 cards up\.")
        ana.type("resign")
        await ana.says(r"1 +ana \(you\)[^\n]+ 1 +0\b")
        await ana.says(r"your cards were dealt from it")
        assert await ana.ends() == 0


async def test_a_spectator_sees_boards_late(programs: Programs, redis_url: str) -> None:
    url, _ = await programs.server(redis_url)
    ana, room = await opened(programs, url, "--deal", "7", "--countdown", "0", "--delay", "1")
    watcher = await programs.samedeal("watch", url, room, "--name", "cleo")
    await watcher.says("has not begun")
    await ana.says("You are the host")
    ana.type("start")
    await ana.says(r"0 of 52 cards up\.")
    ana.type("1 0")
    await ana.says(r"1 of 52 cards up\.")
    assert "cards up" not in watcher.text
    await watcher.says(r"The board of ana, 1 seconds late:")
    await watcher.says(r"ana: 1 0, 1 of 52 cards up\.")
    watcher.type("board", "3 5")
    await watcher.says(r"The board of ana")
    await watcher.says(r"You are watching")
    ana.type("resign")
    await watcher.says(r"The race is over\.")
    assert await watcher.ends() == 0


async def test_a_player_goes_on_on_another_node(programs: Programs, redis_url: str) -> None:
    first_url, first = await programs.server(redis_url)
    second_url, _ = await programs.server(redis_url)
    async with Proxy(first_url) as proxy:
        ana, room = await opened(programs, proxy.url, "--deal", "7", "--countdown", "0", "--players", "2")
        bo = await joined(programs, second_url, room)
        ana.type("start")
        for player in (ana, bo):
            await player.says(r"0 of 52 cards up\.")
        ana.type("1 0")
        await ana.says(r"1 of 52 cards up\.")
        proxy.target = second_url
        first.signal(signal.SIGTERM)
        assert await first.ends() == 0
        await ana.says(r"Connected again\.")
        ana.type("undo")
        await ana.says(r"0 of 52 cards up\.")
        for player in (ana, bo):
            player.type("resign")
        for player in (ana, bo):
            await player.says(r"The race is over\.")
            assert await player.ends() == 0


async def test_a_player_a_bot_and_a_spectator(programs: Programs, redis_url: str) -> None:
    url, _ = await programs.server(redis_url)
    ana, room = await opened(
        programs, url, "--deal", "7", "--countdown", "0", "--start", "full", "--players", "2", "--game", "steve"
    )
    bot = await programs.samedeal("bot", url, room, "--stay", "--level", "random", "--pace", "600", "--name", "bot")
    await bot.says(f"in room {room}, random, 600 moves a minute")
    await ana.says(r"0 of 104 cards up\.")
    spectator = await programs.samedeal("watch", url, room)
    await spectator.says("Go!")
    ana.type("rivals")
    await ana.says(r"bot \d+/104 in \d+ moves")
    bot.signal(signal.SIGTERM)
    assert await bot.ends() == 143
    ana.type("leave")
    await ana.says("You have given up your seat")
    assert await ana.ends() == 0


async def test_nobody_waits_for_a_bot_that_gets_nowhere(programs: Programs, redis_url: str) -> None:
    url, _ = await programs.server(redis_url)
    options = ("--deal", "7", "--countdown", "0", "--start", "full", "--players", "2", "--game", "phoenix")
    ana, room = await opened(programs, url, *options)
    bot = await programs.samedeal("bot", url, room, "--level", "random", "--pace", "600", "--name", "bot")
    await ana.says(r"0 of 52 cards up\.")
    await bot.says("nothing helps any more")
    await ana.says("bot is out")
    ana.type("resign")
    await ana.says("The race is over")
    assert await bot.ends() == 0
    ana.type("quit")
    assert await ana.ends() == 0
