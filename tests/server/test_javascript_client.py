"""The client in JavaScript for programs of others: its example races as the page says, and the kit finds no mistake."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.lying_server import ChangedTerms
from tests.server.live_nodes import Node
from tests.server.pages import ROOT
from tests.server.plain_http import ask
from tests.shared.javascript import NODE, needs_node

PAGE = (ROOT / "shared" / "JAVASCRIPT.md").read_text(encoding="utf-8")

pytestmark = needs_node

(EXAMPLE,) = re.findall(r"```javascript\n(.*?)```", PAGE, re.DOTALL)

IN_A_WINDOW = """
import {Player} from "./samedeal.mjs"

let made = 0
const about = {name: "Robot", options: {games: ["bakers-game"], deal: "winnable", limit: 60}, window: 3600, bot: false}
const player = new Player(process.argv[2], about, {
    room() {
        const {phase, standings} = player.room
        if (phase === "open") player.ask("start").catch(console.error)
        if (phase === "racing" && !player.piles) player.begin().catch(console.error)
        if (phase === "finished") {
            console.log(standings)
            player.close()
        }
    },
    board: () => setTimeout(() => ++made < 4 ? player.act(player.moves[0]) : made === 4 && player.ask("resign")),
    said: console.error
})
"""


async def robot(one: Node, folder: Path, program: str = EXAMPLE) -> list[str]:
    """The command of a program, which is the example unless another is given, with the server's file beside it."""
    (folder / "robot.mjs").write_text(program)
    (folder / "samedeal.mjs").write_bytes((await ask(one.url, "/samedeal.mjs")).body)
    return [str(NODE), "--experimental-websocket", "--no-warnings", str(folder / "robot.mjs")]


@pytest.mark.parametrize(("program", "made"), [(EXAMPLE, 40), (IN_A_WINDOW, 3)], ids=["example", "in a window"])
async def test_program_races_alone(one: Node, tmp_path: Path, program: str, made: int) -> None:
    words = [*await robot(one, tmp_path, program), one.url]
    started = await asyncio.create_subprocess_exec(
        *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await started.communicate()
    assert started.returncode == 0, output.decode()
    assert f"moves: {made}" in output.decode()


async def test_program_is_told_of_a_lie(one: Node, tmp_path: Path) -> None:
    async with ChangedTerms(one).running() as server:
        words = [*await robot(one, tmp_path, IN_A_WINDOW), server.url]
        started = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE)
        assert started.stderr
        assert b"The server contradicts itself (changed_terms)" in await started.stderr.readline()
        started.kill()
        await started.wait()


async def test_kit_finds_nothing_wrong_with_the_example(one: Node, tmp_path: Path, check_client: Any) -> None:
    command = [*await robot(one, tmp_path), "{url}", "{room}"]
    passed: list[str] = []
    checks = [check_client.Check(one.url, passed.append, lie) for lie in ("", *check_client.LIES)]
    await asyncio.gather(*(check.run(command, 0, 60, "ace-of-hearts") for check in checks))
    assert "ok: it gives back moves that the server has lost" in passed
    assert "ok: it stays away when another client has taken over its seat" in passed


def test_page_names_what_a_player_has() -> None:
    source = (ROOT / "server/samedeal_server/page/static/samedeal.mjs").read_text(encoding="utf-8")
    table = PAGE.partition("| of a player |")[2].partition("```")[0]
    named = set(re.findall(r"`(\w+)[(`]", "".join(re.findall(r"^\|(.*?)\|", table, re.MULTILINE))))
    defined = set(
        re.findall(r"^\t(?:get |async )?(\w+)(?: = |\()", source.partition("export class Player")[2], re.MULTILINE)
    )
    called_by_link = {"constructor", "enter", "receive", "showStatus", "unseat", "leaveOther", "return"}
    assert named == defined - called_by_link
