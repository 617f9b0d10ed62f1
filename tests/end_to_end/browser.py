"""Real browsers, Chromium, Firefox and WebKit, in which tests open the page.

They are driven over WebDriver BiDi, and WebKit as if it were. What only Chromium can do goes over its own DevTools protocol.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import time
import urllib.request
from base64 import b64decode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import zip_longest
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal

import axe_core_python  # type: ignore[import-untyped]  # it has no types
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from samedeal.board import Board
from samedeal.cards import DOWN, HIDDEN
from tests.end_to_end.webkit import PROGRAMS, BrowserError, WebKit, running_webkit
from tests.programs import lacking, skip_without

DEADLINE: Final = 60.0
"""Timeout, in seconds, for the page to show something on a busy machine."""

LAPTOP: Final = (1366, 768)
PHONE: Final = (390, 844)

_AXE: Final = Path(axe_core_python.__file__).parent / "axe.min.js"

Engine = Literal["chromium", "firefox", "webkit"]
ENGINES: Final[tuple[Engine, ...]] = ("chromium", "firefox", "webkit")

_PROGRAMS: Final = {
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "firefox": ("firefox-esr", "firefox"),
}
_CHROMIUM_FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP plain.test 127.0.0.1",
)
_LISTENING: Final = re.compile(r"(?:BiDi listening on (ws://\S+)|started successfully on port (\d+))")
"""What Firefox and Chromium's driver say once they can be driven."""

_KEYS: Final = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "ArrowUp": "\ue013"}

_RUN: Final = """async (given) => {
  const run = function () { %s
  };
  return JSON.stringify(await run.apply(window, JSON.parse(given)));
}"""
_TILE: Final = """
const tile = document.querySelector(`.tile[data-player='${arguments[0]}']`);
const piles = {};
for (const { dataset } of tile.querySelectorAll(".card")) (piles[dataset.pile] ??= []).push(Number(dataset.card));
return [tile.dataset.revision, piles];
"""
"""Returns the revision of a player's board as the page has drawn it, and the cards of the piles that are not empty."""

_SCRIPTS: Final = Path(__file__).parent / "scripts"

_ANSWER_TIME: Final = 120.0
"""Timeout, in seconds, for a browser to answer. Otherwise a browser that hangs would stop all tests."""


def script(name: str) -> str:
    """Return a script that a page runs, from its file."""
    return (_SCRIPTS / f"{name}.js").read_text(encoding="utf-8")


class BiDi:
    """A WebDriver BiDi session with a browser, in its ``tab``."""

    def __init__(self, socket: ClientConnection) -> None:
        self.events: list[dict[str, Any]] = []
        self._socket = socket
        self._lock = Lock()
        self._number = 0
        self.call("session.subscribe", events=["log.entryAdded"])
        self.tab: str = self.call("browsingContext.create", type="tab")["context"]  # Firefox's first tab gets no focus

    def call(self, method: str, /, **params: object) -> Any:
        """Send a command, and wait for its result. Keep the events that arrive meanwhile."""
        with self._lock:
            self._number += 1
            self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
            while (answer := json.loads(self._socket.recv(_ANSWER_TIME))).get("id") != self._number:
                self.events.append(answer)
        if answer["type"] != "success":
            raise BrowserError(answer["message"])
        return answer["result"]


