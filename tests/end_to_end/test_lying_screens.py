"""The full-screen client in races on a server that lies about the deal."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from samedeal.verdict_rows import ROWS
from samedeal_client.full_screen.app import SamedealApp
from samedeal_client.input.bindings import DEFAULT
from samedeal_client.text.appearance import Look
from samedeal_link.session import race_audit
from samedeal_link.session.client_session import ClientSession
from tests.end_to_end.honest_clients import BotPlayer, Client, playing, until
from tests.end_to_end.lies import LIES, OtherResultsLater
from tests.end_to_end.lying_server import DEADLINE, HonestServer
from tests.textual_internals import screen_text


class ScreenPlayer(Client):
    """The full-screen client. It does what the line player does, and ``report`` has every screen that was seen."""

    async def play(self, server: HonestServer) -> None:
        async with self.link(server, evidence_root=self.home) as link:
            session = ClientSession(link)
            self.rooms = session.rooms
            app = SamedealApp(session, Look(motion=False), DEFAULT)
            async with app.run_test(size=(100, 30)) as pilot:
                session.subscribe(lambda: self.look(app))
                await session.join(server.room)
                racing = asyncio.create_task(self.race(session, server))
                try:
                    while not racing.done():
                        await pilot.pause(0.02)
                        self.look(app)
                    racing.result()
                    await pilot.pause()  # a screen that has just opened is complete before the app ends
                finally:
                    racing.cancel()
                    await asyncio.gather(racing, return_exceptions=True)
                    self.note()
                    self.report.verdict = session.model.verdict

    async def turn_up_cards(self, session: ClientSession) -> None:
        play = session.model.own.play
        session.act("deal")
        await until(lambda: session.model.own.play is not play)

    def look(self, app: SamedealApp) -> None:
        seen = " ".join(screen_text(app).split())
        if not self.report.text.endswith(f"{seen}\n"):
            self.report.text += f"{seen}\n"

    async def race(self, session: ClientSession, server: HonestServer) -> None:
        await until(lambda: self.phase != "")
        await session.rooms.ready()
        await until(
            lambda: self.phase in ("racing", "") and (session.model.board is not None or session.model.seat is None)
        )
        if session.model.seat is not None:
            await self.turn_up_cards(session)
            await self.turn_up_cards(session)
            await until(lambda: all(len(each.log) > 1 for each in server.racers if each.bot and not each.resigned))
            await session.rooms.resign()
        await until(lambda: server.has_ended or session.model.room is None)
        if session.model.room is None:
            return
        await until(lambda: session.model.verdict is not None)
        if isinstance(server, OtherResultsLater):
            await server.show_other_results()
            await until(lambda: session.model.verdict is not None and session.model.verdict.kind == "wrong")
        said = session.model.verdict
        assert said is not None
        await until(lambda: said.sentence[:40] in self.report.text)


@pytest.fixture(autouse=True)
def quick_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race_audit, "RECORD_DELAYS", (0.01,))


async def raced(server: HonestServer, home: Path) -> ScreenPlayer:
    ana = ScreenPlayer("ana", home)
    async with asyncio.timeout(DEADLINE), playing(server, ana, BotPlayer("bob", home)):
        await until(lambda: ana.is_over)
    ana.result()
    return ana


async def test_screen_says_that_an_honest_server_is_fair(tmp_path: Path) -> None:
    ana = await raced(HonestServer("friday"), tmp_path)
    assert ana.report.kind == "fair"
    assert "Fair: " in ana.report.text


async def test_results_that_are_shown_later_are_judged(tmp_path: Path) -> None:
    ana = await raced(OtherResultsLater("friday"), tmp_path)
    assert ana.report.rows == {"other_results"}
    assert ana.report.text.index("Fair: ") < ana.report.text.index("NOT fair: The server showed other results")


@pytest.mark.parametrize("name", ["SwappedStock", "NoRecord"])
async def test_screen_calls_no_lie_fair(tmp_path: Path, name: str) -> None:
    lie = LIES[name]
    ana = await raced(lie.server("friday", guests=lie.guests), tmp_path)
    assert lie.row in ana.report.rows
    assert "Fair: " not in ana.report.text
    assert ROWS[lie.row].sentence.split("{")[0][:40] in ana.report.text
