"""Access to Textual's internals: work that is still queued, painting without waiting, the painted text, parsed CSS.

Textual's own pilot waits for real time to pass. Tests and benchmarks must know exactly when everything is painted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from rich.console import RenderableType
from textual._compositor import Compositor
from textual._context import active_app, visible_screen_stack
from textual.app import App
from textual.drivers.headless_driver import HeadlessDriver
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

from samedeal_door.shared_styles import share_styles


class CountingDriver(HeadlessDriver):
    """A terminal without a screen. It reports itself as real, so that Textual writes to it, and the app counts the bytes."""

    @property
    def is_headless(self) -> bool:
        return False

    def write(self, data: str) -> None:
        self._app.terminal.reduced(data)  # type: ignore[attr-defined]  # it is always a LookApp


def count_output(app: App[Any]) -> None:
    """Let a headless app write to a ``CountingDriver``."""
    assert app._driver is not None
    app._driver.__class__ = CountingDriver


def has_queued_messages(app: App[Any], pumps: Iterable[MessagePump] | None = None) -> bool:
    """Whether the app, or only some of its message pumps, have messages to process."""
    return any(not pump._message_queue.empty() for pump in (app._registry if pumps is None else pumps))


def needs_painting(screen: Screen[Any]) -> bool:
    """Whether a screen has changes that are not painted yet."""
    return bool(screen._layout_required or screen._dirty_widgets or screen._repaint_required)


def paint_now(screen: Screen[Any]) -> None:
    """Paint the changes of a screen without waiting for the next frame."""
    screen._on_timer_update()


def screen_text(app: App[Any]) -> str:
    """Return the painted screen as text, without blanks at the ends of lines."""
    return "\n".join(strip.text.rstrip() for strip in painted_strips(app)) + "\n"


def painted_strips(app: App[Any]) -> list[Strip]:
    """Return the painted screen as rows of styled text."""
    app.screen._compositor_refresh()
    return app.screen._compositor.render_strips()


async def wait_for_screen(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Wait for a condition. If it is not met in time, the error shows the screen."""
    try:
        async with asyncio.timeout(20):
            while not condition():
                await pilot.pause(0.01)
    except TimeoutError:
        raise AssertionError(f"The condition was not met. The screen:\n{screen_text(pilot.app)}") from None


@cache
def spare_work() -> None:
    """Let the apps of this process share what was parsed, as those of a door do, and paint only what a test reads.

    A headless app would paint each change for a terminal that is not there, which takes a fifth of its time.
    """
    share_styles()
    paint = Compositor.render_update

    def paint_for_a_terminal(
        compositor: Compositor,
        full: bool = False,
        screen_stack: list[Screen[Any]] | None = None,
        simplify: bool = False,
    ) -> RenderableType | None:
        if full or not active_app.get().is_headless:
            return paint(compositor, full, screen_stack, simplify)
        visible_screen_stack.set(screen_stack or [])
        compositor._dirty_regions.clear()
        return None

    setattr(Compositor, "render_update", paint_for_a_terminal)  # noqa: B010 (mypy refuses the assignment to a method)
