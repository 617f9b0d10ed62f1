"""Real clients in races on a server that lies: no lie is called fair."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from samedeal.verdict_rows import ROWS
from samedeal_client.panels.verdict import EXIT_CODES
from samedeal_link.session import race_audit
from tests.end_to_end.honest_clients import BotPlayer, LinePlayer, playing
from tests.end_to_end.lying_server import ChangedTerms, Liar, NoRecord, RetimedMove
from tests.end_to_end.processes import DEADLINE, until
from tests.server.live_nodes import Node


@pytest.fixture(autouse=True)
def quick_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race_audit, "RECORD_DELAYS", (0.2,) * 10)


@pytest.mark.parametrize(
    ("kind", "row"),
    [(Liar, ""), (ChangedTerms, "changed_terms"), (NoRecord, "no_record"), (RetimedMove, "other_action")],
)
async def test_lie_is_told_and_never_called_fair(one: Node, tmp_path: Path, kind: type[Liar], row: str) -> None:
    """A line client with files of evidence, which leaves if it finds a lie before the end, and a bot."""
    server = kind(one)
    ana, bob = LinePlayer("ana", tmp_path), BotPlayer("bob", tmp_path)
    async with asyncio.timeout(DEADLINE), playing(server, ana, bob):
        await until(lambda: ana.is_over or any(map(ana.tells, ana.found)))
        if ana.phase != "finished":
            ana.typed.type("leave")
        await until(lambda: ana.is_over and bob.is_over)
    expected = ROWS[row].verdict if row else "fair"
    for client in (ana, bob):
        assert client.task is not None
        client.task.result()
        assert "Traceback" not in client.text
        assert "has a bug" not in client.text
        assert client.found <= {row}
        assert not row or client.tells(row)
    assert bob.code == int(expected == "wrong")
    assert server.revealed == 2 * (kind is not ChangedTerms)
    assert ("Fair:" in ana.text) is (not row)
    assert ana.found == {*[row] * bool(row)}
    if kind is not ChangedTerms:
        assert ana.verdict is not None
        assert (ana.verdict.kind, ana.code) == (expected, EXIT_CODES[expected])
        assert row or f"{ana.verdict.sentence}\nResult words: {ana.verdict.words}\n" in ana.text
