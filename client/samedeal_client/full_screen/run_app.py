"""The full-screen client. Textual is imported here and not earlier, because the import takes time."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from samedeal_client.terminal_io.terminal_background import SLOW_ANSWER, has_dark_background
from samedeal_client.terminal_io.terminal_hangup import EXIT_CODE, on_terminal_lost
from samedeal_client.text.appearance import Look
from samedeal_link.machine.signals import on_signals
from samedeal_link.machine.terminal import Background, terminal

if TYPE_CHECKING:
    from samedeal_client.full_screen.app import SamedealApp


def with_background(look: Look) -> Look:
    """Return the look, adapted to the terminal's background and speed."""
    asked = time.monotonic()
    known = terminal().background or Background(has_dark_background(), time.monotonic() - asked > SLOW_ANSWER)
    return replace(look, dark=known.dark if look.colour else look.dark, motion=look.motion and not known.slow)


def prepare_textual() -> None:
    """Set what Textual reads once, on import. It would ignore resizes if the terminal had a size in the environment.

    It draws at twice its default rate, which halves the longest delay between a key and its effect.
    """
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)
    os.environ.setdefault("TEXTUAL_FPS", "120")


async def show(app: SamedealApp, hung_up: Callable[[], None] | None = None) -> int:
    """Show a connected session until the player quits or the process gets a signal. Return the exit code.

    ``hung_up`` is called in a thread if the terminal goes away, since the process may then end before this function
    returns.
    """
    if not terminal().owns_process:
        with on_signals(app.exit):
            code = await app.run_async()
        return code if code is not None else 1
    # Everything loaded so far stays. Freezing it saves garbage collection pauses of several frames during a race.
    gc.collect()
    gc.freeze()
    loop = asyncio.get_running_loop()

    def on_lost() -> None:
        if hung_up is not None:
            hung_up()
        loop.call_soon_threadsafe(hang_up)

    def hang_up() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a second request to end would cut the first one short
        app.exit(EXIT_CODE)

    with on_signals(app.exit, must_end=True), on_terminal_lost(sys.stdin.fileno(), on_lost):
        code = await app.run_async()
    return code if code is not None else 1
