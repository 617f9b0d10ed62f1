"""Textual's driver for a session of the door: keys and frames go through the session's channel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from textual import constants, events
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.geometry import Size
from textual.message import Message
from textual.messages import InBandWindowResize

from samedeal_client.terminal_io.kept_screen import LEAVE_SCREEN, SHOW_CURSOR
from samedeal_link.machine.terminal import terminal

if TYPE_CHECKING:
    from textual.app import App

    from samedeal_client.full_screen.widgets.look_app import LookApp
    from samedeal_door.session import SessionTerminal

_ENTER: Final = (
    "\x1b[?1049h\x1b[?25l"  # the alternate screen, without a cursor
    "\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h"  # the mouse
    "\x1b[?1004h\x1b[?2004h\x1b[?7l"  # focus, pasted text in brackets, no line wrap
    "\x1b[>25u"  # kitty's keyboard protocol, with the flags of Textual's own driver
    "\x1b[?2026$p"  # are updates without flicker supported?
)
_MODES_OFF: Final = "\x1b[?1006l\x1b[?1015l\x1b[?1003l\x1b[?1000l\x1b[?1004l\x1b[?2004l\x1b[?7h\x1b[<u\x1b[m"
LEAVE: Final = LEAVE_SCREEN + SHOW_CURSOR

SLOW_FOR: Final = 5.0
"""Time, in seconds, for which a terminal counts as slow after it did not take a frame."""

_MOST_EVENTS: Final = 200
"""Maximum number of events that wait for the app. Until there are fewer, nothing more is read."""


class SessionDriver(Driver):
    """The driver of an app in a session of the door.

    What the app writes in one round of the event loop is sent together. While the channel takes no output, frames are
    dropped, and afterwards the whole screen is drawn again.
    """

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._look_app = cast("LookApp[Any]", app)
        self._session = cast("SessionTerminal", terminal())
        self._parser = XTermParser()
        self._written: list[str] = []
        self._flushing = False
        self._dropped = False
        self._slow_until = 0.0

    @property
    def can_suspend(self) -> bool:
        """Whether another app can run in the same terminal meanwhile."""
        return True

    @property
    def is_slow(self) -> bool:
        """Whether the terminal does not keep up with the output."""
        return self._loop.time() < self._slow_until

    def write(self, data: str) -> None:
        """Write text soon, together with what is written before."""
        self._written.append(data)
        if not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._send)

    def _send(self) -> None:
        written, self._written, self._flushing = self._written, [], False
        if self._session.stalled:
            self._dropped = bool(written) or self._dropped
            self._slow_until = self._loop.time() + SLOW_FOR
            self._session.count_dropped()
            return
        self._session.send("".join(map(self._look_app.terminal.reduced, written)))
        self._session.end_turn()

    def resume(self) -> None:
        """Draw everything again, if frames have been dropped. The channel takes output again."""
        if self._dropped:
            self._dropped = False
            self._app.call_later(self._app.refresh, layout=True)

    def feed(self, data: str) -> None:
        """Handle input from the terminal."""
        for message in self._parser.feed(data):
            self.process_message(message)
        self._loop.call_later(constants.ESCAPE_DELAY * 1.1, self._tick)
        if self._app.message_queue_size > _MOST_EVENTS:
            self._session.pause_reading(lambda: self._app.message_queue_size <= _MOST_EVENTS)

    def _tick(self) -> None:
        """Handle an escape after which nothing has come: the key Esc."""
        for message in self._parser.tick():
            self.process_message(message)

    def process_message(self, message: Message) -> None:
        """Pass on a message, unless it is about sizes. The session has the size of the window."""
        if not isinstance(message, InBandWindowResize):
            super().process_message(message)

    def send_message(self, message: Message) -> None:
        """Send a message to the app, in the same thread."""
        self._app.post_message(message)

    def resized(self) -> None:
        """Tell the app the size of the window."""
        size = Size(*self._session.size)
        self._app.post_message(events.Resize(size, size))

    def end_app(self, code: int) -> None:
        """End the app with an exit code."""
        self._look_app.keeps_screen = False
        self._app.call_later(super(type(self._look_app), self._look_app).exit, None, code)

    def start_application_mode(self) -> None:
        """Take the terminal."""
        self._session.drivers.append(self)
        self._look_app.terminal.forget()
        self._session.send(_ENTER)
        self.resized()

    def disable_input(self) -> None:
        """Ignore further input."""
        if self in self._session.drivers:
            self._session.drivers.remove(self)

    def stop_application_mode(self) -> None:
        """Give the terminal back."""
        self.disable_input()
        self._written.clear()
        try:
            for _ in self._parser.feed(""):
                pass
        except (EOFError, ParseError):
            self._parser = XTermParser()
        self._session.send(_MODES_OFF)
        self._session.show_screen_of_app = self._look_app.keeps_screen
        if not self._look_app.keeps_screen:
            self._session.send(LEAVE)

    def open_url(self, url: str, new_tab: bool = True) -> None:  # noqa: FBT001, FBT002 (as in Driver)
        """Open nothing, because the browser would be the door's."""

    def deliver_binary(self, *_: Any, **__: Any) -> None:
        """Save nothing, because the files would be the door's."""
