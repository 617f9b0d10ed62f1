"""Races in a real browser by tap and by keys: from the link to the results, with reloads, lost connections and refusals."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from msgspec.structs import replace
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from samedeal.forbidden_words import ForbiddenWords
from samedeal.game_rules import rules_in_short
from samedeal.games import GAMES
from samedeal.protocol.messages import (
    Created,
    Done,
    EarlierPlayer,
    KickPlayer,
    Leave,
    Ping,
    Pong,
    Ready,
    Rematch,
    Resign,
    Start,
    TideTime,
)
from samedeal.race import draws
from samedeal.record import Record
from samedeal.solver.solve import solve
from samedeal.utc_text import utc_text
from samedeal_client.board.board_lines import board_lines
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from samedeal_client.text.time_text import short_clock_text
from samedeal_server.api import front
from samedeal_server.page.files import PageFiles, _qr_code
from samedeal_server.races.earlier import EarlierRace
from samedeal_server.races.race_record import race_id
from samedeal_server.rooms import race_now
from tests.end_to_end.browser import DEADLINE, ENGINES, LAPTOP, Browser, Engine, script
from tests.end_to_end.processes import Programs
from tests.end_to_end.proxy import Proxy
from tests.end_to_end.racing_page import (
    ENTER,
    MOVE,
    PILES,
    PLACE,
    PRESS,
    RECORDS,
    SIT,
    SMALL_PHONE,
    acked,
    dealt,
    drag,
    online,
    opened,
    shows_start,
    sit,
    tap,
)
from tests.end_to_end.watched_races import ROOM, draw
from tests.end_to_end.webkit import BrowserError
from tests.server.client import Client
from tests.server.live_nodes import Node
from tests.server.plain_http import ask
from tests.server.races import QUICK_GAME, finish, race, race_alone, raced, shorten_wait
from tests.server.waiting import until
from tests.shared.positions import position
from tests.shared.race_values import new_race

pytestmark = pytest.mark.xdist_group("seat")  # two groups of tests with a browser each


WATCH_FALL = "addEventListener('animationstart', ({animationName}) => { window.fell ||= animationName === 'fall' })"
BOTTOM = "return document.querySelector(arguments[0]).getBoundingClientRect().bottom"
PLAIN_HOST = "plain.test"  # over plain http, browsers trust this machine, but no host with a name


@pytest.mark.parametrize(
    ("browser", "hand"),
    [("firefox", "mouse"), ("chromium", "finger"), ("webkit", "finger"), ("webkit", "mouse")],
    indirect=["browser"],
)
@pytest.mark.parametrize("game", GAMES if os.environ.get("ALL_GAMES") else ["phoenix"])
async def test_race_is_won(one: Node, browser: Browser, programs: Programs, game: str, hand: str) -> None:
    """By taps and drags in turn, with fingers also against a bot, and by a key once all cards can be collected.

    The record is won, so that each move is legal.

    ``ALL_GAMES=1`` races in all games.
    """
    record = Record.parse((RECORDS / f"{game}.txt").read_text())
    mira = await opened(
        one.url, games=(game,), deal=str(record.deal), start="all-ready", series=3, end_when_settled=True
    )
    rivals = 1 + (hand == "finger")
    await mira.join(ROOM)
    if rivals == 2:
        await programs.samedeal("bot", one.url, ROOM, "--level", "random", "--pace", "1")
        await mira.state(lambda state: len(state.players) == 2)
    await sit(browser, one.url, size=SMALL_PHONE if hand == "finger" else LAPTOP)
    await browser.shows("Race 1 of 3", "caption")
    await browser.shows("mira", "tbody")
    assert hand == "mouse" or not await browser.accessibility_violations()
    await mira.expect(Done, Ready)
    await browser.run(PRESS, "Ready")
    await dealt(browser)
    await mira.dealt()
    await shows_start(browser, mira)
    assert hand == "mouse" or not await browser.accessibility_violations()
    await browser.run(PRESS, "One tap")  # from now on, a tap picks
    await browser.run(WATCH_FALL)
    actions = [action for _, action in record.actions]
    while actions[-1].endswith(" 0"):
        actions.pop()
    for number, action in enumerate(actions, 1):
        if number % 2 or " " not in action:
            await tap(browser, action, number)
        else:
            await drag(browser, action, touch=hand == "finger")
            await acked(browser, number)
    await browser.press("x")
    await browser.until("window.fell")
    await browser.shows("You won in", ".banner")
    assert await browser.run("return document.querySelector('.own').style.getPropertyValue('--done')") == "1"
    assert len(await browser.texts(".lane .bot")) == rivals - 1
    await mira.expect(Done, Resign)
    over = await mira.state(lambda state: state.phase == "finished")
    await browser.shows(f"You won in {short_clock_text(over.standings[0].time)}")
    await browser.shows("Checked: the deal was set before the start", ".deal.checked")
    assert hand == "mouse" or not await browser.accessibility_violations()
    await browser.shows(str(rivals), "caption ~ tr td:nth-child(3)")
    await browser.shows(f"place 1 of {1 + rivals}", ".line-to-copy code")
    await browser.run(PRESS, "Next race")
    await browser.shows("You have a seat, zoe")
    if browser.engine == "firefox":  # it mentions each connection that a page leaves behind
        browser.errors()


@pytest.mark.parametrize("browser", ["firefox"], indirect=True)
async def test_rules_are_told_where_one_plays(one: Node, browser: Browser) -> None:
    """In the room, while the race is about to start, and by a button during the race, for which the clock does not stop."""
    mira = await opened(one.url, games=("klondike",), deal="#1", countdown=3)
    await mira.join(ROOM)
    rules = rules_in_short(GAMES["klondike"])
    await browser.open(f"{one.url}/{ROOM}", SMALL_PHONE)
    await browser.shows("\n".join(("How to play Klondike", *rules)), "#rules")
    await browser.until("document.querySelector('tbody button')")
    assert await browser.run(IN_ORDER, ".sit input, #rules, tbody button") == ["INPUT", "DIALOG", "BUTTON"]
    await sit(browser, one.url)
    await browser.shows(rules[-1], "#rules")
    assert not await browser.accessibility_violations()
    await mira.expect(Done, Start)
    await browser.shows("Starts in", "#clock")
    await browser.shows(rules[-1], "#rules")
    await dealt(browser)
    await browser.until("!document.querySelector('#rules').checkVisibility()")
    await browser.run("document.querySelector('#menu').showPopover()")
    assert await browser.run(BOTTOM, "#menu") < 400
    await browser.run("document.querySelector('#menu').hidePopover()")
    await browser.run("document.querySelector('#how').focus()")
    await browser.press("Enter")
    await browser.shows("The clock goes on.", "#rules:modal")
    await browser.run("document.activeElement.blur()")  # as a tap on the rules does
    await browser.press("7")
    assert not await browser.run("return document.querySelector('.picked')")
    assert not await browser.accessibility_violations()
    await browser.press("Escape")
    await browser.until("!document.querySelector('#rules').open && document.activeElement.id === 'how'")
    await browser.press("7")
    await browser.until("document.querySelector('.picked')")


IN_ORDER = "return [...document.querySelectorAll(arguments[0])].slice(0, 3).map(each => each.tagName)"
OFFER = """
const boards = document.querySelector("#boards"), person = document.querySelector("#person")
person.hidden = true
const before = boards.getBoundingClientRect().toJSON()
person.hidden = false
return [before, boards.getBoundingClientRect().toJSON()]
"""
"""Offers to race somebody instead. Returns where the board was before, and where it is then."""

CUT_NEWS = """
const news = document.querySelector("#news")
for (const text of ["Server: " + "This is a long sentence. ".repeat(5), ...Array(7).fill("wwwwwwww-89 has 10 cards to go")])
	news.prepend(Object.assign(document.createElement("span"), {textContent: text}), " ")
