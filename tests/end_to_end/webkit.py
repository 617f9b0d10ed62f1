"""WebKit in a window of a virtual screen, as iPhones have it, driven over classic WebDriver.

``WebKit`` answers the commands of WebDriver BiDi that ``tests.end_to_end.browser`` sends to other browsers.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Final

from tests.server.redis_kinds import free_port

BROWSER: Final = next(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"), Path("MiniBrowser"))
PROGRAMS: Final = ("WebKitWebDriver", "Xvfb", str(BROWSER))

_ANSWER_TIME: Final = 120.0
_ELEMENT: Final = "element-6066-11e4-a52e-4f735466cecf"

_WITHOUT_GRAPHICS: Final = {"WEBKIT_DISABLE_COMPOSITING_MODE": "1", "WEBKIT_SKIA_ENABLE_CPU_RENDERING": "1"}
"""Lets WebKit draw by itself: the OpenGL of Mesa for machines without a graphics card crashes now and then."""

_OPEN: Final = "return Boolean(open('about:blank', `tab ${Math.random()}`, 'popup,width=1366,height=768'))"
"""Opens a window without a toolbar, which may be as narrow as a phone."""

_CALL: Final = """
window.errorsSeen ??= (addEventListener("error", ({ message }) => errorsSeen.push(message)), []);
return (%s)(...arguments);
"""


class BrowserError(Exception):
    """A command failed, for example because the page was left meanwhile."""


class WebKit:
    """A session with WebKit, in its ``tab``."""

    def __init__(self, address: str) -> None:
        self.events: list[dict[str, Any]] = []
        self._lock = Lock()
        self._address = address
        options = {"binary": str(BROWSER), "args": ["--automation", "--javascript-can-open-windows-automatically=true"]}
        wanted = {"acceptInsecureCerts": True, "webkitgtk:browserOptions": options}
        session = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._address += f"/session/{session['sessionId']}"
        (self._first,) = self._send("GET", "/window/handles")
        self._chosen = self._first
        self.tab: str = self.call("browsingContext.create")["context"]

    def call(self, method: str, /, **params: Any) -> Any:
        """Send a command, and return its result."""
        with self._lock:
            tab = params.pop("context", None) or params.get("target", {}).get("context") or self._chosen
            self._choose(tab)
            return _COMMANDS[method](self, **params)

    def _choose(self, tab: str) -> None:
        if tab != self._chosen:
            self._post("/window", handle=tab)
            self._chosen = tab

    def _send(self, verb: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._address}{path}", data, method=verb)
        try:
            with urllib.request.urlopen(request, timeout=_ANSWER_TIME) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise BrowserError(json.load(error)["value"]["message"]) from None

    def _post(self, path: str, /, **body: object) -> Any:
        return self._send("POST", path, body)

    def _create(self, **_: object) -> dict[str, str]:
        self._choose(self._first)
        before = set(self._send("GET", "/window/handles"))
        assert self._post("/execute/sync", script=_OPEN, args=[]), "WebKit opens no window"
        limit = time.monotonic() + _ANSWER_TIME
        while not (new := set(self._send("GET", "/window/handles")) - before):
            assert time.monotonic() < limit, "WebKit opens no window"
            time.sleep(0.05)
        return {"context": new.pop()}

    def _run(self, functionDeclaration: str, arguments: Any = (), **_: object) -> dict[str, Any]:  # noqa: N803  # as in BiDi
        values = [each["value"] for each in arguments]
        value = self._post("/execute/sync", script=_CALL % functionDeclaration, args=values)
        if value is None:
            return {"type": "success", "result": {}}
        is_element = isinstance(value, dict) and _ELEMENT in value
        return {"type": "success", "result": {"sharedId": value[_ELEMENT]} if is_element else {"value": value}}

    def _errors(self) -> None:
        """Add an event for each error of the page since the last time."""
        script = "return (window.errorsSeen ?? []).splice(0)"
        for text in self._post("/execute/sync", script=script, args=[]):
            self.events.append({"params": {"level": "error", "text": text}})

    def _traverse(self, delta: int) -> None:
        self._post("/back" if delta < 0 else "/forward")

    def _set_files(self, element: dict[str, str], files: list[str]) -> None:
        self._post(f"/element/{element['sharedId']}/value", text="\n".join(files))


_COMMANDS: Final[dict[str, Callable[..., Any]]] = {
    "browsingContext.create": WebKit._create,
    "browsingContext.close": lambda kit: kit._send("DELETE", "/window"),
    "browsingContext.navigate": lambda kit, url, **_: kit._post("/url", url=url),
    "browsingContext.reload": lambda kit, **_: kit._post("/refresh"),
    "browsingContext.traverseHistory": WebKit._traverse,
    "browsingContext.setViewport": lambda kit, viewport: kit._post("/window/rect", **viewport),
    "browsingContext.captureScreenshot": lambda kit: {"data": kit._send("GET", "/screenshot")},
    "script.callFunction": WebKit._run,
    "input.performActions": lambda kit, actions: kit._post("/actions", actions=actions),
    "input.setFiles": WebKit._set_files,
    "session.status": WebKit._errors,
    "browser.close": lambda kit: kit._send("DELETE", ""),
}


@contextmanager
def running_webkit(directory: Path) -> Iterator[WebKit]:
    """Run WebKit with a new profile in a directory, on a screen of its own."""
    reading, writing = os.pipe()
    log = directory / "browser.log"
    processes = []
    try:
        with log.open("wb") as output:
            screen = ("Xvfb", "-displayfd", str(writing), "-screen", "0", "1600x1200x24")
            processes.append(subprocess.Popen(screen, pass_fds=(writing,), stdout=output, stderr=output))
            os.close(writing)
            display = f":{os.read(reading, 20).decode().strip()}"
            homes = {name: str(directory) for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
            environment = {**os.environ, **homes, **_WITHOUT_GRAPHICS, "DISPLAY": display}
            port = free_port()
            driver = ("WebKitWebDriver", f"--port={port}")
            processes.append(subprocess.Popen(driver, env=environment, stdout=output, stderr=output))
        limit = time.monotonic() + _ANSWER_TIME
        while not _listens(port):
            assert time.monotonic() < limit, log.read_text(errors="replace")
            time.sleep(0.05)
        yield (kit := WebKit(f"http://127.0.0.1:{port}"))
        kit.call("browser.close")
    finally:
        os.close(reading)
        for process in reversed(processes):
            process.terminate()
            process.wait(_ANSWER_TIME)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
