"""``samedeal admin top``: how a server fares, drawn again and again on a terminal."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import termios
import tty
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from typing import Final

from samedeal.protocol.admin import Status, Survey
from samedeal_client.net.dial import CannotConnect
from samedeal_client.net.operator import Operator
from samedeal_client.running import on_signals
from samedeal_client.text.lines import painted
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span, fit_row, row_text
from samedeal_client.views.admin import top_rows

_KEPT: Final = 500
"""Looks whose moves a second are kept for the line that is drawn of them."""

_QUITS: Final = frozenset(b"qQ\x1b\x03\x04")
# Lines are not wrapped: what is drawn while the window is made smaller must not push the rest down.
_ENTER: Final = "\x1b[?1049h\x1b[?7l\x1b[?25l"
_LEAVE: Final = "\x1b[?25h\x1b[?7h\x1b[?1049l"


class Top:
    """The live view, of a server that was reached once with ``operator``; looks again every so many seconds.

    Where the server goes away it says so, and comes back when that does.
    """

    def __init__(self, operator: Operator, every: float, look: Look) -> None:
        self._operator = operator
        self._every = every
        self._look = look
        self._moves: deque[float] = deque(maxlen=_KEPT)
        self._survey: Survey | None = None
        self._lost = ""

    async def run(self) -> int:
        """Show it until ``q`` is typed or a signal comes: the exit code."""
        stopped: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def stop(code: int) -> None:
            if not stopped.done():
                stopped.set_result(code)

        with on_signals(stop), _screen(lambda: stop(0), self._draw):
            watching = asyncio.create_task(self._watch())
            await asyncio.wait((watching, stopped), return_when=asyncio.FIRST_COMPLETED)
            if watching.done():
                watching.result()
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        return stopped.result()

    async def _watch(self) -> None:
        """Look for as long as it takes. Raises Refused where the server doesn't let this operator in any more."""
        async with AsyncExitStack() as stack:
            operator: Operator | None = self._operator
            while True:
                try:
                    if operator is None:
                        operator = await stack.enter_async_context(self._operator.another())
                    self._survey = await operator.ask(Status(id=0), Survey)
                    self._moves.append(sum(line.moves for line in self._survey.nodes))
                    self._lost = ""
                except CannotConnect as error:
                    await stack.aclose()
                    operator, self._lost = None, str(error)
                self._draw()
                await asyncio.sleep(self._every)

    def _draw(self) -> None:
        # Not shutil's: it believes variables that some shells leave, and that don't follow the window.
        width, height = os.get_terminal_size(sys.stdout.fileno())
        rows: list[Row] = []
        if self._survey is not None:
            rows = top_rows(self._survey, list(self._moves), self._operator.address.typed, self._look, width, height)
        if self._lost and rows:
            rows[-1] = fit_row((Span(self._lost, "bad"), Span(" (q quits)", "label")), width)
        lines = (painted(row) if self._look.colour else row_text(row) for row in rows)
        sys.stdout.write("\x1b[H" + "\r\n".join(f"\x1b[2K{line}" for line in lines))
        sys.stdout.flush()


@contextmanager
def _screen(quit_: Callable[[], None], draw: Callable[[], None]) -> Iterator[None]:
    """Have the whole terminal, its keys as they are typed and its changes of size; it is as before afterwards."""
    keys = sys.stdin.fileno()
    before = termios.tcgetattr(keys)
    loop = asyncio.get_running_loop()

    def typed() -> None:
        data = b""
        with suppress(OSError):
            data = os.read(keys, 1024)
        if not data or _QUITS.intersection(data[:1]):
            quit_()

    try:
        tty.setcbreak(keys)
        sys.stdout.write(_ENTER)
        sys.stdout.flush()
        loop.add_reader(keys, typed)
        loop.add_signal_handler(signal.SIGWINCH, draw)
        yield
    finally:
        loop.remove_signal_handler(signal.SIGWINCH)
        loop.remove_reader(keys)
        sys.stdout.write(_LEAVE)
        sys.stdout.flush()
        termios.tcsetattr(keys, termios.TCSADRAIN, before)
