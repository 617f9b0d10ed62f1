"""The page in a real browser: races watched to their end, card by card, and what the page says when it cannot show one."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace as replace_in
from websockets.asyncio.server import ServerConnection, serve

from samedeal.deal_proof import DealProof, LostShare
from samedeal.deal_words import deal_words
from samedeal.games import GAMES
from samedeal.names import WIDEST_NAME
from samedeal.options import MAX_SEATS
from samedeal.protocol.messages import (
    DelayedBoard,
    Done,
    Drawn,
    Notice,
    Rematch,
    Resign,
    RoomState,
    Seat,
    Start,
)
from samedeal.record import Record
from samedeal.solver.solve import solve
from samedeal.terms import RoomTerms
from samedeal_server.page.files import PageFiles
from tests.end_to_end.browser import ENGINES, LAPTOP, PHONE, Browser, script
from tests.end_to_end.processes import Programs
from tests.end_to_end.proxy import Proxy
from tests.end_to_end.racing_page import ENTER, RECORDS, online
from tests.end_to_end.watched_races import ROOM, compare, draw, play_randomly, players, start
from tests.server.client import Client
from tests.server.live_nodes import Node
from tests.server.shown_rooms import ScriptedRoom, drawn, ended, scripted_room, state, story
from tests.shared.drawn_deals import ANA, BOB, CID, HONEST, LOST, proof_of
from tests.shared.playouts import FAMILIES

pytestmark = pytest.mark.xdist_group("page")  # two groups of tests with a browser each

GOLDEN = RECORDS.parent

BOX = "return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()"
BELOW_NEWS = script("below_news")
BOXES = "return [...document.querySelectorAll(arguments[0])].map((found) => found.getBoundingClientRect().toJSON())"
CUT_RANKS = script("cut_ranks")
STYLES = """
const [selector, name] = arguments;
return [...document.querySelectorAll(selector)].map((found) => getComputedStyle(found)[name]);
"""
RECORD_DEAL = script("record_deal")
SILENT = "dan did not answer in time: the draw"
SEEK = script("seek")
SET_TEXTS = "for (const [part, text] of Object.entries(arguments[0])) document.querySelector(part).textContent = text"
SET_CLOCK = script("set_clock")
VISIBLE = "[...document.querySelectorAll('.tile:not([hidden])')].map((tile) => tile.dataset.player).join()"


both = pytest.mark.parametrize("browser", ENGINES, indirect=True)
"""Marks tests of what may differ between browsers. The other tests use Chromium."""


async def shows_boards_of(browser: Browser, *players: str) -> None:
    """Wait until the page shows the boards of these players, and no others."""
    await browser.until(f"{VISIBLE} === arguments[0]", ",".join(players))


@asynccontextmanager
async def watching(
    browser: Browser, states: Sequence[Any], size: tuple[int, int] = LAPTOP
) -> AsyncIterator[ScriptedRoom]:
    """Let a browser watch a room of a server that shows these states first. It leaves before the server stops."""
    async with scripted_room(states) as room:
        await browser.open(f"{room.url}/{ROOM}", size)
        await online(browser)
        yield room
        await browser.close_page()


@pytest.mark.parametrize("game", FAMILIES[::2])
async def test_race_is_shown_to_its_verified_end(one: Node, browser: Browser, game: str) -> None:
    record = Record.parse((RECORDS / f"{game}.txt").read_text())
    clients = await players(one.url, "mira", "deep", bots=1, games=(game,), deal=str(record.deal))
    mira, deep = clients
    await browser.open(f"{one.url}/{ROOM}")
    await browser.shows("Waiting for the start, 2 of 2 players", "#clock")
    await start(clients)
    await compare(browser, clients)
    actions = [action for _, action in record.actions]
    await play_randomly(mira, 20, Random(1))
    for action in actions[:-1]:
        await deep.act(action)
    await compare(browser, clients)
    await browser.shows("deep\nbot", "tbody tr")
    await mira.expect(Done, Resign)
    await deep.act(actions[-1])
    await browser.shows("Checked: ", ".deal.checked")
    await compare(browser, clients)
    await browser.shows("won in", "tbody tr")
    await browser.shows("resigned", "tbody tr:last-child")
    await browser.follow("aside a")
    await browser.shows("Checked: ", ".deal.checked")
    await browser.shows("0:00 of", "#clock")
    assert "resigned" not in await browser.text("tbody")
    await browser.run(SEEK, 10**9)
    for seat, client in enumerate(clients, 1):
        await browser.shows_board(str(seat), client.play.revision, client.play.board, replayed=True)
    await browser.shows("won in", "tbody tr")


@pytest.mark.parametrize("hours", [1, -1])
async def test_clock_that_is_set_changes_no_time_left(one: Node, browser: Browser, hours: int) -> None:
    await start(await players(one.url, "mira", "jonas"))
    await browser.open(f"{one.url}/{ROOM}")
    await browser.shows(" left", "#clock")
    await browser.run(SET_CLOCK, hours * 3_600_000)
    assert (await browser.until("document.querySelector('#clock').textContent"))[:3] in ("14:", "15:")


async def test_page_recovers_from_sleep_and_killed_node(programs: Programs, redis_url: str, browser: Browser) -> None:
    """Two boards are shown large, and stay large. While the page sleeps, it loses its connection without a close."""
    url, program = await programs.server("--redis", redis_url)
    clients = await players(url, "mira", "jonas", "zoe", games=("athena",))  # random moves leave others
    await start(clients)
    async with Proxy(url) as proxy:
        await browser.open(f"{proxy.url}/{ROOM}")
        await compare(browser, clients)
        for name in ("first", "last"):
            await browser.run(f"document.querySelector('.tile:{name}-child button').click()")
        proxy.stall()
        await play_randomly(clients[0], 10, Random(1))
        await browser.run(SET_CLOCK, 3_600_000)
        await browser.shows("No connection", "#status")
        proxy.cut()
        proxy.restore()
        await online(browser)
        await compare(browser, clients[::2])
        await browser.run("window.requestAnimationFrame = () => 0")  # a page that is hidden gets no frames
        await play_randomly(clients[1], 10, Random(4))
        await browser.set_state("frozen")
        await play_randomly(clients[2], 10, Random(2))
        await browser.set_state("active")
        await compare(browser, clients[::2])
        program.process.kill()
        await browser.shows("No connection", "#status")
        await compare(browser, clients[::2])  # what was shown remains
        await programs.server("--redis", redis_url, port=int(url.rpartition(":")[2]))
        again = [await Client.hello(url, "again", client.session) for client in clients]
        for client in again:
            await client.join(ROOM)
            await client.dealt()
        await online(browser)
        await play_randomly(again[0], 10, Random(3))
        await compare(browser, again[::2])
        await shows_boards_of(browser, clients[0].player, clients[2].player)
        await browser.close_page()  # before what it loads is cut off
    browser.errors()  # it mentions connections that were cut


@pytest.mark.parametrize("browser", ["chromium", "webkit"], indirect=True)
async def test_sixteen_boards_fit_on_a_laptop(one: Node, browser: Browser) -> None:
    """Names, room, words and news are as long and as wide as they can be, and the names belong to bots."""
    names = [(WIDEST_NAME - 1) * "W" + letter for letter in "abcdefghijklmnop"]
    clients = await players(one.url, *names, bots=len(names), games=("steve",))
    await start(clients)
    await browser.open(f"{one.url}/{ROOM}")
    await compare(browser, clients)
    texts = {
        "#title": 24 * "m",
        "#words": "momom momom momom momom",
        "#lead": f"{names[0]} leads with 51 of 104 cards, {names[1]} has 50",
        "#news": 3 * f"{names[0]} took the lead. ",
    }
    await browser.run(SET_TEXTS, texts)
    fits = "[...document.querySelectorAll('.tile')].every(tile => tile.getBoundingClientRect().bottom <= innerHeight)"
    ranks = "[...document.querySelectorAll('#boards .rank')]"
    rank = f"{ranks}.find(rank => !/[JQ]/.test(rank.textContent))"  # those reach deeper
    await browser.until(f"{fits} && {rank}.getBoundingClientRect().height >= 14")
    boxes = await browser.run(BOXES, ".tile")
    assert len(boxes) == 16
    assert await browser.run("return document.documentElement.scrollWidth") <= LAPTOP[0]
    assert (await browser.run(BOX, "tbody .bot"))["right"] <= (await browser.run(BOX, "tbody .count"))["left"]
    assert all(box["left"] >= 0 and box["right"] <= LAPTOP[0] and box["bottom"] <= LAPTOP[1] for box in boxes)
    assert all(
        a["right"] <= b["left"] or b["right"] <= a["left"] or a["bottom"] <= b["top"] or b["bottom"] <= a["top"]
        for i, a in enumerate(boxes)
        for b in boxes[:i]
    )
    assert await browser.run(CUT_RANKS) == []
    assert await browser.run("return document.querySelectorAll('main [tabindex=\"0\"]').length") == 2
    if browser.engine == "chromium":
        await browser.force_colours(True)
        for part, style in ((".tile", "borderTopColor"), ("tbody th", "backgroundImage"), (".line", "stroke")):
            assert len(set(await browser.run(STYLES, part, style))) == 16
        await browser.force_colours(False)


async def test_crowd_is_shown_by_pages_and_by_names(browser: Browser) -> None:
    game, now = GAMES["athena"], time.time_ns() // 1_000_000
    seats = tuple(Seat(player=f"p{seat}", seat=seat, name=f"racer {seat}") for seat in range(1, MAX_SEATS + 1))
    racing = replace_in(state(HONEST, "racing"), game="athena", deal="random", players=seats, starts=now)
    piles = tuple(b"" for _ in game.keys)
    boards = [DelayedBoard(player=seat.player, revision=0, piles=piles, moves=0, undos=0, time=now) for seat in seats]
    visible = "[...document.querySelectorAll('.tile:not([hidden])')].map(tile => tile.dataset.player)"
    async with watching(browser, [racing, *boards], PHONE):
        await browser.until("document.querySelectorAll('.tile[aria-label]').length === 64")
        await browser.until(f"{visible}.length === 16")
        seen = set(await browser.run(f"return {visible}"))
        for _ in range(3):
            before = await browser.run(f"return {visible}")
            await browser.run("document.querySelector('#next').click()")
            await browser.until(f"String({visible}) !== String(arguments[0])", before)
            seen |= set(await browser.run(f"return {visible}"))
        assert seen == {seat.player for seat in seats}
        assert await browser.run("return document.documentElement.scrollWidth") <= PHONE[0]
        await browser.run(
            "[...document.querySelectorAll('tbody button')].find(b => b.innerText === 'racer 40').click()"
        )
        await browser.until(f"String({visible}) === 'p40'")
        await browser.run("document.querySelector('#all').click()")
        await browser.until(f"{visible}.length === 16")
        assert not await browser.accessibility_violations()


async def test_phone_shows_the_leader_first(browser: Browser) -> None:
    """The order of boards and lanes follows the race. That of the boards is the order of the seats if the user wants it."""
    game = GAMES["athena"]
    names = {"p1": "ana", "p2": "ben", "p3": "cid"}
    seats = tuple(Seat(player=player, seat=seat, name=name) for seat, (player, name) in enumerate(names.items(), 1))
    now = time.time_ns() // 1_000_000

    def board(player: str, count: int) -> DelayedBoard:
        piles = tuple(bytes(range(1, count + 1)) if key == "01" else b"" for key in game.keys)
        reached = tuple(range(1000, 1000 * count + 1, 1000))
        return DelayedBoard(
            player=player, revision=count, piles=piles, moves=count, undos=0, time=now + 20_000, reached=reached
        )

    order = "[...document.querySelectorAll('.tile')].sort((a, b) => a.offsetTop - b.offsetTop)"
    racing = replace_in(state(HONEST, "racing"), game="athena", deal="random", players=seats, starts=now)
    async with watching(browser, [racing, *(board(player, 2) for player in names)], PHONE) as room:
        await browser.shows("Nobody leads yet", "#lead")
        room.show(board("p3", 7))
        await browser.shows("cid leads with 7 of 52 cards, ana has 2", "#lead")
        await browser.shows("cid took the lead", "#news")
        await browser.until(f"{order}[0].dataset.player === 'p3'")
        assert (await browser.run(BOX, ".tile"))["width"] >= 0.9 * PHONE[0]
        assert (await browser.run(BOX, "#boards .rank"))["height"] >= 14
        lanes = order.replace(".tile", "#lanes li").replace("offsetTop", "getBoundingClientRect().top")
        await browser.until(f"{lanes}[0].textContent === '1cidC7'")
        named = await browser.run("return document.querySelector('[data-player=p3]').ariaLabel")
        assert named == "cid, place 1, 7 of 52 cards"
        assert (await browser.run(BOX, "#lead"))["bottom"] <= PHONE[1] / 2
        await browser.until("document.querySelector('.line:nth-of-type(3)').getAttribute('d')?.startsWith('M24 ')")
        await browser.run("document.querySelector('#follow').click()")
        await browser.until(f"{order}[0].dataset.player === 'p1'")
        await browser.run("document.querySelector('#follow').click()")
        await browser.until(f"{order}[0].dataset.player === 'p3'")
        await browser.run("document.querySelector('.tile button').focus()")
        await browser.press("ArrowUp")
        await browser.until("document.activeElement.closest('.tile')?.dataset.player === 'p3'")
        for size, is_shown in ((LAPTOP, False), (PHONE, True)):  # elsewhere, the standings say the same
            await browser.resize(size)
            await browser.until("document.querySelector('#track').hidden !== arguments[0]", is_shown)


async def test_boards_are_enlarged_with_the_keyboard_and_have_texts(one: Node, browser: Browser) -> None:
    """Screen readers get names of cards. Names of players are only text, whatever they are."""
    names = ["<img src=x>", "<b>bold</b>", "&lt;i&gt;", "'\"><svg onload=x", "${1+1}", "__proto__"]
    clients = await players(one.url, *names, games=("athena",), deal="#7")
    await start(clients)
    await browser.open(f"{one.url}/{ROOM}")
    await compare(browser, clients)
    for place in (".tile .name", "tbody .name"):
        assert sorted(await browser.texts(place)) == sorted(names)
    assert (
        await browser.run("return document.querySelectorAll('main :is(img, b, i, script):not(.example *)').length") == 0
    )
    named = await browser.accessible_texts()
    for pile in ("column 1: 2 face down, 9 of diamonds, 10 of clubs", "foundation 01: empty", "stock: 24 face down"):
        assert pile in named
    await browser.run("document.querySelector('.tile button').focus()")
    await browser.press("Enter")
    await shows_boards_of(browser, clients[0].player)
    await browser.run("document.querySelector('tbody tr:nth-child(2) button').focus()")
    await browser.press("Enter")
    await shows_boards_of(browser, *(client.player for client in clients[:2]))
    left, right = await browser.run(BOXES, ".tile:not([hidden])")
    assert left["top"] == right["top"]
    await browser.press("Escape")
    await shows_boards_of(browser, *(client.player for client in clients))


async def test_list_leads_to_rooms_of_people(one: Node, browser: Browser) -> None:
    """Each race is listed once, and rooms that can be joined first. However long the list is, the board is large."""
    racing = await players(one.url, "mira")
    await start(racing)
    zoe = await Client.hello(one.url, "zoe")
    await zoe.join(await zoe.create("over", games=("eight-off",), deal="1", players=1))
    await start([zoe])
    for move in solve(zoe.play.board, 100_000).line:
        await zoe.act(str(move))
    await zoe.phase("finished")
    ada = await Client.hello(one.url, "ada")
    await ada.join(await ada.create("later"))
    await ada.create("closed", spectators=False)
    await browser.open(one.url)
    await browser.shows("zoe won in", "#records")
    await browser.shows("racing now", "#rooms")
    assert await browser.texts("#rooms strong") == ["ada", "Nobody yet", "mira"]
    linked = await browser.run("return [...document.querySelectorAll('.rooms a')].map(link => link.pathname)")
    assert linked == ["/later", "/closed", f"/{ROOM}", "/replay"]
    felt = await browser.run(BOX, "#felt")
    await browser.run("document.querySelector('#records').style.height = '2000px'; dispatchEvent(new Event('resize'))")
    assert await browser.run(BOX, "#felt") == felt
    assert (await browser.run(BOX, "#choice"))["top"] < LAPTOP[1]
    await browser.follow(".rooms [href=friday]")
    await browser.shows("mira", "tbody")


async def test_private_room_asks_for_its_passphrase(one: Node, browser: Browser) -> None:
    """So does the replay of its race. The passphrase is never in the address."""
    host = await Client.hello(one.url, "mira")
    await host.create(ROOM, passphrase="sesam open", delay=0, players=1)
    await host.join(ROOM, passphrase="sesam open")

    async def enter_passphrase(path: str, shown: str) -> None:
        await browser.open(one.url + path)
        for words, answer in (("sesame", "This passphrase is wrong."), ("sesam open", shown)):
            await browser.until("document.querySelector('[type=password]')")
            await browser.run(ENTER, words)
            await browser.shows(answer)
        assert await browser.run("return location.pathname + location.search + location.hash") == path

    await enter_passphrase(f"/{ROOM}", "mira")
    await start([host])
    await host.expect(Done, Resign)
    await host.phase("finished")
    await enter_passphrase(f"/replay?race={ROOM}", "Save the record")


async def test_unknown_room_and_room_without_spectators_are_explained(one: Node, browser: Browser) -> None:
    """An address without a room leads to the ways to race, but not in a frame, which has none."""
    host = await Client.hello(one.url, "mira")
    await host.create("closed", spectators=False)
    await browser.open(f"{one.url}/nowhere?embed")
    await browser.shows("There is no room 'nowhere'", "#message")
    for path in ("nowhere", "/nowhere/).", "%6eowhere", "no/where"):
        await browser.open(f"{one.url}/{path}")
        await browser.shows("No room has this address.", "[role=alert]")
    assert not await browser.accessibility_violations()
    await browser.open(f"{one.url}/closed")
    await browser.shows("This room admits no spectators", "#message")
    assert await browser.texts("#message code") == [f"samedeal join {one.url} closed"]


@both
async def test_refused_page_is_told_what_its_operator_can_do(one: Node, browser: Browser) -> None:
    """A node that listens on loopback refuses WebSockets from pages of other names, as one whose proxy drops Host."""
    await browser.open(f"{one.url.replace('127.0.0.1', 'cards.localhost')}/{ROOM}")
    await browser.shows("--trusted-proxies", "#status")
    await browser.close_page()  # which tries again and again
    browser.errors()


@both
async def test_blocked_websocket_is_explained(browser: Browser) -> None:
    page = PageFiles()
    async with serve(
        speak_older_protocol,
        "127.0.0.1",
        process_request=lambda socket, request: page.respond(request) or socket.respond(403, "<p>No</p>"),
    ) as server:
        await browser.open(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/{ROOM}")
        await browser.shows("blocks WebSockets", "#status")
        await browser.close_page()
    browser.errors()


async def speak_older_protocol(socket: ServerConnection) -> None:
    await socket.close(4000, "this server speaks samedeal.v0: use a client of that version")


async def test_older_server_is_explained(browser: Browser) -> None:
    """It has today's page, as if a proxy had two nodes, of which one is older."""
    page = PageFiles()
    async with serve(
        speak_older_protocol,
        "127.0.0.1",
        process_request=lambda _, request: page.respond(request),
        select_subprotocol=lambda *_: None,
    ) as server:
        await browser.open(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/{ROOM}")
        await browser.shows("do not understand each other", "#status")
        await browser.close_page()
    browser.errors()


async def test_page_without_javascript_names_the_terminal(one: Node, browser: Browser) -> None:
    await browser.allow_scripts(False)
    try:
        await browser.open(f"{one.url}/{ROOM}")
        await browser.shows("This page needs JavaScript.")
        await browser.shows("samedeal watch SERVER ROOM", "pre")
    finally:
        await browser.allow_scripts(True)


async def test_rematch_is_linked(one: Node, browser: Browser) -> None:
    clients = await players(one.url, "mira")
    await start(clients)
    await browser.open(f"{one.url}/{ROOM}?embed")
    await compare(browser, clients)
    assert (
        await browser.run("return document.querySelector('aside').offsetParent ?? document.querySelector('.sit')")
        is None
    )
    assert await browser.run(BELOW_NEWS)  # and not beside who leads
    await clients[0].expect(Done, Resign)
    await clients[0].phase("finished")
    answer = await clients[0].ask(Rematch)
    link = await browser.until("document.querySelector('aside a:not([href^=replay])')?.getAttribute('href')")
    assert link == f"{getattr(answer, 'room', None)}?embed"


def words_of(state: RoomState, drawn: Drawn) -> str:
    """The words of a joint deal that is drawn."""
    shares = [(each.seat, each.commitment, each.share) for each in drawn.shares]
    return deal_words(RoomTerms.parse(state.terms).digest, state.commitment, shares)


@both
async def test_joint_deal_is_checked_to_its_end(one: Node, browser: Browser) -> None:
    """The page says that it is checking, and only at the end that the deal is fair."""
    clients = await players(one.url, "mira", "jonas", games=("ace-of-hearts",), deal="winnable hard")
    await browser.open(f"{one.url}/{ROOM}")
    await browser.shows("Waiting for the start", "#clock")
    await clients[0].expect(Done, Start)
    await draw(clients)
    for client in clients:
        await client.dealt()
    await compare(browser, clients)
    words = words_of(await clients[0].phase("racing"), await clients[0].until(Drawn))
    await browser.until("document.querySelector('#words').textContent === arguments[0]", words)
    await browser.run(RECORD_DEAL)
    for client in clients:
        await client.expect(Done, Resign)
    await browser.shows("Checked: ", ".deal.checked")
    proof = DealProof.parse((await clients[0].phase("finished")).proof)
    told = [text for text in await browser.run("return window.told") if text.startswith("Checking")]
    assert told[-1] == f"Checking the deal: candidate {proof.candidate + 1} of {proof.candidate + 1}"
    seen = await browser.run("return window.told")
    assert all(text.startswith("Checking") for text in seen[:-1])
    await browser.follow("aside a")
    await browser.shows("Checked: ", ".deal.checked")
    await browser.until("document.querySelector('#words').textContent === arguments[0]", words)


@pytest.mark.parametrize(
    "fault",
    [
        "window.Worker = undefined",
        "const made = Worker; window.Worker = function () { return new made('none.js') }",
        "const wait = setTimeout; window.setTimeout = (f, ms) => wait(f, ms === 300_000 ? 0 : ms)",
    ],
    ids=["none", "failed", "slow"],
)
async def test_deal_whose_search_is_not_repeated_is_not_checked(one: Node, browser: Browser, fault: str) -> None:
    await browser.open(f"{one.url}/replay")
    await browser.shows("Open the record of a race")
    await browser.run(fault)
    await browser.drop((GOLDEN / "race_records" / "joint.txt").read_bytes())
    await browser.shows("Not fully checked: The search for the deal could not be repeated", ".deal.unsure")
    browser.errors()


async def test_draws_are_told_during_the_countdown(browser: Browser) -> None:
    proof = proof_of(ANA, BOB, CID, draw=2, lost=(*LOST, LostShare(2, 4, "silent", "dan")))
    async with watching(browser, story(proof)[:1]) as room:
        opened, drawing, sealed, again, sealed_again, told, fixed, racing, _ = story(proof)
        words = words_of(ended(proof), drawn(proof))
        left, now = "bob left: the deal {} drawn again (draw 2 of 5)", "Shuffling ..."
        for state, lines, shown in (
            (opened, [], ""),
            (drawing, [now], ""),
            (sealed, [now], ""),
            (again, [left.format("is"), now], ""),
            (replace_in(sealed_again, lost=ended(proof).lost), [left.format("is"), f"{SILENT} goes on", now], ""),
            (fixed, [left.format("was"), f"{SILENT} went on", now], words),
            (racing, [], words),
        ):
            room.show(*([told] if state is fixed else []), state)
            await browser.until("document.querySelector('#draw').innerText === arguments[0]", "\n".join(lines))
            await browser.until("document.querySelector('#words').textContent === arguments[0]", shown)
            if len(lines) == 3:
                assert not await browser.accessibility_violations()
        room.show(Notice("not_drawn", "The deal was drawn 5 times."), replace_in(racing, phase="closed"))
        await browser.shows("The deal was drawn 5 times.", "#message")


async def test_axe_finds_nothing_on_any_screen(one: Node, browser: Browser) -> None:
    """In dark colours. Other tests look at screens in light ones."""
    await browser.prefer("dark")
    clients = await players(one.url, "mira", "deep", bots=1, games=("phoenix",), deal="7")
    await start(clients)
    await play_randomly(clients[0], 5, Random(1))
    for path, size, text in (
        ("", LAPTOP, "mira"),
        (ROOM, LAPTOP, "mira"),
        ("replay", PHONE, "Open the record of a race"),
    ):
        await browser.open(f"{one.url}/{path}", size)
        await browser.shows(text)
        assert not await browser.accessibility_violations(), path
        assert await browser.run("return document.documentElement.scrollWidth") <= size[0]
    await browser.drop((GOLDEN / "race_records" / "joint.txt").read_bytes())
    await browser.shows("Checked: ", ".deal.checked")
    for scheme in ("dark", "light"):
        await browser.prefer(scheme)
        assert not await browser.accessibility_violations(), scheme


@pytest.mark.parametrize("browser", ["webkit"], indirect=True)
async def test_record_is_replayed_from_a_file(one: Node, browser: Browser) -> None:
    """A file that is none is dropped, then a record, and then another one is chosen with the button."""
    file = GOLDEN / "race_records" / "joint.txt"
    record = Record.parse(file.read_text())
    await browser.open(f"{one.url}/replay")
    await browser.shows("Open the record of a race")
    await browser.drop(b"<svg onload=alert(1)>")
    await browser.shows("not the record of a race", "[role=alert]")
    await browser.drop((GOLDEN / "race_records" / "numbered.txt").read_bytes())
    await browser.shows("Willow", "#facts")
    await browser.open(f"{one.url}/replay")
    await browser.choose_file(file)
    await browser.shows("Checked: ", ".deal.checked")
    assert any(line.startswith("ben left") for line in await browser.texts(".deal li"))
    for at in (30_000, 3_000, 10_000):
        await browser.run(SEEK, at)
        for player in record.players:
            revision = sum(ms <= at for ms, _ in player.actions)
            board = record.plays(player)[revision].board
            await browser.shows_board(str(player.seat), revision, board, replayed=True)
    await browser.run("document.querySelector('.controls select').value = 64")
    await browser.run("document.querySelector('.controls button').focus()")
    await browser.press("Enter")
    await browser.shows("Pause", ".controls")
    await browser.until(
        "document.querySelector('.controls input').value === document.querySelector('.controls input').max"
    )
    await browser.shows("Play", ".controls")
    await browser.shows("52/52", "[data-player=line]")
    await browser.run("document.querySelector('[data-player=line] button').click()")
    await browser.run("document.querySelector('tbody button').click()")
    await shows_boards_of(browser, "1", "line")
