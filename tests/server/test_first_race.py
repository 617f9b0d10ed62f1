"""The first program of PROTOCOL.md races on a real server."""

from __future__ import annotations

import asyncio
import sys

from tests.server.live_nodes import Node
from tests.server.pages import ROOT

PROGRAM = ROOT / "shared/conformance/first_race.py"


async def test_first_program_races(one: Node) -> None:
    assert len([line for line in PROGRAM.read_text(encoding="utf-8").splitlines() if line.strip()]) <= 36
    started = await asyncio.create_subprocess_exec(
        *(sys.executable, str(PROGRAM), one.url), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await started.communicate()
    assert started.returncode == 0, output.decode()
    assert "Newcomer" in output.decode()
    assert one.metric("moves_total", outcome="ok") > 8