const {bottom, right} = news.getBoundingClientRect()
const isCut = box => box.left < right && box.top < bottom - 3 && (box.right > right || box.bottom > bottom)
return [...news.children].filter(each => isCut(each.getBoundingClientRect())).length
"""
"""Tells news. Returns how many of them can be seen only in part."""

LOOK = """
Object.defineProperty(document, "hidden", {value: !arguments[0], configurable: true})
dispatchEvent(new Event("visibilitychange"))
"""


STUBS = script("stubs")
ONLY_NOW = "const wait = setTimeout; window.setTimeout = (f, ms) => wait(f, ms > 150 ? 1e8 : ms)"
LIFTED = "document.querySelectorAll('.card[style*=translate]').length"


async def test_phone_in_the_hand(one: Node, browser: Browser) -> None:
    """It stays awake, shows all without scrolling, hears taps without clicks, and reconnects when it is told to."""
    mira = await opened(one.url, games=("klondike",), deal="#1", countdown=3)
    async with Proxy(one.url) as proxy:
        await browser.open(f"{proxy.url}/{ROOM}", SMALL_PHONE)
        await browser.until("document.querySelector('.sit input')")
        await browser.run(STUBS)
        await browser.run(SIT, "zoe")
        await mira.join(ROOM)
        await browser.until("window.locks === 1")
        await mira.expect(Done, Start)
        await browser.until("document.title.startsWith('Starts in')")
        await dealt(browser)
        await browser.until("document.title.startsWith('The race is on')")
        root = "document.documentElement"
        for size in (SMALL_PHONE, (320, 256)):
            await browser.resize(size)
            await browser.until(f"{root}.scrollWidth <= arguments[0] && {root}.scrollHeight <= arguments[1]", *size)
        await browser.resize(SMALL_PHONE)
        assert await browser.run("return document.querySelector('#boards').getBoundingClientRect().top") <= 140
        for size in (LAPTOP, SMALL_PHONE):
            await browser.resize(size)
            await browser.until(f"{root}.scrollWidth <= arguments[0]", size[0])
            assert await browser.run(CUT_NEWS) == 0
            before, offered = await browser.run(OFFER)
            assert before == offered
            await browser.until(f"{root}.scrollWidth <= arguments[0]", size[0])
        await browser.run("document.querySelector('#sounds').click()")
        await browser.until("performance.getEntriesByName(new URL('sound.js', location.href).href).length")
        await browser.drag(await browser.run(PLACE, "stock", 1), touch=True)
        await acked(browser, 1)
        assert await browser.run("return window.tones") == 1
        assert await browser.run("return document.querySelector('#undo').getAttribute('aria-disabled')") == "true"
        await browser.run("document.querySelector('#undo').click()")
        await browser.shows("turned up a card", "#said")
        start, end = [await browser.run(PLACE, *place) for place in (("w", 1), ("01", 1))]
        await browser.drag(start, (start[0] - 9, start[1] + 9), end, touch=True, release=False)
        await browser.until(LIFTED)
        await browser.resize(SMALL_PHONE[::-1])
        await browser.until(f"!{LIFTED}")
        await browser.lift()
        await browser.resize(SMALL_PHONE)
        proxy.stall()
        await browser.drag(await browser.run(PLACE, "stock", 1), touch=True)
        await browser.until("document.querySelector('.waiting')")
        await browser.run(ONLY_NOW)
        proxy.cut()
        await browser.shows("No connection", "#status")
        proxy.restore()
        await browser.run(PRESS, "Try now")
        await acked(browser, 2)
        await browser.until("!document.querySelector('.waiting')")
        await browser.run(PRESS, "Resign")
        await browser.run(PRESS, "Really resign?")
        await mira.expect(Done, Resign)
        await browser.until("window.locks < 0")
        await browser.close_page()  # before what it loads is cut off
    browser.errors()  # it mentions connections that were cut


BANNERS = script("banners")


async def test_banner_tells_how_the_race_went(one: Node, browser: Browser) -> None:
    """As Ben sees it, who is the second. The last race of a series has its winner on the first line."""
    ana, ben = {"player": 0, "name": "ana"}, {"player": 1, "name": "ben"}
    won, later, few = {"count": 52, "finishedAt": 188_000}, {"count": 52, "finishedAt": 200_000}, {"count": 1}
    told = {
        "2nd / ana won by 12 s / You finished in 3:19": (1, "", won, later),
        "♛ / ana won the series / ana won by 12 s / You finished in 3:19": (3, "", won, later),
        "1st / You won in 3:07 / 12 s ahead of ana / A new best": (1, "A new best", won | ben, later | ana),
        "2nd / Nobody finished. ana was closest. / You have 1 card home": (1, "", {"count": 9}, few),
        "2nd / ana won in 3:07 / You resigned with 1 card home": (1, "", won, few | {"resigned": True}),
    }
    await browser.open(one.url)
    assert await browser.run(BANNERS, list(told.values())) == list(told)


async def test_rematch_is_wished_while_others_race(one: Node, browser: Browser) -> None:
    mira = await opened(one.url, deal="#1")
    await mira.join(ROOM)
    await sit(browser, one.url)
    await mira.expect(Done, Start)
    await dealt(browser)
    await browser.run("document.querySelector('#menu').showPopover()")
    for label in ("Resign", "Really resign?"):
        await browser.run(PRESS, label)
    await browser.shows("The race goes on for the others.", ".racing #seat")
    assert not await browser.run("return document.querySelector('#menu:popover-open')")
    await browser.run(PRESS, "Rematch")
    await browser.shows("You get a seat in the rematch")
    await mira.expect(Done, Resign)
    await browser.until("location.pathname !== '/friday'")
    await browser.shows("You have a seat, zoe")
    told = await browser.text("#seat")
    assert told.index("Start the race") < told.index("Send this link"), "others come by themselves"


@pytest.mark.parametrize("races", [True, False])
async def test_rival_who_wants_a_rematch_is_named(one: Node, browser: Browser, *, races: bool) -> None:
    """To a spectator, and to a racer who watches the others."""
    mira = await opened(one.url, deal="#1")
    await mira.join(ROOM)
    if races:
        await sit(browser, one.url)
    else:
        await browser.open(f"{one.url}/{ROOM}", SMALL_PHONE)
    await mira.expect(Done, Start)
    if races:
        await dealt(browser)
        for label in ("Resign", "Really resign?"):
            await browser.run(PRESS, label)
        await browser.shows("Watch them")
        await browser.run(PRESS, "Watch them")
        await browser.until("!document.querySelector('.seated')")
    else:
        await browser.shows("Take a seat in the next race")
    await mira.expect(Done, Resign)
    await mira.phase("finished")
    await mira.expect(Created, Rematch)
    await browser.shows("mira wants a rematch: join")
    await browser.run(PRESS, "mira wants a rematch: join")
    await browser.shows("You have a seat")


async def test_host_sees_who_is_away_and_is_asked_before_the_start(one: Node, browser: Browser) -> None:
    """Also a page that nobody looks at is away, and that one again which comes back without being looked at."""
    mira = await opened(one.url, deal="#1", countdown=60)
    await sit(browser, one.url)
    await browser.shows("Send the link, or start alone.")
    start = (
        "return [...document.querySelectorAll('button')].find(each => each.innerText === 'Start the race').offsetTop"
    )
    alone = await browser.run(start)
    await mira.join(ROOM)
    await browser.shows("Start when everybody is here.")
    assert await browser.run(start) == alone, "and not where the finger is on something else"

    async def is_away(*, away: bool) -> None:
        await mira.state(lambda state: [seat.away for seat in state.players] == [away, False])

    for looks in (False, True, False):
        await browser.run(LOOK, looks)
        await is_away(away=not looks)
    await browser.run("location.reload()")
    await is_away(away=False)
    await browser.shows("You have a seat")
    await mira.expect(Pong, Ping, away=True)
    await browser.shows("away", "tbody")
    await browser.shows("mira is away", "#news")
    await browser.run(PRESS, "Start the race")
    await browser.shows("mira is away. Start without mira?")
    await mira.expect(Pong, Ping)
    await browser.shows("Start the race")
    await browser.shows("mira is back", "#news")
    await mira.expect(Pong, Ping, away=True)
    await browser.shows("away", "tbody")
    await browser.run(PRESS, "Start the race")
    await browser.run(PRESS, "mira is away. Start without mira?")
    await mira.phase("countdown")


async def test_phone_that_slept_through_a_draw_comes_back(
    one: Node, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All others have left, so the room is open again."""
    monkeypatch.setattr(draws, "SHARE_TIMEOUT", 3_500)
    mira = await opened(one.url, games=("ace-of-hearts",), deal="winnable easy", end_when_settled=True)
    eve = await one.player("eve")
    await mira.join(ROOM)
    await sit(browser, one.url)
    await eve.join(ROOM)
    await browser.set_state("frozen")
    await mira.state(lambda state: [seat.away for seat in state.players] == [False, True, False])
    await mira.expect(Done, Start)
    for client in (mira, eve):
        await client.state(lambda state: state.draw == 1)
        await client.commit()
    await mira.sealed()
    await browser.set_state("active")
    await browser.shows("The race has started without you", ".sit")
    await eve.expect(Done, Leave)
    await mira.expect(Done, Leave)
    await browser.shows("You have a seat, zoe")


