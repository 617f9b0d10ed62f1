"""Races of the page in a real browser whose connections, tab and node fail::

    python -m tests.chaos.pages --races 200

A page plays alone against the clock, and comes back after each fault. Afterwards, all moves that it saw acknowledged are
on its board, and in the record of the race. Stops at the first loss.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from typing import Any, Final

from samedeal.games import GAMES
from samedeal.protocol.messages import Done, Resign
from tests.chaos.processes import Node, RedisServer
from tests.chaos.proxy import Proxy
from tests.end_to_end.browser import ENGINES, Browser, running_browser
from tests.end_to_end.racing_page import MOVE, PILES, SIT, SMALL_PHONE, acked, dealt, online
from tests.end_to_end.webkit import BrowserError
from tests.server.client import Client
from tests.server.races import kept

STEPS: Final = 30
"""Number of moves and faults in each race."""

_LIMITS: Final = ("--origins", "*", "--limit-address-burst", "5000", "--limit-rooms-per-address", "1000")
_FAULTS: Final = ("cut", "cut", "drop answers", "stall", "reload", "leave", "kill node")
_RESIGN: Final = """
for (const text of ["Resign", "Really resign?"])
  [...document.querySelectorAll("button")].find(each => each.textContent === text)?.click()
"""
_IS_OVER: Final = """(document.querySelector(".online.racing") && "racing")
|| document.querySelector(".deal")"""
_IS_SHOWN: Final = """(document.querySelector(".tile[data-revision]") && document.querySelector(".pile, .deal") && "board")
|| (!document.querySelector("#status") && (document.readyState === "complete" || performance.now() > 15000) && "nothing")"""
_REVISION: Final = "return Number(document.querySelector('.tile[data-revision]')?.dataset.revision ?? -1)"


class Races:
    """Races one after another in one browser, on a node that can be killed."""

    def __init__(self, browser: Browser, redis: RedisServer, directory: Path, random: Random) -> None:
        self.faults: Counter[str] = Counter()
        self.acked = 0
        self._browser = browser
        self._redis = redis
        self._directory = directory
        self._random = random
        self._node: Node

    async def play(self, races: int) -> None:
        """Play races. Raise AssertionError if something is lost."""
        self._node = await self._start()
        games = list(GAMES)
        async with Proxy(lambda: [self._node.target]) as proxy:
            for number in range(1, races + 1):
                game = games[number % len(games)]
                started_at = time.monotonic()
                faults = self.faults.total()
                moves = await self._race(proxy, f"{self._browser.engine}-{number}", game, number)
                self.acked += moves
                faults = self.faults.total() - faults
                took = f"{faults} faults, {time.monotonic() - started_at:.1f} s"
                print(f"{self._browser.engine} {number}: {game}, {moves} acked, {took}", flush=True)
        await self._node.kill()

    async def _start(self) -> Node:
        return await Node.start(self._redis.url, self._directory / f"{self._browser.engine}.log", *_LIMITS)

    async def _rival(self) -> Client:
        return await Client.hello("ws://{}:{}".format(*self._node.target), "mira")

    async def _race(self, proxy: Proxy, room: str, game: str, number: int) -> int:
        browser = self._browser
        rival = await self._rival()
        await rival.create(
            room, games=(game,), deal=str(number), players=2, undo="free", start="full", delay=0, end_when_settled=False
        )
        await rival.join(room)
        address = f"http://127.0.0.1:{proxy.port}"
        await browser.open(f"{address}/{room}", SMALL_PHONE)
        await browser.until("document.querySelector('.sit input')")
        await browser.run(SIT, "zoe")
        await dealt(browser)
        await rival.dealt()
        await rival.expect(Done, Resign)
        await rival.close()
        revision = 0
        for _ in range(STEPS):
            if self._random.random() < 0.75:
                await self._try(MOVE)
            else:
                await self._fail(proxy, f"{address}/{room}")
            shown = await self._try(_REVISION)
            revision = max(revision, shown or 0)
        await self._returned(f"{address}/{room}")
        while await browser.until(_IS_OVER) == "racing":  # the last fault may end only now
            await self._try(_RESIGN)
            await asyncio.sleep(0.5)
        await browser.until("document.querySelector('.deal:not(.checking)')")
        assert not (wrong := await browser.texts(".deal.wrong")), (room, wrong)
        record = await kept(rival := await self._rival(), room)
        await rival.close()
        play = record.plays(record.players[1])[-1]
        assert play.revision >= revision, (room, play.revision, revision)
        await acked(browser, play.revision)
        piles = await browser.run(PILES)
        for key, pile in zip(play.board.game.keys, play.board.masked().piles, strict=True):
            assert piles.get(key, []) == list(pile), (room, key)
        return play.revision

    async def _returned(self, address: str) -> None:
        """Wait until the page is back at the board. If not even the document has come, load it again, as a person would."""
        while await self._browser.until(_IS_SHOWN) == "nothing":
            with suppress(BrowserError):
                await self._browser.open(address, SMALL_PHONE)
        await online(self._browser)

    async def _try(self, script: str) -> Any:
        with suppress(BrowserError):  # the page has just been left
            return await self._browser.run(script)

    async def _fail(self, proxy: Proxy, address: str) -> None:
        fault = self._random.choice(_FAULTS)
        self.faults[fault] += 1
        browser, random = self._browser, self._random
        if fault == "reload":
            await browser.run("location.reload()")
        elif fault == "leave":
            with suppress(BrowserError):  # the page loads itself again
                await browser.close_page()
                await browser.open(address, SMALL_PHONE)
        elif fault == "kill node":
            await self._node.kill()
            self._node = await self._start()
        for connection in list(proxy.connections):
            if fault == "cut":
                connection.reset()
            elif fault == "stall":
                connection.stall(random.uniform(0.1, 1))
            elif fault == "drop answers":
                connection.drop_answers(random.uniform(0.05, 0.3))
        if random.random() < 0.5:
            await self._try(MOVE)  # while the fault lasts
        if random.random() < 0.5:
            await self._returned(address)


async def main() -> None:
    command = argparse.ArgumentParser(prog="python -m tests.chaos.pages", description=__doc__.partition("\n")[0])
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--races", type=int, default=10, help="number of races in each browser")
    given = command.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory, ExitStack() as browsers:
        redis = RedisServer(Path(directory))
        await redis.start()
        try:
            all_races = []
            for engine in ENGINES:
                profile = Path(directory) / engine
                profile.mkdir()
                browser = browsers.enter_context(running_browser(profile, engine))
                all_races.append(Races(browser, redis, Path(directory), Random(f"{given.seed} {engine}")))
            await asyncio.gather(*(races.play(given.races) for races in all_races))
        finally:
            await redis.kill()
    for races in all_races:
        print(f"{given.races} races, {races.acked} moves acked, {dict(races.faults)}")


if __name__ == "__main__":
    asyncio.run(main())
