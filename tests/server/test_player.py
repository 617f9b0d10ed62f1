"""The player for other programs: its example as LIBRARY.md has it, and races, spectators and refusals on a real server."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from samedeal.errors import BadArgument, IllegalMove, RequestRefused
from samedeal.moves import Move
from samedeal_link import player
from samedeal_link.player import RESIGN, Player, RaceView, Rival
from tests.server.live_nodes import Node
from tests.server.pages import ROOT

PAGE = (ROOT / "shared" / "LIBRARY.md").read_text(encoding="utf-8").partition("## Race on a server")[2]
OPTIONS: dict[str, Any] = {"deal": "#1", "countdown": 0, "delay": 0}


def first(view: RaceView) -> Move | str:
    assert view.play is not None
    return view.play.board.legal_moves()[0] if view.play.moves < 3 else RESIGN


async def test_example_of_the_page_races(one: Node, tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "robot.py").write_text(program)
    started = await asyncio.create_subprocess_exec(
        *(sys.executable, str(tmp_path / "robot.py"), one.url),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await started.communicate())[0].decode()
    assert started.returncode == 0, output
    assert re.fullmatch(r"1 Robot \d+ \d+\n(fair|checked|unsure)\n", output), output


async def test_rivals_and_spectators_see_the_race(one: Node, two: Node) -> None:
    """One player waits for the other's first move, which shows that a strategy is asked again."""
    async with Player(one.url, "ana") as ana, Player(two.url, "bo") as bo, Player(one.url, "eve", bot=False) as eve:
        room = await ana.open(["willow"], **OPTIONS)
        await ana.join(room)
        await bo.join(room)
        watching = asyncio.create_task(watched(eve, room))
        await ana.start()
        own, other = await asyncio.gather(
            ana.race(first), bo.race(lambda view: first(view) if view.rivals[0].moves else None)
        )
        seen = await watching
    assert [line.name for line in own.standings] == ["ana", "bo"]
    assert own.standings == other.standings == seen.standings
    assert [(rival.name, rival.moves, rival.bot, rival.resigned) for rival in own.rivals] == [("bo", 3, True, True)]
    assert (own.verdict, other.verdict) == ("checked", "checked")
    assert own.play is not None
    assert own.play.board == seen.boards["ana"].masked()
    assert {rival.name for rival in seen.rivals} == seen.boards.keys() == {"ana", "bo"}


async def watched(spectator: Player, room: str) -> RaceView:
    views = [view async for view in spectator.watch(room)]
    assert [view.play for view in views] == [None] * len(views)
    return views[-1]


async def test_killed_program_goes_on(one: Node, tmp_path: Path) -> None:
    async with Player(one.url, "ana", keep=tmp_path) as ana:
        room = await ana.open(["willow"], **OPTIONS)
        await ana.join(room)
        await ana.start()
        with pytest.raises(ZeroDivisionError):
            await ana.race(lambda view: "1 0" if view.play and not view.play.moves else str(1 // 0))
    async with Player(one.url, "ana", keep=tmp_path) as again:
        await again.join(room)
        race = await again.race(first)
    assert [(line.moves, line.resigned) for line in race.standings] == [(3, True)]
    assert race.verdict == "checked"


async def test_wrong_answers_and_options_are_the_author_s_errors(one: Node) -> None:
    async with Player(one.url, "ana") as ana:
        with pytest.raises(BadArgument):
            await ana.open(["willow"], colour="red")
        with pytest.raises(RequestRefused, match="no room"):
            _ = ana.view
        room = await ana.open(["willow"], **OPTIONS)
        with pytest.raises(RequestRefused):
            await ana.join("nowhere")
        await ana.join(room)
        await ana.start()
        with pytest.raises(IllegalMove):
            await ana.race(lambda _: "1 2 x9")


def test_page_names_all_that_is_public() -> None:
    methods = [name for name in vars(Player) if not name.startswith("_")]
    for name in (*player.__all__, *methods, *RaceView.__dataclass_fields__, *Rival.__dataclass_fields__):
        assert re.search(rf"`{name}\b", PAGE), name
