"""Draw ``deploy/pictures/race.svg``, the picture of a race in the README.

It shows the real client in a race of four players, played by bots with a fixed seed. The rules judge the moves in the same
process, so the picture is the same on every run. ``make picture`` writes it.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from random import Random
from typing import Final

from samedeal_client.text.appearance import Look
from samedeal_link.solving.bot_levels import Level
from samedeal_link.solving.strategy import BotMemory, choose_move
from tests.client.referee import ME, START, Referee, RunningApp, running_app

PICTURE: Final = Path(__file__).parents[2] / "deploy" / "pictures" / "race.svg"
SIZE: Final = (120, 38)
NODE_BUDGET: Final = 100
DEAL: Final = "#21"
STEPS: Final = 90
PLAYERS: Final[dict[str, tuple[Level, int]]] = {
    ME: ("careful", 2),
    "p2": ("careful", 3),
    "p3": ("greedy", 4),
    "p4": ("random", 3),
}
"""The strategy of each player, and the number of steps between two of the player's moves."""


async def draw_race() -> str:
    """Play a part of a race and return the screen as SVG."""
    referee = Referee("willow", deal=DEAL, rivals=("mira", "k0ji", "sam"))
    referee.time = START
    async with running_app(referee, SIZE, Look(dark=True)) as ui:
        memories = {player: BotMemory(Random(number), NODE_BUDGET) for number, player in enumerate(PLAYERS)}
        for step in range(1, STEPS + 1):
            referee.time += 3_000
            for player, (level, pace) in PLAYERS.items():
                if step % pace == 0:
                    await play_move(ui, player, level, memories[player])
        return normalized(ui.app.export_screenshot(title="samedeal"))


async def play_move(ui: RunningApp, player: str, level: Level, memory: BotMemory) -> None:
    """Make the move that a bot of this level would make."""
    board = ui.board if player == ME else ui.referee.held.play(player).board
    move = choose_move(level, board, memory)
    if move is None:
        return
    if player == ME:
        ui.app.client.act(move)
        await ui.settle()
    else:
        await ui.referee.rival_moves(player, move)


def normalized(svg: str) -> str:
    """The SVG with a fixed prefix for its ids, with the reader's own monospaced font, and without trailing blanks."""
    svg = re.sub(r"terminal-\d+-", "race-", svg)
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "monospace")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


if __name__ == "__main__":
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(asyncio.run(draw_race()), encoding="utf-8")