async def test_joint_deal_survives_reload_cut_and_killed_node(
    programs: Programs, redis_url: str, browser: Browser
) -> None:
    """Two pages' worth of trust: the share is kept over a reload, and each acknowledged move over everything else."""
    url, program = await programs.server("--redis", redis_url, "--origins", "*")
    mira = await opened(url, games=("freecell",), deal="winnable easy", undo="free")
    async with Proxy(url) as proxy:
        await mira.join(ROOM)
        await sit(browser, proxy.url.replace("127.0.0.1", PLAIN_HOST))
        assert not await browser.run("return isSecureContext")
        await mira.expect(Done, Start)
        await draw([mira])
        await dealt(browser)
        await mira.dealt()
        await shows_start(browser, mira)

        async def move(revision: int) -> Any:
            """Let the page make the first move that it finds, and return the board after it."""
            await browser.run(MOVE)
            await acked(browser, revision)
            return await browser.run(PILES)

        assert await browser.run("return document.querySelectorAll('.card:has(.court)').length") == 12
        before = [await move(number) for number in range(1, 4)][-1]
        await browser.run("location.reload()")
        await browser.until("!window.moved")
        await dealt(browser)
        await acked(browser, 3)
        assert await browser.run(PILES) == before
        proxy.cut()
        await browser.run(MOVE)
        proxy.restore()
        await acked(browser, 4)
        program.process.kill()
        await browser.shows("No connection", "#status")
        before = await browser.run(PILES)
        await programs.server("--redis", redis_url, "--origins", "*", port=int(url.rpartition(":")[2]))
        await online(browser)
        assert await browser.run(PILES) == before
        await move(5)
        again = await Client.hello(url, "mira", mira.session)
        await again.join(ROOM)
        await again.expect(Done, Resign)
        await browser.run(PRESS, "Resign")
        await browser.run(PRESS, "Really resign?")
        await browser.shows("Fair: nobody could choose the deal", ".deal.fair")
        assert any(text.startswith("Result words: ") for text in await browser.texts(".deal p"))
        assert any("random numbers of the server and of mira, zoe" in line for line in await browser.texts(".deal li"))
        await browser.close_page()  # before what it loads is cut off
    browser.errors()  # it mentions connections that were cut


