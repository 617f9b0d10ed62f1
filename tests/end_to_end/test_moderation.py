"""A moderator, a player in a terminal and one at the page, on a real server."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from samedeal.protocol.messages import Notice
from tests.end_to_end.browser import Browser
from tests.end_to_end.processes import Programs
from tests.end_to_end.terminal import Terminal
from tests.golden.golden_files import assert_sentences
from tests.programs import needs
from tests.server.races import finish, kept, race, read, seated

pytestmark = pytest.mark.xdist_group("page")  # two groups of tests with a browser each

TOKEN = "the token of the moderators"


@pytest.fixture
async def url(programs: Programs, tmp_path: Path, redis_url: str) -> str:
    (tmp_path / "token").write_text(TOKEN)
    legal = ("--privacy-url", "https://a.example/privacy", "--contact", "ops@a.example")
    url, _ = await programs.server("--redis", redis_url, "--moderator-token-file", str(tmp_path / "token"), *legal)
    return url


async def admin(programs: Programs, url: str, tmp_path: Path, *words: str, code: int = 0) -> str:
    return await programs.output("admin", url, "--token-file", str(tmp_path / "token"), *words, code=code)


async def test_moderator_does_everything_from_a_terminal(programs: Programs, url: str, tmp_path: Path) -> None:
    """What is wrong is said in one sentence, and changes nothing."""
    said = [await admin(programs, url, tmp_path, "reports")]
    (tmp_path / "words").write_text("badword\nx\n")
    said.append(await admin(programs, url, tmp_path, "words", str(tmp_path / "words"), code=1))
    (tmp_path / "words").write_bytes(b"badword\n\xff\n")
    said.append(await admin(programs, url, tmp_path, "words", str(tmp_path / "words"), code=1))
    (tmp_path / "words").write_text("badword\n")
    said.append(await admin(programs, url, tmp_path, "words", str(tmp_path / "words")))
    early, _ = await seated(url, room="saturday")
    said.append(await admin(programs, url, tmp_path, "rename", "saturday", "bob", "Kind Name"))
    await early.state(lambda state: [seat.name for seat in state.players] == ["ana", "Kind Name"])
    await early.close()
    ana, bob = await race(url, room="friday", games=("athena",))
    said.append(await admin(programs, url, tmp_path, "rename", "friday", "bob", "Kind Name"))
    await ana.state(lambda state: any(seat.shown == "Kind Name" for seat in state.players))
    said.append(await admin(programs, url, tmp_path, "rename", "friday", "eve", "Kind Name", code=1))
    await finish(ana, bob)
    await kept(ana, "friday")
    exported = json.loads(await admin(programs, url, tmp_path, "export", "bob"))
    assert exported["player"] == bob.player
    said.append(await admin(programs, url, tmp_path, "export", "eve", code=1))
    said.append((await admin(programs, url, tmp_path, "forget", "bob")).replace(bob.player, "PLAYER"))
    record = exported["records"][0]["race"]
    (tmp_path / "record").write_bytes(await read(ana, "friday"))
    said.append(await programs.output("verify", str(tmp_path / "record"), code=1))
    assert "removed by server 2" in await programs.output("replay", str(tmp_path / "record"), "--plain")
    said.append((await admin(programs, url, tmp_path, "delete-record", record)).replace(record, "RACE"))
    said.append((await admin(programs, url, tmp_path, "delete-record", record, code=1)).replace(record, "RACE"))
    said.append(await admin(programs, url, tmp_path, "backup", str(tmp_path / "all"), code=1))
    assert_sentences(
        "samedeal admin: moderation", [text.rstrip("\n").replace(str(tmp_path), "FOLDER") for text in said]
    )


@needs("tmux")
async def test_names_are_muted_and_reported_in_the_terminal(
    programs: Programs, terminal: Terminal, url: str, tmp_path: Path
) -> None:
    ana, bob = await seated(url, names=("ana", "rude name"), room="friday", players=4)
    terminal.open((80, 24), sys.executable, "-m", "samedeal_client", "join", url, "friday", "--name", "cid")
    await terminal.wait_for("rude name")
    await terminal.type_until("the room friday", "F2")
    terminal.type("Down", "Down")
    await terminal.type_until("Player 2 .*muted", "m")
    await terminal.type_until("Reported to the operator", "r")
    await terminal.type_until("room friday", "Escape")
    await terminal.wait_until_gone("rude name")
    assert re.search(rf"friday +rude name +{bob.player}", await admin(programs, url, tmp_path, "reports"))
    assert not any(isinstance(message, Notice) for message in (*ana.inbox, *bob.inbox))


async def test_names_are_muted_and_reported_at_the_page(
    programs: Programs, browser: Browser, url: str, tmp_path: Path
) -> None:
    """The operator's links are in the footer, and a muted name stays muted after a reload."""
    _, bob = await seated(url, names=("ana", "rude name"), room="friday", players=4)
    await browser.open(f"{url.replace('ws', 'http', 1)}/friday")
    await browser.shows("rude name", "#standings")
    press = "document.querySelector(`#standings tr:nth-child(2) [title^=${arguments[0]}]`).click()"
    await browser.run(press, "Report")
    await browser.until("document.querySelector('#standings').textContent.includes('Reported')")
    assert re.search(rf"friday +rude name +{bob.player}", await admin(programs, url, tmp_path, "reports"))
    await browser.run(press, "Mute")
    await browser.shows("Player 2", "#standings")
    assert "rude name" not in await browser.text()
    await browser.load(f"{url.replace('ws', 'http', 1)}/friday")
    await browser.shows("Player 2", "#standings")
    await browser.run(press, "Mute")
    await browser.shows("rude name", "#standings")
    assert (await browser.texts("footer .legal a")) == ["Privacy", "Contact"]
    assert await browser.accessibility_violations() == []
    await admin(programs, url, tmp_path, "rename", "friday", "rude name", "Kind Name")
    await browser.shows("Kind Name", "#standings")
