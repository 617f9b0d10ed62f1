"""Races with a window in real browsers: friends who are there together only for the draw, and race when they have time."""

from __future__ import annotations

import re
import time
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from redis import Redis

from samedeal.options import WantedOptions
from samedeal.protocol.messages import Begin, Begun, Create, Created, Done, Resign, Start
from samedeal.race import draws, values
from tests.chaos.proxy import Proxy
from tests.end_to_end.browser import Browser
from tests.end_to_end.racing_page import PILES, PRESS, READY, SIT, SMALL_PHONE, acked, dealt, raced, seated
from tests.end_to_end.watched_races import draw
from tests.server import live_nodes
from tests.server.client import Client
from tests.server.live_nodes import Node

pytestmark = pytest.mark.xdist_group("page")  # two groups of tests with a browser each

CHOOSE = """
document.querySelector("#name").value = "zoe"
document.querySelector("[data-game=ace-of-hearts]").click()
const select = document.querySelector("[name=window]")
select.value = "86400"
select.dispatchEvent(new Event("change"))
document.querySelector("#send").click()
"""
LOST = ("began_at", "revision", "foundation_cards", "moves", "undos", "last_action_at")
"""What the progress of a player has since the attempt began."""

RACED = "You have raced. Nobody sees how until all have."


@pytest.mark.parametrize("browser", ["firefox"], indirect=True)
async def test_friends_race_when_they_have_time(one: Node, browser: Browser) -> None:
    """Zoe's page is closed while mira takes a seat, and again while mira races. For a browser, they are on two sites."""
    there, here = one.url.replace("127.0.0.1", "localhost"), one.url
    async with browser.second_tab():
        await browser.load(there)
        await browser.until("document.querySelector('#felt .card')")
        await browser.run(CHOOSE)
        await browser.shows("You have a seat, zoe")
        await browser.shows("One name each: who are they? Close the doors when all are in; they close ")
        room = await browser.run("return location.pathname.slice(1)")
    await seated(browser, here, room, "mira")
    await browser.shows("One name each: who are they? Doors close ")
    assert await browser.texts("#standings .state") == ["", ""]
    assert not await browser.accessibility_violations()
    async with browser.second_tab():
        await browser.load(there)
        await browser.shows("Yours to race: 1 (ends ", "#yours")
        await browser.shows("window, doors close ", "#rooms")
        await browser.follow("#yours a")
        await browser.shows("mira", "tbody")
        await browser.run(PRESS, "Close the doors")
        await browser.shows(f"Your one try: 15:00, {READY}")
        await browser.shows("The deal was drawn by you and mira.")
        words = await browser.text("#words")
    race = (await one.rooms.load(room)).race
    assert (race.window, race.options.bots, race.deal) == (86_400, False, "winnable")
    await browser.shows("The deal was drawn by you and zoe.")
    assert await browser.text("#words") == words
    assert not await browser.accessibility_violations()
    await raced(browser)
    await browser.shows(RACED)
    await browser.shows(f"I have raced, your turn: {here.replace('ws', 'http', 1)}/{room}", ".line-to-copy code")
    assert not await browser.accessibility_violations()
    assert not re.search(r"\d", await browser.text("#standings"))
    async with browser.second_tab():
        await browser.load(f"{there}/{room}")
        assert not await browser.run("return Boolean(document.querySelector('.lane, .tile[data-revision]'))")
        await raced(browser)
        await browser.shows("Nobody finished.", ".banner")
        assert await browser.texts("#standings .moves") == ["1", "1"]
        await browser.load(there)
        await browser.until("document.querySelector('#yours') && !document.querySelector('#yours a')")
        await browser.run("localStorage.clear()")
    await browser.shows("Nobody finished.", ".banner")
    assert await browser.texts("#standings .moves") == ["1", "1"]
    await browser.shows("Fair: nobody could choose the deal", ".deal.fair")
    assert not await browser.accessibility_violations()


SELECT = """
const select = document.querySelector(`[name=${arguments[0]}]`)
select.selectedIndex = [...select.options].findIndex(each => each.text === arguments[1])
select.dispatchEvent(new Event("change"))
return [...document.querySelectorAll("[name=window], [name=every]")].map(each => each.selectedOptions[0].text)
"""