async def test_pages_terminal_and_client_get_the_same_cards(
    one: Node, programs: Programs, browser: Browser, browsers: Callable[[Engine], Browser]
) -> None:
    """The page in Firefox takes a move back, and its move with keys is refused with the reason."""
    other = browsers("firefox")
    other.errors()
    mira = await opened(one.url, games=("klondike",), deal="7", undo="free", start="full", players=4)
    await sit(browser, one.url)
    await sit(other, one.url, "<b>ben</b>")
    await mira.join(ROOM)
    terminal = await programs.samedeal("join", f"http{one.url.removeprefix('ws')}/{ROOM}", "--name", "tom")
    await mira.dealt()
    for page in (browser, other):
        await dealt(page)
        await shows_start(page, mira)
    for row in board_lines(mira.play.board, Look(words=True)):
        await terminal.expect(re.escape(row_text(row)))
    before = await other.run(PILES)
    await other.press(" ")
    await acked(other, 1)
    await other.press("z")
    await acked(other, 2)
    assert (await other.run(PILES)).keys() == before.keys()
    await other.press("7")
    await other.press("6")
    await other.until("document.querySelector('#said').textContent.startsWith(\"Q♣ can't go on 2♥.\")")
    await other.press("Escape")
    await drag(other, "7 6")
    await other.shows("can't go on", "#said")
    await other.until("document.getAnimations().length === 0")
    assert await other.run("return document.querySelectorAll('.picked, .card[style*=translate]').length") == 0
    await browser.shows("<b>ben</b>", "#track")
    assert (
        await browser.run("return document.querySelectorAll('main :is(img, b, i):not(#track *, .example *)').length")
        == 0
    )
    assert await other.run("return document.querySelectorAll('.tile:not([hidden])').length") == 1
    assert other.errors() == []
    await other.run("localStorage.clear()")
    await other.close_page()


