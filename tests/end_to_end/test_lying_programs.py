"""The real programs in a race on the small server in memory, honest and lying."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from tests.end_to_end.lies import ThirdCandidate
from tests.end_to_end.lying_server import HonestServer
from tests.end_to_end.processes import Program, Programs


async def race(programs: Programs, server: HonestServer) -> tuple[Program, Program]:
    """Let ``samedeal join`` and ``samedeal bot`` race, and return both when they have ended."""
    async with server.running() as url:
        bob = await programs.samedeal("bot", url, server.room, "--name", "bob", "--pace", "1000", "--level", "random")
        ana = await programs.samedeal("join", url, server.room, "--name", "ana")
        await ana.expect(r"Type ready")
        await ana.reply("ready", r"Go!")
        await ana.expect(r"Foundations 0/52")
        await ana.reply("deal", r"Dealt ")
        ana.type_lines("resign")
        await asyncio.gather(ana.exit_code(), bob.exit_code())
    return ana, bob


async def verify(programs: Programs, ana: Program, *more: str) -> tuple[int, str]:
    printed = re.search(r"Record saved in (\S+)", ana.text)
    assert printed is not None, ana.text
    assert await asyncio.to_thread(Path(printed[1]).exists)
    program = await programs.samedeal("verify", *more, printed[1])
    return await program.exit_code(), program.text


async def test_programs_call_an_honest_server_fair(programs: Programs) -> None:
    ana, bob = await race(programs, HonestServer("friday"))
    assert "Fair deal" in ana.text
    assert "Leaving" not in bob.text
    assert [ana.process.returncode, bob.process.returncode] == [0, 0]
    (code, text), (deep, _) = await asyncio.gather(verify(programs, ana), verify(programs, ana, "--deep"))
    assert (code, deep) == (0, 0), text
    assert "It agrees with your own journal: all 1 moves of ana." in text


async def test_programs_notice_a_lie(programs: Programs) -> None:
    ana, bob = await race(programs, ThirdCandidate("friday"))
    assert "NOT a fair deal" in ana.text
    assert "Leaving" in bob.text
    assert [ana.process.returncode, bob.process.returncode] == [0, 1]
    (code, _), (deep, text) = await asyncio.gather(verify(programs, ana), verify(programs, ana, "--deep"))
    assert (code, deep) == (1, 1), text