async def test_page_opens_a_standing_series(one: Node, browser: Browser) -> None:
    """Each race opens on a Friday at six in the time zone of the browser. The link to send leads to all of them."""
    await browser.load(one.url)
    await browser.until("document.querySelector('#felt .card')")
    assert await browser.run(SELECT, "every", "on Fridays") == ["1 day: when you have time", "on Fridays"]
    assert await browser.run(SELECT, "window", "all at once") == ["all at once", "no"]
    await browser.run(SELECT, "every", "on Fridays")
    await browser.run("document.querySelector('[data-game=ace-of-hearts]').click()")
    await browser.run("document.querySelector('#send').click()")
    await browser.shows("One name each: who are they? The race opens Friday ")
    room = await browser.run("return location.pathname.slice(1)")
    await browser.shows(f"/s/{room}", ".line-to-copy code")
    assert "Close the doors" not in await browser.texts("#seat button")
    await browser.until("document.querySelector('img[alt*=QR]').naturalWidth")
    opens = (await one.rooms.load(room)).race.opens
    shown = (
        "return arguments[0].map(at => new Date(at).toString()).filter(text => /^Fri .* 18:00:00/.test(text)).length"
    )
    assert await browser.run(shown, list(opens)) == len(opens) == 30
    assert not await browser.accessibility_violations()


