"""The full-screen client in a real terminal, with a real server."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import sys
from itertools import chain

import pytest

from samedeal_link.records.history_file import HistoryFile
from tests.client.boards import dealt
from tests.end_to_end.processes import Programs
from tests.end_to_end.terminal import Terminal, keys_of
from tests.programs import needs
from tests.server.waiting import until
from tests.shared.playouts import won_record

pytestmark = needs("tmux")


def samedeal(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "samedeal_client", *arguments]


async def test_race_is_won_across_a_kill_and_resizes(terminal: Terminal, server: str) -> None:
    record = won_record("willow")
    terminal.open(
        (80, 24),
        *samedeal("new", server, "--game", "willow", "--deal", str(record.deal), "--undo", "off"),
        *("--room", "friday", "--name", "ana", "--countdown", "1"),
    )
    await terminal.wait_for("room friday")
    await terminal.type_until("RACE  1 player", "Enter")
    await terminal.wait_for(r"Q♣\S* +9♦")  # the cards are dealt
    keys = keys_of(record)

    async def play(start: int, end: int) -> None:
        await terminal.type_until(f"/52 +{end} moves .*(●|ping) ", *chain(*keys[start:end]))

    await play(0, 20)
    os.kill(terminal.process_id("samedeal_client"), signal.SIGKILL)
    await terminal.wait_for("code 137")
    terminal.open((80, 24), *samedeal("join", server, "--name", "ana"))
    await terminal.wait_for("Your race is running")
    await terminal.wait_for("back to your seat")
    await terminal.type_until("/52 +20 moves .*(●|ping) ", "Enter")
    await play(20, 40)
    terminal.resize(120, 40)
    await play(40, 50)
    terminal.resize(50, 10)
    await terminal.wait_for("^Window too small: 50x10. Needed: 57x18")
    terminal.resize(80, 24)
    await terminal.wait_for("/52 +50 moves .*(●|ping) ")
    await terminal.type_until("results", *chain(*keys[50:]))
    await terminal.wait_for(r"1 +ana \(you\) +52/52")
    await terminal.wait_for("Checked: the deal was set before the start")
    await terminal.type_until("code 0", "C-q")
    await terminal.wait_for(" icanon")
    await terminal.wait_for(" echo ")


async def test_quitting_prints_how_to_return_and_restores_terminal(terminal: Terminal, server: str) -> None:
    terminal.open(
        (80, 24),
        *samedeal(
            "new", server, "--game", "athena", "--deal", "7", "--room", "friday", "--name", "ana", "--countdown", "0"
        ),
    )
    await terminal.wait_for("room friday")
    await terminal.type_until(r"^ +24 ", "Enter")
    await terminal.type_until(r"^ +21 ", "Space")
    for column in "123":
        await terminal.type_until(f"column {column}, 4 cards:", "v", column)
        terminal.type("Escape")
        await terminal.wait_until_gone("4 cards:")
    await terminal.type_until("The race is still running", "C-c")
    await terminal.type_until(r"Return with: samedeal join 127.0.0.1:\d+ friday --name ana", "q")
    await terminal.wait_for("code 0")
    await terminal.wait_for(" icanon")
    terminal.open((80, 24), *samedeal("join", server, "friday", "--name", "ana"))
    await terminal.wait_for(r"^ +21 ")
    os.kill(terminal.process_id("samedeal_client"), signal.SIGTERM)
    await terminal.wait_for("code 143")
    await terminal.wait_for(" icanon")


async def test_doctor_asks_the_terminal(terminal: Terminal) -> None:
    """But not one that is said to understand nothing."""
    terminal.open((100, 30), *samedeal("doctor"))
    await terminal.wait_for("code 0")
    for name in ("size", "colours", "letters", "glyphs"):
        assert re.search(rf"ok +{name} ", terminal.text)
    terminal.open((100, 30), "env", "TERM=dumb", *samedeal("doctor"))
    await terminal.wait_for("code 1")
    assert re.search("fail +colours ", terminal.text)


async def test_closing_the_terminal_ends_everything(programs: Programs, terminal: Terminal) -> None:
    terminal.open((80, 24), *samedeal("play", "willow", "--deal", "7", "--bots", "1", "--back-to", "the start screen"))
    await terminal.wait_for("Type 3 5")
    move = dealt("willow", 7).legal_moves()[0]
    await terminal.type_until("  1 move", move.source, move.target)
    terminal.type(*"354", "Escape", *"12", "Escape")  # the screen changes while the terminal goes away
    terminal.close()
    await until(lambda: not programs.left_running())
    state = programs.home / ".local/state/samedeal"
    assert not (state / "sessions.json").exists()  # nobody returns to this server
    (race,) = HistoryFile(state / "history.jsonl").read().races
    assert (race.game, race.deal, race.time, race.resigned, race.place) == ("willow", "#7", 0, False, 0)
    assert race.cut_off


@pytest.mark.parametrize("told", [True, False])
async def test_suspending_returns_to_the_shell(terminal: Terminal, server: str, *, told: bool) -> None:
    """Textual would read keys in another thread once it continues, and leave the terminal without echo.

    If the process is not told that it is stopped, the shell writes on its screen.
    """
    terminal.open((80, 24), "bash", "--norc", "-i")
    script = shlex.join(samedeal("join", server, "--name", "ana"))
    terminal.type(
        f"sh -c {shlex.quote(f'{script}; stty -a; exit 3')}", "Enter"
    )  # the shell waits for sh, as it would for make
    await terminal.wait_for("Race now")
    if told:
        terminal.type("C-z")
    else:
        os.killpg(terminal.foreground(), signal.SIGSTOP)
    await terminal.wait_for("Stopped")
    terminal.type("fg; echo code $?", "Enter")  # keys typed as the client ends would be lost
    await terminal.wait_for("Race now")
    await terminal.wait_until_gone("Stopped")
    await until(lambda: terminal.show("alternate_on") == terminal.show("mouse_any_flag") == "1")
    for _ in range(20):  # a key typed while the client prepares the terminal again is lost
        terminal.type("C-q")
        with contextlib.suppress(AssertionError):
            await terminal.wait_for("^code 3", 1)
            break
    await terminal.wait_for("^code 3")
    await terminal.wait_for(" icanon")
    await terminal.wait_for(" echo ")


async def test_foreign_output_is_drawn_over(terminal: Terminal, server: str) -> None:
    """The standard error stream need not be the terminal."""
    terminal.open((80, 24), "sh", "-c", f"{shlex.join(samedeal('join', server, '--name', 'ana'))} 2>/dev/null")
    await terminal.wait_for("F1 help")
    # Pages too, and what lies over them.
    for key, shown in (("Down", "F1 help"), ("F1", "Esc (close|back)")):
        await terminal.type_until(shown, key)
        await terminal.draw_over_foreign_output()