async def test_each_refusal_says_what_to_do(one: Node, browser: Browser) -> None:
    """A name that is taken or not allowed, a full room, a seat that the host takes away, and a race that has begun."""
    mira = await opened(one.url, players=2)
    await mira.join(ROOM)
    await browser.open(f"{one.url}/{ROOM}", SMALL_PHONE)
    for name, sentence in (("mira", "mira"), ("admin", "admin"), ("a" * 30, "name")):
        await browser.until("document.querySelector('.sit input')")
        await browser.run(SIT, name)
        await browser.shows(sentence, "[role=alert]")
        assert not await browser.accessibility_violations()
        if name == "mira":
            assert await browser.run("return document.querySelector('.sit input').value") == "mira-2"
    await browser.run(SIT, "zoe")
    await browser.shows("You have a seat, zoe")
    assert await browser.run("return document.querySelectorAll('[aria-label=\"Your seat\"]').length") == 1
    late = await Client.hello(one.url, "late")
    state = await mira.state(lambda state: len(state.players) == 2)
    await mira.expect(Done, KickPlayer, player=state.players[1].player)
    await browser.shows("removed", "#message")
    await browser.until("!document.body.innerText.includes('Take a seat')")
    await late.join(ROOM)
    await browser.open(f"{one.url}/{ROOM}".replace("127.0.0.1", "localhost"), SMALL_PHONE)  # as somebody else
    await browser.shows("All seats are taken")
    assert not await browser.run("return document.querySelector('.sit')")
    await mira.expect(Done, Start)
    await mira.dealt()
    await browser.shows("Take a seat in the next race")
    await browser.run(SIT, "zoe")
    await browser.shows("You get a seat in the next race")
    for client in (mira, late):
        await client.expect(Done, Resign)
    await browser.until("location.pathname !== '/friday'")


