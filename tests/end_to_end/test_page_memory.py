"""What the page remembers of its race: over Back and reloads, beside another tab, and in a browser that keeps nothing."""

from __future__ import annotations

import pytest

from samedeal.protocol.messages import Done, Drawn, Resign, RoomState, Start
from samedeal.race.commands import RenameCommand
from tests.end_to_end.browser import Browser
from tests.end_to_end.racing_page import MOVE, PRESS, acked, dealt, online, opened, sit
from tests.end_to_end.watched_races import ROOM, draw
from tests.server.client import Client
from tests.server.live_nodes import Node
from tests.server.races import read

pytestmark = pytest.mark.xdist_group("page")  # two groups of tests with a browser each


async def race_to_draw(one: Node, browser: Browser) -> tuple[Client, set[bytes]]:
    """Start a race of the page and another client, up to the moment when only the page has committed to its share.

    Return the client, and the page's commitment.
    """
    mira = await opened(one.url, games=("freecell",), deal="winnable easy", undo="free")
    await mira.join(ROOM)
    await sit(browser, one.url)
    await mira.expect(Done, Start)
    return mira, promises(await mira.state(promises))


def promises(state: RoomState) -> set[bytes]:
    """The commitments of those who have committed to a share."""
    return {player.share_commitment for player in state.players} - {b""}


async def start(mira: Client, browser: Browser) -> None:
    await draw([mira])
    await mira.dealt()
    await dealt(browser)


async def move(browser: Browser, revision: int) -> None:
    await browser.run(MOVE)
    await acked(browser, revision)


async def end(mira: Client, browser: Browser) -> str:
    """End the race, and return the kind of the page's verdict."""
    await mira.expect(Done, Resign)
    await browser.run(PRESS, "Resign")
    await browser.run(PRESS, "Really resign?")
    return await verdict(browser)


async def verdict(browser: Browser) -> str:
    """The kind of the page's verdict, such as ``fair``, as soon as the page has one."""
    return str(await browser.until("document.querySelector('.deal:not(.checking)')?.classList[2]"))


@pytest.mark.parametrize("browser", ["chromium", "webkit"], indirect=True)
async def test_back_and_reload_lose_nothing(one: Node, browser: Browser) -> None:
    """Neither in the middle of a draw nor of a race, nor after it."""
    mira, _ = await race_to_draw(one, browser)
    await browser.leave_and_return()
    await online(browser)
    await start(mira, browser)
    await move(browser, 1)
    await move(browser, 2)
    await browser.leave_and_return()
    await dealt(browser)
    await acked(browser, 2)
    await move(browser, 3)
    assert await end(mira, browser) == "fair"
    words = await browser.texts(".deal p")
    assert words
    await browser.leave_and_return()
    assert await verdict(browser) == "fair"
    assert await browser.texts(".deal p") == words


async def test_page_races_under_the_name_that_the_operator_gave_to_its_player(one: Node, browser: Browser) -> None:
    """The page is told, and its share is bound to the new name, also after it was loaded anew."""
    mira = await opened(one.url, games=("freecell",), deal="winnable easy")
    await mira.join(ROOM)
    await sit(browser, one.url)
    await one.rooms.command(ROOM, lambda room: RenameCommand(room.race.racers[1].player, "Kind Name"), "")
    await browser.shows("Kind Name", "#standings")
    await browser.shows("gave you another name")
    await browser.run("location.reload()")
    await online(browser)
    await one.rooms.command(ROOM, lambda room: RenameCommand(room.race.racers[1].player, "Other Name"), "")
    await mira.state(lambda state: [seat.name for seat in state.players] == ["mira", "Other Name"])
    await mira.expect(Done, Start)
    await start(mira, browser)
    assert await end(mira, browser) == "fair"
    assert "zoe" not in (await read(mira, ROOM)).decode()


async def test_second_tab_goes_on_with_the_share_of_the_first(one: Node, browser: Browser) -> None:
    mira, promised = await race_to_draw(one, browser)
    assert await browser.run("return localStorage.getItem('session')") not in await browser.run("return location.href")
    async with browser.second_tab():
        await browser.load(f"{one.url}/{ROOM}")
        await online(browser)
        await start(mira, browser)
        assert promised < {share.commitment for share in (await mira.until(Drawn)).shares}
        await move(browser, 1)
        assert await end(mira, browser) == "unsure"  # another tab may have done what this one does not know of
        assert await browser.texts(".deal li")
    await browser.shows("now used in another tab", "#status")
    assert await browser.texts(".deal.wrong") == []
    await browser.run("location.reload()")
    assert await verdict(browser) == "unsure"


async def test_storage_that_is_full_is_told_and_harms_nothing(one: Node, browser: Browser) -> None:
    mira, _ = await race_to_draw(one, browser)
    await start(mira, browser)
    await move(browser, 1)
    await browser.run("Storage.prototype.setItem = () => { throw new Error('full') }")
    await move(browser, 2)
    await browser.shows("keeps nothing", "[aria-label='Your seat']")
    await move(browser, 3)
    assert await end(mira, browser) == "fair"
    await browser.run("location.reload()")
    await browser.until("!document.querySelector('.warning')")
    assert await verdict(browser) == "unsure"
