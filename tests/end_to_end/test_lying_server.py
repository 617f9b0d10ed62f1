"""Real clients in races on a server that lies: no lie is called fair."""

from __future__ import annotations

import re

import pytest

from samedeal.verdict_rows import ROWS
from samedeal_client.panels.verdict import EXIT_CODES
from tests.end_to_end.lying_server import Liar, NoRecord, RetimedMove
from tests.end_to_end.processes import Programs
from tests.end_to_end.watched_races import ROOM
from tests.server.live_nodes import Node


def told(row: str) -> str:
    """The beginning of what a client says because of a row of the table of verdicts. Without one, the race is fair."""
    return (ROWS[row].sentence.split("{")[0] or "Not fully checked: ") if row else "Fair: "


BOB = ("--name", "bob", "--level", "random", "--pace", "1000")


@pytest.mark.parametrize(("kind", "row"), [(Liar, ""), (NoRecord, "no_record"), (RetimedMove, "other_action")])
async def test_lie_is_told_and_never_called_fair(one: Node, programs: Programs, kind: type[Liar], row: str) -> None:
    async with kind(one).running() as server:
        bob = await programs.samedeal("bot", server.url, ROOM, *BOB)
        ana = await programs.samedeal("join", server.url, ROOM, "--name", "ana")
        await ana.expect("bob")
        ana.type_lines("ready")
        await ana.expect(r"Foundations 0/52\.")
        ana.type_lines("deal", "deal")
        while True:  # until ana has heard of two moves of bob
            ana.type_lines("rivals")
            if int((await ana.expect(r"bob.*/52 in (\d+) move"))[1]) > 1:
                break
        ana.type_lines("resign")
        await ana.expect(re.escape(told(row)))
        expected = ROWS[row].verdict if row else "fair"
        assert await ana.exit_code() == EXIT_CODES[expected]
        assert await bob.exit_code() == int(expected == "wrong")
    assert "Traceback" not in ana.text + bob.text
    assert not row or told(row) in bob.text or "NOT fair: " in bob.text  # it may find more, and say that first
    assert ("Fair: " in ana.text, "Result words: " in ana.text) == (not row, kind is not NoRecord)