@pytest.mark.parametrize(
    ("browser", "module"),
    [("chromium", "piles.js"), ("firefox", "seat.js")],
    indirect=["browser"],
)
async def test_page_without_a_module_is_loaded_again(
    one: Node, browser: Browser, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    """Browsers do not ask again for a module that could not be loaded: they show half a page for ever."""
    await opened(one.url)
    respond, missing = PageFiles.respond, [module]

    def respond_badly(files: PageFiles, request: Request, *rest: Any, **more: Any) -> Response | None:
        if missing and request.path == f"/{module}":
            missing.pop()
            return Response(503, "Service Unavailable", Headers(), b"")
        return respond(files, request, *rest, **more)

    monkeypatch.setattr(PageFiles, "respond", respond_badly)
    await browser.open(f"{one.url}/{ROOM}", SMALL_PHONE)
    async with asyncio.timeout(DEADLINE):
        shown = ""
        while "You have a seat" not in shown:
            with suppress(BrowserError, AssertionError):  # there is no form yet, or the page is loaded again
                shown = await browser.text()
                await browser.run(SIT, "zoe")
    assert not missing
    browser.errors()


async def test_link_is_sent_before_others_take_seats(one: Node, browser: Browser) -> None:
    """The room has the options of the form. Without storage, a seat works as long as the page is open."""
    await sit_by(browser, one.url, "#send", "document.querySelector('[name=undo]').value = '\"off\"'")
    await browser.shows("Klondike", "#facts")
    await browser.shows(await browser.run("return location.href"), ".line-to-copy")
    await browser.until("document.querySelector('details[open] img').naturalWidth")
    race = (await one.rooms.load(await browser.run("return location.pathname.slice(1)"))).race
    assert (race.options.undo, race.deal, [racer.name for racer in race.racers]) == ("off", "winnable", ["zoe"])
    assert not await browser.accessibility_violations()
    await browser.run("Storage.prototype.setItem = () => { throw new Error('full') }")
    await browser.run(PRESS, "Leave")
    await browser.shows("Take a seat")
    assert not await browser.run("return document.querySelector('#boards').hidden")  # who left can watch
    await browser.run(SIT, "zoe")
    await browser.shows("This browser keeps nothing")


async def sit_by(browser: Browser, url: str, button: str, before: str = "") -> None:
    """Take a seat with a button of the first screen, given by its selector, after a script has chosen something there."""
    await browser.open(url, SMALL_PHONE)
    await browser.until("document.querySelector('#felt .card')")
    await browser.run(f"{before}; document.querySelector('#name').value = 'zoe'")
    await browser.until("document.querySelector(arguments[0]).checkVisibility()", button)
    await browser.run("document.querySelector(arguments[0]).click()", button)
    await browser.until("location.pathname !== '/' && document.body.innerText.includes('You have a seat, zoe')")


@pytest.mark.parametrize("browser", ENGINES, indirect=True)
async def test_first_screen_is_played_at_once(one: Node, browser: Browser) -> None:
    """No WebSocket is opened for that, and the race has the game that was chosen."""
    await browser.open(one.url, (360, 510))
    await browser.until("document.querySelector('#felt .card')")
    assert not await browser.accessibility_violations()
    await browser.run("document.querySelector('[data-game=klondike-three]').click()")
    dealt = await browser.run(PILES)
    assert (await browser.run("return document.querySelector('.pile[data-key=stock]').ariaLabel")).startswith("stock: ")
    await browser.drag(await browser.run(PLACE, "stock", 1))
    await browser.until("!document.querySelector('#back').disabled")
    assert await browser.run(PILES) != dealt
    assert await browser.run("return document.activeElement.localName") == "body", "so that Enter is a key of the game"
    await browser.press("z")
    await browser.until("document.querySelector('#back').disabled")
    assert await browser.run(PILES) == dealt
    touch = "return [...document.querySelectorAll(arguments[0])].map(each => getComputedStyle(each).touchAction)"
    assert set(await browser.run(touch, "#felt, #felt .table, #board")) == {"auto"}
    assert one.metric("connections_opened_total") == 0
    await browser.run("document.querySelector('#now').click()")
    await browser.shows("Klondike Draw Three", "#facts")
    await browser.shows("You have a seat")


@pytest.mark.parametrize("browser", ["webkit"], indirect=True)
async def test_all_ways_to_race_are_in_sight(one: Node, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also *With bots*, below a board with the race of those who played it, while others race."""
    assert one.gateway._api
    monkeypatch.setattr(one.gateway._api._front, "_house", True)
    ana = await one.player("ana")
    await ana.create("first", games=("klondike",), deal="daily 2026-01-02")
    await raced("first", ana)
    await until(lambda: one.store.records.newest_of("first"))
    await race(one)
    for size in (SMALL_PHONE, (360, 510)):
        await browser.open(one.url, size)
        await browser.shows("Racing now", "#live h2")
        for button in ("#now", "#bots", "#send", "#join"):
            await browser.until("document.querySelector(arguments[0]).checkVisibility()", button)
            assert await browser.run(BOTTOM, button) <= size[1]
        assert len(await browser.texts("#past .count")) == 2


async def test_board_that_is_won_is_celebrated(one: Node, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """One card is left of the deal of a day that is over. Those who played it are named, with the day."""
    await show_board(one, monkeypatch, "01: AC-QC | 02: AD-KD | 03: AH-KH | 04: AS-KS | 1: KC")
    await browser.open(one.url, SMALL_PHONE)
    await browser.shows("ana (today)", "#past")
    await browser.press("1")
    await browser.until("document.querySelector('.picked').ariaLabel === 'column 1: K of clubs, 1 card picked'")
    await browser.press("Enter")
    await browser.shows("You won!", "#told")
    assert await browser.run("return document.querySelectorAll('#felt .falls').length") == 48
    await browser.run("document.querySelector('#ways details').open = true")
    for size in (SMALL_PHONE, (640, 360), (820, 1180)):
        await browser.resize(size)
        await browser.until("document.documentElement.scrollWidth <= arguments[0]", size[0])
    await browser.press("z")
    await browser.until("!document.querySelector('#felt .falls')")


FLIGHTS = "document.querySelector('#felt').getAnimations({subtree: true})"
DELAYS = f"return {FLIGHTS}.map(each => (each.pause(), each.effect.getTiming().delay))"


async def test_collected_cards_fly_one_after_the_other(
    one: Node, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tap ends that, and an undo takes one card back. The clock of the page stands still."""
    left = "01: AC-QC | 02: AD-QD | 03: AH-QH | 04: AS-JS | 1: KC | 2: KD | 3: KH | 4: QS KS"
    await show_board(one, monkeypatch, left)
    await browser.open(one.url, SMALL_PHONE)
    await browser.shows("ana (today)", "#past")
    await browser.run("performance.now = () => 1000")
    await browser.press("x")
    assert await browser.run(DELAYS) == [0, 40, 80]
    await browser.drag(await browser.run(PLACE, "8", 1), touch=True)
    await browser.until(f"!{FLIGHTS}.length")
    kings = "return [...document.querySelectorAll('#felt [data-pile^=\"0\"]')].length"
    assert await browser.run(kings) == 50
    await browser.press("z")
    assert await browser.run(kings) == 49


async def show_board(one: Node, monkeypatch: pytest.MonkeyPatch, left: str) -> None:
    """Let the first screen show a board on which some cards are left, as if it were that of a day that is over."""
    ana = await Client.hello(one.url, "ana")
    await ana.create("first", games=("freecell",), deal="daily 2026-01-02")
    await raced("first", ana)
    await until(lambda: one.store.records.newest_of("first"))
    piles = tuple(map(tuple, position("freecell", left).board.piles))
    board = front._board
    monkeypatch.setattr(front, "_board", lambda *record: replace(board(*record), piles=piles))


async def test_first_screen_shows_what_happens_here(one: Node, browser: Browser) -> None:
    """The newest race as lanes, and once it is over, the closest finish of the week. No WebSocket is opened for that."""
    players = tuple(
        EarlierPlayer(name=name, foundation_cards=52, time=time, reached=tuple(range(time % 51, time + 1, time // 51)))
        for name, time in (("ana", 24_000), ("ben", 24_400))
    )
    start = race_id(replace(new_race("close"), starts=await one.store.now()))
    await one.store.earlier.keep("willow", start, EarlierRace("again", 1, 1, 9, players, ("p1",)))
    mira, otto = await race(one, names=("mira", "otto"), games=("freecell",), deal="#1")
    one.rooms.words = ForbiddenWords("otto")
    for move in solve(mira.play.board, 100_000).line:
        await mira.act(str(move))
        if mira.play.board.foundation_cards == 2:
            break
    await browser.open(one.url, SMALL_PHONE)
    await browser.shows("Racing now: FreeCell", "#live h2")
    assert await browser.texts("#live .name") == ["mira", "Somebody"]
    assert await browser.texts("#live .count") == ["2", "0"]
    assert await browser.run("return document.querySelector('#live a').pathname") == f"/{mira.room}"
    assert not await browser.accessibility_violations()
    await finish(mira, otto)
    await browser.shows("Closest finish this week: Willow", "#live h2")
    assert int((await browser.texts("#live .count"))[0]) < 52
    await browser.shows("0:24", "#live .count")
    await browser.prefer("reduce", "prefers-reduced-motion")
    await browser.open(one.url, SMALL_PHONE)
    await browser.shows("Closest finish", "#live h2")
    assert await browser.texts("#live .count") == ["0:24", "0:24"]
    await browser.prefer("no-preference", "prefers-reduced-motion")
    assert one.metric("connections_opened_total") == 2
    await browser.follow("#live a")
    assert await browser.run("return location.search") == f"?race={start}"


async def test_first_screen_is_told_to_connect_now(one: Node, browser: Browser) -> None:
    async with Proxy(one.url) as proxy:
        await browser.open(proxy.url, SMALL_PHONE)
        await browser.until("document.querySelector('#felt .card')")
        await browser.run(ONLY_NOW)
        proxy.cut()
        await browser.run("document.querySelector('#now').click()")
        await browser.until("document.querySelector('#retry').checkVisibility()")
        for part in ("#now", "#send", "#join"):
            assert await browser.run(BOTTOM, part) <= SMALL_PHONE[1]
        proxy.restore()
        await browser.run(PRESS, "Try now")
        await browser.shows("You have a seat")
        await browser.close_page()  # before what it loads is cut off
    browser.errors()  # it mentions connections that were cut


async def test_pasted_link_leads_to_a_seat(one: Node, browser: Browser) -> None:
    await opened(one.url)
    await browser.open(one.url, SMALL_PHONE)
    await browser.until("document.querySelector('#felt .card')")
    await browser.run("document.querySelector('#join').click()")
    assert not await browser.accessibility_violations()
    await browser.run("document.querySelector('#code').value = ' https://cards.example.org/Friday?x=1). '")
    await browser.run("document.querySelector('dialog[open] button').click()")
    await browser.until("location.pathname === '/friday' && document.body.innerText.includes('You have a seat')")
    ana = await Client.hello(one.url, "ana")
    await ana.join(await ana.create("lunch"))
    await browser.open(one.url, SMALL_PHONE)
    await browser.shows("ana", "#rooms")
    await browser.shows("you have a seat", "#rooms li:first-child")


async def test_tide_leads_to_a_seat(one: Node, browser: Browser) -> None:
    start = -(-(await one.store.now() + 90_000) // 60_000) * 60_000
    one.rooms.tides = (TideTime(minute=start // 60_000 % 1440, game="steve"),)
    await sit_by(browser, one.url, "#tide button")
    await browser.shows("The race starts by itself")
    race = (await one.rooms.load(await browser.run("return location.pathname.slice(1)"))).race
    assert (race.tide, [racer.name for racer in race.racers]) == (start, ["zoe"])
    one.rooms.tides = (TideTime(minute=(start // 60_000 + 30) % 1440, game="willow"),)
    await until(lambda: tells(one, "willow"))
    await browser.open(one.url, SMALL_PHONE)
    await browser.shows("Willow in 3")
    assert await browser.run("return document.querySelector('#tide button').disabled")
    assert not await browser.accessibility_violations()


async def tells(one: Node, tide: str) -> bool:
    """Whether the first screen is told of a tide by its game. Answers are cached for a while."""
    return bool(json.loads((await ask(one.url, "/api/v1/front")).body)["tides"][0]["game"] == tide)


async def test_page_races_against_an_earlier_player(
    one: Node, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else has come, so the page goes on to another room by itself."""
    shorten_wait(monkeypatch)
    mira = await Client.hello(one.url, "mira")
    await race_alone(mira, QUICK_GAME)
    monkeypatch.setattr(race_now, "SHORTEST_WAIT", 4_000)  # until the page has a seat
    monkeypatch.setattr(race_now, "LONGEST_WAIT", 4_500)
    await sit_by(browser, one.url, "#now", f"document.querySelector('[data-game={QUICK_GAME}]').click()")
    await browser.shows("The race starts by itself")
    await browser.shows("Starts in", "#clock")
    await browser.shows("Nobody else came. The deal of an earlier race is dealt again.", "[aria-label='Your seat']")
    await dealt(browser)
    await browser.shows("deal of an earlier race", "#facts")
    await browser.shows("mira (today)", "#track")
    await browser.run(PRESS, "Resign")
    await browser.run(PRESS, "Really resign?")
    await browser.shows("Among those who had this deal before", "caption")
    await browser.shows("mira (today)", "caption ~ tr")
    await browser.shows("Checked: the deal was set before the start", ".deal.checked")
    assert not await browser.accessibility_violations()


async def test_player_is_told_to_be_stuck(one: Node, browser: Browser) -> None:
    """Eight draws show all cards of the stock, of which none can ever be moved. A worker proves that."""
    mira = await opened(one.url, games=("klondike-three",), deal="105", undo="off")
    await mira.join(ROOM)
    await sit(browser, one.url)
    await mira.expect(Done, Start)
    await dealt(browser)
    for number in range(1, 9):
        await tap(browser, "draw", number)
    await mira.state(lambda state: any(player.stuck for player in state.players))
    await browser.shows("can improve your result", "#said")


async def test_room_without_spectators_offers_a_seat(one: Node, browser: Browser) -> None:
    await opened(one.url, spectators=False, passphrase="sesam open")
    await browser.open(f"{one.url}/{ROOM}", SMALL_PHONE)
    await browser.until("document.querySelector('.sit input')")
    await browser.run(SIT, "zoe")
    await browser.until("document.querySelector('[type=password]')")
    await browser.run(ENTER, "sesam open")
    await browser.shows("You have a seat, zoe")


async def test_link_and_qr_code_have_the_path_of_a_proxy(one: Node, browser: Browser) -> None:
    await opened(one.url)
    async with Proxy(one.url) as proxy:
        proxy.path = "/cards"
        await sit(browser, f"{proxy.url}/cards")
        link = f"http://127.0.0.1:{proxy.port}/cards/{ROOM}"
        await browser.shows(link)
        drawn = await browser.run("return fetch(document.querySelector('details img').src).then(file => file.text())")
        assert drawn == _qr_code(link).plain.decode()
        await browser.close_page()  # before what it loads is cut off


async def test_name_that_is_taken_gets_a_number_and_can_be_changed(one: Node, browser: Browser) -> None:
    """Nobody has to type another name before taking the seat."""
    mira = await opened(one.url)
    await mira.join(ROOM)
    await browser.open(one.url, SMALL_PHONE)
    await browser.until("document.querySelector('#felt .card')")
    await browser.run("document.querySelector('#name').value = 'mira'")
    await browser.run(
        "document.querySelector('#code').value = 'friday'; document.querySelector('#code').form.onsubmit()"
    )
    await browser.until(
        "location.pathname === '/friday' && document.body.innerText.includes('You have a seat, mira-2')"
    )
    await browser.run(PRESS, "Rename")
    await browser.shows("Choose another name.", ".sit")
    await browser.run(SIT, "zoe")
    await browser.shows("You have a seat, zoe")
    await mira.state(lambda state: [seat.name for seat in state.players] == ["mira", "zoe"])


async def test_deal_of_the_day_is_raced_against_others_who_had_it(one: Node, browser: Browser) -> None:
    deal = f"daily {utc_text(await one.store.now())[:10]}"
    for name, time in (("best", 400), ("ben", 4_000)):
        player = EarlierPlayer(name=name, foundation_cards=40, time=0, reached=(1,) * 39 + (time,))
        await one.store.earlier.keep("freecell", f"{name}.1", EarlierRace(deal, 1, 1, time // 40, (player,), (name,)))
    choose = "document.querySelector('[name=deal]').value = '\"daily\"'"
    await sit_by(browser, one.url, "#send", f"document.querySelector('[data-game=freecell]').click(); {choose}")
    await browser.run(PRESS, "Start the race")
    await browser.shows("Starts in", "#clock")
    await dealt(browser)
    assert sorted(await browser.texts(".lane .name")) == ["You", "ben (earlier)"]
    await browser.shows("39", "#track .count")
    await browser.run(PRESS, "Resign")
    await browser.run(PRESS, "Really resign?")
    await browser.shows("ben (earlier)", "caption ~ tr")
    await browser.shows("Fair: ", ".deal.fair")
