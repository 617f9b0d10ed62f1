"""The full-screen client and the page in races on a server that lies about the deal."""

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
from tests.end_to_end.browser import Browser
from tests.end_to_end.honest_clients import BotPlayer, Client, playing, rivals_moved
from tests.end_to_end.lying_server import Liar, NoRecord, OtherResultsLater, RetimedMove
from tests.end_to_end.processes import DEADLINE, until
from tests.end_to_end.racing_page import PRESS, dealt, sit, tap
from tests.end_to_end.watched_races import ROOM
from tests.server.live_nodes import Node
from tests.textual_internals import screen_text


class ScreenPlayer(Client):
    """The full-screen client. It turns up cards twice, and resigns. ``out`` has every screen that was seen."""

    async def play(self, server: Liar) -> None:
        async with self.link(server, evidence_root=self.home) as link:
            session = ClientSession(link)
            self.rooms = session.rooms
            app = SamedealApp(session, Look(motion=False), DEFAULT)
            async with app.run_test(size=(100, 30)) as pilot:
                session.subscribe(lambda: self._look(app))
                await session.join(ROOM)
                racing = asyncio.create_task(self._race(session, server))
                try:
                    while not racing.done():
                        await pilot.pause(0.02)
                        self._look(app)
                    racing.result()
                    await pilot.pause()  # a screen that has just opened is complete before the app ends
                finally:
                    racing.cancel()
                    await asyncio.gather(racing, return_exceptions=True)

    def _look(self, app: SamedealApp) -> None:
        seen = " ".join(screen_text(app).split())
        if not self.text.endswith(f"{seen}\n"):
            self.out.write(f"{seen}\n")

    async def _race(self, session: ClientSession, server: Liar) -> None:
        await until(lambda: self.phase != "")
        await session.rooms.ready()
        await until(lambda: self.phase == "racing" and session.model.board is not None)
        for _ in range(2):
            play = session.model.own.play
            session.act("deal")
            await until(lambda before=play: session.model.own.play is not before)  # type: ignore[misc]  # it has no type
        await rivals_moved(session.rooms)
        await session.rooms.resign()
        await until(lambda: session.model.verdict is not None)
        if isinstance(server, OtherResultsLater):
            await server.show_other_results()
            await until(lambda: session.model.verdict is not None and session.model.verdict.kind == "wrong")
        self.verdict = said = session.model.verdict
        assert said is not None
        await until(lambda: said.sentence[:40] in self.text)


@pytest.fixture(autouse=True)
def quick_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race_audit, "RECORD_DELAYS", (0.2,) * 10)


async def raced(server: Liar, home: Path) -> ScreenPlayer:
    ana = ScreenPlayer("ana", home)
    async with asyncio.timeout(DEADLINE), playing(server, ana, BotPlayer("bob", home)):
        await until(lambda: ana.is_over)
        assert ana.task is not None
        ana.task.result()
    return ana


async def test_results_that_are_shown_later_are_judged(one: Node, tmp_path: Path) -> None:
    ana = await raced(OtherResultsLater(one), tmp_path)
    assert ana.found == {"other_results"}
    assert ana.text.index("Fair: ") < ana.text.index("NOT fair: The server showed other results")


@pytest.mark.parametrize(("liar", "row"), [(RetimedMove, "other_action"), (NoRecord, "no_record")])
async def test_screen_calls_no_lie_fair(one: Node, tmp_path: Path, liar: type[Liar], row: str) -> None:
    ana = await raced(liar(one), tmp_path)
    assert row in ana.found
    assert "Fair: " not in ana.text
    assert ROWS[row].sentence.split("{")[0][:40] in ana.text  # the first line of the screen


@pytest.mark.xdist_group("page")
@pytest.mark.parametrize(("kind", "verdict"), [(Liar, "fair"), (RetimedMove, "wrong")])
async def test_page_calls_no_lie_fair(
    one: Node, tmp_path: Path, browser: Browser, kind: type[Liar], verdict: str
) -> None:
    server = kind(one)
    bob = BotPlayer("bob", tmp_path)
    async with playing(server, bob):
        await sit(browser, server.url, "ana")
        await browser.run(PRESS, "Ready")
        await dealt(browser)
        await tap(browser, "deal", 1)
        await until(lambda: bob.moves > 1)
        await browser.run(PRESS, "Resign")
        await browser.run(PRESS, "Really resign?")
        assert await browser.until("document.querySelector('.deal:not(.checking)')?.classList[2]") == verdict
        await browser.close_page()
