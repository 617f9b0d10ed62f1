"""A real browser, headless Chromium, in which tests open the page."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import axe_core_python  # type: ignore[import-untyped]  # it has no types
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from samedeal.board import Board
from samedeal.cards import DOWN, HIDDEN

DEADLINE: Final = 60.0
"""Timeout, in seconds, for the page to show something on a busy machine."""

LAPTOP: Final = (1366, 768)
PHONE: Final = (390, 844)

_AXE: Final = Path(axe_core_python.__file__).parent / "axe.min.js"

_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
_FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)

_BOARD: Final = """
function board(tile) {
  const piles = {};
  for (const card of tile.querySelectorAll(".card")) (piles[card.dataset.pile] ??= []).push(Number(card.dataset.card));
  return { player: tile.dataset.player, revision: Number(tile.dataset.revision ?? -1), piles };
}
"""
_BOARDS: Final = f"{_BOARD} return [...document.querySelectorAll('.tile')].map(board);"
_RECORD: Final = f"""
{_BOARD}
window.drawn = [];
new MutationObserver((changes) => {{
  for (const tile of new Set(changes.map((change) => change.target))) window.drawn.push(board(tile));
}}).observe(document.querySelector("#boards"), {{ subtree: true, attributeFilter: ["data-revision"] }});
"""


@dataclass(frozen=True)
class DrawnBoard:
    """A board as the page has drawn it. ``piles`` has the cards of the piles that are not empty."""

    player: str
    revision: int
    piles: dict[str, list[int]]

    def compare(self, board: Board, *, replayed: bool = False) -> None:
        """Compare the cards one by one. A replay also knows the cards that lie face down."""
        for key, pile in zip(board.game.keys, board.masked().piles, strict=True):
            cards = self.piles.get(key, [])
            if replayed:
                cards = [HIDDEN if was == HIDDEN and card >= DOWN else card for card, was in zip_longest(cards, pile)]
            assert cards == list(pile), (self.player, self.revision, key)


class Browser:
    """A browser with one tab. Selenium waits for the browser in a thread, because players and nodes run in the loop."""

    def __init__(self, driver: Chrome) -> None:
        self._driver = driver

    async def open(self, url: str, size: tuple[int, int] = LAPTOP) -> None:
        """Open an address in a tab without history, at a size of the screen."""
        screen = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 600}
        await asyncio.to_thread(self._driver.execute_cdp_cmd, "Emulation.setDeviceMetricsOverride", screen)
        await asyncio.to_thread(self._driver.get, url.replace("ws", "http", 1) if url.startswith("ws") else url)

    async def run(self, script: str, *arguments: object) -> Any:
        """Run a script in the page and return what it returns."""
        return await asyncio.to_thread(self._driver.execute_script, script, *arguments)

    async def until(self, script: str, *arguments: object) -> Any:
        """Wait until an expression in the page is true. Return its value."""
        limit = time.monotonic() + DEADLINE
        while not (value := await self.run(f"return {script}", *arguments)):
            if time.monotonic() > limit:
                raise AssertionError(f"{script} was never true in:\n{await self.text()}")
            await asyncio.sleep(0.05)
        return value

    async def text(self, selector: str = "body") -> str:
        """The text of an element, as it is shown."""
        return str(await self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector))

    async def shows(self, text: str, selector: str = "body") -> None:
        """Wait until an element shows a text."""
        await self.until(
            "(document.querySelector(arguments[1])?.innerText ?? '').includes(arguments[0])", text, selector
        )

    async def shows_board(self, player: str, revision: int, board: Board, *, replayed: bool = False) -> None:
        """Wait until the page shows a revision of a player's board, and compare the cards."""
        await self.until(
            "document.querySelector(`[data-player='${arguments[0]}']`)?.dataset.revision === arguments[1]",
            player,
            str(revision),
        )
        (shown,) = [DrawnBoard(**each) for each in await self.run(_BOARDS) if each["player"] == player]
        assert shown.revision == revision
        shown.compare(board, replayed=replayed)

    async def record_boards(self) -> None:
        """Record each board that the page draws from now on."""
        await self.run(_RECORD)

    async def recorded_boards(self) -> list[DrawnBoard]:
        """Return the boards that the page has drawn since ``record_boards``."""
        return [DrawnBoard(**each) for each in await self.run("return window.drawn")]

    async def drop(self, content: bytes) -> None:
        """Drop a file on the page."""
        script = """
        const files = new DataTransfer();
        files.items.add(new File([Uint8Array.from(arguments[0])], "race.txt"));
        dispatchEvent(new DragEvent("drop", { dataTransfer: files, cancelable: true }));
        """
        await self.run(script, list(content))

    async def choose_file(self, path: Path) -> None:
        """Choose a file with the button for files."""
        button = await self.until("document.querySelector('[type=file]')")
        await asyncio.to_thread(button.send_keys, str(path))

    async def allow_scripts(self, allowed: bool) -> None:
        """Turn JavaScript in pages on or off."""
        command = {"value": not allowed}
        await asyncio.to_thread(self._driver.execute_cdp_cmd, "Emulation.setScriptExecutionDisabled", command)

    async def prefer(self, scheme: str) -> None:
        """Let pages be shown in the colours of a scheme: ``light`` or ``dark``."""
        wanted = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        await asyncio.to_thread(self._driver.execute_cdp_cmd, "Emulation.setEmulatedMedia", wanted)

    async def force_colours(self, forced: bool) -> None:
        """Show pages in the few colours that a user has chosen, as Windows does with high contrast."""
        wanted = {"features": [{"name": "forced-colors", "value": "active" if forced else "none"}]}
        await asyncio.to_thread(self._driver.execute_cdp_cmd, "Emulation.setEmulatedMedia", wanted)

    async def slow_down(self, times: int) -> None:
        """Make the CPU of the page several times slower."""
        await asyncio.to_thread(self._driver.execute_cdp_cmd, "Emulation.setCPUThrottlingRate", {"rate": times})

    async def busy_seconds(self) -> float:
        """Return for how long the main thread of the page has been busy."""
        await asyncio.to_thread(self._driver.execute_cdp_cmd, "Performance.enable", {})
        found = await asyncio.to_thread(self._driver.execute_cdp_cmd, "Performance.getMetrics", {})
        return float(next(each["value"] for each in found["metrics"] if each["name"] == "TaskDuration"))

    async def accessibility_violations(self) -> list[str]:
        """Return what axe-core finds on the page."""
        await self.run(_AXE.read_text())
        script = "axe.run().then(({ violations }) => arguments[0](violations))"
        found = await asyncio.to_thread(self._driver.execute_async_script, script)
        return [f"{each['id']}: {node['html']}" for each in found for node in each["nodes"]]

    async def accessible_texts(self) -> list[str]:
        """Return the texts that screen readers get."""
        tree = await asyncio.to_thread(self._driver.execute_cdp_cmd, "Accessibility.getFullAXTree", {})
        return [node["name"]["value"] for node in tree["nodes"] if node["role"]["value"] == "StaticText"]

    async def freeze(self) -> None:
        """Freeze the page, as the browser does with tabs in the background."""
        await self._set_state("frozen")

    async def thaw(self) -> None:
        """Let a frozen page go on."""
        await self._set_state("active")

    async def _set_state(self, state: str) -> None:
        await asyncio.to_thread(self._driver.execute_cdp_cmd, "Page.setWebLifecycleState", {"state": state})

    async def press(self, key: str) -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            event = {"type": kind, "key": key, "text": "\r" if key == "Enter" and kind == "keyDown" else ""}
            await asyncio.to_thread(self._driver.execute_cdp_cmd, "Input.dispatchKeyEvent", event)

    async def screenshot(self) -> bytes:
        """Return the screen as PNG."""
        return await asyncio.to_thread(self._driver.get_screenshot_as_png)

    async def close_page(self) -> None:
        """Leave the page, so that it does not reconnect."""
        await asyncio.to_thread(self._driver.get, "about:blank")

    def errors(self) -> list[str]:
        """Return what the browser has complained about since the last call, such as errors in scripts."""
        lines: list[dict[str, str]] = self._driver.get_log("browser")  # type: ignore[no-untyped-call]  # it has no types
        return [line["message"] for line in lines if line["level"] == "SEVERE"]


@contextmanager
def running_browser(profile: Path, *flags: str) -> Iterator[Browser]:
    """Run a browser with a new profile. Skip the test if there is none on the PATH."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("chromium and chromedriver are not on the PATH: see CONTRIBUTING.md")
    options = Options()
    options.binary_location = browser
    for flag in (*_FLAGS, *flags, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = Chrome(options=options, service=Service(driver))
    try:
        yield Browser(chrome)
    finally:
        chrome.quit()
