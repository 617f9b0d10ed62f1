"""Real clients in races on a server that lies: no lie is called fair."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from samedeal.verdict_rows import ROWS
from samedeal_client.panels.verdict import EXIT_CODES
from samedeal_link.session import race_audit
from tests.end_to_end.honest_clients import BotPlayer, LinePlayer, playing
from tests.end_to_end.lies import NoRecord, SecondDraw, SwappedStock
from tests.end_to_end.lying_server import HonestServer
from tests.end_to_end.processes import DEADLINE, until


@pytest.fixture(autouse=True)
def quick_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race_audit, "RECORD_DELAYS", (0.01,))


async def raced(server: HonestServer, home: Path) -> tuple[LinePlayer, BotPlayer]:
    """Let a line client and a bot race on a server. Ana leaves the room if she finds a lie before the end."""
    ana, bob = LinePlayer("ana", home), BotPlayer("bob", home)
    async with asyncio.timeout(DEADLINE), playing(server, ana, bob):
        await until(lambda: ana.is_over or any(map(ana.tells, ana.found)))
        if ana.phase != "finished":
            ana.typed.type("leave")
        await until(lambda: ana.is_over and bob.is_over)
    for client in (ana, bob):
        assert client.task is not None
        client.task.result()
        assert "Traceback" not in client.text
        assert "has a bug" not in client.text
    return ana, bob


@pytest.mark.parametrize(
    ("liar", "row", "who"),
    [
        (SecondDraw, "no_seat_lost", "ana and bob"),
        (SwappedStock, "other_board", "ana"),
        (NoRecord, "no_record", "ana and bob"),
    ],
)
async def test_lie_is_told_and_never_called_fair(tmp_path: Path, liar: type[HonestServer], row: str, who: str) -> None:
    """The lie about the draw is told before the race is over. A client who is not told calls the race fair."""
    server = liar("friday")
    ana, bob = await raced(server, tmp_path)
    kind = ROWS[row].verdict
    for client in (ana, bob):
        finds = client.name in who
        assert (row in client.found) <= finds
        assert client.tells(row) is finds, client.text
    assert row in ana.found
    assert "Fair:" not in ana.text
    assert bob.code == int("bob" in who and kind == "wrong")
    assert {len(player.shares) for player in server.players.values()} == {1}
    if liar is not SecondDraw:
        assert (ana.verdict is not None and ana.verdict.kind, ana.code) == (kind, EXIT_CODES[kind])


async def test_honest_server_is_called_fair(tmp_path: Path) -> None:
    ana, bob = await raced(HonestServer("friday"), tmp_path)
    assert ana.verdict is not None
    assert ana.verdict.kind == "fair"
    assert (ana.code, bob.code, ana.found, bob.found) == (0, 0, set(), set())
    assert f"{ana.verdict.sentence}\nResult words: {ana.verdict.words}\n" in ana.text


async def test_restarted_client_reveals_no_second_share(tmp_path: Path) -> None:
    """The client that comes back knows from its file that it has revealed, and that nobody has lost a seat."""
    server = SecondDraw("friday")
    ana, cid = LinePlayer("ana", tmp_path), LinePlayer("cid", tmp_path)
    async with asyncio.timeout(DEADLINE), playing(server, ana, cid):
        await until(lambda: all(player.shares for player in server.players.values()))
        await ana.stop()
        await ana.enter(server)
        await until(lambda: ana.tells("no_seat_lost"))
        ana.typed.type("leave")
        await until(lambda: ana.is_over)
    assert [len(player.shares) for player in server.players.values()] == [1, 1]
