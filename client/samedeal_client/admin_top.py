"""``samedeal admin top``: the state of a server, updated continuously on a terminal."""

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
from typing import Final, Never

from samedeal.protocol.admin import Status, Survey
from samedeal_client.first_completed import first_of
from samedeal_client.net.dial import CannotConnect
from samedeal_client.net.operator_client import OperatorClient
from samedeal_client.signals import StopRequest, on_signals
from samedeal_client.text.appearance import Look
from samedeal_client.text.line_io import with_colour_codes
from samedeal_client.text.spans import Row, Span, fit_row, row_text
from samedeal_client.views.admin import top_rows

_HISTORY: Final = 500
"""Maximum number of samples that are kept for the sparkline of moves per second."""

_QUIT_KEYS: Final = frozenset(b"qQ\x1b\x03\x04")
# Switch off line wrapping: a line that is too long while the window shrinks must not push the others down.
_ENTER: Final = "\x1b[?1049h\x1b[?7l\x1b[?25l"
_LEAVE: Final = "\x1b[?25h\x1b[?7h\x1b[?1049l"


class Top:
    """A live view of a server's state. It polls the server through ``operator`` until the user quits.

    There are ``every`` seconds between two polls. After a disconnection the screen shows the error until a reconnection
    succeeds.
    """

    def __init__(self, operator: OperatorClient, every: float, look: Look) -> None:
        self._operator = operator
        self._interval = every
        self._look = look
        self._moves: deque[float] = deque(maxlen=_HISTORY)
        self._survey: Survey | None = None
        self._lost = ""

    async def run(self) -> int:
        """Run until q is typed or a signal arrives, and return the exit code."""
        request = StopRequest()
        with on_signals(request.stop), _screen(request.stop, self._draw):
            async with first_of(self._watch(), request.wait()) as (watching, stopping):
                return (watching if watching.done() else stopping).result()

    async def _watch(self) -> Never:
        """Poll the server forever. Raise RequestRefused if the server no longer accepts this operator."""
        async with AsyncExitStack() as stack:
            operator: OperatorClient | None = self._operator
            while True:
                try:
                    if operator is None:
                        operator = await stack.enter_async_context(self._operator.copy())
                    self._survey = await operator.ask(Status(id=0), Survey)
                    self._moves.append(sum(line.moves for line in self._survey.nodes))
                    self._lost = ""
                except CannotConnect as error:
                    await stack.aclose()
                    operator, self._lost = None, str(error)
                self._draw()
                await asyncio.sleep(self._interval)

    def _draw(self) -> None:
        # shutil.get_terminal_size would use COLUMNS and LINES, which do not follow the size of the window.
        width, height = os.get_terminal_size(sys.stdout.fileno())
        rows: list[Row] = []
        if self._survey is not None:
            rows = top_rows(self._survey, list(self._moves), self._operator.address.typed, self._look, width, height)
        if self._lost and rows:
            rows[-1] = fit_row((Span(self._lost, "bad"), Span(" (q quits)", "label")), width)
        lines = (with_colour_codes(row) if self._look.colour else row_text(row) for row in rows)
        sys.stdout.write("\x1b[H" + "\r\n".join(f"\x1b[2K{line}" for line in lines))
        sys.stdout.flush()


@contextmanager
def _screen(quit_: Callable[[], None], draw: Callable[[], None]) -> Iterator[None]:
    """Switch to the alternate screen, and restore the terminal on exit.

    A key for quitting calls ``quit_``. A change of the terminal's size calls ``draw``.
    """
    keys = sys.stdin.fileno()
    before = termios.tcgetattr(keys)
    loop = asyncio.get_running_loop()

    def typed() -> None:
        data = b""
        with suppress(OSError):
            data = os.read(keys, 1024)
        if not data or _QUIT_KEYS.intersection(data[:1]):
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
