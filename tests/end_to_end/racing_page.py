"""A racer's page in a real browser: how a test takes a seat, moves cards and reads the board."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from samedeal.board import Board
from tests.end_to_end.browser import Browser, script
from tests.end_to_end.watched_races import ROOM
from tests.server.client import Client

RECORDS = Path(__file__).parents[1] / "golden" / "records"
SMALL_PHONE = (360, 640)
TAP = script("tap")
MOVE = script("move")
PLACE = script("place")
SIT = script("sit")
ENTER = """
document.querySelector("[type=password]").value = arguments[0]
document.querySelector("form button").click()
"""
PRESS = "[...document.querySelectorAll('button')].find(each => each.textContent === arguments[0]).click()"
PILES = script("piles")


async def opened(url: str, **options: Any) -> Client:
    """Open a room, and return the client that did so."""
    client = await Client.hello(url, "mira")
    await client.create(ROOM, **{"players": 3, "delay": 0, "end_when_settled": False, **options})
    return client


async def sit(browser: Browser, url: str, name: str = "zoe", size: tuple[int, int] = SMALL_PHONE) -> None:
    await browser.open(f"{url}/{ROOM}", size)
    await browser.until("document.querySelector('.sit input')")
    await browser.run(SIT, name)
    await browser.shows("You have a seat")


async def online(browser: Browser) -> None:
    """Wait until the page is connected, and knows its room."""
    await browser.until("document.querySelector('.online #facts:not(:empty)')")


async def dealt(browser: Browser) -> None:
    await browser.until("document.querySelector('.tile[data-revision]') && document.querySelector('.pile')")


async def acked(browser: Browser, revision: int) -> None:
    await browser.until(
        "Number(document.querySelector('.tile[data-revision]')?.dataset.revision) === arguments[0]", revision
    )


async def tap(browser: Browser, action: str, revision: int) -> None:
    """Make a move by tapping a card and then a pile, and wait for its ack."""
    source, target, *size = [*action.split(" "), *([] if " " in action else ["stock"])]
    if " " not in action:
        assert await browser.run(TAP, "stock", 0)
    else:
        count = int(size[0][1:]) if size else 1
        assert await browser.run(TAP, source, count), (source, count)
        await browser.run(TAP, "01" if target == "0" else target, 0)
    await acked(browser, revision)


async def drag(browser: Browser, action: str, *, touch: bool = False) -> None:
    """Drag cards to a pile, or to the foundation that takes them."""
    source, target, *size = action.split(" ")
    count = int(size[0][1:]) if size else 1
    if target == "0":
        await browser.run(TAP, source, count)
        takes = "document.querySelector(\".takes[data-key^='0']\")"
        await browser.until(takes)
        target = await browser.run(f"return {takes}.dataset.key")
        await browser.press("Escape")
    (x, y), end = [await browser.run(PLACE, *place) for place in ((source, count), (target, 1))]
    await browser.drag((x, y), (x + 9, y + 9), end, touch=touch)


async def shows_start(browser: Browser, client: Client) -> None:
    """Compare the page's board at the start with that of another client."""
    board: Board = client.play.board
    piles = await browser.run(PILES)
    for key, pile in zip(board.game.keys, board.masked().piles, strict=True):
        assert piles.get(key, []) == list(pile), key


READY = "the clock does not stop. Ready?"
"""The question to a player of a window who has not begun."""


async def seated(browser: Browser, url: str, room: str, name: str) -> None:
    """Take a seat with the link of a room."""
    await browser.open(f"{url}/{room}", SMALL_PHONE)
    await browser.until("document.querySelector('.sit input')")
    await browser.run(SIT, name)
    await browser.shows(f"You have a seat, {name}")


async def raced(browser: Browser) -> None:
    """Begin, draw a card, and resign."""
    await browser.shows(READY)
    await browser.run(PRESS, "Begin")
    await dealt(browser)
    await browser.until(r"/^1[45]:\d\d left$/.test(document.querySelector('#clock').textContent)")
    assert await browser.texts(".lane .name") == ["You"]
    await browser.run("document.querySelector('.pile[data-key=stock]').click()")
    await acked(browser, 1)
    for label in ("Resign", "Really resign?"):
        await browser.run(PRESS, label)
