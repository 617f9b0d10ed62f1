"""Take ``deploy/pictures/page.png``, the picture of the page for browsers in the README, and draw the page's own pictures.

The first one shows the real page, in a real browser, with the replay of a recorded race. The others are the icons of
the page on home screens, and the picture in the preview of a link. ``make picture`` writes them all.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from samedeal.record import Record
from tests.end_to_end.browser import Browser, running_browser
from tests.server.shown_rooms import ScriptedRoom, scripted_room
from tests.shared.recorded import recorded

ROOT: Final = Path(__file__).parents[2]
PICTURE: Final = ROOT / "deploy" / "pictures" / "page.png"
STATIC: Final = ROOT / "server" / "samedeal_server" / "page" / "static"
WON: Final = ROOT / "tests" / "golden" / "records" / "willow.txt"
PACES: Final = {"ana": 1.0, "*ben": 0.8, "mira": 1.4, "k0ji": 1.15}
"""How long each player takes for a move, compared with the record that was won."""

SIZE: Final = (1200, 720)
SEEK: Final = """
const slider = document.querySelector(".controls input");
slider.value = 90_000;
slider.dispatchEvent(new Event("input"));
document.activeElement.blur();
"""

LOOK: Final = """
document.head.innerHTML = `<meta name="viewport" content="width=device-width"><style>
  body { margin: 0; background: #1f6b4f; color: #fff; font-family: sans-serif; overflow: hidden }
  div { position: absolute }
  .card { left: 850px; top: 170px; width: 160px; height: 250px; padding: 12px; transform-origin: 50% 1300px;
    border-radius: 16px; background: #fff; box-shadow: 0 0 0 2px #1f6b4f; color: #111; font: 700 64px sans-serif }
  .red { color: #c1121f }
</style>`;
document.body.innerHTML = arguments[0];
"""
ICON: Final = """
<svg viewBox="0 0 32 32" width="100%">
  <text x="16" y="25.6" font-size="32" text-anchor="middle" fill="#fff">♠</text>
</svg>
"""
"""The spade is small enough for systems that cut icons into circles."""

CARDS: Final = ("A♠", "2♥", "3♣", "4♦", "5♠")
PREVIEW: Final = (
    '<div style="left: 80px; top: 150px; font: 700 84px sans-serif">♠ Samedeal</div>'
    '<div style="left: 84px; top: 280px; font-size: 46px; line-height: 1.4">'
    "Solitaire as a race.<br>The same cards for all.<br>First to finish wins.</div>"
    + "".join(
        f'<div class="card{" red" if card[1] in "♥♦" else ""}" style="transform: rotate({6 * at - 12}deg)">{card}</div>'
        for at, card in enumerate(CARDS)
    )
)
DRAWN: Final = {
    "icon-192.png": (ICON, (192, 192)),
    "icon-512.png": (ICON, (512, 512)),
    "preview.png": (PREVIEW, (1200, 630)),
}


def race() -> bytes:
    """Return the record of a race of players who make the same moves at different paces."""
    won = Record.parse(WON.read_text())
    timed = {name: tuple((int(ms * pace), move) for ms, move in won.actions) for name, pace in PACES.items()}
    return str(recorded(won.game.name, str(won.deal), *timed.items())).encode()


async def take_picture(page: ScriptedRoom, browser: Browser) -> bytes:
    """Replay the record up to a moment, and return the screen as PNG."""
    await browser.open(f"{page.url}/replay", SIZE)
    await browser.shows("Open the record of a race")
    await browser.drop(race())
    await browser.shows("Checked: ")
    await browser.run(SEEK)
    await browser.until("document.getAnimations().length === 0")
    return await browser.screenshot()


async def draw_pictures() -> None:
    """Draw all pictures."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile, running_browser(Path(profile)) as browser:
        async with scripted_room() as page:
            PICTURE.write_bytes(await take_picture(page, browser))
        for name, (markup, size) in DRAWN.items():
            await browser.open("about:blank", size)
            await browser.run(LOOK, markup)
            (STATIC / name).write_bytes(await browser.screenshot())


if __name__ == "__main__":
    asyncio.run(draw_pictures())
