"""Races in the line client against a real server: kills, lost connections, spectators, bots."""

from __future__ import annotations

import re
import signal
from dataclasses import replace
from pathlib import Path

from samedeal.record import Record
from samedeal_link.records.history_file import HistoryFile
from tests.end_to_end.processes import Program, Programs
from tests.shared.javascript import NODE, verdicts


async def open_room(programs: Programs, url: str, *options: str) -> tuple[Program, str]:
    """Open a room and return its host with the room code."""
    # A random deal can be a dead end, which would end the race.
    host = await programs.samedeal("new", url, "--name", "ana", "--no-end-when-settled", *options)
    match = await host.expect(r"Room (\S+) is open. Send this link: (\S+)")
    return host, match[1]


async def join(programs: Programs, url: str, room: str, name: str = "bo") -> Program:
    """Join a room as another player."""
    guest = await programs.samedeal("join", url, room, "--name", name)
    await guest.expect(rf"Players +\d of \d: .*{name} \(you\)")
    return guest


def record_of(player: Program) -> Record:
    """Read the record whose path a player's client has printed."""
    printed = re.search(r"Record saved in (\S+)", player.text)
    assert printed is not None, player.text
    return Record.parse(Path(printed[1]).read_text())


async def test_a_killed_player_returns_to_the_race(programs: Programs, server: str) -> None:
    ana, room = await open_room(programs, server, "--deal", "7", "--countdown", "0", "--players", "2")
    bo = await join(programs, server, room)
    await ana.expect(r"bo joined\.")
    await bo.reply("start", "Only the host")
    ana.type_lines("start")
    for player in (ana, bo):
        await player.expect(r"Go!")
        await player.expect(r"Foundations 0/52\.")

    # In deal 7 column 1 holds only the ace of diamonds. Each player has it on a separate board.
    bo.type_lines("1 0", "1 0", "9 9")
    await bo.expect(r"Foundations 1/52\.")
    await bo.expect(r"Column 1 is empty")
    await bo.expect(r"Willow has no pile '9'")
    while True:  # until ana has heard of bo's card
        ana.type_lines("rivals")
        if (await ana.expect(r"bo ([01])/52 in [01] move"))[1] == "1":
            break

    bo.signal(signal.SIGKILL)
    await bo.exit_code()
    ana.type_lines("1", "undo")
    await ana.expect(r"Foundations 1/52\.")
    await ana.expect(r"Foundations 0/52\.")

    returned = await programs.samedeal("join", server, room, "--name", "bo")
    await returned.expect(r"Foundations 1/52\.")
    await returned.reply("undo", r"Foundations 0/52\.")
    returned.type_lines("collect", "resign")
    await returned.expect(r"Foundations 3/52\.")
    await returned.expect(r"You resigned\.")
    ana.type_lines("resign")
    for player in (ana, returned):
        await player.expect(r"The race is over\.")
        await player.expect(r"1st: \w+, resigned with 3 of 52 cards")
        await player.expect(r"2nd: \w+, resigned with 0 of 52 cards")
        await player.expect("Checked: ")
        assert await player.exit_code() == 0

    for record in (record_of(ana), record_of(returned)):
        record.check()
        first, second = record.players
        assert [action for _, action in first.actions] == ["1 0", "undo"]
        assert [action for _, action in second.actions][:3] == ["1 0", "undo", "1 0"]
        assert (first.foundation_cards, second.foundation_cards) == (0, 3)

    races = HistoryFile(programs.home / ".local/state/samedeal/history.jsonl").read().races
    results = {race.name: (race.place, race.foundation_cards, race.resigned) for race in races}
    assert results == {"ana": (2, 0, True), "bo": (1, 3, True)}
    await check_record_of_the_server(programs, server, room)


async def check_record_of_the_server(programs: Programs, url: str, room: str) -> None:
    """Check that the server's record can be read and verified, and that a player's journal exposes a rewritten one."""
    listing = await programs.output("records", url)
    assert re.search(rf"{room}\.\S+ +Willow +#7 +2 +bo +-\n", listing)
    saved = await programs.output("records", url, room, "--save")
    path = Path(saved.split()[-1])
    checked = await programs.output("verify", str(path))
    assert "all 2 moves of ana" in checked
    assert "moves of bo" in checked
    told = await programs.output("replay", str(path), "--plain")
    assert "ana: A♦ " in told
    if NODE is not None:
        assert verdicts([path])[path.stem].startswith("holds: ")
    rewrite_first_move(path)
    rewritten = await programs.output("verify", str(path), code=1)
    assert "other moves of yours than the server had confirmed. Action 1 was 1 0." in rewritten


def rewrite_first_move(path: Path) -> None:
    """Rewrite a record as a cheating server can, with correct hashes."""
    record = Record.read(path.read_bytes())
    (time, action), *rest = record.players[0].actions
    later = replace(record.players[0], actions=((time - 1, action), *rest))
    path.write_text(str(replace(record, players=(later, *record.players[1:]))), encoding="utf-8")


async def test_an_interrupted_client_prints_how_to_return(programs: Programs, server: str) -> None:
    ana, room = await open_room(programs, server)
    await ana.expect("You are the host")
    for number in (signal.SIGINT, signal.SIGHUP):
        ana.signal(number)
        command = await ana.expect(r"Return with: samedeal join (\S+) (\S+) --name ana")
        assert command[2] == room
        assert await ana.exit_code() == 128 + number
        ana = await programs.samedeal("join", *command.groups(), "--name", "ana")
        await ana.expect(r"1 of 8: ana \(you\)")
