"""The client in JavaScript for programs of others: its example races as the page says, and the kit finds no mistake."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.server.live_nodes import Node
from tests.server.pages import ROOT
from tests.server.plain_http import ask
from tests.server.races import shorten_wait
from tests.shared.javascript import NODE, needs_node

KIT = ROOT / "shared" / "conformance"
PAGE = (ROOT / "shared" / "JAVASCRIPT.md").read_text(encoding="utf-8")

pytestmark = needs_node


async def robot(one: Node, folder: Path) -> list[str]:
    """The command of the example, with the file that the server has for it."""
    (program,) = re.findall(r"```javascript\n(.*?)```", PAGE, re.DOTALL)
    (folder / "robot.mjs").write_text(program)
    (folder / "samedeal.mjs").write_bytes((await ask(one.url, "/samedeal.mjs")).body)
    return [str(NODE), "--experimental-websocket", "--no-warnings", str(folder / "robot.mjs")]


async def run(*words: str) -> tuple[int | None, str]:
    started = await asyncio.create_subprocess_exec(
        *words,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={name: value for name, value in os.environ.items() if not name.startswith("SAMEDEAL_")},
    )
    output, _ = await started.communicate()
    return started.returncode, output.decode()


async def test_example_races_alone(one: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_wait(monkeypatch)
    code, output = await run(*await robot(one, tmp_path), one.url)
    assert code == 0, output
    assert "moves: 40" in output


async def test_kit_finds_nothing_wrong_with_the_example(one: Node, tmp_path: Path, check_client: Any) -> None:
    command = [*await robot(one, tmp_path), "{url}", "{room}"]
    code, output = await run(sys.executable, str(KIT / "check_client.py"), "--", *command)
    assert code == 0, output
    assert output.count("\nok: ") == 10 + len(check_client.LIES)
    assert output.endswith("no mistakes found\n")


def test_page_names_what_a_player_has() -> None:
    source = (ROOT / "server/samedeal_server/page/static/samedeal.mjs").read_text(encoding="utf-8")
    table = PAGE.partition("| of a player |")[2].partition("```")[0]
    named = set(re.findall(r"`(\w+)[(`]", "".join(re.findall(r"^\|(.*?)\|", table, re.MULTILINE))))
    defined = set(
        re.findall(r"^\t(?:get |async )?(\w+)(?: = |\()", source.partition("export class Player")[2], re.MULTILINE)
    )
    called_by_link = {"constructor", "enter", "receive", "showStatus", "unseat", "leaveOther", "return"}
    assert named == defined - called_by_link
