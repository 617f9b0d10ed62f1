"""Draw ``deploy/pictures/door.svg``, the moving picture in the README: from ``ssh`` to the first move.

It shows the real client with a fixed deal. A row that stays the same over several frames is written only once.
``make picture`` writes it.
"""

from __future__ import annotations

import asyncio
from html import escape
from pathlib import Path
from random import Random
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from samedeal_client.text.appearance import Look
from samedeal_link.solving.strategy import BotMemory, choose_move
from tests.client.referee import START, Referee, running_app
from tests.client.typed_moves import keys_for
from tests.textual_internals import painted_strips

PICTURE: Final = Path(__file__).parents[2] / "deploy" / "pictures" / "door.svg"
SIZE: Final = (80, 24)
SHOWN: Final = (2.5, 3.0, 1.5, 4.0)
"""How long each frame is shown, in seconds: the command, the deal, the card that was chosen, and the move."""

CELL: Final = (8.4, 17)
COMMAND: Final = "$ ssh -t cards.example.org friday"

_Frame = list[list[Segment]]


async def draw_door() -> str:
    """Join a race, make a move, and return what was seen as SVG."""
    referee = Referee("willow", deal="#21", rivals=("mira", "k0ji", "sam"))
    referee.time = START
    frames: list[_Frame] = [[[Segment(COMMAND + " ", Style(color="#c5c8c6"))], *[[]] * (SIZE[1] - 1)]]
    async with running_app(referee, SIZE, Look(dark=True, motion=False)) as ui:
        referee.time += 3_000

        async def show(*keys: str) -> None:
            await ui.press(*keys)
            frames.append([list(strip) for strip in painted_strips(ui.app)])

        move = choose_move("careful", ui.board, BotMemory(Random(1), 100))
        assert move is not None
        first, *rest = keys_for(move, ui.board)
        await show()
        await show(first)
        await show(*rest)
    return svg(frames)


def svg(frames: list[_Frame]) -> str:
    """Draw frames, each of which replaces the one before."""
    width, height = (round(cells * size) for cells, size in zip(SIZE, CELL, strict=True))
    ends = [sum(SHOWN[:number]) / sum(SHOWN) * 100 for number in range(len(frames) + 1)]
    rows: list[str] = []
    spans: set[tuple[int, int]] = set()
    for y in range(SIZE[1]):
        start = 0
        for end in range(1, len(frames) + 1):
            if end == len(frames) or frames[end][y] != frames[start][y]:
                spans.add((start, end))
                rows.append(f'<g class="f{start}{end}">{row(frames[start][y], y)}</g>')
                start = end
    style = "text{font:14px monospace;white-space:pre}"
    for start, end in sorted(spans - {(0, len(frames))}):
        hidden = f"0%{{visibility:hidden}}{ends[start]:.1f}%{{visibility:visible}}{ends[end]:.1f}%{{visibility:hidden}}"
        style += f"\n@keyframes k{start}{end}{{{hidden if start else hidden.partition('}')[2]}}}"
        style += f"\n.f{start}{end}{{animation:k{start}{end} {sum(SHOWN)}s step-end infinite}}"
        still = "visible" if end == len(frames) else "hidden"
        style += f"\n@media(prefers-reduced-motion){{.f{start}{end}{{animation:none;visibility:{still}}}}}"
    return "\n".join(
        (
            f'<svg viewBox="-12 -12 {width + 24} {height + 24}" shape-rendering="crispEdges" xmlns="http://www.w3.org/2000/svg">',
            f"<style>{style}</style>",
            f'<rect x="-12" y="-12" width="{width + 24}" height="{height + 24}" rx="8" fill="#121212"/>',
            *rows,
            "</svg>\n",
        )
    )


def row(segments: list[Segment], y: int) -> str:
    """Draw a row: its backgrounds, and texts that begin in the right columns."""
    drawn, texts, x = "", "", 0
    for text, style, _ in Strip(segments).simplify():
        cells = Segment(text).cell_length
        colour, background = (
            part.get_truecolor().hex if part is not None and not part.is_default else None
            for part in ((style.color, style.bgcolor) if style else (None, None))
        )
        if style and style.reverse:
            colour, background = background or "#121212", colour or "#c5c8c6"
        at = f'x="{x * CELL[0]:g}"'
        if background is not None:
            drawn += (
                f'<rect {at} y="{y * CELL[1]}" width="{cells * CELL[0]:g}" height="{CELL[1]}" fill="{background}"/>'
            )
        if text.strip():
            bold = ' font-weight="bold"' if style and style.bold else ""
            texts += f'<tspan {at} fill="{colour or "#c5c8c6"}"{bold}>{escape(text.rstrip())}</tspan>'
        x += cells
    return f'{drawn}<text y="{(y + 0.78) * CELL[1]:g}">{texts}</text>' if texts else drawn


if __name__ == "__main__":
    PICTURE.write_text(asyncio.run(draw_door()), encoding="utf-8")
