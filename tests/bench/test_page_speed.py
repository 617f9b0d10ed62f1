"""How soon a slow phone can play and race, and how smoothly the page shows sixteen boards. Prints tables."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle, islice, pairwise
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import Final
from urllib.parse import urlsplit

import pytest

from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.deal import shuffled
from samedeal.games import GAMES
from samedeal.options import Options
from samedeal.protocol.messages import DelayedBoard, DelayedMove, Done, Ready, RoomState, Seat, Start
from samedeal_server.tasks import cancel_and_wait
from tests.end_to_end.browser import ENGINES, LAPTOP, Engine, running_browser
from tests.end_to_end.racing_page import PLACE, PRESS, SIT, SMALL_PHONE, dealt, opened, sit
from tests.server.live_nodes import serving
from tests.server.shown_rooms import scripted_room
from tests.shared.drawn_deals import ROOM

PLAYERS: Final = 16
MOVES_PER_SECOND: Final = 35
SECONDS: Final = 8
SLOWDOWNS: Final = (1, 4)
"""How many times slower than this machine the CPU is made to be."""

LATENCY: Final = 400
RATE: Final = 50_000
"""A slow network: milliseconds for a round trip, and bytes a second."""

_CHUNK: Final = 4096
"""Number of bytes that are sent at a time."""

DRAGGED: Final = 100
"""Number of places to which a finger moves a card, 30 ms after each other."""

RIVAL_MOVES: Final = 10
"""Number of moves of each rival meanwhile."""

VISITS: Final = 8
"""Number of browsers that open the first screen."""

FIRST_MOVE: Final = """
return new Promise(resolve => {
  function look() {
    document.querySelector(".pile[data-key=stock]")?.click();
    if (document.querySelector("#back:enabled")) resolve(performance.now() / 1000);
    else requestAnimationFrame(look);
  }
  look();
});
"""
"""Plays as soon as there is a board, and returns the time since the address was opened, in seconds."""

COUNT_FRAMES: Final = """
window.frames = { count: 0, longest: 0, at: performance.now() };
function next() {
  const now = performance.now();
  Object.assign(frames, { count: frames.count + 1, longest: Math.max(frames.longest, now - frames.at), at: now });
  requestAnimationFrame(next);
}
requestAnimationFrame(next);
"""


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def room_state(now: int) -> RoomState:
    """A race that has just begun."""
    return RoomState(
        room=ROOM,
        event=0,
        phase="racing",
        game="steve",
        deal="random",
        options=Options(games=("steve",), players=PLAYERS, delay=0),
        private=False,
        host="p1",
        players=tuple(Seat(player=f"p{n}", seat=n, name=f"player {n}") for n in range(1, PLAYERS + 1)),
        tallies=(),
        commitment=bytes(32),
        starts=now,
        ends=now + 3_600_000,
    )


def messages(now: int) -> Iterator[DelayedBoard | DelayedMove]:
    """The boards at the start, and then random moves, of each player in turn."""
    rng = Random(1)
    board = Board.deal(GAMES["steve"], shuffled(bytes(32), 2))
    plays = {f"p{n}": Play(board, Undo.FREE) for n in range(1, PLAYERS + 1)}
    for player in plays:
        yield DelayedBoard(player=player, revision=0, piles=board.masked().piles, moves=0, undos=0, time=now)
    for player in cycle(plays):
        action = str(rng.choice(list(plays[player].board.legal_moves())))
        play = plays[player] = plays[player].act(action)
        yield DelayedMove(player=player, revision=play.revision, action=action, seen=play.seen, time=now_ms())


class SlowNetwork:
    """Forwards connections to a server as a slow network does, for engines that cannot be told to be slow.

    The first answer on each connection takes ``LATENCY`` longer, and all answers together have the ``RATE``.
    """

    def __init__(self, server: str) -> None:
        self._server = urlsplit(server)
        self._free_at = 0.0
        self._forwarding: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> str:
        self._listening = await asyncio.start_server(self._forward, "127.0.0.1", 0)
        return f"ws://127.0.0.1:{self._listening.sockets[0].getsockname()[1]}"

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()
        await cancel_and_wait(self._forwarding)

    async def _forward(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._forwarding.add(task)
        server, to_server = await asyncio.open_connection(self._server.hostname, self._server.port)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._answer(server, to_client))
                with suppress(ConnectionError):
                    while asked := await client.read(_CHUNK):
                        to_server.write(asked)
                    to_server.write_eof()
        finally:
            to_server.close()
            to_client.close()

    async def _answer(self, server: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            answer = await server.read(_CHUNK)
            await asyncio.sleep(LATENCY / 1000)
            while answer:
                self._free_at = max(self._free_at, time.monotonic()) + len(answer) / RATE
                await asyncio.sleep(self._free_at - time.monotonic())
                to_client.write(answer)
                await to_client.drain()
                answer = await server.read(_CHUNK)
            to_client.write_eof()


@pytest.mark.parametrize("engine", ENGINES)
async def test_first_move_on_a_slow_phone(redis_url: str, tmp_path: Path, engine: Engine) -> None:
    """The time from the address of the server to a move on the board to try, in browsers that have cached nothing.

    Only Chromium can be told to have a slow CPU.
    """
    times = []
    async with serving(redis_url, "n1") as node, SlowNetwork(node.url) as url:
        for visit in range(VISITS):
            profile = tmp_path / str(visit)
            profile.mkdir()
            with running_browser(profile, engine) as browser:
                if engine == "chromium":
                    await browser.slow_down(4)
                await browser.open(url, SMALL_PHONE)
                times.append(await browser.run(FIRST_MOVE))
    _, median, late = quantiles(times, n=4)
    slower = "CPU 4 times slower" if engine == "chromium" else "CPU as it is"
    print(
        f"\n\n{engine}, {slower}, answers {LATENCY} ms later, {8 * RATE // 1000} kbit/s\n"
        f"address to first move: median {median:.1f} s, p75 {late:.1f} s, {' '.join(f'{each:.1f}' for each in times)}"
    )


async def test_first_card_on_a_slow_phone(redis_url: str, tmp_path: Path) -> None:
    """The time that the page takes from the link to the cards, without the time that people take to type and to start."""
    async with serving(redis_url, "n1") as node:
        mira = await opened(node.url, games=("willow",), deal="#7", players=2, start="all-ready", countdown=0)
        await mira.join(ROOM)
        await mira.expect(Done, Ready)
        with running_browser(tmp_path) as browser:
            await browser.slow_down(4)
            await browser.slow_network(LATENCY, RATE)
            times = [time.monotonic()]
            await browser.open(f"{node.url}/{ROOM}", SMALL_PHONE)
            await browser.until("document.querySelector('.sit input')")
            times.append(time.monotonic())
            await browser.run(SIT, "zoe")
            await browser.shows("You have a seat")
            times.append(time.monotonic())
            await browser.run(PRESS, "Ready")
            await dealt(browser)
            times.append(time.monotonic())
    link, seat, cards = [later - before for before, later in pairwise(times)]
    print(
        f"\n\nCPU 4 times slower, round trips of {LATENCY} ms, {8 * RATE // 1000} kbit/s\n"
        f"link to name {link:.1f} s, name to seat {seat:.1f} s, start to cards {cards:.1f} s: {link + seat + cards:.1f} s"
    )


async def test_page_speed(tmp_path: Path) -> None:
    print("\n\n16 boards, 35 moves a second\nslower   frames a second   longest frame, ms   main thread busy, %")
    with running_browser(tmp_path) as browser:
        for slowdown in SLOWDOWNS:
            async with scripted_room([room_state(now_ms())]) as room:
                feed = messages(now_ms())
                room.show(*islice(feed, PLAYERS))
                await browser.slow_down(1)
                await browser.open(f"{room.url}/{ROOM}", LAPTOP)
                await browser.until("document.querySelectorAll('.tile[data-revision]').length === 16")
                await browser.slow_down(slowdown)
                await browser.run(COUNT_FRAMES)
                busy, begun = await browser.busy_seconds(), time.monotonic()
                for number, move in enumerate(islice(feed, MOVES_PER_SECOND * SECONDS), 1):
                    room.show(move)
                    await asyncio.sleep(begun + number / MOVES_PER_SECOND - time.monotonic())
                frames, longest = await browser.run("return [frames.count, frames.longest]")
                took = time.monotonic() - begun
                busy = await browser.busy_seconds() - busy
                print(f"{slowdown:>5}x{frames / took:>15.0f}{longest:>20.0f}{100 * busy / took:>20.0f}")
                await browser.slow_down(1)


async def test_frames_while_a_card_is_dragged(redis_url: str, tmp_path: Path) -> None:
    """How often a racer's page draws while a finger moves a card, and rivals in all other seats move cards too."""
    print("\n\n15 rivals who move\nslower   frames a second   longest frame, ms   main thread busy, %")
    async with serving(redis_url, "n1") as node:
        mira = await opened(node.url, games=("athena",), deal="#7", players=PLAYERS)
        rivals = [mira, *[await node.player(f"rival {number}") for number in range(2, PLAYERS)]]
        for rival in rivals:
            await rival.join(ROOM)
        with running_browser(tmp_path) as browser:
            await sit(browser, node.url)
            await mira.expect(Done, Start)
            await dealt(browser)
            for rival in rivals:
                await rival.dealt()
            (x, y) = await browser.run(PLACE, "7", 1)
            way = [(x + 9 * (number % 20) - 90, y - 5 * (number % 20)) for number in range(DRAGGED)]
            await browser.run(COUNT_FRAMES)
            for slowdown in SLOWDOWNS:
                await browser.slow_down(slowdown)
                await browser.run("Object.assign(frames, {count: 0, longest: 0, at: performance.now()})")
                busy, begun = await browser.busy_seconds(), time.monotonic()
                moving = [asyncio.create_task(rival.acts(RIVAL_MOVES, slowdown)) for rival in rivals]
                await browser.drag((x, y), *way, touch=True, release=False)
                frames, longest = await browser.run("return [frames.count, frames.longest]")
                assert await browser.run("return document.querySelectorAll('.card[style*=translate]').length")
                took = time.monotonic() - begun
                busy = await browser.busy_seconds() - busy
                print(f"{slowdown:>5}x{frames / took:>15.0f}{longest:>20.0f}{100 * busy / took:>20.0f}")
                await browser.lift()
                await asyncio.gather(*moving)
                await browser.slow_down(1)
