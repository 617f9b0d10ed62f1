"""Take ``deploy/pictures/page.png``, the picture of the page for browsers in the README, and draw the page's own pictures.

The first one shows the real page, in a real browser, with the replay of a recorded race. The others are the icons of
the page on home screens, and the picture in the preview of a link. ``make picture`` writes them all.
"""

from __future__ import annotations

import asyncio
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Final

from samedeal.record import Record
from samedeal_server.page.files import DOCUMENT, static_files
from tests.end_to_end.browser import running_browser
from tests.shared.recorded import recorded

ROOT: Final = Path(__file__).parents[2]
FILES: Final = static_files(b"")
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


class PageHandler(BaseHTTPRequestHandler):
    """Serves the page's files, and its document for ``/replay``."""

    def do_GET(self) -> None:
        """Answer a request."""
        file = FILES.get(DOCUMENT if self.path == "/replay" else self.path.removeprefix("/"))
        self.send_response(200 if file else 404)
        self.send_header("Content-Type", file.content_type if file else "text/plain")
        self.end_headers()
        self.wfile.write(file.plain if file else b"")

    def log_message(self, *_: object) -> None:
        """Keep the terminal quiet."""


def race() -> bytes:
    """Return the record of a race of players who make the same moves at different paces."""
    won = Record.parse(WON.read_text())
    timed = {name: tuple((int(ms * pace), move) for ms, move in won.actions) for name, pace in PACES.items()}
    return str(recorded(won.game.name, str(won.deal), *timed.items())).encode()


async def take_picture(address: str) -> bytes:
    """Replay the record up to a moment, and return the screen as PNG."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile, running_browser(Path(profile)) as browser:
        await browser.open(f"{address}/replay", SIZE)
        await browser.shows("Open the record of a race")
        await browser.drop(race())
        await browser.shows("Checked: ")
        await browser.run(SEEK)
        await browser.until("document.getAnimations().length === 0")
        return await browser.screenshot()


async def draw_pictures() -> None:
    """Draw the page's own pictures."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile, running_browser(Path(profile)) as browser:
        for name, (markup, size) in DRAWN.items():
            await browser.open("about:blank", size)
            await browser.run(LOOK, markup)
            (STATIC / name).write_bytes(await browser.screenshot())


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), PageHandler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        PICTURE.write_bytes(asyncio.run(take_picture(f"http://127.0.0.1:{server.server_port}")))
        server.shutdown()
    asyncio.run(draw_pictures())