class Browser:
    """A browser with one tab. A thread waits for the browser, because players and nodes run in the loop."""

    def __init__(self, bidi: BiDi | WebKit, engine: Engine) -> None:
        self.engine = engine
        self._bidi = bidi
        if engine == "chromium":
            self._devtools_session = bidi.call("goog:cdp.getSession", context=bidi.tab)["session"]
            bidi.call("session.subscribe", events=["goog:cdp.Log.entryAdded"])
            bidi.call("goog:cdp.sendCommand", session=self._devtools_session, method="Log.enable")

    async def _call(self, method: str, /, **params: object) -> Any:
        return await asyncio.to_thread(self._bidi.call, method, **params)

    async def _in_tab(self, method: str, **params: object) -> Any:
        return await self._call(method, context=self._bidi.tab, **params)

    async def _devtools(self, method: str, **params: object) -> Any:
        session = self._devtools_session
        return (await self._call("goog:cdp.sendCommand", method=method, params=params, session=session))["result"]

    async def open(self, url: str, size: tuple[int, int] = LAPTOP) -> None:
        """Open an address in a tab without history, at a size of the screen."""
        await self.resize(size)
        address = url.replace("ws", "http", 1) if url.startswith("ws") else url
        await self._in_tab("browsingContext.navigate", url=address, wait="complete")

    async def resize(self, size: tuple[int, int]) -> None:
        """Change the size of the screen, as when a phone is turned."""
        width, height = size
        if self.engine == "chromium":
            screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
            await self._devtools("Emulation.setDeviceMetricsOverride", **screen)
        else:
            await self._in_tab("browsingContext.setViewport", viewport={"width": width, "height": height})

    @asynccontextmanager
    async def second_tab(self) -> AsyncIterator[None]:
        """Drive a second tab of the browser, with the same storage. It is closed at the end."""
        first = self._bidi.tab
        self._bidi.tab = (await self._call("browsingContext.create", type="tab"))["context"]
        try:
            yield
        finally:
            await self._in_tab("browsingContext.close")
            self._bidi.tab = first

    async def load(self, url: str) -> None:
        """Open an address as ``open`` does, at the size that the tab has."""
        await self._in_tab("browsingContext.navigate", url=url.replace("ws", "http", 1), wait="complete")

    async def leave_and_return(self) -> None:
        """Go to the list of rooms, back, forward and back again, as with the buttons of the browser, and then reload."""
        await self.follow(".brand")
        for steps in (-1, 1, -1):
            address = await self.run("return location.href")
            await self._in_tab("browsingContext.traverseHistory", delta=steps)
            await self.until("location.href !== arguments[0] && document.readyState === 'complete'", address)
        await self._in_tab("browsingContext.reload", wait="complete")

    async def run(self, script: str, *arguments: object) -> Any:
        """Run a script in the page and return what it returns, which JSON must have words for."""
        answer = await self._evaluate(_RUN % script, {"type": "string", "value": json.dumps(arguments)})
        return json.loads(answer.get("value", "null"))

    async def _evaluate(self, function: str, *arguments: object) -> Any:
        target = {"context": self._bidi.tab}
        answer = await self._call(
            "script.callFunction", functionDeclaration=function, arguments=arguments, target=target, awaitPromise=True
        )
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return answer["result"]

    async def until(self, script: str, *arguments: object) -> Any:
        """Wait until an expression in the page is true. Return its value."""
        limit, pause = time.monotonic() + DEADLINE, 0.01
        expression = f"const value = {script}; return value instanceof Node || value;"
        while time.monotonic() < limit:
            with suppress(BrowserError):
                if value := await self.run(expression, *arguments):
                    return value
            await asyncio.sleep(pause)
            pause = min(0.05, 1.5 * pause)
        raise AssertionError(f"{script} was never true in:\n{await self.text()}")

    async def follow(self, link: str) -> None:
        """Click a link, given by its selector, and wait for the page that it leads to."""
        await self.run("window.leaving = true; document.querySelector(arguments[0]).click()", link)
        await self.until("!window.leaving && document.readyState === 'complete'")

    async def text(self, selector: str = "body") -> str:
        """The text of an element, as it is shown."""
        return str(await self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector))

    async def texts(self, selector: str) -> list[str]:
        """The texts of all elements that a selector finds, whether they are shown or not."""
        script = "return [...document.querySelectorAll(arguments[0])].map((found) => found.textContent)"
        return list(await self.run(script, selector))

    async def shows(self, text: str, selector: str = "body") -> None:
        """Wait until an element shows a text."""
        await self.until(
            "(document.querySelector(arguments[1])?.innerText ?? '').includes(arguments[0])", text, selector
        )

    async def shows_board(self, player: str, revision: int, board: Board, *, replayed: bool = False) -> None:
        """Wait until the page shows a revision of a player's board, and compare the cards one by one.

        A replay also knows the cards that lie face down.
        """
        await self.until(
            "document.querySelector(`[data-player='${arguments[0]}']`)?.dataset.revision === arguments[1]",
            player,
            str(revision),
        )
        shown, piles = await self.run(_TILE, player)
        assert shown == str(revision)
        for key, pile in zip(board.game.keys, board.masked().piles, strict=True):
            cards = piles.get(key, [])
            if replayed:
                cards = [HIDDEN if was == HIDDEN and card >= DOWN else card for card, was in zip_longest(cards, pile)]
            assert cards == list(pile), (player, revision, key)

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
        await self.until("document.querySelector('[type=file]')")
        button = await self._evaluate("() => document.querySelector('[type=file]')")
        await self._in_tab("input.setFiles", element={"sharedId": button["sharedId"]}, files=[str(path)])

    async def allow_scripts(self, allowed: bool) -> None:
        """Turn JavaScript in pages on or off. Only Chromium can do that."""
        await self._devtools("Emulation.setScriptExecutionDisabled", value=not allowed)

    async def prefer(self, value: str, feature: str = "prefers-color-scheme") -> None:
        """Let pages be shown as a user prefers, such as in colours that are ``light`` or ``dark``. Only Chromium can."""
        await self._devtools("Emulation.setEmulatedMedia", features=[{"name": feature, "value": value}])

    async def force_colours(self, forced: bool) -> None:
        """Show pages in the few colours that a user has chosen, as Windows does with high contrast.

        Only Chromium can do that.
        """
        value = "active" if forced else "none"
        await self._devtools("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": value}])

    async def slow_down(self, times: int) -> None:
        """Make the CPU of the page several times slower. Only Chromium can do that."""
        await self._devtools("Emulation.setCPUThrottlingRate", rate=times)

    async def accessibility_violations(self) -> list[str]:
        """Return what axe-core finds on the page."""
        await self.run(_AXE.read_text())
        found = await self.run("return axe.run().then(({ violations }) => violations)")
        return [f"{each['id']}: {node['html']}" for each in found for node in each["nodes"]]

    async def accessible_texts(self) -> list[str]:
        """Return the texts that screen readers get. Only Chromium tells."""
        tree = await self._devtools("Accessibility.getFullAXTree")
        return [node["name"]["value"] for node in tree["nodes"] if node["role"]["value"] == "StaticText"]

    async def set_state(self, state: Literal["frozen", "active"]) -> None:
        """Freeze the page, as browsers do with tabs in the background, or let it go on. Only Chromium can be told to."""
        await self._devtools("Page.setWebLifecycleState", state=state)
        if state == "active":
            async with self.second_tab():
                pass  # a tab that was frozen stays hidden until it is shown again

    async def press(self, key: str) -> None:
        """Press and release a key."""
        actions = [{"type": kind, "value": _KEYS.get(key, key)} for kind in ("keyDown", "keyUp")]
        await self._in_tab("input.performActions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    async def drag(self, *points: tuple[float, float], touch: bool = False, release: bool = True) -> None:
        """Press the mouse or a finger on the first point of the screen, and release it on the last one, or with ``lift``."""
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 30} for x, y in points]
        end = [{"type": "pointerUp", "button": 0}] if release else []
        actions = [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], *end]
        kind = {"pointerType": "touch" if touch else "mouse"}
        pointer = {"type": "pointer", "id": kind["pointerType"], "parameters": kind, "actions": actions}
        await self._in_tab("input.performActions", actions=[pointer])

    async def lift(self) -> None:
        """Release the mouse or the finger where it is."""
        await self._in_tab("input.releaseActions")

    async def screenshot(self) -> bytes:
        """Return the screen as PNG."""
        return b64decode((await self._in_tab("browsingContext.captureScreenshot"))["data"])

    async def close_page(self) -> None:
        """Leave the page, so that it does not reconnect."""
        await self._in_tab("browsingContext.navigate", url="about:blank", wait="complete")

    def errors(self) -> list[str]:
        """Return what the browser has complained about since the last call, such as errors in scripts.

        That it closes the connection of a page which it keeps for Back is no error.
        """
        self._bidi.call("session.status")  # events that are on their way arrive before its answer
        events, self._bidi.events = self._bidi.events, []
        entries = [event["params"].get("params", {}).get("entry") or event["params"] for event in events]
        errors = [str(entry["text"]) for entry in entries if entry["level"] == "error"]
        return [text for text in errors if "Back-Forward Cache" not in text]


