"""The client on a full terminal, from a connection to its end. Textual is loaded here and nowhere before."""

from __future__ import annotations

import gc
import os
from dataclasses import replace

from samedeal_client.board.bindings import Bindings
from samedeal_client.net.client import Client
from samedeal_client.running import on_signals
from samedeal_client.text.background import is_dark
from samedeal_client.text.look import Look


def with_background(look: Look) -> Look:
    """The look for the terminal's own background."""
    return replace(look, dark=is_dark()) if look.colour else look


async def show(client: Client, look: Look, bindings: Bindings, back_to: str = "") -> int:
    """Show a client, whose link is connected, until its player quits or the program is told to end: the exit code.

    ``back_to`` names the server whose lobby is to be gone back to, instead of this one's. A room that was asked for
    already, and is not known yet, is waited for.
    """
    # Read once, when Textual is loaded: what a key has changed waits at most half as long to be painted.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    # Some shells and libraries leave the size of their start here, which would then be believed for ever.
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)
    from samedeal_client.app import SamedealApp

    app = SamedealApp(client, look, bindings, back_to)
    # What is loaded by now stays: not looking through it again saves pauses of several frames in mid-race.
    gc.collect()
    gc.freeze()
    with on_signals(app.exit):
        code = await app.run_async()
    return code if code is not None else 1