async def test_standing_series_leads_to_the_kept_seat(
    one: Node, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Zoe's browser knows only the link of the series, in which she has raced once."""
    monkeypatch.setattr(values, "SHORTEST_DOORS", 0)
    mira = await Client.hello(one.url, "mira")
    times = tuple(round(1000 * time.time()) + wait for wait in (12_000, 86_400_000))
    options = WantedOptions(games=("ace-of-hearts",), deal="winnable", bots=False, series=2)
    series = (await mira.expect(Created, Create, options=options, window=86_400, opens=times)).room
    await mira.join(series)
    await seated(browser, one.url, series, "zoe")
    await browser.shows("The race opens ")
    await draw([mira])
    await browser.shows(READY)
    await browser.run(PRESS, "Begin")
    await dealt(browser)
    for label in ("Resign", "Really resign?"):
        await browser.run(PRESS, label)
    await browser.shows(f"/s/{series}", ".line-to-copy code")
    await mira.expect(Done, Resign)
    await browser.shows("Nobody finished.", ".banner")
    await browser.shows("Next race: ", "#seat button")
    await browser.load(one.url)
    await browser.until("document.querySelector('#yours')")
    assert not await browser.run("return document.querySelector('#yours a')")
    await browser.run(OPEN_NOW, series)
    await browser.load(one.url)
    await browser.shows("Yours to race: 1 (ends ", "#yours")
    await browser.follow("#yours a")
    await browser.shows("You have a seat, zoe")
    assert await browser.run("return location.pathname") == f"/{series}-2"
    await browser.shows("Race 2 of 2")


OPEN_NOW = """
const windows = JSON.parse(localStorage.windows)
windows[`s/${arguments[0]}`][0][0] = 0
localStorage.windows = JSON.stringify(windows)
"""


async def opened(url: str, **options: Any) -> tuple[Client, str]:
    """Open a room with a window. Return its host and its code."""
    host = await Client.hello(url, "mira")
    wanted = WantedOptions(games=("ace-of-hearts",), deal="winnable", countdown=0, bots=False, **options)
    room = (await host.expect(Created, Create, options=wanted, window=86_400)).room
    await host.join(room)
    return host, room


async def test_own_time_is_up(one: Node, browser: Browser) -> None:
    """The page knows that by itself, and gives the calendar when everything opens."""
    mira, room = await opened(one.url, limit=10)
    await seated(browser, one.url, room, "zoe")
    await mira.expect(Done, Start)
    await draw([mira])
    await browser.shows(f"Your one try: 0:10, {READY}")
    file = await browser.run("return document.querySelector('[download]').href")
    kept = unquote(file.removeprefix("data:text/calendar,"))
    state = await mira.phase("racing")
    closes = await browser.run("return new Date(arguments[0]).toISOString()", state.ends)
    assert f"\r\nDTEND:{closes[:19].replace('-', '').replace(':', '')}Z\r\n" in kept
    await browser.run(PRESS, "Begin")
    await dealt(browser)
    await browser.shows(RACED)
    await browser.shows("You have 0 cards home", ".banner")
    await mira.expect(Begun, Begin)
    await mira.expect(Done, Resign)
    await browser.shows("Nobody finished.", ".banner")


def target_of(url: str) -> tuple[str, int]:
    address = urlsplit(url)
    return str(address.hostname), address.port or 0


async def test_attempt_that_the_server_has_lost_goes_on(one: Node, browser: Browser, redis_url: str) -> None:
    """The page proves to another node when it began, and gives back its move."""
    mira, room = await opened(one.url)
    targets = [target_of(one.url)]
    async with Proxy(lambda: targets) as proxy, live_nodes.serving(redis_url, "n2") as two:
        await seated(browser, f"ws://127.0.0.1:{proxy.port}", room, "zoe")
        await mira.expect(Done, Start)
        await draw([mira])
        await browser.shows(READY)
        await browser.run(PRESS, "Begin")
        await dealt(browser)
        await browser.run("document.querySelector('.pile[data-key=stock]').click()")
        await acked(browser, 1)
        board = await browser.run(PILES)
        await browser.close_page()
        with Redis.from_url(redis_url) as redis:
            (log,) = redis.keys("*:log:*")
            redis.delete(log)
            redis.hdel(log.replace(b"log", b"progress"), *LOST)
        targets[:] = [target_of(two.url)]
        await browser.open(f"ws://127.0.0.1:{proxy.port}/{room}", SMALL_PHONE)
        await acked(browser, 1)
        assert await browser.run(PILES) == board
        assert two.metric("moves_total", outcome="recovered") == 1
        await browser.close_page()  # before what it loads is cut off


async def test_host_opens_the_doors_again(one: Node, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody had time to answer in the first draw. In the next one, both draw the deal."""
    monkeypatch.setattr(draws, "SHARE_TIMEOUT", 0)
    await browser.open(one.url, SMALL_PHONE)
    await browser.until("document.querySelector('#felt .card')")
    await browser.run(CHOOSE)
    await browser.shows("You have a seat, zoe")
    mira = await Client.hello(one.url, "mira")
    await mira.join(await browser.run("return location.pathname.slice(1)"))
    await browser.shows("mira", "tbody")
    await browser.run(PRESS, "Close the doors")
    await browser.shows("The deal was not drawn, because each time somebody did not answer.")
    assert not await browser.accessibility_violations()
    monkeypatch.undo()
    await browser.run(PRESS, "Open the doors again")
    await browser.shows("One name each: who are they?")
    await browser.run(PRESS, "Close the doors")
    await draw([mira], 6)
    await browser.shows(READY)
    await browser.shows("The deal was drawn by you and mira.")


@pytest.mark.parametrize("browser", ["webkit"], indirect=True)
async def test_browser_that_forgets_comes_back_to_its_seat(one: Node, browser: Browser) -> None:
    """What the page stored is deleted, as WebKit does after a week, and the cookie is left."""
    mira, room = await opened(one.url)
    await seated(browser, one.url, room, "zoe")
    await mira.expect(Done, Start)
    await draw([mira])
    await browser.shows(READY)
    await browser.until("document.cookie === ''")
    zoe = {seat.name: seat.player for seat in (await mira.phase("racing")).players}["zoe"]
    await browser.run("localStorage.clear()")
    await browser.close_page()
    await browser.open(f"{one.url}/{room}", SMALL_PHONE)
    await browser.shows("Back to your seat", "#message")
    await browser.run(SIT, "another")
    await browser.shows(READY)
    await browser.run(PRESS, "Begin")
    await dealt(browser)
    assert [player for player, own in (await one.rooms.load(room)).progress.items() if own.began_at] == [zoe]


LINK = "return document.querySelector('#message code')?.textContent"


async def test_seat_moves_to_another_device(one: Node, browser: Browser) -> None:
    """For a browser, two hosts are two devices. The link works once, and the page that gave it says so."""
    there, here = one.url.replace("127.0.0.1", "localhost"), one.url
    mira, room = await opened(one.url)
    await seated(browser, here, room, "zoe")
    await browser.run(PRESS, "Play on another device")
    await browser.until("document.querySelector('#message svg.qr path[d]')")
    link = (await browser.run(LINK)).replace("127.0.0.1", "localhost")
    assert not await browser.accessibility_violations()
    async with browser.second_tab():
        await browser.load(link)
        await browser.shows("You have a seat, zoe")
        assert await browser.run("return location.hash") == ""
        await mira.expect(Done, Start)
        await draw([mira])
        await browser.shows(READY)
    await browser.shows("You play on another device now.", "#status")
    async with browser.second_tab():
        await browser.load(there)
        await browser.run("localStorage.clear()")
        await browser.load(link)
        await browser.shows("This link was used, or is older than ten minutes.")


async def test_nobody_is_offered_a_seat_behind_closed_doors(one: Node, browser: Browser) -> None:
    mira, room = await opened(one.url)
    await mira.expect(Done, Start)
    await browser.open(f"{one.url}/{room}", SMALL_PHONE)
    await browser.shows("The doors of this race are closed.", "#message")
    assert not await browser.run("return document.querySelector('.sit')")


async def test_browser_of_a_chat_program_is_told_of_the_real_one(one: Node, browser: Browser) -> None:
    _, room = await opened(one.url)
    await seated(browser, one.url, room, "zoe")
    await browser.run("Object.defineProperty(navigator, 'userAgent', {value: 'Mozilla/5.0 [FBAN/FBIOS]'})")
    await browser.run(PRESS, "Leave")
    await browser.shows("Open this page in your own browser.", "#message .warning")
    await browser.until("document.querySelector('.sit input')")
