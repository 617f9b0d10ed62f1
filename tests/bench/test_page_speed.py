"""How soon a slow phone can play and race, and how smoothly the page shows sixteen boards. Prints tables."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from itertools import cycle, islice, pairwise
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import Final

from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.deal import shuffled
from samedeal.games import GAMES
from samedeal.options import Options
from samedeal.protocol.messages import DelayedBoard, DelayedMove, Done, Ready, RoomState, Seat
from tests.end_to_end.browser import LAPTOP, running_browser
from tests.end_to_end.racing_page import PRESS, SIT, SMALL_PHONE, dealt, opened
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


async def test_first_move_on_a_slow_phone(redis_url: str, tmp_path: Path) -> None:
    """The time from the address of the server to a move on the board to try, in browsers that have cached nothing."""
    times = []
    async with serving(redis_url, "n1") as node:
        for visit in range(VISITS):
            profile = tmp_path / str(visit)
            profile.mkdir()
            with running_browser(profile) as browser:
                await browser.slow_down(4)
                await browser.slow_network(LATENCY, RATE)
                await browser.open(node.url, SMALL_PHONE)
                times.append(await browser.run(FIRST_MOVE))
    _, median, late = quantiles(times, n=4)
    print(
        f"\n\nCPU 4 times slower, round trips of {LATENCY} ms, {8 * RATE // 1000} kbit/s\n"
        f"address to first move: median {median:.1f} s, p75 {late:.1f} s"
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
