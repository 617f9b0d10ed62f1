"""The first program of PROTOCOL.md runs as it stands in the page, and so does the same in Python, on a real server."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import pytest

from tests.server.live_nodes import Node
from tests.server.pages import ROOT, section
from tests.server.plain_http import ask
from tests.shared.javascript import NODE, needs_node

PROGRAMS = {
    "python": (ROOT / "shared/conformance/first_race.py").read_text(encoding="utf-8"),
    "javascript": re.findall(r"```javascript\n(.*?)```", section("## Your first race in thirty lines"), re.DOTALL)[0],
}


@pytest.mark.parametrize("language", ["python", pytest.param("javascript", marks=needs_node)])
async def test_first_program_races(one: Node, tmp_path: Path, language: str) -> None:
    program = PROGRAMS[language]
    assert len([line for line in program.splitlines() if line.strip()]) <= 36
    if language == "python":
        (tmp_path / "race.py").write_text(program)
        words = [sys.executable, "race.py"]
    else:
        (tmp_path / "race.mjs").write_text(program)
        (tmp_path / "msgpack.mjs").write_bytes((await ask(one.url, "/msgpack.js")).body)
        words = [str(NODE), "--experimental-websocket", "--no-warnings", "race.mjs"]
    started = await asyncio.create_subprocess_exec(
        *words, one.url, cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await started.communicate()
    assert started.returncode == 0, output.decode()
    assert "Newcomer" in output.decode()
    assert one.metric("moves_total", outcome="ok") > 8
