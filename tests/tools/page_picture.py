"""Take ``deploy/pictures/page.png``, the picture of the page for browsers in the README.

It shows the real page, in a real browser, with the replay of a recorded race. ``make picture`` writes it.
"""

from __future__ import annotations

import asyncio
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Final

from samedeal.record import Record
from tests.end_to_end.browser import running_browser
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


class PageHandler(SimpleHTTPRequestHandler):
    """Serves the page's files, and its document for ``/replay``."""

    def translate_path(self, path: str) -> str:
        return super().translate_path("/index.html" if path == "/replay" else path)

    def log_message(self, *_: object) -> None:
        """Keep the terminal quiet."""


def race() -> bytes:
    """Return the record of a race of players who make the same moves at different paces."""
    won = Record.parse(WON.read_text())
    timed = {name: tuple((int(ms * pace), move) for ms, move in won.actions) for name, pace in PACES.items()}
    return str(recorded(won.game.name, str(won.deal), *timed.items())).encode()


async def take_picture(address: str) -> bytes:
    """Replay the record up to a moment, and return the screen as PNG."""
    with TemporaryDirectory() as profile, running_browser(Path(profile)) as browser:
        await browser.open(f"{address}/replay", SIZE)
        await browser.shows("Open the record of a race")
        await browser.drop(race())
        await browser.shows("Deal checked here")
        await browser.run(SEEK)
        await browser.until("document.getAnimations().length === 0")
        return await browser.screenshot()


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(PageHandler, directory=str(STATIC))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        PICTURE.write_bytes(asyncio.run(take_picture(f"http://127.0.0.1:{server.server_port}")))
        server.shutdown()