@contextmanager
def running_browser(profile: Path, engine: Engine = "chromium") -> Iterator[Browser]:
    """Run a browser with a new profile, which trusts any certificate. Skip the test if it is not on the PATH."""
    if engine == "webkit":
        skip_without(*PROGRAMS)
        with running_webkit(profile) as webkit:
            yield Browser(webkit, engine)
        return
    program = next(filter(None, map(shutil.which, _PROGRAMS[engine])), None)
    driver = program if engine == "firefox" else shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip(
            lacking([engine] * (program is None) + ["chromedriver"] * (engine == "chromium" and driver is None))
        )
    firefox = ("--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port=0")
    log = profile / "browser.log"
    with log.open("wb") as output:
        command = [driver, *(firefox if engine == "firefox" else ("--port=0",))]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        flags = [*_CHROMIUM_FLAGS, f"--user-data-dir={profile}"]
        chromium = {"webSocketUrl": True, "goog:chromeOptions": {"binary": program, "args": flags}}
        wanted = {"acceptInsecureCerts": True, **(chromium if engine == "chromium" else {})}
        capabilities = {"capabilities": {"alwaysMatch": wanted}}
        limit = time.monotonic() + DEADLINE
        while (found := _LISTENING.search(log.read_text(errors="replace"))) is None:
            assert process.poll() is None, log.read_text(errors="replace")
            assert time.monotonic() < limit, f"{engine} does not listen"
            time.sleep(0.05)
        if engine == "firefox":
            address = f"{found[1]}/session"
        else:
            request = urllib.request.Request(f"http://127.0.0.1:{found[2]}/session", json.dumps(capabilities).encode())
            with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
                address = json.load(answer)["value"]["capabilities"]["webSocketUrl"]
        with connect(address, proxy=None, compression=None, max_size=None, ping_interval=None) as socket:
            if engine == "firefox":
                socket.send(json.dumps({"id": 0, "method": "session.new", "params": capabilities}))
                socket.recv()
            browser = Browser(BiDi(socket), engine)
            try:
                yield browser
            finally:
                with suppress(ConnectionClosed):
                    browser._bidi.call("browser.close")
    finally:
        process.terminate()
        process.wait(DEADLINE)
